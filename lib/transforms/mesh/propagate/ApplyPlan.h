//===- ApplyPlan.h - meshes and shardings by rules --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Applies a plan (lib/support/PlanFile.h) to a program: the mesh becomes an attribute of the
// module, and rules become `mesh.sharding` of the arguments whose names they match. Rules of
// operators are kept in `mesh.rules` until there are nests (OperatorRules.h). Links are stated in
// `heddle.machine` (lib/cost/Machine.h), so that passes decide by them. A plan for another graph
// (lib/transforms/names/GraphHash.h) is refused.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_PROPAGATE_APPLYPLAN_H
#define HEDDLE_LIB_TRANSFORMS_MESH_PROPAGATE_APPLYPLAN_H

#include "lib/support/Mlir.h"
#include "lib/support/PlanFile.h"

namespace heddle::mesh {

/// Writes the plan to the module and the arguments of its public functions. An empty plan has no
/// effect.
LogicalResult applyPlan(ModuleOp module, const Plan &plan);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_PROPAGATE_APPLYPLAN_H
