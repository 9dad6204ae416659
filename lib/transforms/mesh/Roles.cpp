//===- Roles.cpp - programs of parts of a mesh ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/Roles.h"

#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nd/NdBuild.h"
#include "dialects/nest/NestBuild.h"
#include "lib/transforms/mesh/Links.h"
#include "lib/transforms/mesh/Partition.h"
#include "lib/transforms/mesh/PlaceOps.h"
#include "lib/transforms/mesh/Reshard.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

std::string Role::name() const { return axis.str() + "=" + std::to_string(coordinate); }

std::optional<Role> Role::of(func::FuncOp function) {
  auto role = function->getAttrOfType<DictionaryAttr>(roleAttrName);
  auto entry = role ? role.getAs<StringAttr>("entry") : nullptr;
  auto axis = role ? role.getAs<StringAttr>("axis") : nullptr;
  auto coordinate = role ? role.getAs<IntegerAttr>("coordinate") : nullptr;
  if (!entry || !axis || !coordinate)
    return std::nullopt;
  return Role{entry.str(), axis, coordinate.getInt()};
}

static void state(func::FuncOp function, const Role &role) {
  Builder b(function.getContext());
  function->setAttr(
      roleAttrName,
      b.getDictionaryAttr({b.getNamedAttr("entry", b.getStringAttr(role.entry)),
                           b.getNamedAttr("axis", role.axis),
                           b.getNamedAttr("coordinate", b.getI64IntegerAttr(role.coordinate))}));
}

static nd::NdTensorType absentType(Type whole) {
  auto type = cast<nd::NdTensorType>(whole);
  return type.withDims(nd::Dim(type.getContext(), absentName, Expr(0)));
}
static bool isAbsent(Type type) { return cast<nd::NdTensorType>(type).has(absentName); }

//===----------------------------------------------------------------------===//
// Splitting
//===----------------------------------------------------------------------===//

namespace {
/// Writes the functions of all roles, op by op in the order of the program.
class Splitter {
public:
  Splitter(func::FuncOp function, const PlacedOps &placed)
      : function(function), placed(placed), values(size_t(placed.count)),
        given(size_t(placed.count)) {}

  void run() {
    for (int64_t role = 0; role < placed.count; ++role)
      builders.push_back(begin(role));
    findReaders();
    for (BlockArgument argument : function.getArguments())
      if (auto home = placed.homeOf(argument))
        transfer(argument, *home);
    for (Operation &op : function.front().without_terminator()) {
      if (placed.isEverywhere(&op))
        continue;
      int64_t at = placed.placeOf(&op);
      copy(&op, at);
      for (Value result : op.getResults())
        transfer(result, at);
    }
    for (int64_t role = 0; role < placed.count; ++role)
      end(role);
    function.erase();
  }

private:
  func::FuncOp function;
  const PlacedOps &placed;
  std::vector<OpBuilder> builders;       ///< of each role, at the end of its body
  std::vector<IRMapping> values;         ///< of each role
  std::vector<std::set<unsigned>> given; ///< the arguments that each role reads
  llvm::DenseMap<Value, std::set<int64_t>> readers;
  int64_t channels = 0;

  OpBuilder begin(int64_t role) {
    auto made = cast<func::FuncOp>(function->cloneWithoutRegions());
    Role is{function.getName().str(), placed.axis, role};
    made.setName(is.entry + "." + is.name());
    state(made, is);
    OpBuilder(function).insert(made);
    Block *block = made.addEntryBlock();
    values[size_t(role)].map(function.getArguments(), block->getArguments());
    return OpBuilder::atBlockEnd(block);
  }

  /// The roles that read each value.
  void findReaders() {
    for (Operation &op : function.front().without_terminator())
      if (!placed.isEverywhere(&op))
        for (Value used : usesOf(&op))
          addReader(used, placed.placeOf(&op));
    for (auto [i, value] : llvm::enumerate(function.front().getTerminator()->getOperands()))
      addReader(value, placed.placeOfResult(unsigned(i)));
    for (BlockArgument argument : function.getArguments()) // also those that nobody reads
      for (int64_t role = 0; role < placed.count; ++role)
        if (auto home = placed.homeOf(argument); home ? *home == role : !readers.contains(argument))
          given[size_t(role)].insert(argument.getArgNumber());
  }
  void addReader(Value value, int64_t role) {
    if (!readers[value].insert(role).second)
      return;
    if (Operation *op = value.getDefiningOp(); op && placed.isEverywhere(op))
      for (Value used : usesOf(op))
        addReader(used, role);
    if (auto argument = dyn_cast<BlockArgument>(value))
      if (!placed.homeOf(argument))
        given[size_t(role)].insert(argument.getArgNumber());
  }

  /// The value in a role; computes it there if any role may.
  Value in(int64_t role, Value value) {
    Operation *op = value.getDefiningOp();
    if (op && placed.isEverywhere(op) && !values[size_t(role)].contains(value))
      copy(op, role);
    return values[size_t(role)].lookup(value);
  }
  void copy(Operation *op, int64_t role) {
    for (Value used : usesOf(op))
      in(role, used);
    builders[size_t(role)].clone(*op, values[size_t(role)]);
  }

  /// Sends a value to all other roles that read it.
  void transfer(Value value, int64_t from) {
    auto found = readers.find(value);
    if (found == readers.end())
      return;
    MLIRContext *context = function.getContext();
    auto axis = AxesAttr::get(context, {{placed.axis}});
    Layout layout = Layout::rowMajor(sortedNames(value));
    auto layouts = ArrayAttr::get(context, {nest::LayoutAttr::get(context, layout)});
    for (int64_t to : found->second) {
      if (to == from)
        continue;
      SendOp::create(builders[size_t(from)], value.getLoc(), values[size_t(from)].lookup(value),
                     axis, to, channels, layouts);
      Value received = ReceiveOp::create(builders[size_t(to)], value.getLoc(), value.getType(),
                                         axis, from, channels++, layouts);
      values[size_t(to)].map(value, received);
    }
  }
  static std::vector<std::string> sortedNames(Value value) {
    std::vector<std::string> names;
    for (const nd::Dim &dim : tensorType(value).getDims())
      names.push_back(dim.name.str());
    return names;
  }

  void end(int64_t role) {
    OpBuilder &b = builders[size_t(role)];
    auto made = cast<func::FuncOp>(b.getInsertionBlock()->getParentOp());
    Operation *from = function.front().getTerminator();
    SmallVector<Value> returned;
    for (auto [i, value] : llvm::enumerate(from->getOperands()))
      returned.push_back(placed.placeOfResult(unsigned(i)) == role
                             ? in(role, value)
                             : nest::zeros(b, from->getLoc(), absentType(value.getType())));
    func::ReturnOp::create(b, from->getLoc(), returned);
    for (BlockArgument argument : made.getArguments())
      if (!given[size_t(role)].contains(argument.getArgNumber()))
        argument.setType(absentType(argument.getType()));
    made.setFunctionType(
        b.getFunctionType(made.front().getArgumentTypes(), ValueRange(returned).getTypes()));
    writePlaces(made);
  }

  /// The roles that have an argument.
  SmallVector<int64_t> holders(unsigned argument) const {
    SmallVector<int64_t> roles;
    for (int64_t role = 0; role < placed.count; ++role)
      if (given[size_t(role)].contains(argument))
        roles.push_back(role);
    return roles;
  }
  void writePlaces(func::FuncOp made) {
    auto with = [&](DictionaryAttr attributes, ArrayRef<int64_t> roles) -> Attribute {
      auto stated = attributes ? attributes.getAs<ShardingAttr>(shardingAttrName) : nullptr;
      if (!stated)
        stated = ShardingAttr::get(function.getContext(), Sharding());
      SmallVector<AxisCoordinate> place;
      for (int64_t role : roles)
        place.push_back({placed.axis, role});
      return stated.at(place);
    };
    for (unsigned i = 0; i < made.getNumArguments(); ++i)
      if (isAbsent(made.getArgumentTypes()[i]) &&
          isa_and_nonnull<nest::LayoutAttr>(made.getArgAttr(i, "nd.layout")))
        made.removeArgAttr(i, "nd.layout");
    for (unsigned i = 0; i < made.getNumResults(); ++i)
      if (isAbsent(made.getResultTypes()[i]))
        made.removeResultAttr(i, StringAttr::get(made.getContext(), "nd.layout"));
    nd::setArgAttrs(made, shardingAttrName, [&](unsigned i) {
      SmallVector<int64_t> roles;
      if (placed.homeOf(function.getArgument(i)))
        roles = {*placed.homeOf(function.getArgument(i))};
      else
        roles = holders(i);
      bool isEverywhere = int64_t(roles.size()) == placed.count;
      return with(made.getArgAttrDict(i), isEverywhere ? ArrayRef<int64_t>() : roles);
    });
    nd::setResultAttrs(made, shardingAttrName, [&](unsigned i) {
      return with(made.getResultAttrDict(i), {placed.placeOfResult(i)});
    });
  }
};
} // namespace

LogicalResult mesh::splitRoles(ModuleOp module) {
  DenseSet<Operation *> inner = controlled(module);
  for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    if (function.isExternal() || !isPartitioned(function) || Role::of(function) ||
        inner.contains(function))
      continue;
    FailureOr<std::optional<PlacedOps>> placed = placeOps(function, meshOf(function));
    if (failed(placed))
      return failure();
    if (*placed)
      Splitter(function, **placed).run();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

namespace {
/// The roles of one entry, by their coordinates.
using Roles = std::map<int64_t, func::FuncOp>;

/// One end of a transfer.
struct End {
  Operation *op = nullptr;
  int64_t self = 0, other = 0;
};
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

static int64_t channelOf(Operation *op) {
  return op->getAttrOfType<IntegerAttr>("channel").getInt();
}

/// Collects the transfers of a role, which have to be in the order of their channels.
static LogicalResult collect(func::FuncOp function, std::map<int64_t, End> &sends,
                             std::map<int64_t, End> &receives) {
  Role role = *Role::of(function);
  Operation *last = nullptr;
  auto add = [&](auto op, std::map<int64_t, End> &to) -> LogicalResult {
    if (op.getAxis().getAxes()[0].name != role.axis)
      return op.emitOpError() << "expected the axis of the role " << role.name();
    if (op->getBlock() != &function.front())
      return op.emitOpError() << "expected transfers in the body of the role's function only";
    if (last && channelOf(last) >= int64_t(op.getChannel())) // S16
      return op.emitOpError() << "has the channel " << op.getChannel() << " after "
                              << channelOf(last)
                              << ": roles that wait for each other in another order wait for ever";
    last = op;
    End end{op, role.coordinate, int64_t(op.getCoordinate())};
    auto [known, isNew] = to.emplace(int64_t(op.getChannel()), end);
    if (!isNew)
      return op.emitOpError() << "has the channel " << op.getChannel() << ", as another role's has";
    return success();
  };
  WalkResult done = function.walk([&](Operation *op) -> WalkResult {
    if (auto send = dyn_cast<SendOp>(op))
      return add(send, sends);
    if (auto receive = dyn_cast<ReceiveOp>(op))
      return add(receive, receives);
    return WalkResult::advance();
  });
  return failure(done.wasInterrupted());
}

/// Each end has its other one, in the role that it names, of the same type.
static LogicalResult meet(const std::map<int64_t, End> &ends, const std::map<int64_t, End> &others,
                          StringRef what) {
  for (const auto &[channel, end] : ends) {
    auto found = others.find(channel);
    if (found == others.end() || found->second.self != end.other || found->second.other != end.self)
      return end.op->emitOpError() << "expected a mesh." << what << " of the channel " << channel
                                   << " in the role " << end.other << " for the role " << end.self;
    auto typeOf = [](Operation *op) {
      return op->getNumOperands() ? op->getOperand(0).getType() : op->getResult(0).getType();
    };
    auto layoutsOf = [](Operation *op) { return op->getAttr("layouts"); };
    if (typeOf(found->second.op) != typeOf(end.op) ||
        layoutsOf(found->second.op) != layoutsOf(end.op))
      return end.op->emitOpError() << "moves " << typeOf(end.op) << ", but the other end "
                                   << typeOf(found->second.op) << ", or in another layout";
  }
  return success();
}

LogicalResult mesh::checkRoles(ModuleOp module) {
  std::map<std::string, Roles> all;
  if (failed(rolesOf(module, all)))
    return failure();
  for (auto &[entry, roles] : all) {
    std::map<int64_t, End> sends, receives;
    for (auto &[coordinate, function] : roles)
      if (failed(collect(function, sends, receives)))
        return failure();
    if (failed(meet(sends, receives, "receive")) || failed(meet(receives, sends, "send")))
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
    SmallVector<Attribute> shardings;
    for (auto &[coordinate, function] : roles)
      if (function.getNumArguments() != first.getNumArguments() ||
          function.getNumResults() != first.getNumResults())
        return function.emitError() << "expected the same arguments and results in all roles";
    for (unsigned i = 0; i < first.getNumArguments(); ++i) {
      func::FuncOp from = holder([&](func::FuncOp each) { return each.getArgumentTypes()[i]; });
      Value argument = made.front().addArgument(wholeBlock(from, i), first.getArgument(i).getLoc());
      for (auto &[coordinate, function] : roles)
        values.map(function.getArgument(i), argument);
      shardings.push_back(withoutPlace(from.getArgAttrDict(i)));
    }
    nd::setArgAttrs(made, shardingAttrName, [&](unsigned i) { return shardings[i]; });
    for (auto &[coordinate, function] : roles)
      next[coordinate] = function.front().begin();
    return success();
  }
  /// The type of an argument in a role that has it; of one that nobody has, its block.
  Type wholeBlock(func::FuncOp from, unsigned i) {
    Type type = from.getArgumentTypes()[i];
    auto whole = from.getArgAttrOfType<TypeAttr>(i, globalAttrName);
    auto sharding = from.getArgAttrOfType<ShardingAttr>(i, shardingAttrName);
    if (!isAbsent(type) || !whole)
      return type;
    return blockType(meshOf(from), cast<nd::NdTensorType>(whole.getValue()),
                     sharding ? sharding.getSharding() : Sharding());
  }
  static Attribute withoutPlace(DictionaryAttr attributes) {
    auto sharding = attributes ? attributes.getAs<ShardingAttr>(shardingAttrName) : nullptr;
    return sharding ? sharding.at({}) : nullptr;
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
    SmallVector<Attribute> shardings;
    for (auto &[coordinate, function] : roles)
      if (!next[coordinate]->hasTrait<OpTrait::IsTerminator>())
        return next[coordinate]->emitOpError() << "waits for ever";
    for (unsigned i = 0; i < first.getNumResults(); ++i) {
      func::FuncOp from = holder([&](func::FuncOp each) { return each.getResultTypes()[i]; });
      returned.push_back(values.lookup(from.front().getTerminator()->getOperand(i)));
      shardings.push_back(withoutPlace(from.getResultAttrDict(i)));
    }
    func::ReturnOp::create(b, first.front().getTerminator()->getLoc(), returned);
    made.setFunctionType(
        b.getFunctionType(made.front().getArgumentTypes(), ValueRange(returned).getTypes()));
    nd::setResultAttrs(made, shardingAttrName, [&](unsigned i) { return shardings[i]; });
    return success();
  }

  /// The devices of the merged program do not differ along the axis of the roles.
  void withoutAxis(StringAttr axis) {
    MeshAttr mesh = meshOf(made);
    SmallVector<StringAttr> names;
    SmallVector<int64_t> sizes;
    for (auto [name, size] : llvm::zip_equal(mesh.getNames(), mesh.getSizes()))
      if (name != axis) {
        names.push_back(name);
        sizes.push_back(size);
      }
    made->setAttr(meshAttrName, MeshAttr::get(mesh.getContext(), names, sizes));
    removeCoordinates(made, axis);
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
