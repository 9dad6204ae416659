//===- SharedNames.cpp - which names of nests are one ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/SharedNames.h"

#include "lib/analysis/NestAnalysis.h"
#include "lib/analysis/Operators.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace heddle;
using namespace heddle::planner;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

static bool isLoopNest(Operation *op) { return isa<nest::LoopNestInterface>(op); }

SmallVector<Operation *> planner::loopsOf(Operation *op) {
  SmallVector<Operation *> loops;
  if (isLoopNest(op) || isa<nest::ScanOp>(op))
    op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
      if (isLoopNest(inner))
        loops.push_back(inner);
    });
  return loops;
}

SmallVector<Access> planner::accessesOf(Operation *op) {
  SmallVector<Access> accesses;
  if (isLoopNest(op)) {
    for (const NestRead &read : readsOf(op))
      accesses.push_back({read.value, read.map});
    if (auto update = dyn_cast<nest::UpdateOp>(op))
      accesses.push_back({update.getDest(), update.getDestMap()});
    return accesses;
  }
  for (Value used : nest::kernelOperands(op))
    if (isa<nd::NdTensorType>(used.getType()))
      accesses.push_back({used, nullptr});
  return accesses;
}

nest::MapAttr planner::mapOfResult(Operation *op, Value result) {
  if (auto update = dyn_cast<nest::UpdateOp>(op))
    return update.getDestMap();
  return isLoopNest(op) ? nest::MapAttr::identity(nd::tensorType(result)) : nest::MapAttr();
}

/// The iteration name that is the coordinate of a whole dimension.
static std::optional<std::string> wholeNameOf(Operation *nest, nest::MapAttr map,
                                              const nd::Dim &dim) {
  std::optional<std::string> name = map.lookup(dim.name)->asName();
  for (nd::DimsAttr dims : iterationNamesOf(nest))
    if (name && dims.lookup(*name) == dim.size())
      return name;
  return std::nullopt;
}

std::optional<unsigned> planner::classOfWhole(Operation *op, const Access &access,
                                              const nd::Dim &dim, SharedNames &names) {
  if (!access.map)
    return names.find(SharedNames::itemOf(access.value, dim.name));
  std::optional<std::string> name = wholeNameOf(op, access.map, dim);
  return name ? std::optional(names.classOf({op, *name})) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

unsigned SharedNames::numberOf(const Item &item) {
  auto [entry, isNew] = numbers.try_emplace(item, unsigned(parents.size()));
  if (isNew) {
    parents.push_back(entry->second);
    ofNests.emplace_back();
  }
  return entry->second;
}

unsigned SharedNames::rootOf(unsigned number) const {
  while (parents[number] != number)
    number = parents[number];
  return number;
}

std::optional<unsigned> SharedNames::find(const Item &item) const {
  auto known = numbers.find(item);
  return known == numbers.end() ? std::nullopt : std::optional(rootOf(known->second));
}

void SharedNames::join(const Item &a, const Item &b) {
  unsigned to = classOf(a), from = classOf(b);
  if (to == from ||
      llvm::any_of(ofNests[from], [&](Operation *nest) { return ofNests[to].contains(nest); }))
    return;
  parents[from] = to;
  ofNests[to].insert(ofNests[from].begin(), ofNests[from].end());
}

/// The results with a value for each step of a recurrence.
static ResultRange outputsOf(nest::ScanOp scan) {
  return scan->getResults().drop_front(scan.getInits().size());
}

/// Calls `act` with the values of a recurrence that are one: an operand, the argument of the
/// region, what the region yields, and the result.
static void forEachLink(nest::ScanOp scan, llvm::function_ref<void(Value, Value)> act) {
  Block &body = scan.getBody().front();
  for (auto [operand, argument] : llvm::zip(scan.getOperands(), body.getArguments()))
    act(operand, argument);
  for (auto [i, yielded] : llvm::enumerate(body.getTerminator()->getOperands())) {
    if (i < scan.getInits().size())
      act(yielded, body.getArgument(unsigned(i)));
    act(yielded, scan->getResult(unsigned(i)));
  }
}

void SharedNames::add(Operation *op) {
  SmallVector<Operation *> loops = loopsOf(op);
  for (Operation *nest : loops)
    for (nd::DimsAttr dims : iterationNamesOf(nest))
      for (const nd::Dim &dim : dims)
        ofNests[classOf({nest, dim.name.str()})].insert(nest);
  for (Operation *nest : loops) {
    SmallVector<Access> accesses = accessesOf(nest);
    for (Value result : nest->getResults())
      accesses.push_back({result, mapOfResult(nest, result)});
    for (const Access &access : accesses)
      for (const nd::Dim &dim : nd::tensorType(access.value).getDims())
        if (auto name = wholeNameOf(nest, access.map, dim))
          join(itemOf(access.value, dim.name), {nest, *name});
  }
  if (!isa<nest::ScanOp>(op))
    return;
  op->walk([&](nest::ScanOp scan) {
    const nd::Dim &step = *scan.getAlong().begin();
    ofNests[classOf({scan.getOperation(), step.name.str()})].insert(scan);
    for (ValueRange values : {ValueRange(scan.getReads()), ValueRange(outputsOf(scan))})
      for (Value each : values)
        join(itemOf(each, step.name), {scan.getOperation(), step.name.str()});
    forEachLink(scan, [&](Value a, Value b) {
      for (const nd::Dim &dim : nd::tensorType(a).getDims())
        if (nd::tensorType(b).getDims().contains(dim.name))
          join(itemOf(a, dim.name), itemOf(b, dim.name));
    });
  });
}

//===----------------------------------------------------------------------===//
// Recurrences
//===----------------------------------------------------------------------===//

namespace {
/// Decides whether a recurrence can be divided by a class of names, and which values in it are then
/// partial sums.
class Recurrence {
public:
  Recurrence(nest::ScanOp scan, unsigned of, SharedNames &names)
      : scan(scan), of(of), names(names), loops(loopsOf(scan)) {}

  bool isDivisible() {
    if (!llvm::all_of(loops, [&](Operation *nest) { return readsAtName(nest); }) || !linksAgree())
      return false;
    for (size_t before = ~size_t(0); before != partial.size();) {
      before = partial.size();
      for (Operation *nest : loops)
        if (!follow(nest))
          return false;
      scan->walk([&](nest::ScanOp inner) {
        forEachLink(inner, [&](Value from, Value to) {
          if (partial.contains(from))
            partial.insert(to);
        });
      });
    }
    return true;
  }
  bool isPartial(Value value) const { return partial.contains(value); }

private:
  nest::ScanOp scan;
  unsigned of;
  SharedNames &names;
  SmallVector<Operation *> loops;
  DenseSet<Value> partial;

  bool has(Value value, const nd::Dim &dim) const {
    return names.find(SharedNames::itemOf(value, dim.name)) == of;
  }
  bool has(Value value) const {
    return llvm::any_of(nd::tensorType(value).getDims(),
                        [&](const nd::Dim &dim) { return has(value, dim); });
  }
  bool iterates(Operation *nest) const {
    for (nd::DimsAttr dims : iterationNamesOf(nest))
      for (const nd::Dim &dim : dims)
        if (names.classOf({nest, dim.name.str()}) == of)
          return true;
    return false;
  }
  /// Blocks of what a nest reads are those of its own points.
  bool readsAtName(Operation *nest) const {
    for (const Access &access : accessesOf(nest))
      for (const nd::Dim &dim : nd::tensorType(access.value).getDims())
        if (has(access.value, dim) && classOfWhole(nest, access, dim, names) != of)
          return false;
    return true;
  }
  /// What is carried is in the same blocks before and after a step.
  bool linksAgree() const {
    bool agree = true;
    scan->walk([&](nest::ScanOp inner) {
      forEachLink(inner, [&](Value a, Value b) {
        for (const nd::Dim &dim : nd::tensorType(a).getDims())
          if (nd::tensorType(b).getDims().contains(dim.name))
            agree &= has(a, dim) == has(b, dim);
      });
    });
    return agree;
  }
  /// Partial sums may be added to other values, and read by nothing else.
  bool follow(Operation *nest) {
    bool readsPartial = llvm::any_of(
        accessesOf(nest), [&](const Access &access) { return partial.contains(access.value); });
    if (readsPartial && (iterates(nest) || !isSum(nest)))
      return false;
    for (Value result : nest->getResults())
      if (readsPartial || (iterates(nest) && !has(result)))
        partial.insert(result);
    return true;
  }
  static bool isSum(Operation *op) {
    auto nest = dyn_cast<nest::ComputeOp>(op);
    return nest && nest.getFinish().empty() &&
           llvm::all_of(nest.getBody().front().without_terminator(),
                        [](Operation &each) { return isa<arith::AddFOp, arith::AddIOp>(each); });
  }
};
} // namespace

DividedNames planner::dividedNamesOf(Operation *op, SharedNames &names) {
  DividedNames divided;
  std::set<unsigned> classes;
  for (Operation *nest : loopsOf(op))
    for (nd::DimsAttr dims : iterationNamesOf(nest))
      for (const nd::Dim &dim : dims)
        classes.insert(names.classOf({nest, dim.name.str()}));
  if (isLoopNest(op)) {
    divided.classes = classes;
    for (Value result : op->getResults()) {
      std::set<unsigned> &missing = divided.partial[result.getAsOpaquePointer()] = classes;
      for (const nd::Dim &dim : nd::tensorType(result).getDims())
        if (auto own = classOfWhole(op, {result, mapOfResult(op, result)}, dim, names))
          missing.erase(*own);
    }
    return divided;
  }
  auto scan = dyn_cast<nest::ScanOp>(op);
  if (!scan)
    return divided;
  WalkResult others = scan.getBody().walk([](Operation *inner) {
    bool isKnown = isLoopNest(inner) || isa<nest::ScanOp, nest::YieldOp>(inner) ||
                   inner->getNumOperands() == 0 || isLoopNest(inner->getParentOp());
    return isKnown ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (others.wasInterrupted())
    return divided;
  divided.classes.insert(names.classOf({scan.getOperation(), scan.getAlong().begin()->name.str()}));
  for (unsigned each : classes) {
    Recurrence recurrence(scan, each, names);
    if (!recurrence.isDivisible())
      continue;
    divided.classes.insert(each);
    for (Value result : scan->getResults())
      if (recurrence.isPartial(result))
        divided.partial[result.getAsOpaquePointer()].insert(each);
  }
  return divided;
}
