//===- ControlFlow.h - structured control flow over tensors -----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions may hold `scf.if`, `scf.for` and `scf.while` whose values are tensors. Their scalars
// come from `nd.item` and constants, and go back by `nd.from_item`. What is small, or has to be
// differentiated, becomes ops that need no control: a loop with a known number of steps is a scan,
//
//     %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x) -> T
//     becomes   %r = nest.scan along <step$1: 9> init(%x) reads(%iota)
//
// and a branch computes both sides and selects (ops have no effects). The rest, `scf.while` and
// `scf.if`, stays until the function's names are chosen; then `outlineControl` makes functions of
// its parts, which the compiled program jumps among:
//
//     scf.while (%s = %x) { c(%s) } do { f(%s) }
//     becomes   %c = c(%x)
//               nest.control [@loop] %c, %x
//     with      @loop(%c, %s) = { %t = f(%s); return c(%t), %t }
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_ND_CONTROLFLOW_H
#define HEDDLE_TRANSFORMS_ND_CONTROLFLOW_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"

namespace heddle::nd {

/// Replaces the loops in `root` (`scf.for`): those of which the number of steps is not known, and
/// those that hold loops which have to stay, by `scf.while`; the others by scans. Where
/// `keepsHeavy`, loops and scans whose steps are much work, and scans that hold loops, become
/// `scf.while`, too.
mlir::LogicalResult scansForLoops(mlir::Operation *root, bool keepsHeavy = false);
/// Replaces a loop whose number of steps is known, and that holds none, by a scan.
mlir::LogicalResult scanForLoop(mlir::scf::ForOp op);
/// Replaces those loops in `root` of which the number of steps is not known by `scf.while`.
mlir::LogicalResult whilesForCounts(mlir::Operation *root);
/// Replaces the branches in `root` (`scf.if`) by both sides and selections; those stay that hold
/// loops, and those whose sides are much work.
mlir::LogicalResult selectionsForBranches(mlir::Operation *root);
/// Makes `nest.control` and functions of what is left, in all functions of `module`.
mlir::LogicalResult outlineControl(mlir::ModuleOp module);

/// True if it takes less to read the results of `op`, in the regions of `region`, from before it
/// than to compute them again: something is combined, or the results are no larger than what they
/// are computed from.
bool isWorthKeeping(mlir::Operation *op, mlir::Operation *region);

/// The tensor that a scalar of control flow was taken from: what `nd.item` takes, or a constant.
/// Null, with a diagnostic at `op`, if it is something else.
mlir::Value tensorOfScalar(mlir::OpBuilder &builder, mlir::Operation *op, mlir::Value scalar);

} // namespace heddle::nd

#endif // HEDDLE_TRANSFORMS_ND_CONTROLFLOW_H
