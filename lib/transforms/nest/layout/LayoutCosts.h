//===- LayoutCosts.h - costs of layouts for nests ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adds nests to a problem whose values have candidates: the ways to run each nest, and the cost of
// each candidate by each way. Equal layers have equal nests and equal copies, whose costs are
// computed once (EqualNests.h).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_LAYOUTCOSTS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_LAYOUTCOSTS_H

#include "lib/analysis/NestModel.h"
#include "lib/transforms/nest/layout/LayoutProblem.h"

namespace heddle::nest {

/// Adds the nests of a function, and their terms. `index` has the numbers of the problem's values.
void addNests(LayoutProblem &problem, const DenseMap<Value, unsigned> &index,
              ArrayRef<NestModel> nests, const cost::Machine &machine);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_LAYOUTCOSTS_H
