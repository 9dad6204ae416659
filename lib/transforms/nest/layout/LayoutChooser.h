//===- LayoutChooser.h - solves the choice of layouts -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chooser maps a LayoutProblem to a LayoutChoice, and depends on nothing else.
// `createReducingChooser` states it as a PairwiseProblem, whose unknowns are the layouts of values
// and the ways of nests, and solves that (PairwiseChoice.h). Unknowns are visited in the order of
// the problem, and effort is counted in steps, so a choice is deterministic.
//
// Another solver can implement the same interface.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_LAYOUTCHOOSER_H
#define HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_LAYOUTCHOOSER_H

#include "lib/transforms/nest/layout/LayoutProblem.h"

namespace heddle::nest {

class LayoutChooser {
public:
  virtual ~LayoutChooser() = default;
  virtual LayoutChoice choose(const LayoutProblem &problem) const = 0;
};

/// Its choices have bounds: most are the cheapest ones.
std::unique_ptr<LayoutChooser> createReducingChooser();

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_LAYOUTCHOOSER_H
