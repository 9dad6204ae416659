//===- ScanLoops.h - recurrences that communicate ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A recurrence is one kernel, which can't communicate. One with collectives becomes a loop of steps,
// whose carried tensors are the condition, the coordinate, those of the recurrence and its outputs:
//
//     %h, %all = nest.scan along <t: 7>     ->   %c, %i, %h, %all = nest.control [@f.scan]
//       init(%h0) reads(%x) { ... }                %true, %zero, %h0, %empty, %x
//
// Collectives that only add to a carried sum are taken out of the recurrence first: each device sums
// its own part, and one collective follows.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_SCANLOOPS_H
#define HEDDLE_LIB_TRANSFORMS_MESH_SCANLOOPS_H

#include "dialects/mesh/Mesh.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::mesh {

/// `value` on the device whose part is the first one; `neutral` on all others.
mlir::Value onFirst(mlir::OpBuilder &b, mlir::Location loc, MeshAttr mesh, mlir::Value value,
                    llvm::ArrayRef<Axis> axes, mlir::TypedAttr neutral);

/// Moves the collectives of sums that the recurrence carries behind it; `results` get their results.
void reduceOnce(nest::ScanOp scan, MeshAttr mesh, llvm::MutableArrayRef<mlir::Value> results);

/// Rewrites the recurrences of the function that communicate as loops, in functions of their own.
void loopsOfScans(mlir::func::FuncOp function, MeshAttr mesh);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_SCANLOOPS_H
