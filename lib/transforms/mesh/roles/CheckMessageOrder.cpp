//===- CheckMessageOrder.cpp - roles can't deadlock -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/roles/CheckMessageOrder.h"

#include "lib/transforms/mesh/roles/Roles.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

static LogicalResult rolesOf(ModuleOp module, RolesByEntry &all) {
  for (auto function : module.getOps<func::FuncOp>()) {
    auto role = Role::of(function);
    if (!role)
      continue;
    if (!role->axes.mesh)
      return function.emitError() << "is a role along '" << role->axes.text()
                                  << "', expected a mesh";
    if (failed(verifyAxes(role->axes.mesh, role->axes.axes,
                          [&] { return function.emitError() << "is a role: "; })))
      return failure();
    if (role->number < 0 || role->number >= role->axes.count())
      return function.emitError() << "is the role " << role->number << " along '"
                                  << role->axes.text() << "', expected one below "
                                  << role->axes.count();
    auto &roles = all[role->entry].roles;
    if (!roles.empty() && Role::of(roles.begin()->second)->axes.axes != role->axes.axes)
      return function.emitError() << "expected all roles of '" << role->entry
                                  << "' along the same axes, got " << role->name();
    if (!roles.emplace(role->number, function).second)
      return function.emitError() << "the role " << role->name() << " of '" << role->entry
                                  << "' occurs twice";
  }
  for (auto &[name, entry] : all)
    if (func::FuncOp first = entry.roles.begin()->second;
        int64_t(entry.roles.size()) != Role::of(first)->axes.count())
      return first.emitError() << "expected a role of '" << name << "' for each coordinate of '"
                               << Role::of(first)->axes.text() << "', got " << entry.roles.size();
  return success();
}

/// Collects the messages of a role, whose channels must ascend.
static LogicalResult collect(func::FuncOp function, EntryRoles &entry) {
  Role role = *Role::of(function);
  int64_t last = -1;
  WalkResult done = function.walk([&](MessageInterface op) -> WalkResult {
    int64_t channel = op.getChannel();
    if (op.getAxis().getAxes() != ArrayRef<Axis>(role.axes.axes))
      return op->emitOpError() << "expected the axes of the role " << role.name();
    if (op->getBlock() != &function.front())
      return op->emitOpError() << "expected messages in the body of the role's function only";
    if (last >= channel) // S16
      return op->emitOpError() << "has the channel " << channel << " after " << last
                               << ": expected ascending channels, or roles deadlock";
    last = channel;
    if (!entry.ends.try_emplace({channel, !op.sends()}, MessageEnd{op, role.number}).second)
      return op->emitOpError() << "has the channel " << channel << ", as another role's has";
    return WalkResult::advance();
  });
  return failure(done.wasInterrupted());
}

/// Each end has a matching one, of the same type, in the role that it names.
static LogicalResult meet(const EntryRoles &entry) {
  for (auto [key, end] : entry.ends) {
    auto [channel, receives] = key;
    auto found = entry.ends.find({channel, !receives});
    MessageInterface other = found == entry.ends.end() ? MessageInterface() : found->second.op;
    if (!other || found->second.self != end.op.getCoordinate() || other.getCoordinate() != end.self)
      return end.op->emitOpError() << "expected a mesh." << (receives ? "send" : "receive")
                                   << " of the channel " << channel << " in the role "
                                   << end.op.getCoordinate() << " for the role " << end.self;
    Type type = end.op.getMoved().getType(), got = other.getMoved().getType();
    if (got != type || other->getAttr("layouts") != end.op->getAttr("layouts"))
      return end.op->emitOpError()
             << "moves " << type << ", but the other end " << got << ", or in another layout";
  }
  return success();
}

LogicalResult mesh::checkMessageOrder(ModuleOp module, RolesByEntry &all) {
  if (failed(rolesOf(module, all)))
    return failure();
  for (auto &[name, entry] : all) {
    for (auto &[coordinate, function] : entry.roles)
      if (failed(collect(function, entry)))
        return failure();
    if (failed(meet(entry)))
      return failure();
  }
  return success();
}

LogicalResult mesh::checkMessageOrder(ModuleOp module) {
  RolesByEntry all;
  return checkMessageOrder(module, all);
}
