//===- InlineCalls.h - inlines calls, with lifting --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces a call by the callee's ops. A call may lift: every op of the callee gets the names that
// operands have and formals lack. The callee's own names are first renamed apart, so that they
// can't capture a caller's name (Lift.h). For nested calls the order matters: inlining callers
// first copies an op once per final copy; differentiation inlines callees first.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_ND_INLINECALLS_H
#define HEDDLE_TRANSFORMS_ND_INLINECALLS_H

#include "dialects/nd/Nd.h"

namespace heddle::nd {

/// Replaces `op` by a lifted copy of the callee's ops (Lift.h) and returns its results. Calls
/// inside the callee remain. `functions`, if not null, speeds up the lookup of callees.
/// `differentiable`: derivatives of the copy will be expanded later.
FailureOr<SmallVector<Value>> inlineCall(CallOp op,
                                         mlir::SymbolTableCollection *functions = nullptr,
                                         bool differentiable = false);

/// Inlines the calls in the regions of `root` for which `isAsked` holds, and those in the
/// inserted code.
LogicalResult inlineCalls(Operation *root, function_ref<bool(CallOp)> isAsked,
                          mlir::SymbolTableCollection &functions, bool differentiable = false);

/// The function to which a call, or a request for derivatives, refers; null for other ops.
mlir::FlatSymbolRefAttr calleeOf(Operation *op);

/// The functions of `module`, each after those that it calls or differentiates. Rejects recursion,
/// and regions that would be nested too deep after inlining (lib/analysis/Nesting.h).
FailureOr<SmallVector<func::FuncOp>> calleesFirst(ModuleOp module);

/// Rejects public functions that would exceed `mostInlinedOps`, by counting along the call graph
/// before inlining. `calleesFirst` are all functions.
LogicalResult requireInlinable(ArrayRef<func::FuncOp> calleesFirst);
/// Rejects a request for derivatives whose expansion would exceed the limit.
LogicalResult requireExpandable(Operation *request, func::FuncOp callee);

/// The called function; rejects it unless its body is a single block.
FailureOr<func::FuncOp> definedCallee(Operation *op, mlir::FlatSymbolRefAttr callee,
                                      mlir::SymbolTableCollection *functions = nullptr);

} // namespace heddle::nd

#endif // HEDDLE_TRANSFORMS_ND_INLINECALLS_H
