//===- Roles.h - splits a program into roles --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If arguments, or ops, are only on some coordinates of an axis, the devices of each coordinate run
// a separate program, a role. With %v at (stage = 1),
//
//     @f(%w, %v):                         @"f.stage=0"(%w, -):         @"f.stage=1"(-, %v):
//       %h = nest.compute reads %w     ->   %h = nest.compute %w         %h = mesh.receive
//       %y = nest.compute reads %h, %v      mesh.send %h                     from [stage] = 0
//       return %y                               to [stage] = 1           %y = nest.compute %h, %v
//                                           return -                     return %y
//
// All roles have all arguments and results; those that a role does not hold (-) have no elements. A
// device sends to the device of the other role with the same coordinates on the other axes. Places
// may be along several axes and parts of axes (RoleAxes.h); each is decided by itself.
//
// Channels are numbered in program order, and the transfers of each role are in the order of their
// channels. So roles can't deadlock: of the unfinished transfers, both sides of the one with the
// smallest number come next (CheckMessageOrder.h).
//
// Placement of ops. A state is an argument whose next value is a result; both are at one place, its
// home: the place that a rule states, or that of its first reader. States on which only other
// states depend (such as moments) are often first read alone: their home is where their next values
// are computed. Then
//
//  - an op depends on values at places up to U, directly or not; it is never placed beyond U;
//  - the new states that depend on it are at places up to R;
//  - an operand returns if its R is below its place: it is a gradient on its way back from a later
//    role to states of earlier ones. An op is placed at the maximum of R and the places of its
//    operands that do not return, but not beyond U. If all operands return, it stays with them
//    unless its results have more bytes. If its results return and it reads no argument there, it
//    is placed with an operand that is further on their way;
//  - scalars are ignored if an op has other operands, and what depends on them is ignored for R. So
//    the norm of all gradients does not move any of them.
//
// So values of the forward pass are at the latest place among their operands, gradients at
// the place of the values that they belong to, and updates with their states. An op with a place of
// its own (`mesh.place`, which a rule `op PATTERN@stage=1` states) is there whatever it reads, and
// ops after it are placed as if it read a value there. Ops that only copy or compute elements of
// arguments without a place are computed by each role that reads them.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_ROLES_ROLES_H
#define HEDDLE_LIB_TRANSFORMS_MESH_ROLES_ROLES_H

#include "lib/transforms/mesh/roles/RoleAxes.h"

namespace heddle::mesh {

/// The role that a function implements.
struct Role {
  std::string entry; ///< the original function
  RoleAxes axes;
  int64_t number = 0; ///< by the coordinates on the axes

  /// "stage=1"
  std::string name() const { return axes.name(number); }
  /// None for a function that all devices run.
  static std::optional<Role> of(func::FuncOp function);
};

/// True for the type of an argument or result that a role does not hold.
bool isAbsent(Type type);

/// Splits partitioned functions that have arguments with a place into one function per role.
LogicalResult splitRoles(ModuleOp module);
/// The reverse of `splitRoles`: one function, for devices that differ only in the other axes. An
/// axis of which only parts have places stays.
LogicalResult mergeRoles(ModuleOp module);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_ROLES_ROLES_H
