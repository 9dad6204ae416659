//===- NestGradientExpand.cpp - nests in a form that has gradients --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "dialects/nest/NestGradient.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// `map`, with an identity for the names of `type` that it lacks.
static MapAttr completeMap(MapAttr map, nd::NdTensorType type) {
  SmallVector<MapEntry> entries(map.getEntries());
  for (const nd::Dim &dim : type.getDims())
    if (!map.lookup(dim.name))
      entries.emplace_back(map.getContext(), dim.name, Expr::name(dim.name.getValue()));
  return MapAttr::getSorted(map.getContext(), entries);
}

void nest::addNames(LoopNestInterface nest, ArrayRef<nd::Dim> names) {
  if (auto update = dyn_cast<UpdateOp>(*nest)) {
    update.setSpaceAttr(update.getSpace().with(names));
    update.setDestMapAttr(completeMap(update.getDestMap(), tensorType(update.getDest())));
  } else {
    auto compute = cast<ComputeOp>(*nest);
    compute.setProducedAttr(compute.getProduced().with(names));
  }
  SmallVector<Attribute> maps;
  for (auto [map, read] : llvm::zip_equal(nest.getMapsAttr(), nest.getMappedReads()))
    maps.push_back(completeMap(cast<MapAttr>(map), tensorType(read)));
  nest.setMapsAttr(ArrayAttr::get(nest->getContext(), maps));
}

Value nest::addByNest(OpBuilder &b, Location loc, Value x, Value y) {
  nd::NdTensorType type = tensorType(x);
  NestBuilder nest(b, loc);
  nest.produced = type.getDims();
  nest.read(x, MapAttr::identity(type));
  nest.read(y, MapAttr::identity(type));
  return nest
      .create(type.getElementType(),
              [](OpBuilder &b, Location loc, ValueRange s) {
                return SmallVector<Value>{arith::AddFOp::create(b, loc, s[0], s[1])};
              })
      .getResult(0);
}

Value nest::broadcastByNest(OpBuilder &b, Location loc, Value value, ArrayRef<nd::Dim> dims) {
  nd::NdTensorType type = tensorType(value);
  NestBuilder nest(b, loc);
  nest.produced = type.getDims().with(dims);
  if (nest.produced == type.getDims())
    return value;
  nest.read(value, MapAttr::identity(type));
  return nest
      .create(type.getElementType(),
              [](OpBuilder &, Location, ValueRange s) { return SmallVector<Value>{s[0]}; })
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Groups: the same nests over the group's names as well
//===----------------------------------------------------------------------===//

namespace {
/// Copies nests of a group's region with the group's names as iteration names.
class Ungroup {
public:
  Ungroup(OpBuilder &b, SmallVectorImpl<Operation *> &made) : b(b), made(&made) {}
  IRMapping values;

  void copy(Block &block, ArrayRef<nd::Dim> names) {
    for (Operation &op : block.without_terminator())
      copyOp(op, names);
  }

private:
  OpBuilder &b;
  SmallVectorImpl<Operation *> *made;

  void note(Operation *op) {
    if (made && op)
      made->push_back(op);
  }
  Value withNames(Location loc, Value value, ArrayRef<nd::Dim> names) {
    Value all = broadcastByNest(b, loc, value, names);
    if (all != value)
      note(all.getDefiningOp());
    return all;
  }

  void copyOp(Operation &op, ArrayRef<nd::Dim> names);
  void copyScan(ScanOp op, ArrayRef<nd::Dim> names);
};
} // namespace

/// Removes layouts and schedules.
static void dropChoices(Operation *op) {
  if (auto laid = dyn_cast<LaidOutInterface>(op))
    laid.setLayoutsAttr({});
  if (auto scheduled = dyn_cast<ScheduledInterface>(op))
    scheduled.setScheduleAttr({});
  if (auto copying = dyn_cast<CopyingInterface>(op))
    copying.setCopiesAttr({});
}

void Ungroup::copyOp(Operation &op, ArrayRef<nd::Dim> names) {
  if (auto group = dyn_cast<GroupOp>(op)) {
    SmallVector<nd::Dim> all(names);
    all.append(group.getNames().begin(), group.getNames().end());
    copy(group.getBody().front(), all);
    for (auto [value, result] : llvm::zip_equal(
             group.getBody().front().getTerminator()->getOperands(), group.getResults()))
      values.map(result, withNames(op.getLoc(), values.lookupOrDefault(value), all));
    return;
  }
  if (auto scan = dyn_cast<ScanOp>(op))
    return copyScan(scan, names);
  if (Value updated = updatedBy(&op))
    values.map(updated, withNames(op.getLoc(), values.lookupOrDefault(updated), names));
  if (isa<SortOp>(op)) // one sort handles all points
    for (Value operand : op.getOperands())
      values.map(operand, withNames(op.getLoc(), values.lookupOrDefault(operand), names));
  Operation *copy = b.clone(op, values);
  dropChoices(copy);
  if (auto nest = dyn_cast<LoopNestInterface>(copy))
    addNames(nest, names);
  if (!isa<nd::LiteralInterface>(copy))
    for (Value result : copy->getResults())
      result.setType(tensorType(result).with(names));
  note(copy);
}

void Ungroup::copyScan(ScanOp op, ArrayRef<nd::Dim> names) {
  Location loc = op.getLoc();
  SmallVector<Value> operands;
  for (Value init : op.getInits())
    operands.push_back(withNames(loc, values.lookupOrDefault(init), names));
  for (Value read : op.getReads())
    operands.push_back(withNames(loc, values.lookupOrDefault(read), names));
  SmallVector<Type> results = llvm::map_to_vector(
      op.getResults(), [&](Value result) -> Type { return tensorType(result).with(names); });
  OperationState state(loc, op->getName(), operands, results, op->getAttrs());
  state.addRegion();
  Operation *copy = b.create(state);
  dropChoices(copy);
  {
    OpBuilder::InsertionGuard guard(b);
    SmallVectorImpl<Operation *> *outer = made;
    made = nullptr;
    Block *block = b.createBlock(&copy->getRegion(0));
    for (BlockArgument argument : op.getBody().getArguments())
      values.map(argument, block->addArgument(tensorType(argument).with(names), loc));
    this->copy(op.getBody().front(), names);
    SmallVector<Value> yielded;
    for (Value value : op.getBody().front().getTerminator()->getOperands())
      yielded.push_back(withNames(loc, values.lookupOrDefault(value), names));
    YieldOp::create(b, loc, yielded);
    made = outer;
  }
  values.map(op.getResults(), copy->getResults());
  note(copy);
}

/// Rewrites a scan so that captured floats become loop-invariant carried tensors, whose gradients
/// are then carried too.
static ScanOp carryCaptures(OpBuilder &b, ScanOp op) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op.getBody(), captured);
  SmallVector<Value> extra;
  for (Value value : captured)
    if (!nd::floatTypes(value.getType()).empty()) // no condition of control flow
      extra.push_back(value);
  if (extra.empty())
    return {};
  unsigned n = op.getInits().size();
  SmallVector<Value> inits(op.getInits());
  llvm::append_range(inits, extra);
  SmallVector<Type> types(op.getResultTypes());
  for (auto [i, value] : llvm::enumerate(extra))
    types.insert(types.begin() + n + i, value.getType());
  auto copy =
      ScanOp::create(b, op.getLoc(), types, inits, op.getReads(), op.getAlong(), op.getReverse());
  IRMapping mapping;
  op.getBody().cloneInto(&copy.getBody(), mapping);
  Block &block = copy.getBody().front();
  Operation *yield = block.getTerminator();
  for (auto [i, value] : llvm::enumerate(extra)) {
    Value argument = block.insertArgument(n + i, value.getType(), op.getLoc());
    replaceAllUsesInRegionWith(value, argument, copy.getBody());
    yield->insertOperands(n + i, argument);
  }
  return copy;
}

/// Rewrites an update that is not a sum, and in which several points may write one element, as a
/// scatter of two tensors over its space: the values and the coordinates (-1: no write). Null for
/// other updates.
static Value asScatter(OpBuilder &b, UpdateOp op, SmallVectorImpl<Operation *> &made) {
  Location loc = op.getLoc();
  nd::NdTensorType type = tensorType(op.getDest());
  if (op.getUnique() || nd::combinerKind(op.getCombine()) == nd::CombinerKind::Add ||
      type.getDims().size() == 0 || !isa<FloatType>(type.getElementType()))
    return {};
  NestBuilder nest(b, loc);
  nest.produced = op.getSpace();
  SmallVector<Condition> conditions;
  for (auto [value, map, attr] : llvm::zip_equal(op.getReads(), op.getMaps(), op.getGuards())) {
    auto guard = cast<GuardAttr>(attr);
    if (!guard.getOtherwise() && !guard.isTrivial()) {
      llvm::append_range(conditions, guard.getConditions());
      guard = GuardAttr::get(b.getContext(), guard.getConditions(),
                             nd::numberAttr(tensorType(value).scalarType(), 0));
    }
    nest.read(value, cast<MapAttr>(map), guard);
  }
  SmallVector<Type> elements(type.getDims().size(), b.getI64Type());
  elements.insert(elements.begin(), type.getElementType());
  auto points = nest.create(elements, [&](OpBuilder &b, Location loc, ValueRange s) {
    SmallVector<Value> results = nd::inlineBlock(b, op.getBody().front(), s);
    Value zero = arith::ConstantIndexOp::create(b, loc, 0), nowhere;
    for (const Condition &condition : conditions) {
      Value fails = arith::CmpIOp::create(
          b, loc, condition.equality ? arith::CmpIPredicate::ne : arith::CmpIPredicate::slt,
          emitIndex(b, loc, condition.expr(), s), zero);
      nowhere = nowhere ? arith::OrIOp::create(b, loc, nowhere, fails).getResult() : fails;
    }
    for (const nd::Dim &dim : type.getDims()) {
      Value at = emitIndex(b, loc, *op.getDestMap().lookup(dim.name), s);
      if (nowhere)
        at = arith::SelectOp::create(b, loc, nowhere, arith::ConstantIndexOp::create(b, loc, -1),
                                     at);
      results.push_back(arith::IndexCastOp::create(b, loc, b.getI64Type(), at));
    }
    return results;
  });
  SmallVector<StringRef> names;
  for (const nd::Dim &dim : type.getDims())
    names.push_back(dim.name);
  Value result =
      nd::buildScatter(b, loc, op.getDest(), points.getResult(0), names,
                       points->getResults().drop_front(), [&](OpBuilder &b, ValueRange s) {
                         return nd::inlineBlock(b, op.getCombine().front(), s)[0];
                       });
  made.append({points, result.getDefiningOp()});
  return result;
}

static Value resultOf(ScanOp original, ScanOp copy, unsigned i) {
  unsigned n = original.getInits().size(), more = copy.getInits().size() - n;
  return copy.getResult(i < n ? i : i + more);
}

/// The same in the regions of a branch or loop, in place.
static void expandInside(OpBuilder &b, Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      SmallVector<Operation *> all;
      for (Operation &inner : block.without_terminator())
        all.push_back(&inner);
      SmallVector<Operation *> before(all);
      nest::expandForGradient(
          b, [](Value value, Value other) { value.replaceAllUsesWith(other); }, all);
      for (Operation *inner : llvm::reverse(before))
        if (!llvm::is_contained(all, inner))
          inner->erase();
    }
}

void nest::expandForGradient(OpBuilder &b, nd::Redirect redirect, SmallVectorImpl<Operation *> &ops,
                             bool carries) {
  SmallVector<Operation *> all;
  for (Operation *op : ops) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfter(op);
    if (op->getName().getDialectNamespace() == "scf")
      expandInside(b, op);
    if (auto group = dyn_cast<GroupOp>(op)) {
      SmallVector<Operation *> made;
      Ungroup ungroup(b, made);
      SmallVector<nd::Dim> names(group.getNames().begin(), group.getNames().end());
      ungroup.copy(group.getBody().front(), names);
      // Slices of values of the group: with all of its names, through a copy if they lack one.
      for (auto [value, result] : llvm::zip_equal(
               group.getBody().front().getTerminator()->getOperands(), group.getResults())) {
        Value copy = ungroup.values.lookupOrDefault(value);
        Value wide = broadcastByNest(b, op->getLoc(), copy, names);
        if (wide != copy)
          made.push_back(wide.getDefiningOp());
        redirect(result, wide);
      }
      // Scans that were in the group may also capture values.
      expandForGradient(b, redirect, made, carries);
      llvm::append_range(all, made);
      continue;
    }
    if (auto update = dyn_cast<UpdateOp>(op))
      if (Value scattered = asScatter(b, update, all)) {
        redirect(update.getResult(), scattered);
        continue;
      }
    if (auto scan = dyn_cast<ScanOp>(op); scan && carries)
      if (ScanOp copy = carryCaptures(b, scan)) {
        for (unsigned i = 0; i < scan.getNumResults(); ++i) {
          redirect(scan.getResult(i), resultOf(scan, copy, i));
          scan.getResult(i).replaceAllUsesWith(resultOf(scan, copy, i));
        }
        all.push_back(copy);
        continue;
      }
    all.push_back(op);
  }
  ops.assign(all.begin(), all.end());
}

LogicalResult GroupOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>,
                                     SmallVectorImpl<Value> &) {
  // A group has no operands; expandForGradient replaces it.
  return emitOpError() << "cannot be differentiated as a whole";
}
