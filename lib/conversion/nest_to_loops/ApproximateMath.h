//===- ApproximateMath.h - functions of f32 as arithmetic -------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function takes f32 scalars or vectors (rank 1) and emits arithmetic, comparisons and selects
// of the same shape, so that vector code stays vector code on every instruction set: no function
// needs a rounding instruction that some sets lack, and none relies on fused multiply-add.
//
//     approximateExp(b, loc, {x})       k = round(x / ln 2), p = polynomial(x - k ln 2),
//                                       bits(p) + (k << 23), and inf, 0, NaN by two selects
//
// Errors are at most 4 units in the last place (docs/functions.md gives each one), and zeros,
// infinities, NaN and subnormal arguments are handled as in Annex F of C99. Results below the
// smallest normal number may be 0. The coefficients are near-minimax, from Chebyshev nodes.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_APPROXIMATEMATH_H
#define HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_APPROXIMATEMATH_H

#include "lib/support/Mlir.h"

namespace heddle::nest {

using Approximation = Value (*)(OpBuilder &, Location, ValueRange);

Value approximateExp(OpBuilder &b, Location loc, ValueRange x);
Value approximateExp2(OpBuilder &b, Location loc, ValueRange x);
Value approximateExpM1(OpBuilder &b, Location loc, ValueRange x);
Value approximateLog(OpBuilder &b, Location loc, ValueRange x);
Value approximateLog2(OpBuilder &b, Location loc, ValueRange x);
Value approximateLog10(OpBuilder &b, Location loc, ValueRange x);
Value approximateLog1p(OpBuilder &b, Location loc, ValueRange x);
/// Computes the logarithm in f64, which has enough bits for the exponent and the result.
Value approximatePower(OpBuilder &b, Location loc, ValueRange operands);
Value approximateTanh(OpBuilder &b, Location loc, ValueRange x);
Value approximateErf(OpBuilder &b, Location loc, ValueRange x);
Value approximateAtan(OpBuilder &b, Location loc, ValueRange x);

/// True where `approximateSine` is accurate: |x| <= 2^20.
Value isSmallAngle(OpBuilder &b, Location loc, Value x);
/// The sine of x + quarters * pi / 2.
Value approximateSine(OpBuilder &b, Location loc, Value x, int64_t quarters);

} // namespace heddle::nest

#endif // HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_APPROXIMATEMATH_H
