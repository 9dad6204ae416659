//===- PlaceOps.cpp - the role of each op ---------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/roles/PlaceOps.h"

#include "lib/transforms/mesh/partition/Reshard.h"
#include "lib/transforms/mesh/propagate/PropagationGraph.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

namespace {
/// Computes the places of Roles.h along one axis of roles; -1: none.
class Placer {
public:
  Placer(func::FuncOp function, PlacedOps &placed, size_t axis)
      : function(function), placed(placed), axis(axis) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      auto sharding = function.getArgAttrOfType<ShardingAttr>(i, shardingAttrName);
      homes.push_back(sharding ? placed.roles.coordinate(sharding.getPlace(), axis).value_or(-1)
                               : -1);
    }
    for (Operation &op : function.front().without_terminator()) {
      if (auto place = placed.roles.coordinate(mesh::placeOf(&op), axis))
        stated[&op] = *place;
      order.push_back(&op);
      uses[&op] = usesOf(&op);
    }
    Operation *end = function.front().getTerminator();
    for (unsigned i = 0; i < end->getNumOperands(); ++i) {
      auto state = stateOf(function, i);
      states.push_back(state ? int64_t(*state) : -1);
    }
  }

  void run() {
    update();
    for (const State &state : statesInOrder())
      if (int64_t &home = homes[state.argument]; home < 0) {
        home = homeFor(state);
        update();
      }
    for (auto [i, home] : llvm::enumerate(homes))
      placed.homes[i].push_back(home);
    for (Operation *op : order) {
      bool isEverywhere = latest.lookup(op) < 0 && isElementwise(op);
      placed.ops[op].push_back(isEverywhere ? -1 : std::max<int64_t>(0, place.lookup(op)));
    }
    for (auto [i, value] : llvm::enumerate(function.front().getTerminator()->getOperands()))
      placed.results[i].push_back(placeOfResult(states[i], value));
  }

private:
  func::FuncOp function;
  PlacedOps &placed;
  size_t axis;                ///< of the axes of roles
  std::vector<int64_t> homes; ///< of arguments
  std::vector<Operation *> order;
  llvm::DenseMap<Operation *, llvm::SetVector<Value>> uses;
  std::vector<int64_t> states;                 ///< by result; -1: none
  llvm::DenseMap<Operation *, int64_t> stated; ///< the places of ops by rules
  /// The last place that an op depends on (U), the last of new states that depend on it (R), its
  /// own.
  llvm::DenseMap<Operation *, int64_t> latest, reached, place;

  /// True if the op computes each element from few others.
  static bool isElementwise(Operation *op) {
    if (isa<nd::LiteralInterface>(op))
      return true;
    auto compute = dyn_cast<nest::ComputeOp>(op);
    return compute && compute.getReduced().getDims().empty();
  }

  /// The number for a value's defining op; for an argument, its home.
  int64_t of(Value value, const llvm::DenseMap<Operation *, int64_t> &numbers) const {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument ? homes[argument.getArgNumber()] : numbers.lookup(value.getDefiningOp());
  }
  int64_t placeOf(Value value) const { return of(value, place); }
  bool returns(Value value) const {
    Operation *op = value.getDefiningOp();
    return op && reached.lookup(op) >= 0 && reached.lookup(op) < place.lookup(op);
  }

  void update() {
    for (Operation *op : order)
      reached[op] = -1;
    for (auto [state, value] :
         llvm::zip_equal(states, function.front().getTerminator()->getOperands()))
      if (state >= 0)
        reach(value, homes[size_t(state)]);
    for (Operation *op : llvm::reverse(order))
      if (!isNumber(op->getResults()))
        for (Value used : uses[op])
          reach(used, reached[op]);
    for (Operation *op : order) {
      auto fixed = stated.find(op);
      int64_t own = ownPlace(op);
      latest[op] = fixed == stated.end() ? -1 : fixed->second;
      for (Value used : uses[op])
        latest[op] = std::max(latest[op], of(used, latest));
      if (own < 0 || !isNumber(op->getResults()))
        own = std::max(own, reached[op]);
      place[op] = fixed == stated.end() ? std::min(own, latest[op]) : fixed->second;
    }
  }
  /// The place of an op according to its operands; -1: they do not determine it.
  int64_t ownPlace(Operation *op) {
    ArrayRef<Value> used = uses[op].getArrayRef();
    auto attracts = [&](Value value) { return placeOf(value) >= 0 && !isNumber(value); };
    bool anyTensor = llvm::any_of(used, attracts);
    constexpr int64_t none = std::numeric_limits<int64_t>::max();
    int64_t own = -1, back = none;
    for (Value value : used) {
      if (anyTensor && !attracts(value))
        continue;
      if (!returns(value))
        own = std::max(own, placeOf(value));
      else
        back = std::min(back, placeOf(value));
    }
    // A value that passes through is sent where it is smallest.
    bool isLarger = tensorBytes(op->getResults()) > tensorBytes(used);
    if (own < 0 && back < none && !isLarger)
      return back;
    // Place the op with an operand that is further on the way back.
    int64_t further = -1;
    for (Value value : used)
      if (int64_t at = placeOf(value); attracts(value) && at < own)
        further = std::max(further, at);
      else if (isa<BlockArgument>(value) && at == own)
        return own;
    return reached[op] >= 0 && reached[op] <= further ? further : own;
  }
  static bool isNumber(ValueRange values) {
    return llvm::all_of(
        values, [](Value value) { return nd::tensorType(value).getDims().getDims().empty(); });
  }
  void reach(Value value, int64_t home) {
    if (Operation *op = value.getDefiningOp())
      reached[op] = std::max(reached[op], home);
  }

  /// A state, its first reader, its next value, and whether only next values of states depend on
  /// it.
  struct State {
    bool isKept;
    size_t reader;
    unsigned argument;
    Value next;
    bool operator<(const State &other) const {
      return std::tie(isKept, reader, argument) <
             std::tie(other.isKept, other.reader, other.argument);
    }
  };
  /// Parameters, in the order of their first readers, precede the states that are kept with them.
  std::vector<State> statesInOrder() {
    llvm::DenseSet<Value> shown; // states that other results depend on
    llvm::DenseMap<Value, size_t> readers;
    ValueRange results = function.front().getTerminator()->getOperands();
    for (auto [state, value] : llvm::zip_equal(states, results))
      if (state < 0)
        shown.insert(value);
    for (size_t i = order.size(); i-- > 0;) {
      bool isShown =
          llvm::any_of(order[i]->getResults(), [&](Value v) { return shown.contains(v); });
      for (Value used : uses[order[i]]) {
        readers[used] = i;
        if (isShown)
          shown.insert(used);
      }
    }
    std::vector<State> found;
    for (auto [state, value] : llvm::zip_equal(states, results))
      if (state >= 0) {
        Value argument = function.getArgument(unsigned(state));
        found.push_back({!shown.contains(argument),
                         readers.try_emplace(argument, order.size()).first->second, unsigned(state),
                         value});
      }
    llvm::sort(found);
    return found;
  }
  /// The place of the first reader, if its other operands determine it. A state that is kept with a
  /// parameter is often first read alone: its home is where its next value is computed.
  int64_t homeFor(const State &state) {
    int64_t home = state.reader < order.size() ? place.lookup(order[state.reader]) : -1;
    if (home < 0 && state.isKept)
      home = placeOf(state.next);
    return std::max<int64_t>(0, home);
  }

  int64_t placeOfResult(int64_t state, Value value) const {
    if (state >= 0)
      return homes[size_t(state)];
    return std::max<int64_t>(0, placeOf(value));
  }
};
} // namespace

/// An axis of roles may not split anything.
static LogicalResult checkUnsplit(func::FuncOp function, const RoleAxes &roles) {
  auto along = [&](ArrayRef<Axis> axes) {
    auto found = llvm::find_if(roles.axes,
                               [&](const Axis &each) { return overlap(roles.mesh, each, axes); });
    return found == roles.axes.end() ? "" : found->str();
  };
  WalkResult done = function.walk([&](CollectiveInterface op) {
    std::string axis = along(op.getAxes().getAxes());
    return axis.empty() ? WalkResult::advance()
                        : WalkResult(op->emitOpError() << "communicates along '" << axis
                                                       << "', whose coordinates are roles");
  });
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    for (const auto &[name, axes] : shardingOf(function.getArgAttr(i, shardingAttrName)))
      if (std::string axis = along(axes); !axis.empty())
        return emitError(function.getArgument(i).getLoc())
               << "argument " << i << " is split along '" << axis
               << "', whose coordinates are roles";
  return failure(done.wasInterrupted());
}

/// Calls `state` with each place of an argument or op, and with its location.
static LogicalResult forEachPlace(func::FuncOp function,
                                  function_ref<void(ArrayRef<AxisCoordinate>, Location)> state) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto sharding = function.getArgAttrOfType<ShardingAttr>(i, shardingAttrName);
    if (!sharding)
      continue;
    ArrayRef<AxisCoordinate> place = sharding.getPlace();
    Location loc = function.getArgument(i).getLoc();
    for (size_t k = 1; k < place.size(); ++k)
      if (place[k].axis == place[k - 1].axis)
        return emitError(loc) << "argument " << i << " states several places along '"
                              << place[k].axis.getValue() << "', expected one";
    state(place, loc);
  }
  for (Operation &op : function.front())
    state(placeOf(&op), op.getLoc());
  return success();
}

FailureOr<RoleAxes> mesh::roleAxesOf(ArrayRef<func::FuncOp> functions, MeshAttr mesh) {
  SmallVector<Axis> stated;
  std::optional<Location> last;
  for (func::FuncOp function : functions)
    if (failed(forEachPlace(function, [&](ArrayRef<AxisCoordinate> place, Location loc) {
          for (const AxisCoordinate &each : place)
            if (Axis axis = each.axis.getValue(); !llvm::is_contained(stated, axis)) {
              stated.push_back(axis);
              last = loc;
            }
        })))
      return failure();
  return RoleAxes::of(mesh, stated, [&] { return emitError(*last) << "the program "; });
}

FailureOr<std::optional<PlacedOps>> mesh::placeOps(func::FuncOp function, const RoleAxes &roles) {
  std::vector<bool> isStated(roles.axes.size());
  if (failed(forEachPlace(function, [&](ArrayRef<AxisCoordinate> place, Location) {
        for (size_t axis = 0; axis < isStated.size(); ++axis)
          if (roles.coordinate(place, axis))
            isStated[axis] = true;
      })))
    return failure();
  if (!llvm::is_contained(isStated, true))
    return std::optional<PlacedOps>();
  if (failed(checkUnsplit(function, roles)))
    return failure();
  PlacedOps placed;
  placed.roles = roles;
  placed.homes.resize(function.getNumArguments());
  placed.results.resize(function.getNumResults());
  for (size_t axis = 0; axis < roles.axes.size(); ++axis)
    if (isStated[axis])
      Placer(function, placed, axis).run();
    else
      placed.addEverywhere(function);
  return std::optional(std::move(placed));
}

void PlacedOps::addEverywhere(func::FuncOp function) {
  for (auto *places : {&homes, &results})
    for (RolePlace &place : *places)
      place.push_back(-1);
  for (Operation &op : function.front().without_terminator())
    ops[&op].push_back(-1);
}
