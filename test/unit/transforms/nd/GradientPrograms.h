//===- GradientPrograms.h - small programs, one for each rule ---*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_TRANSFORMS_ND_GRADIENTPROGRAMS_H
#define HEDDLE_TEST_UNIT_TRANSFORMS_ND_GRADIENTPROGRAMS_H

#include "IndexingGradients.h"
#include "NestGradients.h"
#include "PointwiseGradients.h"
#include "ReductionGradients.h"

#include <span>
#include <vector>

inline const std::vector<GradientProgram> gradientPrograms = [] {
  std::vector<GradientProgram> all;
  using Some = std::span<const GradientProgram>;
  for (Some some : {Some(indexingGradients), Some(nestGradients), Some(pointwiseGradients),
                    Some(reductionGradients)})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}();

#endif // HEDDLE_TEST_UNIT_TRANSFORMS_ND_GRADIENTPROGRAMS_H
