//===- ControlFlow.h - structured control flow over tensors -----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions may contain `scf.if`, `scf.for` and `scf.while` whose values are tensors. Their scalars
// come from `nd.item` and constants, and `nd.from_item` converts them back. Small control flow, and
// control flow that is differentiated, becomes ops without jumps: a loop with a constant trip count
// becomes a scan,
//
//     %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x) -> T
//     becomes   %r = nest.scan along <step$1: 9> init(%x) reads(%iota)
//
// and a branch computes both sides and selects (ops have no side effects). Other `scf.while` and
// `scf.if` ops remain until the function's names are chosen; then `nd-outline-control` outlines
// their regions into functions, between which the compiled program jumps:
//
//     scf.while (%s = %x) { c(%s) } do { f(%s) }
//     becomes   %c = c(%x)
//               nest.control [@loop] %c, %x
//     with      @loop(%c, %s) = { %t = f(%s); return c(%t), %t }
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_ND_CONTROLFLOW_H
#define HEDDLE_TRANSFORMS_ND_CONTROLFLOW_H

#include "lib/support/Mlir.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace heddle::nd {

/// Replaces the `scf.for` loops in `root`: those without a constant trip count, and those that
/// contain remaining loops, become `scf.while`; the others become scans. With `keepsHeavy`,
/// expensive loops and scans, and scans that contain loops, become `scf.while` as well.
LogicalResult convertLoopsToScans(Operation *root, bool keepsHeavy = false);
/// Replaces an innermost loop with a constant trip count by a scan.
LogicalResult convertLoopToScan(mlir::scf::ForOp op);
/// Replaces the loops in `root` without a constant trip count by `scf.while`.
LogicalResult convertLoopsToWhiles(Operation *root);

/// True if `op` should be computed before the op `region`, in whose regions it is used, instead of
/// being recomputed there: `op` is expensive, or its results are no larger than its operands.
bool isWorthKeeping(Operation *op, Operation *region);

/// Requires the values that control flow passes on to be tensors.
LogicalResult expectTensors(Operation *op, TypeRange types);
/// Requires a scalar of the control flow `op` to come from a tensor, or to be a constant.
LogicalResult expectScalar(Operation *op, Value scalar);
/// Erases scalar ops without uses.
void eraseDeadScalarsIn(Operation *root);
/// The tensor for a scalar of control flow: the operand of its `nd.item`, or a constant. Null, with
/// a diagnostic at `op`, for other scalars.
Value tensorOfScalar(OpBuilder &builder, Operation *op, Value scalar);

} // namespace heddle::nd

#endif // HEDDLE_TRANSFORMS_ND_CONTROLFLOW_H
