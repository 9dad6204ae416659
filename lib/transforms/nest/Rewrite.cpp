//===- Rewrite.cpp - helpers of rewrites of nests -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/Rewrite.h"

#include "dialects/nd/NdBuild.h"
#include "lib/analysis/NestAnalysis.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <set>

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

bool nest::areTooLargeTogether(Operation *a, Operation *b) {
  // A call of a function such as exp expands to about a hundred instructions.
  constexpr size_t mostOperands = 48, mostScalars = 256, ofFunction = 8;
  size_t scalars = 0;
  for (Operation *op : {a, b})
    for (Region &region : op->getRegions())
      for (Operation &scalar : region.getOps())
        scalars += isFunction(scalar) ? ofFunction : 1;
  return a->getNumOperands() + b->getNumOperands() > mostOperands || scalars > mostScalars;
}

/// Hashes a nest without its operands and its name.
static uint64_t hashOfCode(Operation *nest) {
  llvm::DenseMap<Value, size_t> scalars;
  llvm::hash_code hash = 0;
  nest->walk<WalkOrder::PreOrder>([&](Operation *op) {
    hash = llvm::hash_combine(hash, op->getName().getAsOpaquePointer(), op->hashProperties(),
                              op->getNumRegions());
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      if (attribute.getName() != "heddle.name")
        hash = llvm::hash_combine(hash, attribute.getName(), attribute.getValue());
    for (Value operand : op->getOperands())
      hash = llvm::hash_combine(hash, operand.getType(), op == nest ? 0 : scalars.lookup(operand));
    for (Value result : op->getResults()) {
      hash = llvm::hash_combine(hash, result.getType());
      scalars.try_emplace(result, scalars.size() + 1);
    }
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments()) {
        hash = llvm::hash_combine(hash, argument.getType());
        scalars.try_emplace(argument, scalars.size() + 1);
      }
  });
  return uint64_t(hash);
}

uint64_t Contents::of(ArrayRef<Operation *> nests) {
  llvm::SmallDenseMap<Value, size_t, 32> numbers;
  llvm::hash_code hash = nests.size();
  for (Operation *nest : nests) {
    auto [found, isNew] = known.try_emplace(nest);
    if (isNew)
      found->second = hashOfCode(nest);
    hash = llvm::hash_combine(hash, found->second);
    for (auto values : {ValueRange(nest->getResults()), ValueRange(nest->getOperands())})
      for (Value value : values)
        hash = llvm::hash_combine(hash, numbers.try_emplace(value, numbers.size()).first->second);
  }
  return uint64_t(hash);
}

bool nest::isFixed(Operation *op) {
  auto scheduled = dyn_cast<ScheduledInterface>(op);
  return scheduled && scheduled.getScheduleAttr();
}

Layout nest::sortedLayout(Operation *function, nd::NdTensorType type) {
  auto spelling = function->getAttrOfType<DictionaryAttr>("heddle.names");
  std::vector<std::pair<std::string, std::string>> spelled;
  for (const nd::Dim &dim : type.getDims()) {
    auto known = spelling ? spelling.getAs<StringAttr>(dim.name) : StringAttr();
    spelled.emplace_back((known ? known : dim.name).str(), dim.name.str());
  }
  llvm::sort(spelled);
  std::vector<std::string> names;
  for (auto &[original, name] : spelled)
    names.push_back(name);
  return Layout::rowMajor(names);
}

bool nest::isSortedArgument(BlockArgument argument) {
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  unsigned number = argument.getArgNumber();
  return !function.getArgAttr(number, "nd.layout") && !function.getArgAttr(number, "heddle.donate");
}

bool nest::isIdentity(const Renaming &names) {
  return llvm::all_of(names, [](const auto &each) { return each.first == each.second; });
}

ComputeOp nest::withNames(ComputeOp op, const Renaming &names) {
  auto made = cast<ComputeOp>(OpBuilder(op).clone(*op));
  NameRewriter rewriter(names);
  rewriter.rewriteNest(made, {}, rewriter);
  return made;
}

ComputeOp nest::withFreshReducedNames(ComputeOp op, const std::set<std::string> &taken) {
  std::set<std::string> used = taken;
  for (const auto &[name, range] : iterationRanges(op))
    used.insert(name);
  Renaming names;
  for (const nd::Dim &dim : op.getReduced()) {
    std::string name = dim.name.str();
    if (!taken.count(name))
      continue;
    std::string base = name.substr(0, name.find('$')), fresh;
    for (int i = 1; used.count(fresh = base + "$" + std::to_string(i)); ++i)
      ;
    used.insert(fresh);
    names[name] = fresh;
  }
  return withNames(op, names);
}

Value nest::renameDims(OpBuilder &b, Location loc, Value value, const Renaming &names) {
  nd::NdTensorType type = tensorType(value);
  NestBuilder nest(b, loc);
  NameRewriter rewriter(names);
  nest.produced = rewriter.rewrite(type.getDims());
  SmallVector<MapEntry> entries;
  for (const nd::Dim &dim : type.getDims())
    entries.emplace_back(b.getContext(), dim.name.getValue(), Expr::name(rewriter(dim.name)));
  nest.read(value, MapAttr::getSorted(b.getContext(), entries));
  ComputeOp op = nest.create({type.getElementType()}, [](OpBuilder &, Location, ValueRange read) {
    return SmallVector<Value>(read);
  });
  op->setAttr("heddle.name", b.getStringAttr("rename"));
  return op.getResult(0);
}

/// The ops between the two (in one block) that depend on `first`, in order; groups and scans
/// capture the values that they read. None if there are too many to check, or if one has side
/// effects, since messages keep their order.
static std::optional<SmallVector<Operation *>> dependents(Operation *first, Operation *second) {
  size_t left = 2000;
  SetVector<Operation *> found;
  found.insert(first);
  for (size_t i = 0; i < found.size(); ++i)
    for (Operation *user : found[i]->getUsers()) {
      if (--left == 0)
        return std::nullopt;
      Operation *here = first->getBlock()->findAncestorOpInBlock(*user);
      if (!here->isBeforeInBlock(second))
        continue;
      if (!isMemoryEffectFree(here))
        return std::nullopt;
      found.insert(here);
    }
  SmallVector<Operation *> order(found.getArrayRef().drop_front());
  llvm::sort(order, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return order;
}

Operation *nest::insertionPoint(Operation *first, Operation *second) {
  if (first->getBlock() != second->getBlock() || !first->isBeforeInBlock(second))
    return nullptr;
  bool isEarly = llvm::all_of(second->getOperands(), [&](Value operand) {
    Operation *maker = operand.getDefiningOp();
    return !maker || maker == first || maker->getBlock() != first->getBlock() ||
           maker->isBeforeInBlock(first);
  });
  if (isEarly)
    return first;
  auto between = dependents(first, second);
  bool isThrough = !between || llvm::any_of(second->getOperands(), [&](Value operand) {
    return operand.getDefiningOp() && llvm::is_contained(*between, operand.getDefiningOp());
  });
  return isThrough ? nullptr : second;
}

void nest::moveDependentsAfter(Operation *first, Operation *second, Operation *insertBefore) {
  if (insertBefore == first)
    return;
  Operation *last = second;
  auto between = dependents(first, second);
  assert(between && "an insertion point was found");
  for (Operation *op : *between) {
    op->moveAfter(last);
    last = op;
  }
}

void nest::assignBlockOrder(Operation *op) {
  if (Operation *next = op->getNextNode())
    (void)op->isBeforeInBlock(next);
}

ExprMap nest::spaceOf(Operation *op) {
  ExprMap sizes;
  for (; op && op->getName().getDialectNamespace() == "nest"; op = op->getParentOp())
    for (NamedAttribute attribute : op->getAttrs())
      if (auto dims = dyn_cast<nd::DimsAttr>(attribute.getValue()))
        for (const nd::Dim &dim : dims)
          sizes.try_emplace(dim.name.str(), dim.size().getExpr());
  return sizes;
}

/// Returns true if `coordinate` is below `size` at all points of `space`, for all values of
/// symbols.
static bool staysBelow(const Expr &coordinate, const Expr &size, const ExprMap &space) {
  ExprMap last;
  Ranges symbols;
  for (const auto &[name, extent] : space)
    for (const std::string &symbol : extent.names())
      symbols[symbol] = {0, largestSymbol};
  for (const std::string &name : coordinate.names()) {
    auto extent = space.find(name);
    if (extent == space.end() || !coordinate.isLinearIn(name))
      return false;
    last[name] = coordinate.coefficient(name) > 0 ? extent->second - Expr(1) : Expr(0);
  }
  auto left = (size - Expr(1) - coordinate.substitute(last)).bounds(symbols);
  return left && left->low >= 0;
}

bool nest::staysInside(MapAttr map, nd::NdTensorType type, const Ranges &ranges,
                       const ExprMap &space) {
  return llvm::all_of(map.getEntries(), [&](const MapEntry &entry) {
    Expr coordinate = entry.expr().simplify(ranges);
    auto bounds = coordinate.bounds(ranges);
    nd::SizeAttr size = type.size(entry.name.getValue());
    return bounds && bounds->low >= 0 &&
           (size.constant() ? bounds->high < *size.constant()
                            : staysBelow(coordinate, size.getExpr(), space));
  });
}

bool nest::mergeFinish(ComputeOp op) {
  if (op.isReduction() || op.getFinish().empty() || isFixed(op))
    return false;
  OpBuilder b(op);
  NestBuilder nest(b, op);
  nest.finishReads.clear(), nest.finishMaps.clear(), nest.finishGuards.clear();
  Region body, none, empty;
  Location loc = op.getLoc();
  Block *block = b.createBlock(&body);
  IRMapping mapping;
  for (BlockArgument argument : op.getBody().getArguments())
    mapping.map(argument, block->addArgument(argument.getType(), loc));
  SmallVector<Value> values = nd::inlineBlock(b, op.getBody().front(), mapping);
  Block &finish = op.getFinish().front();
  for (auto [i, value] : llvm::enumerate(values))
    mapping.map(finish.getArgument(i), value);
  for (unsigned i = 0; i < op.getFinishReads().size(); ++i) {
    nest.read(op.getFinishReads()[i], op.finishMap(i), op.finishGuard(i));
    BlockArgument argument = finish.getArgument(values.size() + i);
    mapping.map(argument, block->addArgument(argument.getType(), loc));
  }
  YieldOp::create(b, loc, nd::inlineBlock(b, finish, mapping));
  b.setInsertionPoint(op);
  ComputeOp made =
      nest.create(llvm::to_vector(op->getResultTypes()), body, none, empty, op.getNeutral());
  made.setLayoutsAttr(op.getLayoutsAttr());
  inheritAttributes(made, {op});
  op->replaceAllUsesWith(made);
  op->erase();
  assignBlockOrder(made);
  return true;
}

void nest::inheritAttributes(ComputeOp made, ArrayRef<Operation *> from) {
  for (Operation *op : from)
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      made->setAttr(attribute.getName(), attribute.getValue());
}
