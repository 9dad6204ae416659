//===- Library.cpp - functions that steps call by name --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

using Flag = std::atomic<int32_t>;

static Flag &flagAt(void *address) { return *static_cast<Flag *>(address); }

/// Values: a flag. Clears it.
extern "C" int32_t heddle_test_clear(void *const *values, const int64_t *) {
  flagAt(values[0]).store(0);
  return 0;
}

/// Values: a flag, x, y of four floats. Waits until the flag is 1, then y = 2 x. The status is 1 if
/// that takes more than ten seconds. If the flag becomes -1, it writes -1 to x[0] some time later,
/// and the status is 2.
extern "C" int32_t heddle_test_double_when_set(void *const *values, const int64_t *) {
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (flagAt(values[0]).load() == 0) {
    if (std::chrono::steady_clock::now() > end)
      return 1;
    std::this_thread::yield();
  }
  if (flagAt(values[0]).load() == -1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    static_cast<float *>(values[1])[0] = -1;
    return 2;
  }
  for (int i = 0; i < 4; ++i)
    static_cast<float *>(values[2])[i] = 2 * static_cast<const float *>(values[1])[i];
  return 0;
}

/// Values: a flag. Sets it.
extern "C" int32_t heddle_test_set(void *const *values, const int64_t *) {
  flagAt(values[0]).store(1);
  return 0;
}

/// Values: y of four floats. Numbers: what is added to each.
extern "C" int32_t heddle_test_add(void *const *values, const int64_t *numbers) {
  for (int i = 0; i < 4; ++i)
    static_cast<float *>(values[0])[i] += static_cast<float>(numbers[0]);
  return 0;
}

/// Values: a flag, which becomes -1.
extern "C" int32_t heddle_test_cancel(void *const *values, const int64_t *) {
  flagAt(values[0]).store(-1);
  return 0;
}

/// The same, with the status 7.
extern "C" int32_t heddle_test_fail(void *const *values, const int64_t *) {
  flagAt(values[0]).store(-1);
  return 7;
}
