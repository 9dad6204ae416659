//===- LiftOverDevices.h - one program for all devices ----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lifts the program of one device over the axes of the mesh. Each value gets the axes as names; the
// device coordinate `mesh.data`, a size symbol before, becomes the coordinate of that name; and a
// collective becomes nests that reduce, gather or rename over these names (`buildMeaning`):
//
//     nest.compute (row: 3) reads %x[row = 3 * mesh.data + row]       %x whole on each device
//     nest.compute (mesh.data: 2, row: 3) reads %x[row = 3 * mesh.data + row]
//
// Nests at the beginning cut the arguments into blocks, with NaN (or all bits set) in lanes beyond
// their sizes; nests at the end join the results. Of replicated blocks the last device's is used.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_LIFTOVERDEVICES_H
#define HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_LIFTOVERDEVICES_H

#include "dialects/mesh/MeshDialect.h"

namespace heddle::mesh {

/// Rewrites a partitioned function; restores its original type.
LogicalResult liftOverDevices(func::FuncOp function);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_LIFTOVERDEVICES_H
