//===- LayoutChooser.h - solves the choice of layouts -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chooser maps a LayoutProblem to a LayoutChoice, and depends on nothing else. The chooser that
// `createReducingChooser` makes eliminates unknowns with at most two neighbours, which is exact. If
// no such unknown is left, it fixes the one with the most neighbours by their least costs. Then it
// improves the choice one unknown at a time. The lower bound comes from shifting costs between
// terms and unknowns (the sum of every unknown's least cost bounds the optimum). Unknowns are
// visited in the order of the problem, so a choice depends on the program alone.
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

/// Returns a cost such that no choice costs less. It takes as long as a choice.
double lowerBound(const LayoutProblem &problem);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_LAYOUTCHOOSER_H
