//===- PlaceOps.h - the role of each op -------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides which role runs each op of a function in which some arguments have places, by the rules
// in Roles.h.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_ROLES_PLACEOPS_H
#define HEDDLE_LIB_TRANSFORMS_MESH_ROLES_PLACEOPS_H

#include "lib/transforms/mesh/roles/RoleAxes.h"

namespace heddle::mesh {

struct PlacedOps {
  RoleAxes roles;
  std::vector<RolePlace> homes;         ///< of arguments
  DenseMap<Operation *, RolePlace> ops; ///< of the function's body
  std::vector<RolePlace> results;

  /// The only role that holds the argument; none if each role that reads it may.
  std::optional<int64_t> homeOf(mlir::BlockArgument argument) const {
    const RolePlace &home = homes[argument.getArgNumber()];
    return llvm::is_contained(home, -1) ? std::nullopt : std::optional(roles.at(home, 0));
  }
  /// True if each role that reads the op's results computes them.
  bool isEverywhere(Operation *op) const {
    return llvm::all_of(ops.lookup(op), [](int64_t coordinate) { return coordinate < 0; });
  }
  /// The role that computes an op, or holds an argument, for a role that reads it.
  int64_t placeOf(Value value, int64_t reader) const {
    auto argument = dyn_cast<mlir::BlockArgument>(value);
    return argument ? roles.at(homes[argument.getArgNumber()], reader)
                    : placeOf(value.getDefiningOp(), reader);
  }
  int64_t placeOf(Operation *op, int64_t reader = 0) const {
    return roles.at(ops.lookup(op), reader);
  }
  int64_t placeOfResult(unsigned i) const { return roles.at(results[i], 0); }
  /// Lets each role along one more axis run all ops.
  void addEverywhere(func::FuncOp function);
};

/// The axes along which arguments and ops of these functions have places. All functions of a
/// program have the same roles, since a device has one.
FailureOr<RoleAxes> roleAxesOf(ArrayRef<func::FuncOp> functions, MeshAttr mesh);
/// None if no argument and no op has a place.
FailureOr<std::optional<PlacedOps>> placeOps(func::FuncOp function, const RoleAxes &roles);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_ROLES_PLACEOPS_H
