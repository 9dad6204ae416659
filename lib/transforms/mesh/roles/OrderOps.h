//===- OrderOps.h - the order in which roles run ops ------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Roles run concurrently. In program order a role may wait for a value although later ops could
// run. With two micro-batches, whose forward passes are F and backward passes B,
//
//     stage=0:  F0          B0 F1          B1          stage=0:  F0 F1    B0       B1
//     stage=1:     F0 B0          F1 B1          ->    stage=1:     F0 B0 F1 B1
//
// This is list scheduling: ops are ordered by start time, where each idle role starts its first op
// in program order whose operands are available. Ops and messages take the times of the cost models
// (lib/cost/BlockTimes.h). Since program order breaks ties, B0 precedes F2 where both can run: a
// role keeps no more values for backward passes than it computes while it would otherwise wait.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_ROLES_ORDEROPS_H
#define HEDDLE_LIB_TRANSFORMS_MESH_ROLES_ORDEROPS_H

#include "lib/transforms/mesh/roles/PlaceOps.h"

namespace heddle::mesh {

/// Reorders the ops of the function's body. If the module states a schedule (PipelineSchedules.h),
/// each role runs its ops in that order, and only the order of messages follows from times. Fails
/// with a message if it can't.
LogicalResult orderOps(func::FuncOp function, const PlacedOps &placed);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_ROLES_ORDEROPS_H
