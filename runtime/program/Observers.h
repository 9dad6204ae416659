//===- Observers.h - what tools learn of programs ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime measures and draws nothing itself. It tells observers when the steps of a call began,
// and where the code of a loaded program lies; lib/profile makes tables, timelines and files of it.
//
//     Profile profile;                                   // a StepObserver (lib/profile/Profile.h)
//     program->run("train", arguments, {.profile = &profile});
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_OBSERVERS_H
#define HEDDLE_RUNTIME_PROGRAM_OBSERVERS_H

#include "runtime/format/Manifest.h"

#include <chrono>

namespace heddle {

/// Learns when the steps of calls began. Thread-safe: concurrent calls may share one.
class StepObserver {
public:
  using Clock = std::chrono::steady_clock;
  using Begin = std::pair<int32_t, Clock::time_point>;

  virtual ~StepObserver() = default;
  /// The steps of a run on this many threads and their begin times, in order; the last entry is the
  /// end of the program.
  virtual void add(const EntrySpec &entry, const std::vector<Begin> &times, int threads = 1) = 0;
};

/// Learns of each program of machine code that is loaded, and of the address of its code.
using CodeObserver = void (*)(const Manifest &manifest, const char *code);
/// Null: none. An exception of the observer ends the loading of the program.
void setCodeObserver(CodeObserver observer);

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_OBSERVERS_H
