//===- GenerateScalar.h - random scalar code --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scalar code of pointwise ops and of bodies of kernels: a few ops on the arguments, in one of
// their types.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_LAWS_GENERATESCALAR_H
#define HEDDLE_TEST_UNIT_LAWS_GENERATESCALAR_H

#include "test/unit/laws/Dice.h"

#include "dialects/nd/NdBuild.h"

namespace heddle::laws {

/// An element type; floats more often than integers, f32 most of all.
mlir::Type drawElement(Dice &dice, mlir::MLIRContext *context, bool smooth);

/// Code on `scalars`, whose element types are `from`, that computes a scalar of element type `to`.
mlir::Value drawScalarCode(Dice &dice, mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::ValueRange scalars, llvm::ArrayRef<mlir::Type> from, mlir::Type to,
                           bool smooth);

/// A comparison of one of the scalars with another one or a number.
mlir::Value drawCondition(Dice &dice, mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::ValueRange scalars, llvm::ArrayRef<mlir::Type> from, bool smooth);
/// Combines x and y by a named combiner.
mlir::Value combineScalars(mlir::OpBuilder &builder, mlir::Location loc, nd::CombinerKind kind,
                           bool isSigned, mlir::Value x, mlir::Value y);

} // namespace heddle::laws

#endif // HEDDLE_TEST_UNIT_LAWS_GENERATESCALAR_H
