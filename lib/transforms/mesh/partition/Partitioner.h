//===- Partitioner.h - builds the program of one device ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to this folder. The class behind `partition` (Partition.h) builds the program of one
// device op by op next to the original. Partition.cpp handles the function and ops that are not
// loop nests, PartitionNests.cpp loop nests, Ring.cpp nests with an operand on a ring. For each
// value of the original program it records the device's value and its sharding:
//
//     %y = nest.compute (row: 5) reads %x[] ...  locals[%y] = {%part, <f32, row: 5>, {row: [data]}}
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_PARTITIONER_H
#define HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_PARTITIONER_H

#include "lib/transforms/mesh/partition/LocalReads.h"
#include "lib/transforms/mesh/partition/Partition.h"
#include "lib/transforms/mesh/partition/Ring.h"

namespace heddle::mesh {

/// Copies the discardable attributes of a nest.
void inherit(mlir::Operation *made, mlir::Operation *from);
/// Builds the program of one device next to the original.
class Partitioner {
public:
  Partitioner(MeshAttr mesh, mlir::MLIRContext *context, double leastRing)
      : mesh(mesh), b(context), resharder(mesh, b), leastRing(leastRing) {}

  mlir::LogicalResult run(mlir::func::FuncOp function);

private:
  MeshAttr mesh;
  mlir::OpBuilder b;
  Resharder resharder;
  double leastRing; ///< minimum bytes of an operand on a ring
  llvm::DenseMap<mlir::Value, LocalValue> locals;
  AxisList busy; ///< axes that split the steps of enclosing recurrences

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

#endif // HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_PARTITIONER_H
