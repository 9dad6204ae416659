//===- Report.h - parts of a run's report -----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_MODELS_FASHION_REPORT_H
#define HEDDLE_MODELS_FASHION_REPORT_H

#include "heddle/nn/data/Images.h"

namespace fashion {

/// The confusion table, and the first images that are classified wrong and right, as HTML for
/// nn::AnyTrainer::report. `predicted`: a class for each test image.
std::string reportSections(const heddle::nn::LabelledImages &test,
                           const std::vector<int> &predicted);

} // namespace fashion

#endif // HEDDLE_MODELS_FASHION_REPORT_H
