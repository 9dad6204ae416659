//===- Roles.cpp - splits a program into roles ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/roles/Roles.h"

#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nest/NestBuild.h"
#include "lib/analysis/Layouts.h"
#include "lib/transforms/mesh/partition/Partition.h"
#include "lib/transforms/mesh/partition/Reshard.h"
#include "lib/transforms/mesh/roles/OrderOps.h"
#include "lib/transforms/mesh/roles/PlaceOps.h"
#include "mlir/IR/IRMapping.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

std::optional<Role> Role::of(func::FuncOp function) {
  auto role = function->getAttrOfType<DictionaryAttr>(roleAttrName);
  if (!role)
    return std::nullopt;
  return Role{role.getAs<StringAttr>("entry").str(),
              RoleAxes::read(meshOf(function), role.getAs<StringAttr>("axis")),
              role.getAs<IntegerAttr>("coordinate").getInt()};
}

bool mesh::isAbsent(Type type) { return cast<nd::NdTensorType>(type).has(absentName); }

static nd::NdTensorType absentType(Type whole) {
  auto type = cast<nd::NdTensorType>(whole);
  return type.withDims(nd::Dim(type.getContext(), absentName, Expr(0)));
}

//===----------------------------------------------------------------------===//
// Splitting
//===----------------------------------------------------------------------===//

namespace {
/// Writes the functions of all roles, op by op in program order.
class Splitter {
public:
  Splitter(func::FuncOp function, const PlacedOps &placed)
      : function(function), placed(placed), roles(placed.roles), values(size_t(roles.count())) {}

  void run() {
    for (int64_t role = 0; role < roles.count(); ++role)
      builders.push_back(begin(role));
    findHoldersOfResults();
    findReaders();
    findHoldersOfArguments();
    for (BlockArgument argument : function.getArguments())
      transfer(argument);
    for (Operation &op : function.front().without_terminator()) {
      if (placed.isEverywhere(&op))
        continue;
      for (int64_t role : runners[&op])
        copy(&op, role);
      for (Value result : op.getResults())
        transfer(result);
    }
    for (int64_t role = 0; role < roles.count(); ++role)
      end(role);
    function.erase();
  }

private:
  func::FuncOp function;
  const PlacedOps &placed;
  const RoleAxes &roles;
  std::vector<OpBuilder> builders; ///< by role, at the end of its body
  std::vector<IRMapping> values;   ///< by role
  llvm::DenseMap<Value, std::set<int64_t>> readers;
  llvm::DenseMap<Operation *, std::set<int64_t>> runners; ///< the roles that run each op
  using Holders = SmallVector<std::set<int64_t>>;         ///< by axis of roles: the coordinates
  std::vector<Holders> ofArguments, ofResults;
  int64_t channels = 0;

  OpBuilder begin(int64_t role) {
    auto made = cast<func::FuncOp>(function->cloneWithoutRegions());
    Role is{function.getName().str(), roles, role};
    made.setName(is.entry + "." + is.name());
    OpBuilder b(function);
    made->setAttr(roleAttrName,
                  b.getDictionaryAttr({b.getNamedAttr("entry", b.getStringAttr(is.entry)),
                                       b.getNamedAttr("axis", b.getStringAttr(roles.text())),
                                       b.getNamedAttr("coordinate", b.getI64IntegerAttr(role))}));
    b.insert(made);
    Block *block = made.addEntryBlock();
    values[size_t(role)].map(function.getArguments(), block->getArguments());
    return OpBuilder::atBlockEnd(block);
  }

  /// Finds the roles that read each value and run each op. An op that none reads is run once.
  void findReaders() {
    for (Operation &op : function.front().without_terminator())
      if (!placed.isEverywhere(&op))
        addRunner(&op, placed.placeOf(&op));
    for (auto [i, value] : llvm::enumerate(function.front().getTerminator()->getOperands()))
      for (int64_t role = 0; role < roles.count(); ++role)
        if (isHeld(ofResults[i], role))
          addReader(value, role);
  }
  void addRunner(Operation *op, int64_t role) {
    if (runners[op].insert(role).second)
      for (Value used : usesOf(op))
        addReader(used, role);
  }
  void addReader(Value value, int64_t role) {
    if (!readers[value].insert(role).second)
      return;
    if (Operation *op = value.getDefiningOp())
      addRunner(op, placed.placeOf(op, role));
  }
  Holders coordinatesOf(const std::set<int64_t> &some) const {
    Holders held(roles.axes.size());
    for (size_t axis = 0; axis < held.size(); ++axis)
      for (int64_t role : some)
        held[axis].insert(roles.coordinate(role, axis));
    return held;
  }
  /// A result is held by the roles of its place.
  void findHoldersOfResults() {
    for (const RolePlace &place : placed.results) {
      std::set<int64_t> at;
      for (int64_t role = 0; role < roles.count(); ++role)
        at.insert(roles.at(place, role));
      ofResults.push_back(coordinatesOf(at));
    }
  }
  /// An argument is held by the roles of its place, or those that read it, or all if none does.
  void findHoldersOfArguments() {
    auto all = llvm::seq(roles.count());
    for (BlockArgument argument : function.getArguments()) {
      std::set<int64_t> at, &read = readers[argument];
      for (int64_t role : read.empty() ? std::set<int64_t>(all.begin(), all.end()) : read)
        at.insert(placed.placeOf(argument, role));
      ofArguments.push_back(coordinatesOf(at));
    }
  }
  bool isHeld(const Holders &held, int64_t role) const {
    return llvm::all_of(llvm::enumerate(held), [&](auto axis) {
      return axis.value().contains(roles.coordinate(role, axis.index()));
    });
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
    builders[size_t(role)].clone(*op, values[size_t(role)])->removeAttr(placeAttrName);
  }

  /// Sends a value to all other roles that read it.
  void transfer(Value value) {
    auto found = readers.find(value);
    if (found == readers.end())
      return;
    MLIRContext *context = function.getContext();
    auto axis = AxesAttr::get(context, roles.axes);
    Layout layout = nest::sortedLayout(tensorType(value));
    auto layouts = ArrayAttr::get(context, {nest::LayoutAttr::get(context, layout)});
    for (int64_t to : found->second) {
      int64_t from = placed.placeOf(value, to);
      if (to == from)
        continue;
      SendOp::create(builders[size_t(from)], value.getLoc(), values[size_t(from)].lookup(value),
                     axis, to, channels, layouts);
      Value received = ReceiveOp::create(builders[size_t(to)], value.getLoc(), value.getType(),
                                         axis, from, channels++, layouts);
      values[size_t(to)].map(value, received);
    }
  }

  void end(int64_t role) {
    OpBuilder &b = builders[size_t(role)];
    auto made = cast<func::FuncOp>(b.getInsertionBlock()->getParentOp());
    Operation *from = function.front().getTerminator();
    SmallVector<Value> returned;
    for (auto [i, value] : llvm::enumerate(from->getOperands()))
      returned.push_back(isHeld(ofResults[i], role)
                             ? in(role, value)
                             : nest::zeros(b, from->getLoc(), absentType(value.getType())));
    func::ReturnOp::create(b, from->getLoc(), returned);
    for (BlockArgument argument : function.getArguments())
      if (!isHeld(ofArguments[argument.getArgNumber()], role)) {
        BlockArgument own = made.getArgument(argument.getArgNumber());
        own.setType(absentType(own.getType()));
        made.removeArgAttr(own.getArgNumber(), "nd.layout");
      }
    nd::retype(made);
    addSymbols(made);
    for (unsigned i = 0; i < made.getNumResults(); ++i)
      if (isAbsent(made.getResultTypes()[i]))
        made.removeResultAttr(i, StringAttr::get(made.getContext(), "nd.layout"));
    nd::setArgAttrs(made, shardingAttrName,
                    [&](unsigned i) { return shardingAt(made.getArgAttrDict(i), ofArguments[i]); });
    nd::setResultAttrs(made, shardingAttrName, [&](unsigned i) {
      return shardingAt(made.getResultAttrDict(i), ofResults[i]);
    });
  }
  /// Declares sizes that no argument of the role determines; the caller supplies them.
  void addSymbols(func::FuncOp made) {
    llvm::StringSet<> own = nd::sizeSymbols(made), all = nd::sizeSymbols(function);
    SmallVector<StringRef> symbols(all.keys());
    llvm::sort(symbols);
    SmallVector<Attribute> list(nd::listedSymbols(made));
    for (StringRef symbol : symbols)
      if (!own.contains(symbol))
        list.push_back(StringAttr::get(made.getContext(), symbol));
    nd::listSymbols(made, list);
  }
  /// The stated sharding, with a place added.
  Attribute shardingAt(DictionaryAttr attributes, const Holders &held) {
    auto stated = attributes ? attributes.getAs<ShardingAttr>(shardingAttrName) : nullptr;
    if (!stated)
      stated = ShardingAttr::get(function.getContext(), Sharding());
    SmallVector<AxisCoordinate> place;
    for (auto [axis, coordinates] : llvm::zip_equal(roles.axes, held))
      if (int64_t(coordinates.size()) < partsOf(roles.mesh, axis))
        for (int64_t coordinate : coordinates)
          place.push_back({StringAttr::get(function.getContext(), axis.str()), coordinate});
    return stated.at(place);
  }
};
} // namespace

LogicalResult mesh::splitRoles(ModuleOp module) {
  DenseSet<Operation *> inner = functionsOfControl(module);
  llvm::MapVector<MeshAttr, SmallVector<func::FuncOp>> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && isPartitioned(function) && !Role::of(function) &&
        !inner.contains(function))
      functions[meshOf(function)].push_back(function);
  for (auto &[mesh, list] : functions) {
    FailureOr<RoleAxes> roles = roleAxesOf(list, mesh);
    if (failed(roles))
      return failure();
    for (func::FuncOp function : list) {
      FailureOr<std::optional<PlacedOps>> placed = placeOps(function, *roles);
      if (failed(placed))
        return failure();
      if (!*placed)
        continue;
      if (failed(orderOps(function, **placed)))
        return failure();
      Splitter(function, **placed).run();
    }
  }
  return success();
}
