//===- Deviations.h - bounds from perturbed executions ----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bounds of `interpret` hold for every execution, so each op adds its worst case. After a whole
// training step they exceed the values, or the interval of a decision (a ReLU at 1e-9) contains its
// threshold and leaves all dependent values undecided. `interpretClosely` has the same values. If
// their bounds are not useful, it runs the function several more times with perturbed rounding in
// the element types (Scalar.h), and uses a multiple of the largest deviation from the value
// instead:
//
//     x = 1000 times x = x * 1.1 - x * 0.1        interpret:         1 +- 1e50
//                                                 interpretClosely:  1 +- 1e-4
//
// Such a bound is likely, not certain. Useful bounds and decided elements do not change. An
// undecided element remains undecided if its new bound would leave it uncertain (TensorValue.h).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_INTERP_DEVIATIONS_H
#define HEDDLE_LIB_INTERP_DEVIATIONS_H

#include "lib/interp/Interpreter.h"

namespace heddle::interp {

FailureOr<SmallVector<TensorValue>>
interpretClosely(func::FuncOp func, ArrayRef<TensorValue> arguments, const ExprMap &known = {});

} // namespace heddle::interp

#endif // HEDDLE_LIB_INTERP_DEVIATIONS_H
