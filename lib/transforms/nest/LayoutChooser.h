//===- LayoutChooser.h - solves the choice of layouts -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chooser maps a LayoutProblem to a LayoutChoice, and depends on nothing else.
// `createReducingChooser` eliminates unknowns with at most two neighbours, which is exact. If there
// is none, it fixes the unknown with the most neighbours at its minimum cost. Finally it improves
// the choice one unknown at a time. The lower bound comes from shifting costs between terms and
// unknowns (the sum of all minimum costs bounds the optimum). Unknowns are visited in the order of
// the problem, so a choice is deterministic.
//
// An exact solver can implement the same interface.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_LAYOUTCHOOSER_H
#define HEDDLE_LIB_TRANSFORMS_NEST_LAYOUTCHOOSER_H

#include "lib/transforms/nest/LayoutProblem.h"

namespace heddle::nest {

class LayoutChooser {
public:
  virtual ~LayoutChooser() = default;
  virtual LayoutChoice choose(const LayoutProblem &problem) const = 0;
};

std::unique_ptr<LayoutChooser> createReducingChooser();

/// Returns a lower bound of the cost of all choices. It takes as long as a choice.
double lowerBound(const LayoutProblem &problem);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_LAYOUTCHOOSER_H
