//===- Partitioner.h - builds the program of one device ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to this folder. The class behind `partition` (Partition.h) writes the program of one device
// op by op beside the whole one. Partition.cpp has the function and the ops that are no loop nests,
// PartitionNests.cpp the loop nests, Ring.cpp the nests of which an operand goes around. For each value
// of the whole program it keeps the value of the device, and how that is split:
//
//     %y = nest.compute (row: 5) reads %x[] ...      locals[%y] = {%part, <f32, row: 5>, {row: [data]}}
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_PARTITIONER_H
#define HEDDLE_LIB_TRANSFORMS_MESH_PARTITIONER_H

#include "lib/transforms/mesh/LocalReads.h"
#include "lib/transforms/mesh/Partition.h"
#include "lib/transforms/mesh/Ring.h"

namespace heddle::mesh {

/// Copies the attributes of a nest that passes and users gave it.
void inherit(mlir::Operation *made, mlir::Operation *from);
/// Builds the program of one device beside the whole one.
class Partitioner {
public:
  Partitioner(MeshAttr mesh, mlir::MLIRContext *context, double leastRing)
      : mesh(mesh), b(context), resharder(mesh, b), leastRing(leastRing) {}

  mlir::LogicalResult run(mlir::func::FuncOp function);

private:
  MeshAttr mesh;
  mlir::OpBuilder b;
  Resharder resharder;
  double leastRing; ///< bytes of an operand that goes around
  llvm::DenseMap<mlir::Value, LocalValue> locals;
  AxisList busy; ///< axes over which the steps of the recurrences around are split

  mlir::LogicalResult convert(mlir::Block &block);
  mlir::LogicalResult convert(mlir::Operation *op);
  void compute(nest::ComputeOp op);
  void ring(nest::ComputeOp op, const Ring &ring, const LocalSpace &space);
  nest::ComputeOp turnOf(nest::ComputeOp op, const Ring &ring, mlir::Value block,
                         mlir::Value number);
  void update(nest::UpdateOp op);
  mlir::LogicalResult scan(nest::ScanOp op);
  void sort(nest::SortOp op);
  void passOn(mlir::Operation *op);
  mlir::LogicalResult whole(mlir::Operation *op);

  Sharding wantedFor(mlir::Operation *op);
  const LocalValue &local(mlir::Value value) { return locals.find(value)->second; }
  LocalValue moved(mlir::Value value, const Sharding &to, mlir::Location loc) {
    return resharder.move(local(value), to, loc);
  }
  void define(mlir::Value result, mlir::Value value, const Sharding &sharding) {
    locals[result] = {value, nd::tensorType(result), sharding};
  }
  LocalReads readsOf(nest::LoopNestInterface op, const LocalSpace &space) {
    return LocalReads(op, space, resharder, [&](mlir::Value value) { return local(value); });
  }
  LocalReads finishReads(nest::ComputeOp op, const LocalSpace &space);
  llvm::SmallVector<mlir::Value> applyFinish(nest::ComputeOp op,
                                             llvm::ArrayRef<mlir::Value> accumulators,
                                             const LocalSpace &space);
  llvm::SmallVector<mlir::Value> combineOver(mlir::Operation *op, mlir::ValueRange parts,
                                             llvm::ArrayRef<Axis> axes, mlir::Region &combine,
                                             mlir::ArrayAttr neutral, Sharding &sharding);
};

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_PARTITIONER_H
