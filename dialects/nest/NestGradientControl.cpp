//===- NestGradientControl.cpp - gradients of scans, sorts and groups -----===//
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

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

namespace {
class ScanGradient {
public:
  ScanGradient(OpBuilder &b, ScanOp op)
      : b(b), op(op), loc(op.getLoc()), body(op.getBody().front()), n(op.getInits().size()) {}

  LogicalResult build(ValueRange cotangents, ArrayRef<bool> wanted,
                      SmallVectorImpl<Value> &gradients);

private:
  OpBuilder &b;
  ScanOp op;
  Location loc;
  Block &body;
  unsigned n;

  bool staysTheSame(unsigned i) {
    return body.getTerminator()->getOperand(i) == body.getArgument(i) &&
           llvm::count(op.getInits(), op.getInits()[i]) == 1;
  }
  static bool isFloat(Value value) { return isa<FloatType>(tensorType(value).getElementType()); }
  static double pointsOf(Value value) {
    double points = 1;
    for (const nd::Dim &dim : tensorType(value).getDims())
      points *= double(dim.size().typical());
    return points;
  }
  /// Renames `from` to `to` if `value` has that name.
  Value respelled(Value value, StringRef from, StringRef to) {
    return tensorType(value).has(from) ? nd::buildRename(b, loc, value, from, to) : value;
  }
  StringRef along() { return op.getAlong().begin()->name; }

  /// A value of the body that backward steps may read, and a placeholder for the tensor of its
  /// values in all steps.
  struct Stack {
    Value value;
    Operation *placeholder;
  };
  SmallVector<Stack> stacks;
  /// In stacks, the new name of a dimension whose name equals `along`.
  std::string aside;

  /// `carried`: the carried floats, whose cotangents are carried backwards. `read`: the reads that
  /// have gradients.
  SmallVector<unsigned> carried, read;

  void addStack(Value value);
  void chooseStacks();
  void fillStacks();
  LogicalResult fillBackward(ScanOp backward, ValueRange cotangents);
  void dropUnreadStacks(ScanOp backward);
};
} // namespace

void ScanGradient::addStack(Value value) {
  nd::NdTensorType type = tensorType(value);
  SmallVector<nd::Dim> dims(op.getAlong().begin(), op.getAlong().end());
  for (const nd::Dim &dim : type.getDims())
    dims.emplace_back(b.getContext(), dim.name == along() ? aside : dim.name.str(),
                      dim.size().getExpr());
  stacks.push_back(
      {value, UnrealizedConversionCastOp::create(b, loc, type.withDims(dims), ValueRange())});
}

/// Chooses the values to save for the backward steps: the carried tensors at the start of each step
/// unless they are loop-invariant, and results of reductions that are small but costly to compute.
void ScanGradient::chooseStacks() {
  SmallVector<Value> values;
  double carried = 0;
  for (unsigned i = 0; i < n; ++i)
    if (!staysTheSame(i)) {
      values.push_back(body.getArgument(i));
      carried += pointsOf(values.back());
    }
  for (Operation &inner : body.without_terminator()) {
    double work = 0;
    if (auto reduction = dyn_cast<nd::ReductionInterface>(inner);
        reduction && reduction.getReducedNames()) {
      work = pointsOf(inner.getOperand(0));
    } else if (auto compute = dyn_cast<ComputeOp>(inner); compute && compute.isReduction()) {
      work = 1;
      for (const nd::DimsAttr &part : {compute.getProduced(), compute.getReduced()})
        for (const nd::Dim &dim : part)
          work *= double(dim.size().typical());
    }
    if (work == 0)
      continue;
    for (Value result : inner.getResults())
      if (8 * pointsOf(result) <= work && pointsOf(result) <= 4 * carried &&
          llvm::any_of(result.getUsers(), [](Operation *user) { return !isa<YieldOp>(user); }))
        values.push_back(result);
  }
  aside = along().str();
  do
    aside += "$";
  while (llvm::any_of(values, [&](Value value) { return tensorType(value).has(aside); }));
  for (Value value : values)
    addStack(value);
}

/// Replaces the scan by one that also returns the stacks, so that the steps are computed only once.
void ScanGradient::fillStacks() {
  if (stacks.empty())
    return;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(op);
  SmallVector<unsigned> given;
  SmallVector<Type> types;
  SmallVector<Value> inits;
  IRMapping mapping;
  for (OpResult result : op->getResults()) {
    unsigned i = result.getResultNumber();
    if (i < n && staysTheSame(i)) { // captured instead
      result.replaceAllUsesWith(op.getInits()[i]);
      mapping.map(body.getArgument(i), op.getInits()[i]);
    } else if (i < n || !result.use_empty()) {
      given.push_back(i);
      types.push_back(result.getType());
      if (i < n)
        inits.push_back(op.getInits()[i]);
    }
  }
  for (const Stack &stack : stacks)
    types.push_back(stack.placeholder->getResult(0).getType());
  auto forward =
      ScanOp::create(b, loc, types, inits, op.getReads(), op.getAlong(), op.getReverse());
  Block *block = b.createBlock(&forward.getBody());
  for (BlockArgument argument : body.getArguments())
    if (!mapping.contains(argument))
      mapping.map(argument, block->addArgument(argument.getType(), loc));
  SmallVector<Value> made = nd::inlineBlock(b, body, mapping), yielded;
  for (auto [k, i] : llvm::enumerate(given)) {
    yielded.push_back(made[i]);
    op.getResult(i).replaceAllUsesWith(forward.getResult(unsigned(k)));
  }
  for (const Stack &stack : stacks) {
    stack.placeholder->replaceAllUsesWith(ValueRange(forward.getResult(unsigned(yielded.size()))));
    stack.placeholder->erase();
    yielded.push_back(respelled(mapping.lookup(stack.value), along(), aside));
  }
  YieldOp::create(b, loc, yielded);
}

/// Builds a step of `backward`: recomputes the step of `op` from the stacks, then its gradient.
LogicalResult ScanGradient::fillBackward(ScanOp backward, ValueRange cotangents) {
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&backward.getBody());
  for (Value init : backward.getInits())
    block->addArgument(init.getType(), loc);
  for (Value value : backward.getReads())
    block->addArgument(tensorType(value).without(along()), loc);
  unsigned next = carried.size() + op.getReads().size();
  IRMapping mapping;
  DenseMap<Value, Value> slices; // of stacks, by the body's values
  for (const Stack &stack : stacks)
    slices[stack.value] = respelled(block->getArgument(next++), aside, along());
  for (unsigned i = 0; i < n; ++i) {
    Value slice = slices.lookup(body.getArgument(i));
    mapping.map(body.getArgument(i), slice ? slice : op.getInits()[i]);
  }
  for (unsigned i = 0; i < op.getReads().size(); ++i)
    mapping.map(body.getArgument(n + i), block->getArgument(carried.size() + i));
  nd::ReverseMode reverse(b, addByNest);
  SmallVector<Operation *> ops;
  for (Operation &inner : body.without_terminator()) {
    ops.push_back(b.clone(inner, mapping));
    // Uses read the stack's slice, but its cotangent goes to the recomputed op.
    for (auto [result, again] : llvm::zip_equal(inner.getResults(), ops.back()->getResults()))
      if (Value slice = slices.lookup(result)) {
        mapping.map(result, slice);
        reverse.redirect(slice, again);
      }
  }

  for (unsigned i : carried)
    reverse.want(mapping.lookup(body.getArgument(i)));
  for (unsigned i : read)
    reverse.want(mapping.lookup(body.getArgument(n + i)));
  expandForGradient(b, [&](Value value, Value other) { reverse.redirect(value, other); }, ops);
  reverse.propagate(ops);
  auto yielded = [&](unsigned i) {
    return mapping.lookupOrDefault(body.getTerminator()->getOperand(i));
  };
  for (auto [k, i] : llvm::enumerate(carried))
    reverse.accumulate(loc, yielded(i), block->getArgument(k));
  for (unsigned i = n; i < op.getNumResults(); ++i)
    if (cotangents[i])
      reverse.accumulate(loc, yielded(i), block->getArgument(next++));
  if (failed(reverse.run(ops)))
    return failure();
  SmallVector<Value> end;
  auto finish = [&](BlockArgument argument) {
    Value value = reverse.cotangent(mapping.lookup(argument));
    end.push_back(value ? value : nd::buildZero(b, loc, tensorType(argument)));
  };
  for (unsigned i : carried)
    finish(body.getArgument(i));
  for (unsigned i : read)
    finish(body.getArgument(n + i));
  YieldOp::create(b, loc, end);
  nd::eraseDeadScalars(*block);
  return success();
}

void ScanGradient::dropUnreadStacks(ScanOp backward) {
  Block &block = backward.getBody().front();
  unsigned first = op.getReads().size();
  for (unsigned k = stacks.size(); k-- > 0;)
    if (block.getArgument(carried.size() + first + k).use_empty()) {
      block.eraseArgument(carried.size() + first + k);
      backward.getReadsMutable().erase(first + k);
      stacks[k].placeholder->erase();
      stacks.erase(stacks.begin() + k);
    }
}

LogicalResult ScanGradient::build(ValueRange cotangents, ArrayRef<bool> wanted,
                                  SmallVectorImpl<Value> &gradients) {
  chooseStacks();
  // Reads: those of the forward step, the stacks, the cotangents of the outputs.
  SmallVector<Value> inits, reads(op.getReads());
  for (unsigned i = 0; i < n; ++i)
    if (isFloat(op.getInits()[i])) {
      carried.push_back(i);
      inits.push_back(cotangents[i] ? cotangents[i]
                                    : nd::buildZero(b, loc, tensorType(op.getInits()[i])));
    }
  for (unsigned i = 0; i < op.getReads().size(); ++i)
    if (wanted[n + i])
      read.push_back(i);
  for (const Stack &stack : stacks)
    reads.push_back(stack.placeholder->getResult(0));
  for (Value cotangent : cotangents.drop_front(n))
    if (cotangent)
      reads.push_back(cotangent);

  SmallVector<Type> results(llvm::map_to_vector(inits, [](Value v) { return v.getType(); }));
  for (unsigned i : read)
    results.push_back(op.getReads()[i].getType());
  auto backward = ScanOp::create(b, loc, results, inits, reads, op.getAlong(), !op.getReverse());
  if (failed(fillBackward(backward, cotangents)))
    return failure();
  dropUnreadStacks(backward);
  fillStacks();
  for (auto [k, i] : llvm::enumerate(carried))
    if (wanted[i])
      gradients[i] = backward.getResult(k);
  for (auto [k, i] : llvm::enumerate(read))
    gradients[n + i] = backward.getResult(carried.size() + k);
  return success();
}

namespace {
struct ScanRecurrence : nd::RecurrenceInterface {
  explicit ScanRecurrence(Dialect *dialect) : RecurrenceInterface(dialect) {}

  SmallVector<Value> build(OpBuilder &b, Location loc, nd::Dim along, bool reverse,
                           ValueRange inits, ValueRange reads, Step step) const override {
    Region body;
    SmallVector<Value> yielded;
    {
      OpBuilder::InsertionGuard guard(b);
      Block *block = b.createBlock(&body);
      block->addArguments(inits.getTypes(), SmallVector<Location>(inits.size(), loc));
      for (Value read : reads)
        block->addArgument(tensorType(read).without(along.name), loc);
      yielded = step(block->getArguments());
      YieldOp::create(b, loc, yielded);
    }
    SmallVector<Type> types(inits.getTypes());
    for (Value output : ArrayRef(yielded).drop_front(inits.size()))
      types.push_back(tensorType(output).with(along));
    auto scan = ScanOp::create(b, loc, types, inits, reads,
                               nd::DimsAttr::getSorted(b.getContext(), {along}), reverse);
    scan.getBody().takeBody(body);
    return SmallVector<Value>(scan.getResults());
  }
};
} // namespace

void nest::addRecurrences(NestDialect &dialect) { dialect.addInterfaces<ScanRecurrence>(); }

LogicalResult ScanOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                    SmallVectorImpl<Value> &gradients) {
  return ScanGradient(b, *this).build(cotangents, wanted, gradients);
}

//===----------------------------------------------------------------------===//
// Sort
//===----------------------------------------------------------------------===//

LogicalResult SortOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                    SmallVectorImpl<Value> &gradients) {
  // Sort again together with the coordinates, then scatter the cotangents to these coordinates.
  Location loc = getLoc();
  std::string along = getAlong().begin()->name.str();
  Value from;
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    if (!wanted[i] || !cotangents[i])
      continue;
    nd::NdTensorType type = tensorType(input), sorted = tensorType(cotangents[i]);
    if (!from) {
      NestBuilder iota(b, loc);
      iota.produced = type.getDims();
      Value index =
          iota.create({b.getI64Type()},
                      [&](OpBuilder &b, Location loc, ValueRange) {
                        return SmallVector<Value>{arith::IndexCastOp::create(
                            b, loc, b.getI64Type(), emitIndex(b, loc, Expr::name(along)))};
                      })
              .getResult(0);
      from = SortOp::create(
                 b, loc, {getResult(0).getType(), sorted.withElementType(b.getI64Type())},
                 {getInputs()[0], index}, getAlong(), getDescending(), ArrayAttr(), ScheduleAttr())
                 .getResult(1);
    }
    NestBuilder nest(b, loc);
    nest.produced = sorted.getDims();
    nest.read(from, MapAttr::identity(sorted));
    nest.read(cotangents[i], MapAttr::identity(sorted));
    SmallVector<MapEntry> entries;
    for (const nd::Dim &dim : type.getDims())
      entries.emplace_back(b.getContext(), dim.name,
                           Expr::name(dim.name == along ? readName(0) : dim.name.str()));
    auto last = [](OpBuilder &, Location, ValueRange s) { return SmallVector<Value>{s.back()}; };
    gradients[i] = nest.createUpdate(nd::buildZero(b, loc, type),
                                     MapAttr::getSorted(b.getContext(), entries), last, last,
                                     /*unique=*/true)
                       .getResult();
  }
  return success();
}
