//===- Operators.cpp - the operators of a program, and their names --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/analysis/Operators.h"

#include "dialects/nd/NdGradient.h"
#include "dialects/nest/NestBuild.h"
#include "lib/analysis/NestAnalysis.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringSet.h"

#include <set>

using namespace heddle;
using namespace mlir;

std::optional<unsigned> heddle::stateOf(func::FuncOp function, unsigned result) {
  auto name = function.getResultAttrOfType<StringAttr>(result, nd::nameAttrName);
  std::optional<unsigned> named;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto donated = function.getArgAttrOfType<IntegerAttr>(i, "heddle.donate");
    if (donated && donated.getInt() == int64_t(result))
      return i;
    if (name && name == function.getArgAttr(i, nd::nameAttrName) &&
        function.getArgument(i).getType() == function.getResultTypes()[result])
      named = i;
  }
  return named;
}

SmallVector<nd::DimsAttr, 2> heddle::iterationNamesOf(Operation *op) {
  if (auto nest = dyn_cast<nest::LoopNestInterface>(op))
    return nest.getIterationNames();
  if (auto scan = dyn_cast<nest::ScanOp>(op))
    return {scan.getAlong()};
  if (auto sort = dyn_cast<nest::SortOp>(op))
    return {sort.getLines()};
  return {};
}

ArrayRef<Operation *> Operator::splitNests() const {
  return roots.empty() ? ArrayRef(nests) : ArrayRef(roots);
}

/// True for nests that compute each point by itself, and for ops that compute nothing.
static bool isPointwise(Operation *op) {
  if (auto nest = dyn_cast<nest::ComputeOp>(op))
    return !nest.isReduction();
  return !isa<nest::UpdateOp, nest::ScanOp, nest::SortOp, nest::ControlOp>(op);
}

namespace {
class Finder {
public:
  explicit Finder(func::FuncOp function)
      : function(function), arguments(function.getNumArguments()), isParameter(arguments) {}

  std::vector<Operator> run() {
    for (Operation &op : function.front().without_terminator())
      visit(op);
    findUpdates();
    findParameters();
    for (Operation &op : function.front().without_terminator())
      if (isRoot(&op))
        addRoot(&op);
    assignOthers();
    for (Found &each : found)
      if (!each.roots.empty())
        each.base = baseOf(each);
    name();
    llvm::stable_sort(found, [](const Found &a, const Found &b) {
      return a.place()->isBeforeInBlock(b.place());
    });
    return {found.begin(), found.end()};
  }

private:
  struct Found : Operator {
    std::string suffix;
    SmallVector<Operation *, 4> body; ///< the root, and what only it reads
    Operation *place() const { return roots.empty() ? nests[0] : roots[0]; }
  };
  mutable func::FuncOp function;
  unsigned arguments;
  std::vector<Found> found;
  DenseMap<Operation *, unsigned> ownerOf; ///< an index of `found`
  /// Values that are computed from one argument alone, such as a cast: the argument.
  DenseMap<Value, unsigned> onlyArgument;
  /// The arguments whose next values are computed from an op by pointwise nests.
  DenseMap<Operation *, llvm::BitVector> reached;
  llvm::DenseSet<Operation *> updates; ///< pointwise ops from which only next values are computed
  DenseSet<Operation *> gathers;       ///< nests that look up elements of data
  llvm::BitVector isParameter;

  bool isRoot(Operation *op) const {
    return (!isPointwise(op) && !isa<nest::ControlOp>(op)) || gathers.contains(op);
  }

  std::optional<unsigned> argumentOf(Value value) const {
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner() == &function.front())
      return argument.getArgNumber();
    auto known = onlyArgument.find(value);
    return known == onlyArgument.end() ? std::nullopt : std::optional(known->second);
  }
  std::string pathOf(unsigned argument) const {
    auto named = function.getArgAttrOfType<StringAttr>(argument, nd::nameAttrName);
    return named ? named.str() : "argument" + std::to_string(argument);
  }

  void visit(Operation &op) {
    if (auto nest = dyn_cast<nest::ComputeOp>(op))
      for (const NestRead &read : readsOf(nest))
        if (nest::isGathered(read.map) && isData(read.value))
          gathers.insert(&op);
    if (isRoot(&op) || isa<nest::ControlOp>(op) || op.getNumOperands() == 0)
      return;
    auto first = argumentOf(op.getOperand(0));
    if (first && llvm::all_of(op.getOperands(), [&](Value v) { return argumentOf(v) == first; }))
      for (Value result : op.getResults())
        onlyArgument[result] = *first;
  }
  /// False for values without operands, such as the coordinates of a name.
  bool isData(Value value) const {
    return argumentOf(value) || (value.getDefiningOp() && value.getDefiningOp()->getNumOperands());
  }

  void findUpdates() {
    for (Operation &op : llvm::reverse(function.front().without_terminator())) {
      llvm::BitVector &states = reached[&op];
      states.resize(arguments);
      bool isUpdate = isPointwise(&op) && !gathers.contains(&op) && !op.use_empty();
      for (OpOperand &use : op.getUses()) {
        Operation *user = function.front().findAncestorOpInBlock(*use.getOwner());
        std::optional<unsigned> state;
        if (isa<func::ReturnOp>(user))
          state = stateOf(function, use.getOperandNumber());
        else if (isPointwise(user) && !gathers.contains(user))
          states |= llvm::BitVector(reached.find(user)->second);
        if (state)
          states.set(*state);
        isUpdate &= state || updates.contains(user);
      }
      if (isUpdate)
        updates.insert(&op);
    }
  }

  void findParameters() {
    llvm::BitVector isState(arguments);
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (auto state = stateOf(function, i))
        isState.set(*state);
    if (isState.none())
      return void(isParameter.set());
    for (Operation &op : function.front().without_terminator())
      if (!updates.contains(&op))
        for (Value used : nest::kernelOperands(&op))
          if (auto argument = argumentOf(used); argument && isState[*argument])
            isParameter.set(*argument);
  }
  /// The parameter whose next value, and no other parameter's, is computed from an op.
  std::optional<unsigned> parameterOf(Operation *op) const {
    llvm::BitVector parameters(reached.find(op)->second);
    parameters &= isParameter;
    return parameters.count() == 1 ? std::optional(unsigned(parameters.find_first()))
                                   : std::nullopt;
  }

  /// Adds a nest to the body of a root if all its points are for this root: it multiplies the
  /// operands of a sum of products, say. Values with as many points have a maker of their own.
  bool addToBody(Operation *op, Operation *root, SmallVectorImpl<Operation *> &body) {
    if (!op || !isa<nest::ComputeOp>(op) || isRoot(op) || updates.contains(op) ||
        op->getBlock() != root->getBlock() || iterationPoints(op) != iterationPoints(root) ||
        llvm::any_of(op->getUsers(),
                     [&](Operation *user) { return !llvm::is_contained(body, user); }))
      return false;
    size_t before = body.size();
    body.push_back(op);
    for (Value used : op->getOperands())
      if (!argumentOf(used) && pointsOf(nd::tensorType(used).getDims()) >= iterationPoints(op) &&
          !addToBody(used.getDefiningOp(), root, body)) {
        body.truncate(before);
        return false;
      }
    return true;
  }

  void addRoot(Operation *root) {
    Found made;
    made.body.push_back(root);
    if (isa<nest::LoopNestInterface>(root))
      for (Value used : root->getOperands())
        addToBody(used.getDefiningOp(), root, made.body);
    made.nests.assign(made.body.begin(), made.body.end());
    made.roots.push_back(root);
    if (auto scan = dyn_cast<nest::ScanOp>(root))
      scan.getBody().walk([&](Operation *op) {
        if (isa<nest::ScanOp>(op) || (isa<nest::LoopNestInterface>(op) && !isPointwise(op)))
          made.roots.push_back(op);
      });
    for (Operation *op : made.nests)
      ownerOf[op] = unsigned(found.size());
    found.push_back(std::move(made));
  }

  /// The last one of the operators that make the operands of `ops`; only those before `root`, if it
  /// is given: nests that no operator makes may belong to a later one.
  std::optional<unsigned> ownerOfOperands(ArrayRef<Operation *> ops,
                                          Operation *root = nullptr) const {
    std::optional<unsigned> last;
    for (Operation *op : ops)
      for (Value used : nest::kernelOperands(op)) {
        auto owner = ownerOf.find(used.getDefiningOp());
        if (owner != ownerOf.end() && !llvm::is_contained(ops, used.getDefiningOp()) &&
            (!root || found[owner->second].place()->isBeforeInBlock(root)) &&
            (!last || found[*last].place()->isBeforeInBlock(found[owner->second].place())))
          last = owner->second;
      }
    return last;
  }

  /// Pointwise nests belong to the update of their parameter, else to the operator that makes the
  /// last one of their operands, else to the first one that uses them.
  void assignOthers() {
    std::map<unsigned, unsigned> updateOf;
    auto own = [&](Operation *op, unsigned owner) {
      ownerOf[op] = owner;
      if (isa<nest::ComputeOp>(op))
        found[owner].nests.push_back(op);
    };
    for (Operation &op : function.front().without_terminator()) {
      if (ownerOf.contains(&op) || !isPointwise(&op))
        continue;
      std::optional<unsigned> parameter;
      if (updates.contains(&op) && isa<nest::ComputeOp>(op))
        parameter = parameterOf(&op);
      if (parameter) {
        auto [known, isNew] = updateOf.try_emplace(*parameter, unsigned(found.size()));
        if (isNew) {
          found.emplace_back();
          found.back().base = pathOf(*parameter);
          found.back().suffix = ".update";
        }
        own(&op, known->second);
      } else if (auto owner = ownerOfOperands(&op)) {
        own(&op, *owner);
      }
    }
    for (Operation &op : llvm::reverse(function.front().without_terminator())) {
      if (ownerOf.contains(&op) || !isPointwise(&op))
        continue;
      Operation *first = nullptr;
      for (Operation *user : op.getUsers()) {
        user = function.front().findAncestorOpInBlock(*user);
        if (ownerOf.contains(user) && (!first || user->isBeforeInBlock(first)))
          first = user;
      }
      if (first)
        own(&op, ownerOf.lookup(first));
    }
    for (Found &each : found)
      llvm::sort(each.nests, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  }

  /// The path of the parameter that these ops read; empty if there is none.
  std::string parameterOf(ArrayRef<Operation *> ops, const llvm::BitVector &allowed) const {
    std::set<std::pair<int64_t, unsigned>> read; ///< the longest path first, then argument numbers
    for (Operation *op : ops)
      for (Value used : nest::kernelOperands(op))
        if (auto argument = argumentOf(used); argument && allowed[*argument])
          read.emplace(-int64_t(StringRef(pathOf(*argument)).count('.')), *argument);
    return read.empty() ? "" : pathOf(read.begin()->second);
  }

  std::string baseOf(Found &each) const {
    if (auto parameter = parameterOf(each.roots[0])) {
      each.suffix = ".dw";
      return pathOf(*parameter);
    }
    bool isGradient = nd::isGradient(each.roots[0]->getLoc());
    each.suffix = isGradient ? ".dx" : "";
    for (ArrayRef<Operation *> ops : {ArrayRef<Operation *>(each.body), ArrayRef(each.nests)})
      if (std::string path = parameterOf(ops, isParameter); !path.empty())
        return path;
    for (ArrayRef<Operation *> ops : {ArrayRef<Operation *>(each.body), ArrayRef(each.nests)})
      for (Operation *op : ops)
        if (StringRef name = nd::seenNameOf(op->getLoc()); !name.empty())
          return name.str();
    if (auto before = ownerOfOperands(each.body, each.roots[0])) {
      if (!isGradient)
        each.suffix = found[*before].suffix;
      return found[*before].base;
    }
    llvm::BitVector all(arguments, true);
    std::string path = parameterOf(each.body, all);
    return path.empty() ? nameOf(each.roots[0]) : path;
  }

  void name() {
    llvm::StringMap<unsigned> counts;
    llvm::StringSet<> taken;
    for (Found &each : found)
      taken.insert(each.base + each.suffix);
    for (Found &each : found) {
      each.name = each.base + each.suffix;
      unsigned &count = counts[each.name];
      if (++count > 1) {
        std::string first = each.name;
        do
          each.name = first + "." + std::to_string(count);
        while (!taken.insert(each.name).second && ++count);
      }
    }
  }
};
} // namespace

std::vector<Operator> heddle::operatorsOf(func::FuncOp function) {
  return function.isExternal() ? std::vector<Operator>() : Finder(function).run();
}
