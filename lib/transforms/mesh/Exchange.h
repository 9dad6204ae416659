//===- Exchange.h - intervals of neighbours' blocks -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A window reads a tensor beyond a device's own block. With `row: 12` in blocks of 3, the points
// `row = 3 * mesh.data + row + ky - 1` of a device, for ky below 3, are an interval that begins one
// element before its block and ends one after it. Each neighbour sends its part:
//
//     %low = mesh.permute (the last row of the block) shift -1
//     %high = mesh.permute (the first row) shift 1
//     rows -1 to 3 of the device:  %low, its block, %high      read at [row = row + ky]
//
// An interval that is wider than a block has parts from several neighbours.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_EXCHANGE_H
#define HEDDLE_LIB_TRANSFORMS_MESH_EXCHANGE_H

#include "dialects/mesh/Mesh.h"

namespace heddle::mesh {

/// The elements that any device needs, relative to the first element of its block.
struct Interval {
  AxisList axes;
  int64_t low, high; ///< the first and the last element
  int64_t block;     ///< elements of a block
  Expr coordinate;   ///< of a read, relative to `low`
};

/// The interval that reads at `coordinate` (of the whole tensor, over local names and the devices'
/// coordinates) need of a name that `axes` split. None if it is not one, or not cheaper than all.
std::optional<Interval> intervalOf(MeshAttr mesh, llvm::ArrayRef<Axis> axes, const Expr &size,
                                   const Expr &coordinate, const Ranges &ranges);

/// The interval of the tensor of which `value` is the block.
mlir::Value exchange(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                     const std::string &name, const Interval &interval);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_EXCHANGE_H
