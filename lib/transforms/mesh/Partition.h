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
// becomes the sum of a device's rows, the sum over devices, and where the nest has one, its epilogue:
//
//     %part = nest.compute (column: 4) reduce (row: 3) reads %x[] if [4 - 3 * mesh.data - row >= 0] ...
//     mesh.all_reduce %part over [data] combine add [0.0 : f32]
//
// A read of a split name of a tensor at exactly that iteration name is one of the device's own block;
// any other read gathers first. Points beyond the size of a name are excluded from reductions and
// updates by guards; elsewhere their results are undefined, and nothing reads them.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_H
#define HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_H

#include "dialects/mesh/Mesh.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::mesh {

/// Rewrites the function, whose arguments and nests state their shardings. Operands of `leastRing` bytes
/// go around a ring (Ring.h) rather than be gathered.
mlir::LogicalResult partition(mlir::func::FuncOp function, MeshAttr mesh, double leastRing);
/// True for the program of one device, or of one role.
bool isPartitioned(mlir::func::FuncOp function);
/// The functions that others run by control flow: each device runs them whole.
llvm::DenseSet<mlir::Operation *> controlled(mlir::ModuleOp module);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_H
