//===- InlineCalls.h - calls become the callee's ops ------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A callee's ops in the place of a call. A call may lift: names that the operands have and the
// formals lack run through all of the callee, whose own names are renamed apart first, so that none
// captures a caller's name (Lift.h). Order matters where calls are nested: from callers downwards
// an op is copied once for each place where it ends up; where derivatives are taken callees come
// first.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_ND_INLINECALLS_H
#define HEDDLE_TRANSFORMS_ND_INLINECALLS_H

#include "dialects/nd/Nd.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace heddle::nd {

/// Replaces `op` by a lifted copy of the callee's ops (Lift.h) and gives the values of its results.
/// Calls inside the callee stay. `functions`, if given, find a callee faster.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
inlineCall(CallOp op, mlir::SymbolTableCollection *functions = nullptr);

/// Inlines the calls in the regions of `around` that are asked for, and those in what they become.
mlir::LogicalResult inlineCalls(mlir::Operation *around, llvm::function_ref<bool(CallOp)> isAsked,
                                mlir::SymbolTableCollection &functions);

/// The function that a call, or a request for derivatives, names; null for other ops.
mlir::FlatSymbolRefAttr calleeOf(mlir::Operation *op);

/// The functions of `module`, each after those that it calls or differentiates; refuses recursion,
/// and regions that would lie too deep after inlining (lib/analysis/Nesting.h).
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>> calleesFirst(mlir::ModuleOp module);

/// Refuses public functions of which inlining would make more, before any is made: counts along the
/// graph of calls. `calleesFirst` are all functions.
mlir::LogicalResult requireInlinable(llvm::ArrayRef<mlir::func::FuncOp> calleesFirst);
/// Refuses a request in a function that holds so many ops already that its callee's do not fit.
mlir::LogicalResult requireExpandable(mlir::Operation *request, mlir::func::FuncOp callee);

/// The function called, refused where it has no body of one block.
mlir::FailureOr<mlir::func::FuncOp> definedCallee(mlir::Operation *op,
                                                  mlir::FlatSymbolRefAttr callee,
                                                  mlir::SymbolTableCollection *functions = nullptr);

} // namespace heddle::nd

#endif // HEDDLE_TRANSFORMS_ND_INLINECALLS_H
