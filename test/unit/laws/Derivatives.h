//===- Derivatives.h - functions that compute derivatives -------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that compute derivatives of others, and identities to test them: for L = <w, f(x)> and
// a direction v gradients satisfy <grad L, v> = (L(x + hv) - L(x - hv)) / 2h, and tangents satisfy
// <w, Jv> = <J'w, v>.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_LAWS_DERIVATIVES_H
#define HEDDLE_TEST_UNIT_LAWS_DERIVATIVES_H

#include "test/unit/laws/Laws.h"

#include "dialects/nd/NdBuild.h"

#include <cmath>

namespace heddle::laws {

/// Adds @`name`, which returns the gradients of @`of` by all float arguments, given cotangents.
mlir::func::FuncOp addGradient(mlir::ModuleOp module, mlir::func::FuncOp of, llvm::StringRef name);
/// Adds @`name`, which returns the tangents of @`of`; its arguments are those of @`of`, then a
/// direction for each float argument.
mlir::func::FuncOp addTangent(mlir::ModuleOp module, mlir::func::FuncOp of, llvm::StringRef name);

/// Expands derivatives, inlines calls, and perhaps simplifies. Returns what is reported if a pass
/// fails.
std::optional<std::string> expandDerivatives(mlir::ModuleOp module, bool simplifies);

double inner(const TensorValue &a, const TensorValue &b);
double size(const TensorValue &a);
bool isReal(const TensorValue &value);
/// <w, f(x + hv)>; NaN if it is undecided.
double loss(mlir::func::FuncOp function, Values x, llvm::ArrayRef<TensorValue> v, double h,
            llvm::ArrayRef<TensorValue> w);
/// The sum of <a, b> over the pairs, and the scale of its rounding error.
std::pair<double, double> innerOfAll(llvm::ArrayRef<TensorValue> a, llvm::ArrayRef<TensorValue> b);
Values realsOf(llvm::ArrayRef<TensorValue> values);
Values joined(llvm::ArrayRef<TensorValue> a, llvm::ArrayRef<TensorValue> b);
/// Values of @`of`'s results for the arguments; none if the interpreter refuses.
std::optional<Values> valuesOf(mlir::ModuleOp module, llvm::StringRef of,
                               llvm::ArrayRef<TensorValue> arguments);

} // namespace heddle::laws

#endif // HEDDLE_TEST_UNIT_LAWS_DERIVATIVES_H
