//===- Approximate.h - functions of f32 as arithmetic -----------*- C++ -*-===//
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

#ifndef HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_APPROXIMATE_H
#define HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_APPROXIMATE_H

#include "mlir/IR/Builders.h"

namespace heddle::nest {

using Approximation = mlir::Value (*)(mlir::OpBuilder &, mlir::Location, mlir::ValueRange);

mlir::Value approximateExp(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange x);
mlir::Value approximateExp2(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange x);
mlir::Value approximateExpM1(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange x);
mlir::Value approximateLog(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange x);
mlir::Value approximateLog2(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange x);
mlir::Value approximateLog10(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange x);
mlir::Value approximateLog1p(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange x);
/// Computes the logarithm in f64, which has enough bits for the exponent and the result.
mlir::Value approximatePower(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange operands);
mlir::Value approximateTanh(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange x);
mlir::Value approximateErf(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange x);
mlir::Value approximateAtan(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange x);

/// True where `approximateSine` is accurate: |x| <= 2^20.
mlir::Value isSmallAngle(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
/// The sine of x + quarters * pi / 2.
mlir::Value approximateSine(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                            int64_t quarters);

} // namespace heddle::nest

#endif // HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_APPROXIMATE_H
