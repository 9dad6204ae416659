//===- Table.cpp - the functions of an engine of messages -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/collectives/engine/Context.h"

using namespace heddle::collectives;

static int32_t create(const HeddleWorld *world, HeddleContext **context) {
  return guarded([&] {
    World parsed(*world);
    *context = new HeddleContext(parsed);
  });
}

static int32_t makeGroup(HeddleContext *context, const char *name, const int32_t *ranks,
                         int32_t count, HeddleGroup **group) {
  return guarded([&] { *group = context->group(name, ranks, count); });
}

static int32_t start(HeddleGroup *group, const HeddleOperation *call, HeddlePending **pending) {
  return guarded([&] { *pending = group->context->start(*group, *call); });
}

static int32_t wait(HeddlePending *pending, double seconds) {
  return guarded([&] { pending->group->context->wait(pending, seconds); });
}

static const HeddleCollectives table = {
    .version = HEDDLE_COLLECTIVES_VERSION,
    .name = engineName,
    .create = create,
    .destroy = [](HeddleContext *context) { delete context; },
    .rank = [](const HeddleContext *context) { return context->transport->rank; },
    .size = [](const HeddleContext *context) { return context->transport->size; },
    .group = makeGroup,
    .start = start,
    .wait = wait,
    .abort = [](HeddleContext *context, const char *reason) { context->abort(reason); },
    .message = [] { return lastMessage.c_str(); },
};

const HeddleCollectives *heddle_collectives() { return &table; }
