//===- Reshard.h - moves values between shardings ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value in the program of one device is a block of a whole tensor. To read elements of other
// blocks, devices run a collective:
//
//     {row: [data]} -> {}                  mesh.all_gather name row
//     {row: [data]} -> {column: [data]}    mesh.all_to_all join row split column
//     {} -> {row: [data]}                  a nest that copies the block; nothing is sent
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_RESHARD_H
#define HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_RESHARD_H

#include "dialects/mesh/MeshDialect.h"

#include "llvm/ADT/SetVector.h"

namespace heddle::mesh {

/// A device's block of a value of the whole program.
struct LocalValue {
  Value value;
  nd::NdTensorType whole;
  Sharding sharding;
};

/// The operands of an op, and the values that its regions use from outside.
llvm::SetVector<Value> usesOf(Operation *op);

/// Whether the result equals the first operand (an op that only constrains when it is computed).
inline bool passesOn(Operation *op) { return op->hasTrait<nd::Opaque>(); }

class Resharder {
public:
  Resharder(MeshAttr mesh, OpBuilder &builder) : mesh(mesh), b(builder) {}

  /// Moves the value to the sharding `to`. Equal requests in the same block share the result.
  LocalValue move(const LocalValue &from, const Sharding &to, Location loc);

  /// Combines values over the devices of a group. Each device gets its block along `scattered`, or
  /// the whole value if that is empty. `combine` ends in nest.yield.
  SmallVector<Value> reduce(ValueRange values, ArrayRef<Axis> axes, mlir::Region &combine,
                            ArrayAttr neutral, const std::string &scattered, Location loc);

private:
  MeshAttr mesh;
  OpBuilder &b;
  std::map<std::pair<Block *, const void *>, SmallVector<LocalValue, 1>> moved;

  /// Joins the blocks along `name`; the axes move to `split`, unless that is empty.
  LocalValue join(LocalValue value, StringRef name, StringRef split, Location loc);
  LocalValue slice(LocalValue from, const Sharding &to, Location loc);
};

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_RESHARD_H
