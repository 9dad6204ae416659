//===- Mlir.h - names of MLIR without a prefix ------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The names of MLIR and LLVM that our headers use most, for the namespace heddle, as
// mlir/Support/LLVM.h has those of LLVM for the namespace mlir:
//
//     Value buildSlice(OpBuilder &builder, Location loc, Value input, StringRef name);
//
// Headers spell other names with `mlir::` or `llvm::`; sources have `using namespace mlir`. Who
// includes this header, or one that does, need not include those of functions, modules, types,
// attributes and builders.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_SUPPORT_MLIR_H
#define HEDDLE_LIB_SUPPORT_MLIR_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace heddle {
namespace func = mlir::func;

using llvm::ArrayRef;
using llvm::MutableArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;
using llvm::StringLiteral;
using llvm::StringRef;
using mlir::ArrayAttr;
using mlir::Attribute;
using mlir::Block;
using mlir::DenseMap;
using mlir::DenseSet;
using mlir::DictionaryAttr;
using mlir::FailureOr;
using mlir::FloatType;
using mlir::function_ref;
using mlir::IntegerAttr;
using mlir::Location;
using mlir::LogicalResult;
using mlir::MLIRContext;
using mlir::ModuleOp;
using mlir::OpBuilder;
using mlir::Operation;
using mlir::StringAttr;
using mlir::Type;
using mlir::TypedAttr;
using mlir::TypeRange;
using mlir::Value;
using mlir::ValueRange;
} // namespace heddle

#endif // HEDDLE_LIB_SUPPORT_MLIR_H
