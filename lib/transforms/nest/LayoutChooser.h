//===- LayoutChooser.h - who chooses layouts --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chooser gets a LayoutProblem and gives a LayoutChoice, and knows nothing else. The first one,
// `createReducingChooser`, eliminates unknowns that touch at most two others, which is exact, and
// where none is left fixes the one that touches most others by its neighbours' least costs; then it
// improves the choice one unknown at a time. The bound comes from shifting costs between terms and
// unknowns (every unknown's least cost, added up, bounds the optimum). Unknowns are met in the order
// of the problem, so a choice depends on the program alone.
//
// A solver that is exact on everything fills the same interface.
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

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_LAYOUTCHOOSER_H
