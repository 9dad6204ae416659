//===- Null.cpp - the engine of a single rank -----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The template for an engine that has collectives of its own. It shows what each function of the
// table has to do. With one rank each result is a copy, which is complete when `start` returns. (An
// engine that only exchanges messages between two ranks provides a Transport instead, like mpi.)
//
//===----------------------------------------------------------------------===//
#include "heddle/ElementType.h"
#include "runtime/collectives/engine/CollectivePhases.h"

#include <atomic>

using namespace heddle;
using namespace heddle::collectives;

// The engine defines the types of handles. Here all of them are the context.
namespace {
struct Alone {
  std::atomic<bool> aborted = false;
  std::string reason;
};
} // namespace

// World parses the options and rejects unknown ones. An engine with several ranks connects them
// here. Each function returns a status; exceptions are converted to one.
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

// Reads the counts now, and uses the buffers until `wait`. Invalid arguments are refused here, with
// no effect.
static int32_t start(HeddleGroup *group, const HeddleOperation *call, HeddlePending **pending) {
  auto *state = reinterpret_cast<Alone *>(group);
  return guarded([&] {
    verify(*call, 1, 0);
    if (state->aborted)
      throw Failure(HEDDLE_ABORTED, "rank 0 aborted: ", state->reason);
    bool copies =
        call->kind != HEDDLE_BARRIER && (call->kind != HEDDLE_PERMUTE || call->source == 0);
    if (copies && call->output && call->output != call->input)
      std::memmove(call->output, call->input,
                   size_t(call->counts[0] * byteSize(ElementType(call->element))));
    *pending = reinterpret_cast<HeddlePending *>(state);
  });
}

// Wakes all waiting threads, on all ranks.
static void abortAll(HeddleContext *context, const char *reason) {
  auto *state = reinterpret_cast<Alone *>(context);
  if (!state->aborted)
    state->reason = reason;
  state->aborted = true;
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
    // Here an engine waits until the operation ends, a failure, or the timeout.
    .wait = [](HeddlePending *, double) -> int32_t { return HEDDLE_OK; },
    .abort = abortAll,
    .message = [] { return lastMessage.c_str(); },
};

const HeddleCollectives *heddle_collectives() { return &table; }
