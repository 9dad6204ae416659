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

#include "dialects/mesh/MeshDialect.h"

namespace heddle::mesh {

struct PlacedOps {
  StringAttr axis;   ///< the axis of roles
  int64_t count = 0; ///< number of roles

  /// The only role that holds the argument; none if every role that reads it does.
  std::optional<int64_t> homeOf(mlir::BlockArgument argument) const {
    int64_t home = homes[argument.getArgNumber()];
    return home < 0 ? std::nullopt : std::optional(home);
  }
  /// True if each role that reads the op's results computes them.
  bool isEverywhere(Operation *op) const { return everywhere.contains(op); }
  int64_t placeOf(Operation *op) const { return ops.lookup(op); }
  int64_t placeOfResult(unsigned i) const { return results[i]; }

  std::vector<int64_t> homes;         ///< -1: none
  DenseMap<Operation *, int64_t> ops; ///< of the function's body
  DenseSet<Operation *> everywhere;
  std::vector<int64_t> results;
};

/// None if no argument has a place.
FailureOr<std::optional<PlacedOps>> placeOps(func::FuncOp function, MeshAttr mesh);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_ROLES_PLACEOPS_H
