//===- Partition.h - the program of one device ------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites a function of nests as the program that each device of a mesh runs on its blocks. The
// attribute `mesh.sharding` of a nest splits its iteration names. With `row: [data]` and `data: 2`,
//
//     nest.compute (column: 4) reduce (row: 5) reads %x[] {...} combine add [0.0 : f32]
//
// becomes a sum over the device's rows, a sum over devices, and then the nest's epilogue, if any:
//
//     %part = nest.compute (column: 4) reduce (row: 3)
//         reads %x[] if [4 - 3 * mesh.data - row >= 0] ...
//     mesh.all_reduce %part over [data] combine add [0.0 : f32]
//
// If a split name of a tensor is read at exactly the iteration name with the same axes, the device
// reads its own block; other reads gather first. Guards exclude points beyond the size of a name
// from reductions and updates; elsewhere the results of such points are undefined and never read.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_PARTITION_H
#define HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_PARTITION_H

#include "dialects/mesh/MeshDialect.h"

namespace heddle::mesh {

/// Rewrites the function, whose arguments and nests have shardings. Operands of at least
/// `leastRing` bytes are passed around a ring (RingOperands.h) instead of gathered.
LogicalResult partition(func::FuncOp function, MeshAttr mesh, double leastRing);
/// True for the program of one device, or of one role.
bool isPartitioned(func::FuncOp function);
/// The functions that control flow calls: each device runs them whole.
DenseSet<Operation *> functionsOfControl(ModuleOp module);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_PARTITION_H
