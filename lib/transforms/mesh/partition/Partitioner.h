//===- Partitioner.h - builds the program of one device ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to this folder. The class behind `partition` (Partition.h) builds the program of one
// device op by op next to the original. Partition.cpp handles the function and ops that are not
// loop nests, PartitionNests.cpp loop nests, RingOperands.cpp nests with an operand on a ring. For
// each value of the original program it records the device's value and its sharding:
//
//     %y = nest.compute (row: 5) reads %x[] ...  locals[%y] = {%part, <f32, row: 5>, {row: [data]}}
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_PARTITIONER_H
#define HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_PARTITIONER_H

#include "lib/transforms/mesh/partition/LocalReads.h"
#include "lib/transforms/mesh/partition/Partition.h"
#include "lib/transforms/mesh/partition/RingOperands.h"

namespace heddle::mesh {

/// Copies the discardable attributes of a nest.
void inherit(Operation *made, Operation *from);
/// Builds the program of one device next to the original.
class Partitioner {
public:
  Partitioner(MeshAttr mesh, MLIRContext *context, double leastRing)
      : mesh(mesh), b(context), resharder(mesh, b), leastRing(leastRing) {}

  LogicalResult run(func::FuncOp function);

private:
  MeshAttr mesh;
  OpBuilder b;
  Resharder resharder;
  double leastRing; ///< minimum bytes of an operand on a ring
  DenseMap<Value, LocalValue> locals;
  AxisList busy; ///< axes that split the steps of enclosing recurrences

  LogicalResult convert(Block &block);
  LogicalResult convert(Operation *op);
  void compute(nest::ComputeOp op);
  void ring(nest::ComputeOp op, const Ring &ring, const LocalSpace &space);
  nest::ComputeOp turnOf(nest::ComputeOp op, const Ring &ring, Value block, Value number);
  void update(nest::UpdateOp op);
  LogicalResult scan(nest::ScanOp op);
  void sort(nest::SortOp op);
  void passOn(Operation *op);
  LogicalResult whole(Operation *op);

  Sharding wantedFor(Operation *op);
  const LocalValue &local(Value value) { return locals.find(value)->second; }
  LocalValue moved(Value value, const Sharding &to, Location loc) {
    return resharder.move(local(value), to, loc);
  }
  void define(Value result, Value value, const Sharding &sharding) {
    locals[result] = {value, nd::tensorType(result), sharding};
  }
  LocalReads readsOf(nest::LoopNestInterface op, const LocalSpace &space) {
    return LocalReads(op, space, resharder, [&](Value value) { return local(value); });
  }
  LocalReads finishReads(nest::ComputeOp op, const LocalSpace &space);
  SmallVector<Value> applyFinish(nest::ComputeOp op, ArrayRef<Value> accumulators,
                                 const LocalSpace &space);
  SmallVector<Value> combineOver(Operation *op, ValueRange parts, ArrayRef<Axis> axes,
                                 mlir::Region &combine, ArrayAttr neutral, Sharding &sharding);
};

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_PARTITIONER_H
