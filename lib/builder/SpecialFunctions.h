//===- SpecialFunctions.h - functions as scalar expressions -----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that are written as expressions of other functions, so that neither the interpreter nor
// a target nor differentiation knows them. Operands of select are replaced where they are not
// selected, since an infinite slope there would make the gradient NaN:
//
//     select(isLarge, log(select(isLarge, x, 1.0)), ...)
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_BUILDER_SPECIALFUNCTIONS_H
#define HEDDLE_LIB_BUILDER_SPECIALFUNCTIONS_H

#include "heddle/Scalar.h"
#include "lib/builder/Graph.h"

namespace heddle::detail {

/// A function of f32 or f64.
using Composition = Scalar (*)(const Scalars &x, bool isDouble);

Scalar hypotenuse(const Scalars &x, bool isDouble);
Scalar withSignOf(const Scalars &x, bool isDouble);
Scalar erfInverse(const Scalars &x, bool isDouble);
Scalar logGamma(const Scalars &x, bool isDouble);
Scalar gammaSlope(const Scalars &x, bool isDouble);

/// `x` to the power of `n`, integers of one type; null for truth values.
Value integerPower(OpBuilder &builder, Location loc, Value x, Value n, bool isUnsigned);
/// The ops of a composition. The operands are all f32 or all f64.
Value emitComposition(OpBuilder &builder, Location loc, Composition function, ValueRange operands);

} // namespace heddle::detail

#endif // HEDDLE_LIB_BUILDER_SPECIALFUNCTIONS_H
