//===- ScanPipeline.h - pipelines of recurrences ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If axes split the name of a recurrence, each device has a block of its steps, with their slices
// of reads and outputs, which do not move. The carried tensors are sent from device to device. On a
// mesh of `stage: 4`, `nest.scan along <layer: 9> init(%h) reads(%w)` becomes
//
//     %h4 = nest.scan along <mesh$turn: 4> init(%h) {
//       %own = nest.scan along <layer: 3> init(%h) reads(%w) { ... }     on one device in each turn
//       mesh.permute %own over [stage] shift -1 wrap
//     }
//     mesh.broadcast %h4 over [stage] from 0                the last device sent it to the first
//
// In turn `t` device `t` holds the carried tensors before its block of steps. Results that other
// devices compute in that turn are discarded, and they write no outputs. If the recurrence becomes
// a loop of steps (ScansToLoops.h), they skip the steps (`mesh.skipped`); if it is a kernel, they
// run it at the same time. Steps beyond the size leave the carried tensors unchanged.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_SCANPIPELINE_H
#define HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_SCANPIPELINE_H

#include "lib/transforms/mesh/partition/LocalSpace.h"

namespace heddle::mesh {

/// The name of the turns of such a loop.
inline constexpr const char *turnName = "mesh$turn";
/// Builds a tensor of numbers, computed from the coordinates of `dims` and of the device.
Value numbersOf(OpBuilder &b, Location loc, nd::DimsAttr dims, const Expr &number);
/// Builds a loop with carried tensors and one step per coordinate of `mesh$turn`, a name of `read`.
/// `body` gets the carried tensors and the slice of `read`.
nest::ScanOp loopOfTurns(OpBuilder &b, Location loc, ValueRange inits, Value read,
                         function_ref<SmallVector<Value>(ValueRange, Value)> body);

/// Builds the turns of a recurrence over the device's block of steps; `steps` has the split name.
/// `results` are replaced by the new results.
void pipelineScan(nest::ScanOp scan, const LocalSpace &steps, MutableArrayRef<Value> results);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_SCANPIPELINE_H
