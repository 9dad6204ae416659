//===- Null.cpp - the engine of a single rank -----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The template for an engine that has collectives of its own. It shows what each function of the
// table has to do; with one rank, each result is a copy, which is complete when `start` returns. (An
// engine that only moves messages between two ranks provides a Transport instead, as mpi does.)
//
//===----------------------------------------------------------------------===//
#include "heddle/ElementType.h"
#include "runtime/collectives/engine/Operation.h"

#include <atomic>

using namespace heddle;
using namespace heddle::collectives;

// The types of handles are the engine's own. Here all of them are the context.
namespace {
struct Alone {
  std::atomic<bool> aborted = false;
  std::string reason;
};
} // namespace

// Engines read the options that they know, and refuse others: World does it. In engines with more
// ranks they find each other here. Each function returns a status, and what it throws becomes one.
static int32_t create(const HeddleWorld *given, HeddleContext **context) {
  return guarded([&] {
    World world(*given);
    world.refuseOtherOptions();
    if (world.size > 1)
      throw Failure(HEDDLE_INVALID, "the engine null has one rank, expected ", world.size,
                    "; use shm or mpi");
    *context = reinterpret_cast<HeddleContext *>(new Alone);
  });
}

static int32_t makeGroup(HeddleContext *context, const char *name, const int32_t *ranks,
                         int32_t count, HeddleGroup **group) {
  return guarded([&] {
    if (ranks && (count != 1 || ranks[0] != 0))
      throw Failure(HEDDLE_INVALID, "group ", name, ": expected the only rank, which is 0");
    *group = reinterpret_cast<HeddleGroup *>(context);
  });
}

// An operation reads its counts now; its memory until `wait`. Arguments that make no sense are
// refused here, with nothing done.
static int32_t start(HeddleGroup *group, const HeddleOperation *call, HeddlePending **pending) {
  auto *alone = reinterpret_cast<Alone *>(group);
  return guarded([&] {
    verify(*call, 1, 0);
    if (alone->aborted)
      throw Failure(HEDDLE_ABORTED, "rank 0 aborted: ", alone->reason);
    bool copies =
        call->kind != HEDDLE_BARRIER && (call->kind != HEDDLE_PERMUTE || call->source == 0);
    if (copies && call->output && call->output != call->input)
      std::memmove(call->output, call->input,
                   size_t(call->counts[0] * byteSize(ElementType(call->element))));
    *pending = reinterpret_cast<HeddlePending *>(alone);
  });
}

// Wakes all threads that wait, on all ranks.
static void abortAll(HeddleContext *context, const char *reason) {
  auto *alone = reinterpret_cast<Alone *>(context);
  if (!alone->aborted)
    alone->reason = reason;
  alone->aborted = true;
}

static const HeddleCollectives table = {
    .version = HEDDLE_COLLECTIVES_VERSION,
    .name = "null",
    .create = create,
    .destroy = [](HeddleContext *context) { delete reinterpret_cast<Alone *>(context); },
    .rank = [](const HeddleContext *) { return 0; },
    .size = [](const HeddleContext *) { return 1; },
    .group = makeGroup,
    .start = start,
    // Waits for the end of the operation, or a failure, or the time limit. Nothing is left to do.
    .wait = [](HeddlePending *, double) -> int32_t { return HEDDLE_OK; },
    .abort = abortAll,
    .message = [] { return lastMessage.c_str(); },
};

const HeddleCollectives *heddle_collectives() { return &table; }
