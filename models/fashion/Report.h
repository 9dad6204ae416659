//===- Report.h - a run on one page -----------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_MODELS_FASHION_REPORT_H
#define HEDDLE_MODELS_FASHION_REPORT_H

#include "heddle/nn/data/Images.h"
#include "models/fashion/History.h"

namespace fashion {

/// One HTML file that needs no other: curves of loss and accuracy, a confusion matrix, and images
/// with what was predicted, the wrong ones first. Throws heddle::Error if it can't be written.
void writeReport(const std::string &path, const History &history,
                 const heddle::nn::LabelledImages &test, const std::vector<int> &predicted);

} // namespace fashion

#endif // HEDDLE_MODELS_FASHION_REPORT_H
