//===- ControlFlow.h - structured control flow over tensors -----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions may hold `scf.if`, `scf.for` and `scf.while` whose values are tensors. Their scalars
// come from `nd.item` and constants, and go back by `nd.from_item`. Two rewrites take them to ops
// that need no control: a loop with a known number of steps is a scan that carries its tensors,
//
//     %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x) -> T      nest.scan along <step$1:
//     9>
//                                                                            init(%x) reads(%iota)
//
// and a branch computes both sides and selects (ops have no effects and always come to an end).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_ND_CONTROLFLOW_H
#define HEDDLE_TRANSFORMS_ND_CONTROLFLOW_H

#include "mlir/Support/LogicalResult.h"

namespace mlir {
class Operation;
} // namespace mlir

namespace heddle::nd {

/// Replaces the loops in `root` (`scf.for`) by scans; refuses those of which the number of steps is
/// not known.
mlir::LogicalResult scansForLoops(mlir::Operation *root);
/// Replaces the branches in `root` (`scf.if`) by both sides and selections.
mlir::LogicalResult selectionsForBranches(mlir::Operation *root);

} // namespace heddle::nd

#endif // HEDDLE_TRANSFORMS_ND_CONTROLFLOW_H
