//===- PartialSums.h - combines partial sums first --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sum of sums over devices needs only one collective: each device first adds its own parts.
//
//     %a = mesh.all_reduce %p over [data]             %c = nest.compute  p + q
//     %b = mesh.all_reduce %q over [data]      ->     %s = mesh.all_reduce %c over [data]
//     %s = nest.compute  a + b
//
// For mesh.reduce_scatter each device adds whole tensors before. If a recurrence carries such a
// sum, one collective follows the recurrence. The same rewrites apply to every named combiner
// (products, maxima, ...).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_PARTIALSUMS_H
#define HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_PARTIALSUMS_H

#include "dialects/mesh/MeshDialect.h"

namespace heddle::mesh {

/// `value` on the device with the first part; `neutral` on all others.
Value keepOnFirstPart(OpBuilder &b, Location loc, MeshAttr mesh, Value value, ArrayRef<Axis> axes,
                      TypedAttr neutral);

/// Rewrites a combination of all-reduces or reduce-scatters, whose results have no other use, so
/// that operands are combined before one collective.
void reduceAfterSums(Block &block);

/// Moves the collectives of sums that the recurrence carries after it; `results` get their results.
void reduceAfterScan(nest::ScanOp scan, MeshAttr mesh, MutableArrayRef<Value> results);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_PARTIALSUMS_H
