//===- Pipeline.h - recurrences whose steps are split -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If axes split the name that a recurrence runs along, each device has a block of its steps, with their
// slices of reads and outputs, which stay where they are. The carried tensors go from device to device.
// On a mesh of `stage: 4`, `nest.scan along <layer: 9> init(%h) reads(%w)` becomes
//
//     %h4 = nest.scan along <mesh$turn: 4> init(%h) {
//       %own = nest.scan along <layer: 3> init(%h) reads(%w) { ... }      on one device in each turn
//       mesh.permute %own over [stage] shift -1 wrap
//     }
//     mesh.broadcast %h4 over [stage] from 0                the last device has sent it to the first
//
// In turn `t` the tensors that device `t` has are those that the recurrence has before its block. What
// other devices compute is not used: they write no outputs. If the recurrence becomes a loop of steps
// (ScanLoops.h), they skip it (`mesh.skipped`); if it is a kernel, they run it at the same time. Steps
// beyond the size leave the carried tensors as they are.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_PIPELINE_H
#define HEDDLE_LIB_TRANSFORMS_MESH_PIPELINE_H

#include "lib/transforms/mesh/LocalSpace.h"

namespace heddle::mesh {

/// The name of the turns of such a loop.
inline constexpr const char *turnName = "mesh$turn";
/// Makes a tensor of numbers: of the coordinates of `dims`, and those of devices.
mlir::Value numbersOf(mlir::OpBuilder &b, mlir::Location loc, nd::DimsAttr dims,
                      const Expr &number);
/// Makes a loop with carried tensors, one step for each coordinate of `mesh$turn`, which `read` has.
/// `body` gets the carried tensors and the slice of `read`.
nest::ScanOp
loopOfTurns(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange inits, mlir::Value read,
            llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange, mlir::Value)> body);

/// Makes the turns of a recurrence, which is over a device's block of steps; `steps` is the split name.
/// `results` are the values that its results are used as, and get new ones.
void pipeline(nest::ScanOp scan, const LocalSpace &steps,
              llvm::MutableArrayRef<mlir::Value> results);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_PIPELINE_H
