//===- ComposeMath.h - functions made of other functions --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function takes scalars or vectors of f32 or f64 and emits arithmetic and ops of the math
// dialect, which ExpandMath.cpp expands in turn. So no target needs code for them:
//
//     composeSinh(b, loc, {x})       t = expm1(|x|), (t + t / (t + 1)) / 2, with the sign of x
//
// Errors and special values are as in ApproximateMath.h.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_COMPOSEMATH_H
#define HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_COMPOSEMATH_H

#include "lib/conversion/nest_to_loops/ApproximateMath.h"

namespace heddle::nest {

Value composeSinh(OpBuilder &b, Location loc, ValueRange x);
Value composeCosh(OpBuilder &b, Location loc, ValueRange x);
Value composeAsinh(OpBuilder &b, Location loc, ValueRange x);
Value composeAcosh(OpBuilder &b, Location loc, ValueRange x);
Value composeAtanh(OpBuilder &b, Location loc, ValueRange x);
Value composeErfc(OpBuilder &b, Location loc, ValueRange x);

} // namespace heddle::nest

#endif // HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_COMPOSEMATH_H
