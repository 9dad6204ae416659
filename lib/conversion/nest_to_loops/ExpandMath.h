//===- ExpandMath.h - mathematical functions as arithmetic ------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expands functions of scalars and vectors of any width to polynomials. A function without a
// polynomial becomes one call per element (lib/target/cpu/BuiltinsMath.h).
//
//     math.sin %x : vector<16xf32>      all |x| <= 2^20: reduced in doubles, then a polynomial;
//                                       else 16 calls of sinf, which reduces any number exactly
//
// `arith.maximumf` and `minimumf` are kept: LLVM orders -0 below 0.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_EXPANDMATH_H
#define HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_EXPANDMATH_H

#include "mlir/Pass/Pass.h"

namespace heddle::nest {

std::unique_ptr<mlir::Pass> createExpandMathPass();

} // namespace heddle::nest

#endif // HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_EXPANDMATH_H
