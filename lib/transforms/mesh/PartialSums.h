//===- PartialSums.h - sums of which each device has a part -----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sum of sums over devices needs one collective: each device adds its own parts first.
//
//     %a = mesh.all_reduce %p over [data]             %c = nest.compute  p + q
//     %b = mesh.all_reduce %q over [data]      ->     %s = mesh.all_reduce %c over [data]
//     %s = nest.compute  a + b
//
// If each device gets a block (mesh.reduce_scatter), it adds whole parts before. If a recurrence
// carries such a sum, one collective follows the recurrence. The same rewrites apply to every named
// combiner (products, maxima, ...).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_PARTIALSUMS_H
#define HEDDLE_LIB_TRANSFORMS_MESH_PARTIALSUMS_H

#include "dialects/mesh/Mesh.h"

namespace heddle::mesh {

/// `value` on the device whose part is the first one; `neutral` on all others.
mlir::Value onFirst(mlir::OpBuilder &b, mlir::Location loc, MeshAttr mesh, mlir::Value value,
                    llvm::ArrayRef<Axis> axes, mlir::TypedAttr neutral);

/// Combines the operands of all-reduces or reduce-scatters, and then reduces, where the block does it the other way round
/// and uses their results for nothing else.
void reduceAfterSums(mlir::Block &block);

/// Moves the collectives of sums that the recurrence carries behind it; `results` get their results.
void reduceOnce(nest::ScanOp scan, MeshAttr mesh, llvm::MutableArrayRef<mlir::Value> results);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_PARTIALSUMS_H
