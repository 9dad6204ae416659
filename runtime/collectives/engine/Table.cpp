//===- Table.cpp - the functions of an engine of messages -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/collectives/engine/Context.h"

using namespace heddle::collectives;

static const HeddleCollectives table = {
    .version = HEDDLE_COLLECTIVES_VERSION,
    .name = engineName,
    .create =
        [](const HeddleWorld *world, HeddleContext **context) {
          return guarded([&] {
            World parsed(*world);
            *context = new HeddleContext(parsed);
          });
        },
    .destroy = [](HeddleContext *context) { delete context; },
    .rank = [](const HeddleContext *context) { return context->transport->rank; },
    .size = [](const HeddleContext *context) { return context->transport->size; },
    .group =
        [](HeddleContext *context, const char *name, const int32_t *ranks, int32_t count,
           HeddleGroup **group) {
          return guarded([&] { *group = context->group(name, ranks, count); });
        },
    .start =
        [](HeddleGroup *group, const HeddleOperation *call, HeddlePending **pending) {
          return guarded([&] { *pending = group->context->start(*group, *call); });
        },
    .wait =
        [](HeddlePending *pending, double seconds) {
          return guarded([&] { pending->group->context->wait(pending, seconds); });
        },
    .abort = [](HeddleContext *context, const char *reason) { context->abort(reason); },
    .message = [] { return lastMessage.c_str(); },
};

const HeddleCollectives *heddle_collectives() { return &table; }
