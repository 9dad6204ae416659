//===- Spin.h - waiting without sleeping ------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps of a program follow one another within microseconds, waking a sleeping
// thread takes tens of them. So threads spin first: politely (a pause, which
// leaves the core to its other hyper-thread), then offering the core to whoever
// needs it, and only then do they sleep.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_DEVICE_SPIN_H
#define HEDDLE_RUNTIME_DEVICE_SPIN_H

#include <chrono>
#include <sched.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace heddle {

/// How long a thread spins at a barrier, where all threads are at work, and
/// between runs, where the next may never come.
inline constexpr std::chrono::microseconds barrierSpin{2000}, idleSpin{500};

/// Waits until `ready()`; false if that took longer than `limit`.
template <typename Ready>
bool spinUntil(Ready &&ready, std::chrono::microseconds limit) {
  for (int i = 0; i < 100; ++i) {
    if (ready())
      return true;
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
  auto end = std::chrono::steady_clock::now() + limit;
  do {
    if (ready())
      return true;
    sched_yield();
  } while (std::chrono::steady_clock::now() < end);
  return ready();
}

} // namespace heddle

#endif // HEDDLE_RUNTIME_DEVICE_SPIN_H
