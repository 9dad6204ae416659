//===- History.h - results of each epoch ------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_MODELS_FASHION_HISTORY_H
#define HEDDLE_MODELS_FASHION_HISTORY_H

#include <cstdint>
#include <string>
#include <vector>

namespace fashion {

struct EpochRecord {
  int64_t epoch = 0; ///< from 1
  double trainLoss = 0, testLoss = 0, testAccuracy = 0, examplesPerSecond = 0;
  int64_t peakMemoryBytes = 0;

  /// One JSON object; numbers come back to the bit. `measured`: with the last two, which differ
  /// from one time to the next.
  std::string json(bool measured = true) const;
};

using History = std::vector<EpochRecord>;

/// One JSON object a line.
std::string toText(const History &history, bool measured = true);
/// What was not measured is zero. Throws heddle::Error if the text is no history.
History parseHistory(const std::string &text);

} // namespace fashion

#endif // HEDDLE_MODELS_FASHION_HISTORY_H
