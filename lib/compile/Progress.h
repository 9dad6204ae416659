//===- Progress.h - a progress line -----------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A counter on standard error for slow work, erased at the end. It appears only on a terminal,
// after half a second.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COMPILE_PROGRESS_H
#define HEDDLE_LIB_COMPILE_PROGRESS_H

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>

namespace heddle {

class Progress {
public:
  using Callback = std::function<void(size_t done, size_t total)>;
  using Clock = std::chrono::steady_clock;
  using Now = std::function<Clock::time_point()>;
  /// `callback`, if not null, is called for each item, also without a terminal.
  Progress(std::string what, size_t total, bool enabled, Callback callback = {},
           Now now = Clock::now);
  ~Progress() { finish(); }
  /// Counts one more finished item. Thread-safe.
  void advance();
  void finish();

private:
  std::mutex mutex;
  std::string what;
  size_t done = 0, total;
  bool enabled, shown = false;
  Callback callback;
  Now now;
  Clock::time_point begin, next;
};

} // namespace heddle

#endif // HEDDLE_LIB_COMPILE_PROGRESS_H
