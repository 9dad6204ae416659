//===- Profile.h - the time of each step ------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A profile that is passed to a call (`CallOptions::profile`) records the time of every step. It
// can be printed as a table, the slowest steps first, drawn as SVG, or written as a Chrome trace,
// which Perfetto and chrome://tracing show as a timeline.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PROFILE_PROFILE_H
#define HEDDLE_LIB_PROFILE_PROFILE_H

#include "runtime/base/Fork.h"
#include "runtime/program/Observers.h"

#include <algorithm>
#include <thread>

namespace heddle {

class Profile : public StepObserver {
public:
  struct Step {
    std::string entry, name, location;
    double begin = 0, seconds = 0; ///< `begin`: since the profile was created
    double flops = 0, bytes = 0;   ///< the compiler's estimates
    int lane = 0;                  ///< one per calling thread
    int32_t index = 0;             ///< of the step in its entry
    /// Seconds that the compiler predicts, and at least expects, if the threads share the step's
    /// chunks without loss; 0: unknown.
    double predicted = 0, bound = 0;
    bool isTypical = false; ///< these are for typical sizes
    std::string limit;      ///< what takes the longest: "arithmetic", "memory", ...

    /// "predicted 0.0123 ms (memory), 35 % of its roofline", or empty.
    std::string estimate() const;
  };
  /// A transfer to or from other ranks, from the step that starts it to the end of the step that
  /// waits for it.
  using Transfer = Step;

  void add(const EntrySpec &entry, const std::vector<Begin> &times, int threads = 1) override;

  std::vector<Step> steps() const;
  /// All runs of one step, or of steps with the same name and location.
  struct Row {
    Step sum; ///< of their times and estimates; these are 0 if those of one are unknown
    int runs = 0;
    double usual = 0; ///< the sum of their seconds, if each run of a step takes the median of them

    /// The usual seconds beyond the roofline; 0 if that is unknown.
    double lost() const { return sum.bound > 0 ? std::max(0.0, usual - sum.bound) : 0; }
  };
  std::vector<Row> rows() const; ///< the longest first
  std::vector<Transfer> transfers() const;
  /// JSON in the Chrome trace event format: per calling thread a row for its steps and one for its
  /// transfers.
  std::string chromeTrace() const;
  /// A list of such events of one rank, at times since `origin` (lib/profile/MergedTrace.h).
  std::string chromeEvents(int rank, Clock::time_point origin) const;
  /// The trace of several ranks, from their events; time begins with the first of them.
  static std::string joinTraces(const std::vector<std::string> &events);
  /// A timeline as SVG: x is time, with a line for each of the `lines` longest steps, in the order
  /// of their first run.
  std::string picture(size_t lines = 40) const;
  /// A table: seconds, share, GFLOP/s, GB/s, predicted seconds and percent of the roofline of each
  /// step over all calls.
  std::string summary() const;

private:
  mutable ForkMutex mutex;
  Clock::time_point start = Clock::now();
  std::vector<Step> recorded;
  std::vector<Transfer> moved;
  std::vector<std::thread::id> callers;
};

} // namespace heddle

#endif // HEDDLE_LIB_PROFILE_PROFILE_H
