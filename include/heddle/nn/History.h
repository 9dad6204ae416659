//===- History.h - results of each epoch ------------------------*- C++ -*-===//
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

  /// One JSON object; numbers come back to the bit. `measured`: with the last two, which differ
  /// from one time to the next.
  std::string json(bool measured = true) const;
};

using History = std::vector<EpochRecord>;

/// One JSON object a line.
std::string toText(const History &history, bool measured = true);
/// Measurements that the text lacks are zero. Throws Error if the text is no history.
History parseHistory(const std::string &text, Here here = Here::current());

} // namespace heddle::nn

#endif // HEDDLE_NN_HISTORY_H
