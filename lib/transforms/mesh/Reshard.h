//===- Reshard.h - moves values between shardings ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value of the program of one device is a block of a whole tensor. To read other elements than those
// of its block, a device takes part in a collective:
//
//     {row: [data]} -> {}                  mesh.all_gather name row
//     {row: [data]} -> {column: [data]}    mesh.all_to_all join row split column
//     {} -> {row: [data]}                  a nest that copies the block; nothing is sent
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_RESHARD_H
#define HEDDLE_LIB_TRANSFORMS_MESH_RESHARD_H

#include "dialects/mesh/Mesh.h"

#include "llvm/ADT/SetVector.h"

namespace heddle::mesh {

/// A device's block of a value of the whole program.
struct LocalValue {
  mlir::Value value;
  nd::NdTensorType whole;
  Sharding sharding;
};

/// The operands of an op, and the values that its regions use from outside.
llvm::SetVector<mlir::Value> usesOf(mlir::Operation *op);

/// Whether the result is the first operand; only the time of its computation differs.
inline bool passesOn(mlir::Operation *op) { return op->hasTrait<nd::Opaque>(); }

class Resharder {
public:
  Resharder(MeshAttr mesh, mlir::OpBuilder &builder) : mesh(mesh), b(builder) {}

  /// The value with the sharding `to`. Equal requests in the same block have the same result.
  LocalValue move(const LocalValue &from, const Sharding &to, mlir::Location loc);

  /// Combines values over the devices of a group; each device gets its block along `scattered`, or
  /// all if that is empty. `combine` ends in nest.yield.
  llvm::SmallVector<mlir::Value> reduce(mlir::ValueRange values, llvm::ArrayRef<Axis> axes,
                                        mlir::Region &combine, mlir::ArrayAttr neutral,
                                        const std::string &scattered, mlir::Location loc);

private:
  MeshAttr mesh;
  mlir::OpBuilder &b;
  std::map<std::pair<mlir::Block *, const void *>, llvm::SmallVector<LocalValue, 1>> moved;

  /// Joins the blocks along `name`; the axes move to `split`, if that is not empty.
  LocalValue join(LocalValue value, llvm::StringRef name, llvm::StringRef split,
                  mlir::Location loc);
  LocalValue slice(LocalValue from, const Sharding &to, mlir::Location loc);
};

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_RESHARD_H
