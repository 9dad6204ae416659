//===- MergeRoles.cpp - roles together are one program --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/Roles.h"

#include "dialects/nd/FunctionAttrs.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

namespace {
/// The roles of one entry, by their coordinates.
using Roles = std::map<int64_t, func::FuncOp>;

/// One end of a message.
struct End {
  Operation *op;
  int64_t self, other; ///< roles
};
/// By channels, and by whether they receive.
using Ends = std::map<std::pair<int64_t, bool>, End>;
} // namespace

static LogicalResult rolesOf(ModuleOp module, std::map<std::string, Roles> &all) {
  for (auto function : module.getOps<func::FuncOp>()) {
    auto role = Role::of(function);
    if (!role)
      continue;
    MeshAttr mesh = meshOf(function);
    auto size = mesh ? mesh.size(role->axis) : std::nullopt;
    if (!size || role->coordinate < 0 || role->coordinate >= *size)
      return function.emitError() << "is the role " << role->name() << ", which the mesh lacks";
    Roles &roles = all[role->entry];
    if (!roles.empty() && Role::of(roles.begin()->second)->axis != role->axis)
      return function.emitError() << "expected all roles of '" << role->entry
                                  << "' along one axis, got " << role->name();
    if (!roles.emplace(role->coordinate, function).second)
      return function.emitError() << "the role " << role->name() << " of '" << role->entry
                                  << "' occurs twice";
  }
  for (auto &[entry, roles] : all)
    if (Role role = *Role::of(roles.begin()->second);
        int64_t(roles.size()) != *meshOf(roles.begin()->second).size(role.axis))
      return roles.begin()->second.emitError()
             << "expected a role of '" << entry << "' for each coordinate of '"
             << role.axis.getValue() << "', got " << roles.size();
  return success();
}

static int64_t numberOf(Operation *op, StringRef name) {
  return op->getAttrOfType<IntegerAttr>(name).getInt();
}

/// Collects the messages of a role, which have to be in the order of their channels.
static LogicalResult collect(func::FuncOp function, Ends &ends) {
  Role role = *Role::of(function);
  int64_t last = -1;
  WalkResult done = function.walk([&](Operation *op) -> WalkResult {
    if (!isa<SendOp, ReceiveOp>(op))
      return WalkResult::advance();
    int64_t channel = numberOf(op, "channel");
    if (op->getAttrOfType<AxesAttr>("axis").getAxes()[0].name != role.axis)
      return op->emitOpError() << "expected the axis of the role " << role.name();
    if (op->getBlock() != &function.front())
      return op->emitOpError() << "expected messages in the body of the role's function only";
    if (last >= channel) // S16
      return op->emitOpError() << "has the channel " << channel << " after " << last
                               << ": roles that wait for each other in another order wait for ever";
    last = channel;
    End end{op, role.coordinate, numberOf(op, "coordinate")};
    if (!ends.try_emplace({channel, isa<ReceiveOp>(op)}, end).second)
      return op->emitOpError() << "has the channel " << channel << ", as another role's has";
    return WalkResult::advance();
  });
  return failure(done.wasInterrupted());
}

/// Each end has its other one, in the role that it names, of the same type.
static LogicalResult meet(const Ends &ends) {
  auto typeOf = [](Operation *op) {
    return op->getNumOperands() ? op->getOperand(0).getType() : op->getResult(0).getType();
  };
  for (const auto &[key, end] : ends) {
    auto [channel, receives] = key;
    auto found = ends.find({channel, !receives});
    if (found == ends.end() || found->second.self != end.other || found->second.other != end.self)
      return end.op->emitOpError()
             << "expected a mesh." << (receives ? "send" : "receive") << " of the channel "
             << channel << " in the role " << end.other << " for the role " << end.self;
    Operation *other = found->second.op;
    if (typeOf(other) != typeOf(end.op) || other->getAttr("layouts") != end.op->getAttr("layouts"))
      return end.op->emitOpError() << "moves " << typeOf(end.op) << ", but the other end "
                                   << typeOf(other) << ", or in another layout";
  }
  return success();
}

LogicalResult mesh::checkRoles(ModuleOp module) {
  std::map<std::string, Roles> all;
  if (failed(rolesOf(module, all)))
    return failure();
  for (auto &[entry, roles] : all) {
    Ends ends;
    for (auto &[coordinate, function] : roles)
      if (failed(collect(function, ends)))
        return failure();
    if (failed(meet(ends)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

namespace {
/// Runs the roles in turn, each until it receives what was not sent yet.
class Merger {
public:
  explicit Merger(Roles &roles) : roles(roles), first(roles.begin()->second) {}

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
    for (bool moves = true; moves;) {
      moves = false;
      for (auto &[coordinate, function] : roles)
        while (advance(coordinate, function))
          moves = true;
    }
    if (failed(mergeResults()))
      return failure();
    withoutAxis(role.axis);
    keepCommonSymbols();
    for (auto &[coordinate, function] : roles)
      function.erase();
    return success();
  }

private:
  Roles &roles;
  func::FuncOp first, made;
  OpBuilder b{first.getContext()};
  IRMapping values;
  std::map<int64_t, Value> sent; ///< by channel
  std::map<int64_t, Block::iterator> next;

  /// The function of a role that has it, by the type of an argument or result.
  func::FuncOp holder(llvm::function_ref<Type(func::FuncOp)> type) {
    for (auto &[coordinate, function] : roles)
      if (!isAbsent(type(function)))
        return function;
    return first; // nobody has it
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

  bool advance(int64_t coordinate, func::FuncOp function) {
    Operation &op = *next[coordinate];
    if (op.hasTrait<OpTrait::IsTerminator>())
      return false;
    if (auto receive = dyn_cast<ReceiveOp>(op)) {
      auto found = sent.find(int64_t(receive.getChannel()));
      if (found == sent.end())
        return false;
      values.map(receive.getResult(), found->second);
    } else if (auto send = dyn_cast<SendOp>(op)) {
      sent[int64_t(send.getChannel())] = values.lookup(send.getInput());
    } else {
      b.clone(op, values);
    }
    ++next[coordinate];
    return true;
  }

  LogicalResult mergeResults() {
    SmallVector<Value> returned;
    for (auto &[coordinate, function] : roles)
      if (!next[coordinate]->hasTrait<OpTrait::IsTerminator>())
        return next[coordinate]->emitOpError() << "waits for ever";
    for (unsigned i = 0; i < first.getNumResults(); ++i) {
      func::FuncOp from = holder([&](func::FuncOp each) { return each.getResultTypes()[i]; });
      returned.push_back(values.lookup(from.front().getTerminator()->getOperand(i)));
      made.setResultAttrs(i, withoutPlace(from.getResultAttrDict(i)));
    }
    func::ReturnOp::create(b, first.front().getTerminator()->getLoc(), returned);
    made.setFunctionType(
        b.getFunctionType(made.front().getArgumentTypes(), ValueRange(returned).getTypes()));
    return success();
  }

  /// Sizes that some role's arguments have are those of the merged program's.
  void keepCommonSymbols() {
    auto listOf = [](func::FuncOp function) {
      auto list = function->getAttrOfType<ArrayAttr>(nd::symbolsAttrName);
      return list ? list.getValue() : ArrayRef<Attribute>();
    };
    SmallVector<Attribute> common(listOf(made));
    for (auto &[coordinate, function] : roles)
      llvm::erase_if(common,
                     [&](Attribute each) { return !llvm::is_contained(listOf(function), each); });
    made->setAttr(nd::symbolsAttrName, b.getArrayAttr(common));
  }
  /// The devices of the merged program do not differ along the axis of the roles.
  void withoutAxis(StringAttr axis) {
    MeshAttr mesh = meshOf(made);
    SmallVector<StringAttr> names(mesh.getNames());
    SmallVector<int64_t> sizes(mesh.getSizes());
    auto at = llvm::find(names, axis) - names.begin();
    names.erase(names.begin() + at);
    sizes.erase(sizes.begin() + at);
    made->setAttr(meshAttrName, MeshAttr::get(mesh.getContext(), names, sizes));
  }
};
} // namespace

LogicalResult mesh::mergeRoles(ModuleOp module) {
  std::map<std::string, Roles> all;
  if (failed(checkRoles(module)) || failed(rolesOf(module, all)))
    return failure();
  for (auto &[entry, roles] : all)
    if (failed(Merger(roles).run()))
      return failure();
  return success();
}
