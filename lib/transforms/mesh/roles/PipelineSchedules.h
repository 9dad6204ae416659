//===- PipelineSchedules.h - GPipe, 1F1B and others -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan may state the order in which each role runs the forward (F) and backward (B) passes of the
// parts of a batch (BatchParts.h), whatever ops cost. With two roles and three parts:
//
//     schedule gpipe    stage=0:  F0 F1 F2          B0    B1    B2         all forward passes first
//                       stage=1:     F0 F1 F2 B0    B1    B2
//
//     schedule 1f1b     stage=0:  F0 F1    B0 F2 B1    B2            holds values of 2 parts, not 3
//                       stage=1:     F0 B0 F1 B1 F2 B2
//
// Of p roles, the one that is s-th in the forward pass begins with p - s - 1 forward passes, and
// then alternates. Both wait (p - 1) / m of the time of m parts.
//
// If values pass each role v times (the operators of a network have the places 0, 1, 0, 1), the ops
// of a pass that follow a way back to an earlier role are its next chunk.
//
//     schedule interleaved    the chunks of p parts one after another, and alternate after
//                             2 (p - s - 1) + (v - 1) p of them: waits (p - 1) / (v m)
//
// `greedy` is list scheduling by cost (OrderOps.h). A plan without a schedule has it, too.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_ROLES_PIPELINESCHEDULES_H
#define HEDDLE_LIB_TRANSFORMS_MESH_ROLES_PIPELINESCHEDULES_H

#include "lib/transforms/mesh/roles/PlaceOps.h"

namespace heddle::mesh {

/// Sorts the ops of the function's body, so that those of each role are in the order of the
/// schedule. Functions without gradients stay as they are, and the result is false. Fails with a
/// message if values do not pass the roles as the schedule expects.
FailureOr<bool> sortBySchedule(func::FuncOp function, const PlacedOps &placed, StringRef schedule);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_ROLES_PIPELINESCHEDULES_H
