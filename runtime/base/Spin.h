//===- Spin.h - waiting without sleeping ------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps of a program follow one another within microseconds, but waking a sleeping thread takes
// tens of microseconds. So threads spin before they sleep. They use pause instructions, which leave
// the core to its other hyper-thread, and not `sched_yield`, which ends the whole time slice: the
// rest of the team would wait for milliseconds. On a busy machine a thread spins only briefly,
// because the thread that it waits for may need its core; a thread that sleeps is scheduled first
// when it is woken.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_BASE_SPIN_H
#define HEDDLE_RUNTIME_BASE_SPIN_H

#include <atomic>
#include <chrono>
#include <cstdint>
#include <sys/resource.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace heddle {

/// How many microseconds a thread spins before it sleeps: at a barrier, which the other threads
/// reach soon; between runs, where the next may never come; and in both cases on a busy machine.
inline constexpr std::chrono::microseconds barrierSpin{2000}, idleSpin{500}, busySpin{20};

/// True if this thread was preempted since the last call: the machine is busy.
inline bool lostCore() {
  static thread_local long before = 0;
  struct rusage usage;
  if (getrusage(RUSAGE_THREAD, &usage) != 0)
    return true;
  bool lost = usage.ru_nivcsw != before;
  before = usage.ru_nivcsw;
  return lost;
}

/// True if a thread of this process lost its core in the last 50 ms. A thread that keeps its own
/// core can't otherwise notice that the thread it waits for has none.
inline bool isBusy(std::chrono::steady_clock::time_point now) {
  using namespace std::chrono;
  static std::atomic<int64_t> lastLost{-1'000'000'000};
  int64_t time = duration_cast<nanoseconds>(now.time_since_epoch()).count();
  if (lostCore())
    lastLost.store(time, std::memory_order_relaxed);
  return time - lastLost.load(std::memory_order_relaxed) < nanoseconds(50ms).count();
}

/// Spins until `ready()`; returns false after `limit`, or after `busySpin` on a busy machine.
template <typename Ready>
bool spinUntil(Ready &&ready, std::chrono::microseconds limit) {
  auto readyWithin = [&](int tries) {
    for (int i = 0; i < tries; ++i) {
      if (ready())
        return true;
#if defined(__x86_64__)
      _mm_pause();
#elif defined(__aarch64__)
      asm volatile("yield");
#endif
    }
    return false;
  };
  if (readyWithin(100))
    return true;
  using Clock = std::chrono::steady_clock;
  for (auto begin = Clock::now(), look = begin + busySpin;;) {
    auto now = Clock::now();
    if (now - begin >= limit || (now >= look && isBusy(now)))
      return ready();
    if (now >= look)
      look = now + busySpin;
    if (readyWithin(20))
      return true;
  }
}

} // namespace heddle

#endif // HEDDLE_RUNTIME_BASE_SPIN_H
