//===- Timeouts.cpp - waits, and notices ranks that are late or gone ------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/collectives/engine/Context.h"

#include "runtime/base/Spin.h"

#include <algorithm>

using namespace heddle;
using namespace heddle::collectives;

/// Fails if data that the operation waits for can't arrive any more. The lock is held.
void HeddleContext::examine(HeddlePending &operation, double seconds) {
  // The operations before it in its lane have to complete first.
  HeddlePending &first = *operation.lane->operations.front();
  auto now = Clock::now();
  if (now < transport->pausedUntil)
    return;
  if (first.moved == Clock::time_point())
    first.moved = now;
  for (int32_t rank : first.awaited())
    if (auto reason = transport->gone(rank)) {
      // The last of its data may have arrived before the rank left.
      if (progress() || failure)
        return;
      if (first.awaited().contains(rank))
        fail({HEDDLE_DEAD, first.describe(), ": rank ", rank, " is gone: ", *reason});
      return;
    }
  if (now - first.moved > std::chrono::duration<double>(seconds))
    fail({HEDDLE_TIMEOUT, first.describe(), ": ", first.late(), " within ",
          collectives::seconds(seconds), " s"});
}

/// Sleeps until something arrives, and checks for ranks that are late or gone.
void HeddleContext::sleepUntil(HeddlePending &operation, double seconds) {
  using namespace std::chrono;
  constexpr auto slice = milliseconds(20);
  auto limit = duration_cast<nanoseconds>(duration<double>(std::min(seconds, 1e6)));
  while (true) {
    uint32_t ticket = transport->ticket();
    {
      std::lock_guard lock(mutex);
      bool moved = progress(), isOver = operation.done || failure;
      if (moved || isOver)
        transport->cancel();
      if (isOver)
        return;
      if (moved)
        continue;
    }
    auto length = std::clamp<nanoseconds>(limit / 4, microseconds(50), slice);
    transport->sleep(ticket, length);
    std::lock_guard lock(mutex);
    if (!progress() && !operation.done && !failure)
      examine(operation, seconds);
  }
}

void HeddleContext::wait(HeddlePending *operation, double seconds) {
  if (seconds < 0)
    seconds = timeout;
  ++waiting;
  auto ready = [&] {
    std::lock_guard lock(mutex);
    if (!operation->done)
      progress();
    return operation->done || failure;
  };
  auto spin = transport->crowded ? std::chrono::microseconds(20) : barrierSpin;
  if (!spinUntil(ready, spin))
    sleepUntil(*operation, seconds);
  std::unique_lock lock(mutex);
  if (--waiting == 0 && overlapped > 0)
    change.notify_one();
  std::unique_ptr<HeddlePending> owned(operation);
  if (!operation->done)
    throwFailure(*operation);
  spare.push_back(std::move(owned));
}
