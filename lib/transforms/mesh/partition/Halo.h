//===- Halo.h - intervals of neighbours' blocks -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A window reads elements beyond a device's own block (a halo). With `row: 12` in blocks of 3, the
// points `row = 3 * mesh.data + row + ky - 1` of a device, for ky below 3, are an interval that
// begins one element before its block and ends one after it. Neighbours send these parts:
//
//     %low = mesh.permute (the last row of the block) shift -1
//     %high = mesh.permute (the first row) shift 1
//     rows -1 to 3 of the device:  %low, its block, %high      read at [row = row + ky]
//
// If the interval is wider than a block, several neighbours send parts.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_HALO_H
#define HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_HALO_H

#include "dialects/mesh/MeshDialect.h"

namespace heddle::mesh {

/// An interval of elements that devices need, relative to the first element of their block.
struct Interval {
  AxisList axes;
  int64_t low, high; ///< the first and the last element
  int64_t block;     ///< size of a block
  Expr coordinate;   ///< coordinate of the read, relative to `low`
};

/// The interval of a name split by `axes` that reads at `coordinate` (of the whole tensor, over
/// local names and device coordinates) need. None if the reads are no interval, or gathering is as
/// cheap.
std::optional<Interval> intervalOf(MeshAttr mesh, ArrayRef<Axis> axes, const Expr &size,
                                   const Expr &coordinate, const Ranges &ranges);

/// Builds the interval from the block `value` by exchanging its parts.
Value exchangeHalo(OpBuilder &b, Location loc, Value value, const std::string &name,
                   const Interval &interval);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_HALO_H
