//===- GradientProgram.h - a small program for one rule ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each program is a function @f on f64 tensors (integers are constants inside). The test compares
// its gradients with finite differences; where `twice` holds also those of its gradient.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_TRANSFORMS_ND_GRADIENTPROGRAM_H
#define HEDDLE_TEST_UNIT_TRANSFORMS_ND_GRADIENTPROGRAM_H

#include <ostream>

struct GradientProgram {
  const char *name;
  const char *text;
  bool twice = true;     ///< tests the second derivative, too
  bool positive = false; ///< arguments must be positive
  bool zeros = false;    ///< an element of each argument is exactly zero
};
inline void PrintTo(const GradientProgram &program, std::ostream *stream) {
  *stream << program.name;
}

#endif // HEDDLE_TEST_UNIT_TRANSFORMS_ND_GRADIENTPROGRAM_H
