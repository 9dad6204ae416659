//===- Roles.h - programs of parts of a mesh --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where arguments are on some coordinates of an axis only, the devices of each coordinate run a program
// of their own: a role. With %v at (stage = 1),
//
//     @f(%w, %v):  %h = nest.compute reads %w     @"f.stage=0"(%w, -):           @"f.stage=1"(-, %v):
//                  %y = nest.compute %h, %v   ->    %h = nest.compute reads %w     %h = mesh.receive
//                  return %y                        mesh.send %h to [stage] = 1      from [stage] = 0
//                                                   return -                       %y = nest.compute %h, %v
//                                                                                  return %y
//
// All roles have all arguments and results; those that a role lacks (-) have no elements. A device sends
// to the one of the other role that has the same coordinates on the other axes.
//
// Channels are numbered in the order of the program, and each role has its transfers in the order of
// their channels. Therefore no role waits for ever: of the transfers that are not done yet, both sides
// of the one with the smallest number are next.
//
// Where ops are. Let a state be an argument whose next value is a result; both are at one place, the
// state's home: where a rule says, else where its first reader is. States on which other states alone
// depend, such as moments, are often read by themselves first: these are where their next values are
// computed. Then
//
//  - an op reads what is at places up to U, all that it depends on included; it is never beyond U;
//  - the new states that depend on it are at places up to R;
//  - an operand returns if its R is below its place: it is a gradient that is on its way back from a
//    later role to states of earlier ones. An op is at the latest of R and of the places of its
//    operands that do not return, U at most. If all return, it stays with them unless its results
//    have more bytes. If its results return and it reads no argument there, it is with an
//    operand that is further on their way;
//  - single numbers do not count where an op has other operands, nor what depends on them for R. So the
//    norm of all gradients keeps none from its place.
//
// So values of the forward pass are at the latest place of what they are computed from, gradients at
// the place of the values that they belong to, and updates with their states. An op that only copies
// or computes elements of arguments without a place is computed by each role that reads it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_ROLES_H
#define HEDDLE_LIB_TRANSFORMS_MESH_ROLES_H

#include "dialects/mesh/Mesh.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::mesh {

/// The role that a function is the program of.
struct Role {
  std::string entry; ///< the function before
  mlir::StringAttr axis;
  int64_t coordinate = 0;

  /// "stage=1"
  std::string name() const;
  /// None for a function that all devices run.
  static std::optional<Role> of(mlir::func::FuncOp function);
};

/// True for the type of an argument or result that a role lacks.
bool isAbsent(mlir::Type type);

/// Rewrites functions that `partition` has rewritten and that have arguments with a place as one
/// function for each role.
mlir::LogicalResult splitRoles(mlir::ModuleOp module);
/// Fails, with an error at the op, if a send or receive does not meet its other side, or if a role has
/// them in another order than that of their channels.
mlir::LogicalResult checkRoles(mlir::ModuleOp module);
/// The reverse of `splitRoles`: one function, for devices that differ in the other axes only.
mlir::LogicalResult mergeRoles(mlir::ModuleOp module);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_ROLES_H
