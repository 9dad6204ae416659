//===- MergeRoles.cpp - merges roles into one program ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/roles/Roles.h"

#include "dialects/nd/FunctionAttrs.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

namespace {
/// One end of a message.
struct End {
  MessageInterface op;
  int64_t self; ///< the role that it belongs to
};
/// The roles of one entry, by coordinate, and their messages by channel, the sender first.
struct Entry {
  std::map<int64_t, func::FuncOp> roles;
  std::map<std::pair<int64_t, bool>, End> ends;
};
using Entries = std::map<std::string, Entry>;
} // namespace

static LogicalResult rolesOf(ModuleOp module, Entries &all) {
  for (auto function : module.getOps<func::FuncOp>()) {
    auto role = Role::of(function);
    if (!role)
      continue;
    MeshAttr mesh = meshOf(function);
    auto size = mesh ? mesh.size(role->axis) : std::nullopt;
    if (!size || role->coordinate < 0 || role->coordinate >= *size)
      return function.emitError() << "is the role " << role->name() << ", which the mesh lacks";
    auto &roles = all[role->entry].roles;
    if (!roles.empty() && Role::of(roles.begin()->second)->axis != role->axis)
      return function.emitError() << "expected all roles of '" << role->entry
                                  << "' along one axis, got " << role->name();
    if (!roles.emplace(role->coordinate, function).second)
      return function.emitError() << "the role " << role->name() << " of '" << role->entry
                                  << "' occurs twice";
  }
  for (auto &[name, entry] : all)
    if (func::FuncOp first = entry.roles.begin()->second;
        int64_t(entry.roles.size()) != *meshOf(first).size(Role::of(first)->axis))
      return first.emitError() << "expected a role of '" << name << "' for each coordinate of '"
                               << Role::of(first)->axis.getValue() << "', got "
                               << entry.roles.size();
  return success();
}

/// Collects the messages of a role, whose channels must ascend.
static LogicalResult collect(func::FuncOp function, Entry &entry) {
  Role role = *Role::of(function);
  int64_t last = -1;
  WalkResult done = function.walk([&](MessageInterface op) -> WalkResult {
    int64_t channel = op.getChannel();
    if (op.getAxis().getAxes()[0].name != role.axis.getValue())
      return op->emitOpError() << "expected the axis of the role " << role.name();
    if (op->getBlock() != &function.front())
      return op->emitOpError() << "expected messages in the body of the role's function only";
    if (last >= channel) // S16
      return op->emitOpError() << "has the channel " << channel << " after " << last
                               << ": expected ascending channels, or roles deadlock";
    last = channel;
    if (!entry.ends.try_emplace({channel, !op.sends()}, End{op, role.coordinate}).second)
      return op->emitOpError() << "has the channel " << channel << ", as another role's has";
    return WalkResult::advance();
  });
  return failure(done.wasInterrupted());
}

/// Each end has a matching one, of the same type, in the role that it names.
static LogicalResult meet(const Entry &entry) {
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

static LogicalResult check(ModuleOp module, Entries &all) {
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

LogicalResult mesh::checkRoles(ModuleOp module) {
  Entries all;
  return check(module, all);
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

namespace {
/// Runs the roles in turn, each up to its next message, in the order of channels.
class Merger {
public:
  explicit Merger(Entry &entry) : entry(entry), roles(entry.roles), first(roles.begin()->second) {}

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
    withoutAxis(role.axis);
    keepCommonSymbols();
    for (auto &[coordinate, function] : roles)
      function.erase();
    return success();
  }

private:
  Entry &entry;
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
  /// Removes the axis of the roles from the merged program's mesh.
  void withoutAxis(StringAttr axis) {
    MeshAttr mesh = meshOf(made);
    MeshSpec spec = mesh.getSpec();
    llvm::erase_if(spec.axes, [&](const auto &each) { return each.first == axis.getValue(); });
    made->setAttr(meshAttrName, MeshAttr::get(mesh.getContext(), spec));
  }
};
} // namespace

LogicalResult mesh::mergeRoles(ModuleOp module) {
  Entries all;
  if (failed(check(module, all)))
    return failure();
  for (auto &[name, entry] : all)
    if (failed(Merger(entry).run()))
      return failure();
  return success();
}
