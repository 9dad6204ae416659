//===- History.h - results of steps and epochs ------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A log of training has one JSON object a line:
//
//     {"epoch":1,"train_loss":0.52,"test_loss":0.41,"train_accuracy":0.81,"test_accuracy":0.86,
//      "rate":0.05,"examples_per_second":812.4,"peak_memory_bytes":301989888}
//
// and before the line of an epoch lines of some of its steps:
//
//     {"step":50,"epoch":1,"train_loss":0.83,"train_accuracy":0.7,"rate":0.05}
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_HISTORY_H
#define HEDDLE_NN_HISTORY_H

#include "heddle/Error.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace heddle::nn {

/// "loss" and the measures of a loss function, by their names.
using Values = std::map<std::string, double>;

struct EpochRecord {
  int64_t epoch = 0;  ///< from 1
  Values train, test; ///< means over the samples; `test` is empty without test data
  double rate = 0;    ///< the learning rate of the last step
  double examplesPerSecond = 0;
  int64_t peakMemoryBytes = 0;

  /// One JSON object; parsing restores numbers exactly. `measured`: includes examplesPerSecond and
  /// peakMemoryBytes, which differ from run to run.
  std::string json(bool measured = true) const;
};

using History = std::vector<EpochRecord>;

struct StepRecord {
  int64_t step = 0, epoch = 0; ///< of the run; both from 1
  Values train;                ///< of the step's batch
  double rate = 0;             ///< the learning rate

  /// One JSON object; parsing restores numbers exactly.
  std::string json() const;
};

using StepHistory = std::vector<StepRecord>;

/// One JSON object a line; the steps of an epoch come before it.
std::string toText(const History &history, bool measured = true, const StepHistory &steps = {});
/// The epochs of a log; measurements that it lacks are zero. Throws Error for invalid text, as does
/// parseSteps.
History parseHistory(const std::string &text, Here here = Here::current());
StepHistory parseSteps(const std::string &text, Here here = Here::current());

/// The shortest decimal number that rounds to the same f32 as `value`: 0.1 for 0.10000000149011612.
double shortest(double value);

} // namespace heddle::nn

#endif // HEDDLE_NN_HISTORY_H
