//===- MergeRoles.cpp - merges roles into one program ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/FunctionAttrs.h"
#include "lib/transforms/mesh/roles/CheckMessageOrder.h"
#include "lib/transforms/mesh/roles/Roles.h"
#include "mlir/IR/IRMapping.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

namespace {
/// Runs the roles in turn, each up to its next message, in the order of channels.
class Merger {
public:
  explicit Merger(EntryRoles &entry)
      : entry(entry), roles(entry.roles), first(roles.begin()->second) {}

  LogicalResult run() {
    Role role = *Role::of(first);
    made = cast<func::FuncOp>(first->cloneWithoutRegions());
    made.setName(role.entry);
    made->removeAttr(roleAttrName);
    OpBuilder(first).insert(made);
    auto *block = new Block();
    made.getBody().push_back(block);
    b.setInsertionPointToEnd(block);
    if (failed(mergeArguments()))
      return failure();
    Value moved;
    for (auto &[key, end] : entry.ends) {
      copyTo(end.self, end.op);
      if (end.op.sends())
        moved = values.lookup(end.op.getMoved());
      else
        values.map(end.op.getMoved(), moved);
    }
    for (auto &[coordinate, function] : roles)
      copyTo(coordinate, function.front().getTerminator());
    mergeResults();
    for (const Axis &axis : role.axes.axes)
      withoutAxis(axis);
    keepCommonSymbols();
    for (auto &[coordinate, function] : roles)
      function.erase();
    return success();
  }

private:
  EntryRoles &entry;
  std::map<int64_t, func::FuncOp> &roles;
  func::FuncOp first, made;
  OpBuilder b{first.getContext()};
  IRMapping values;
  std::map<int64_t, Block::iterator> next;

  /// The function of a role that holds an argument or result, by its type.
  func::FuncOp holder(llvm::function_ref<Type(func::FuncOp)> type) {
    for (auto &[coordinate, function] : roles)
      if (!isAbsent(type(function)))
        return function;
    return first; // no role holds it
  }
  LogicalResult mergeArguments() {
    for (auto &[coordinate, function] : roles) {
      if (function.getNumArguments() != first.getNumArguments() ||
          function.getNumResults() != first.getNumResults())
        return function.emitError() << "expected the same arguments and results in all roles";
      next[coordinate] = function.front().begin();
    }
    for (unsigned i = 0; i < first.getNumArguments(); ++i) {
      func::FuncOp from = holder([&](func::FuncOp each) { return each.getArgumentTypes()[i]; });
      Value argument =
          made.front().addArgument(from.getArgumentTypes()[i], first.getArgument(i).getLoc());
      for (auto &[coordinate, function] : roles)
        values.map(function.getArgument(i), argument);
      made.setArgAttrs(i, withoutPlace(from.getArgAttrDict(i)));
    }
    return success();
  }
  DictionaryAttr withoutPlace(DictionaryAttr attributes) {
    NamedAttrList list(attributes);
    if (auto sharding = dyn_cast_or_null<ShardingAttr>(list.get(shardingAttrName)))
      list.set(shardingAttrName, sharding.at({}));
    return list.getDictionary(first.getContext());
  }

  /// Copies the ops of a role up to `end`, which is the next message or the terminator.
  void copyTo(int64_t coordinate, Operation *end) {
    for (Block::iterator &op = next[coordinate]; op != end->getIterator(); ++op)
      if (!isa<MessageInterface>(*op))
        b.clone(*op, values);
  }

  void mergeResults() {
    SmallVector<Value> returned;
    for (unsigned i = 0; i < first.getNumResults(); ++i) {
      func::FuncOp from = holder([&](func::FuncOp each) { return each.getResultTypes()[i]; });
      returned.push_back(values.lookup(from.front().getTerminator()->getOperand(i)));
      made.setResultAttrs(i, withoutPlace(from.getResultAttrDict(i)));
    }
    func::ReturnOp::create(b, first.front().getTerminator()->getLoc(), returned);
    nd::retype(made);
  }

  /// Keeps the size symbols that all roles have.
  void keepCommonSymbols() {
    SmallVector<Attribute> common(nd::listedSymbols(made));
    for (auto &[coordinate, function] : roles)
      llvm::erase_if(common, [&](Attribute each) {
        return !llvm::is_contained(nd::listedSymbols(function), each);
      });
    nd::listSymbols(made, common);
  }
  /// Removes an axis of the roles from the merged program's mesh, unless it is only a part.
  void withoutAxis(const Axis &axis) {
    MeshAttr mesh = meshOf(made);
    MeshSpec spec = mesh.getSpec();
    llvm::erase_if(spec.axes, [&](const auto &each) { return each.first == axis.str(); });
    made->setAttr(meshAttrName, MeshAttr::get(mesh.getContext(), spec));
  }
};
} // namespace

LogicalResult mesh::mergeRoles(ModuleOp module) {
  RolesByEntry all;
  if (failed(checkMessageOrder(module, all)))
    return failure();
  for (auto &[name, entry] : all)
    if (failed(Merger(entry).run()))
      return failure();
  return success();
}
