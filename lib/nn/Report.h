//===- Report.h - the HTML report of a training run -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One self-contained HTML file without scripts.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_NN_REPORT_H
#define HEDDLE_LIB_NN_REPORT_H

#include "heddle/nn/History.h"
#include "lib/profile/Profile.h"

namespace heddle::nn {

struct ReportParts {
  std::string title, summary; ///< text
  History history;
  StepHistory steps;
  std::vector<Profile::Row> measured; ///< the steps of the program, over some training steps
  int64_t measuredSteps = 0;          ///< the number of these training steps
  std::string plan;     ///< a picture of the step's memory plan (SVG), if there is one
  std::string sections; ///< further HTML
};

/// Renders the page; escapes `title` and `summary`.
std::string reportPage(const ReportParts &parts);

/// Formats a value: "81.20 %" for a measure whose name ends in "accuracy", else four digits.
std::string shown(const std::string &name, double value);

} // namespace heddle::nn

#endif // HEDDLE_LIB_NN_REPORT_H
