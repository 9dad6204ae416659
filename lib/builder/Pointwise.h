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

using ScalarBody =
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, llvm::ArrayRef<mlir::Value>)>;

/// A pointwise function of operands of one element type (a number takes the others' type).
/// `result`: the result's element type, null for that of the operands.
Tensor pointwise(Here here, llvm::ArrayRef<Operand> operands, mlir::Type result, ScalarBody body);

/// The same where operands may have different element types; numbers are not allowed.
Tensor pointwiseMixed(Here here, llvm::ArrayRef<Tensor> operands, mlir::Type result,
                      ScalarBody body);

/// Converts floats as `cast` does, but keeps excess precision: for operands and results of
/// functions that compute in an accumulator's type.
Tensor converted(const Tensor &x, mlir::Type type, Here here);

/// True for arithmetic functions of floats: a number operand has the precision of the type in which
/// they compute. Other functions return, compare or select a number, which is rounded to the
/// element type.
bool isArithmetic(llvm::StringRef op);
/// Refuses a negative number as the exponent of integers.
void requireExponent(double exponent, mlir::Type element, Here here);
/// Scalar arithmetic; selects the float or integer op. `element` has the signedness.
mlir::Value binary(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef op, mlir::Value a,
                   mlir::Value b, bool isUnsigned);
/// Scalar functions of one operand, likewise. Both return null if `op` is not defined for the type.
mlir::Value unary(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef op, mlir::Value x,
                  bool isUnsigned);
/// The names that `unary` and `binary` take for floats, by the number of operands.
llvm::SmallVector<llvm::StringRef> floatFunctions(unsigned operands);

} // namespace heddle::detail

#endif // HEDDLE_LIB_BUILDER_POINTWISE_H
