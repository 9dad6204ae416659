//===- LayoutValues.h - values that get layouts -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values of a function that get layouts. Some must share one: a donated argument and the result
// that reuses its buffer, the destination and the result of an update, and what a transfer moves:
//
//     func @f(%w {heddle.donate = 0}) { %v = nest.update %w ...; return %v }     one layout: %w, %v
//
// A written layout is the only candidate of its value; others get candidates by LayoutProposals.h.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_LAYOUTVALUES_H
#define HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_LAYOUTVALUES_H

#include "lib/transforms/nest/layout/LayoutProblem.h"

namespace heddle::nest {

struct LayoutValues {
  std::vector<LaidValue> values;
  DenseMap<Value, unsigned> index; ///< into `values`
  /// Names that a value has outermost because it is moved between devices.
  DenseMap<unsigned, SmallVector<StringAttr>> outermost;
};

/// Fails with a located message if a written layout does not fit, or if values that must share a
/// layout have different ones.
FailureOr<LayoutValues> findLayoutValues(func::FuncOp function);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_LAYOUTVALUES_H
