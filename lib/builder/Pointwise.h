//===- Pointwise.h - scalar functions on tensors ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One helper behind all pointwise functions of the API: it aligns operands by name, turns numbers
// into constants of the region, and fills the region of one nd.pointwise.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_BUILDER_POINTWISE_H
#define HEDDLE_LIB_BUILDER_POINTWISE_H

#include "lib/builder/Graph.h"

namespace heddle::detail {

using ScalarBody = function_ref<Value(OpBuilder &, Location, ArrayRef<Value>)>;

/// A pointwise function of operands of one element type (a number takes the others' type).
/// `result`: the result's element type, null for that of the operands.
Tensor pointwise(Here here, ArrayRef<Operand> operands, Type result, ScalarBody body);

/// The same where operands may have different element types; numbers are not allowed.
Tensor pointwiseMixed(Here here, ArrayRef<Tensor> operands, Type result, ScalarBody body);

/// Converts floats as `cast` does, but keeps excess precision: for operands and results of
/// functions that compute in an accumulator's type.
Tensor converted(const Tensor &x, Type type, Here here);

/// True for arithmetic functions of floats: a number operand has the precision of the type in which
/// they compute. Other functions return, compare or select a number, which is rounded to the
/// element type.
bool isArithmetic(StringRef op);
/// Refuses a negative number as the exponent of integers.
void requireExponent(double exponent, Type element, Here here);
/// Scalar arithmetic; selects the float or integer op. `element` has the signedness.
Value binary(OpBuilder &builder, Location loc, StringRef op, Value a, Value b, bool isUnsigned);
/// Scalar functions of one operand, likewise. Both return null if `op` is not defined for the type.
Value unary(OpBuilder &builder, Location loc, StringRef op, Value x, bool isUnsigned);
/// The names that `unary` and `binary` take for floats, by the number of operands.
SmallVector<StringRef> floatFunctions(unsigned operands);

} // namespace heddle::detail

#endif // HEDDLE_LIB_BUILDER_POINTWISE_H
