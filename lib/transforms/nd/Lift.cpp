//===- Lift.cpp - lifts ops over more names -------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nd/Lift.h"

#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nd/NdBuild.h"
#include "dialects/nest/NestGradient.h"
#include "lib/transforms/nd/ControlFlow.h"
#include "lib/transforms/nd/InlineCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Lifting
//===----------------------------------------------------------------------===//

/// The dimensions that the new operands have beyond the old ones.
SmallVector<Dim> Lifter::liftedNames(ValueRange old) const {
  SmallVector<Dim> lifted;
  for (Value value : old) {
    Value point = scalars.lookup(value);
    if (!point && !isa<NdTensorType>(value.getType()))
      continue;
    auto before = dyn_cast<NdTensorType>(rewriter.rewrite(value.getType()));
    for (const Dim &dim : tensorType(point ? point : values.lookupOrDefault(value)).getDims())
      if ((point || !before.has(dim.name)) && !llvm::is_contained(lifted, dim))
        lifted.push_back(dim);
  }
  return lifted;
}

Type Lifter::liftedType(Type type, ArrayRef<Dim> lifted) const {
  auto tensor = dyn_cast<NdTensorType>(rewriter.rewrite(type));
  return tensor ? tensor.with(lifted) : type;
}

/// Builds a broadcast that is legal at the insertion point: a nest within nests, else an
/// nd.broadcast.
Value Lifter::broadcast(Location loc, Value value, ArrayRef<Dim> dims) const {
  NdTensorType type = tensorType(value);
  if (llvm::all_of(dims, [&](const Dim &dim) { return type.has(dim.name); }))
    return value;
  if (!isa<nest::ScanOp, nest::GroupOp>(builder.getInsertionBlock()->getParentOp()))
    return buildBroadcast(builder, loc, value, dims);
  return nest::broadcastByNest(builder, loc, value, dims);
}

/// Adds lifted names to user-written layouts, as outermost factors. Schedules do not change: names
/// that they do not mention are outermost.
static void liftLayouts(Operation *op, ArrayRef<Dim> lifted) {
  auto laid = dyn_cast<nest::LaidOutInterface>(op);
  for (unsigned i = 0; laid && i < op->getNumResults(); ++i)
    if (nest::LayoutAttr chosen = laid.layout(i)) {
      Layout layout = chosen.getLayout();
      for (const Dim &dim : llvm::reverse(lifted))
        layout.factors.insert(layout.factors.begin(), Layout::Factor{{dim.name.str()}});
      laid.setLayout(i, nest::LayoutAttr::get(op->getContext(), layout));
    }
}

LogicalResult Lifter::copy(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(copyOp(op)))
      return failure();
  return success();
}

LogicalResult Lifter::copyOp(Operation &op) {
  SmallVector<Dim> lifted = liftedNames(op.getOperands());
  if (auto group = dyn_cast<nest::GroupOp>(op))
    return copyGroup(group);
  if (auto scan = dyn_cast<nest::ScanOp>(op)) {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(scan.getBody(), captured);
    for (const Dim &dim : liftedNames(captured.getArrayRef()))
      if (!llvm::is_contained(lifted, dim))
        lifted.push_back(dim);
    return copyScan(scan, lifted);
  }
  if (isa_and_nonnull<scf::SCFDialect>(op.getDialect()))
    return copyControl(op);
  if (!lifted.empty() && isa<ItemOp>(op)) {
    scalars[op.getResult(0)] = values.lookupOrDefault(op.getOperand(0));
    return success();
  }
  if (!lifted.empty() && isa<FromItemOp>(op)) {
    values.map(op.getResult(0), buildCast(builder, op.getLoc(), scalars.lookup(op.getOperand(0)),
                                          tensorType(op.getResult(0)).getElementType()));
    return success();
  }
  if (!lifted.empty() && !isa_and_nonnull<NdDialect, nest::NestDialect>(op.getDialect()))
    return op.emitOpError() << "cannot be lifted over " << namesText(lifted)
                            << "; expected nd and nest ops, scf.if, scf.for and scf.while";
  auto named = dyn_cast<CalleeInterface>(op);
  if (named && named.lifts())
    return copyCall(named);
  if (named && !lifted.empty())
    return op.emitOpError() << "cannot be lifted over " << namesText(lifted)
                            << "; expected gradients of the callee to be expanded first";

  for (Region &region : op.getRegions()) // nested values may be mapped from an earlier copy
    for (BlockArgument argument : region.getArguments())
      values.erase(argument);
  Operation *copy = builder.clone(op, values);
  for (auto [old, fresh] : llvm::zip_equal(op.getResults(), copy->getResults()))
    fresh.setType(liftedType(old.getType(), lifted));
  if (!rewriter.isIdentity())
    copy->walk([&](Operation *inner) { rewriter.rewriteAttributes(inner); });
  if (lifted.empty())
    return success();

  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(copy);
  auto broadcastOperands = [&](MutableArrayRef<OpOperand> operands) {
    for (OpOperand &operand : operands)
      operand.set(broadcast(op.getLoc(), operand.get(), lifted));
  };
  if (isa<ScalarCodeInterface>(copy)) {
    // A lifted scalar may have no name in common with the other operands.
    if (isCrossed(llvm::map_to_vector(copy->getOperands(), tensorType)))
      copy->setAttr("crossed", builder.getUnitAttr());
  } else if (auto aligned = dyn_cast<AlignedOperandsInterface>(copy)) {
    broadcastOperands(copy->getOpOperands().take_front(aligned.getNumAligned()));
  } else if (isa<AfterOp>(copy)) {
    copy->getResult(0).setType(copy->getOperand(0).getType());
  } else if (auto nest = dyn_cast<nest::LoopNestInterface>(copy)) {
    broadcastOperands(copy->getOpOperands().take_front(nest.getFirstRead()));
    nest::addNames(nest, lifted);
    liftLayouts(copy, lifted);
  }
  return success();
}

LogicalResult Lifter::copyScan(nest::ScanOp op, ArrayRef<Dim> lifted) {
  Location loc = op.getLoc();
  SmallVector<Value> operands;
  for (Value init : op.getInits())
    operands.push_back(broadcast(loc, values.lookupOrDefault(init), lifted));
  for (Value read : op.getReads())
    operands.push_back(values.lookupOrDefault(read));
  SmallVector<Type> results;
  for (Type type : op.getResultTypes())
    results.push_back(liftedType(type, lifted));
  OperationState state(loc, op->getName(), operands, results, op->getAttrs());
  state.addRegion();
  Operation *copy = builder.create(state);
  rewriter.rewriteAttributes(copy);
  liftLayouts(copy, lifted);

  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&copy->getRegion(0));
  for (auto [i, argument] : llvm::enumerate(op.getBody().getArguments())) {
    SmallVector<Dim> own(lifted);
    if (i >= op.getInits().size())
      own = liftedNames(op.getReads()[i - op.getInits().size()]);
    values.map(argument, block->addArgument(liftedType(argument.getType(), own), loc));
  }
  if (failed(this->copy(op.getBody().front())))
    return failure();
  SmallVector<Value> yielded;
  for (Value value : op.getBody().front().getTerminator()->getOperands())
    yielded.push_back(broadcast(loc, values.lookupOrDefault(value), lifted));
  nest::YieldOp::create(builder, loc, yielded);
  values.map(op.getResults(), copy->getResults());
  return success();
}

/// A call lifts its callee itself: around the call, the callee's original names are restored, and a
/// lifted name with the same spelling is renamed.
LogicalResult Lifter::copyCall(CalleeInterface op) {
  Location loc = op.getLoc();
  FailureOr<func::FuncOp> callee = definedCallee(op, op.getCalleeAttr(), functions);
  if (failed(callee))
    return failure();
  Labels back, forth;
  for (const auto &[own, fresh] : rewriter.names) {
    std::string aside = own + "$outer";
    back[fresh] = own, back[own] = aside;
    forth[own] = fresh, forth[aside] = own;
  }
  auto renamed = [&](Value value, const Labels &names) {
    SmallVector<StringRef> from, to;
    for (const Dim &dim : tensorType(value).getDims())
      if (auto found = names.find(std::string_view(dim.name.getValue())); found != names.end()) {
        from.push_back(found->first);
        to.push_back(found->second);
      }
    return buildRename(builder, loc, value, from, to);
  };
  SmallVector<Value> inputs;
  for (Value input : op.getInputs())
    inputs.push_back(renamed(values.lookupOrDefault(input), back));
  auto error = [&] {
    InFlightDiagnostic error = emitError(loc);
    noteOperands(error, inputs);
    return error;
  };
  FailureOr<SmallVector<NdTensorType>> types =
      inferCall(*callee, llvm::map_to_vector(inputs, tensorType), error);
  if (failed(types))
    return failure();
  Operation *copy = builder.create(OperationState(
      loc, op->getName(), inputs, SmallVector<Type>(types->begin(), types->end()), op->getAttrs()));
  for (auto [old, fresh] : llvm::zip_equal(op->getResults(), copy->getResults())) {
    auto type = cast<NdTensorType>(rewriter.rewrite(old.getType()));
    values.map(old, buildBroadcast(builder, loc, renamed(fresh, forth), type.getDims().getDims()));
  }
  return success();
}

/// The values in the regions of a branch or loop, and its results, that depend on a lifted value.
llvm::SetVector<Value> Lifter::touched(Operation &op) const {
  llvm::SetVector<Value> found;
  auto isTouched = [&](Value value) {
    return found.contains(value) || scalars.contains(value) ||
           (values.contains(value) && !liftedNames(value).empty());
  };
  auto touch = [&](Value value, Value from) { return isTouched(from) && found.insert(value); };
  auto touchAll = [&](ValueRange to, ValueRange from) {
    bool changed = false;
    for (auto [value, source] : llvm::zip(to, from))
      changed |= touch(value, source);
    return changed;
  };
  auto touchOps = [&](Block &block) {
    bool changed = false;
    for (Operation &inner : block.without_terminator()) {
      llvm::SetVector<Value> used(inner.operand_begin(), inner.operand_end());
      getUsedValuesDefinedAbove(inner.getRegions(), used);
      if (llvm::any_of(used, isTouched))
        for (Value result : inner.getResults())
          changed |= found.insert(result);
    }
    return changed;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (Region &region : op.getRegions())
      if (!region.empty())
        changed |= touchOps(region.front());
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      changed |= touchAll(loop.getRegionIterArgs(), loop.getInitArgs());
      changed |= touchAll(loop.getRegionIterArgs(), loop.getBody()->getTerminator()->getOperands());
      changed |= touchAll(loop.getResults(), loop.getRegionIterArgs());
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      changed |= touchAll(loop.getBeforeArguments(), loop.getInits());
      changed |= touchAll(loop.getBeforeArguments(), loop.getYieldOp().getOperands());
      changed |= touchAll(loop.getAfterArguments(), loop.getConditionOp().getArgs());
      changed |= touchAll(loop.getResults(), loop.getConditionOp().getArgs());
    } else {
      for (Region &region : op.getRegions())
        if (!region.empty())
          changed |= touchAll(op.getResults(), region.front().getTerminator()->getOperands());
    }
  }
  return found;
}

/// Lifts branches and loops whose conditions do not vary: all lifted values in them get the same
/// lifted names.
LogicalResult Lifter::copyControl(Operation &op) {
  llvm::SetVector<Value> used(op.operand_begin(), op.operand_end());
  getUsedValuesDefinedAbove(op.getRegions(), used);
  SmallVector<Dim> lifted = liftedNames(used.getArrayRef());
  llvm::SetVector<Value> more = touched(op);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    if (!liftedNames(branch.getCondition()).empty())
      return selectSides(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    Value condition = loop.getConditionOp().getCondition();
    if (mask || more.contains(condition) || !liftedNames(condition).empty()) {
      for (const Dim &dim : mask ? tensorType(mask).getDims().getDims() : ArrayRef<Dim>())
        if (!llvm::is_contained(lifted, dim))
          lifted.push_back(dim);
      return runUntilAllEnd(loop, lifted);
    }
  }
  auto typeOf = [&](Value value) {
    return liftedType(value.getType(), more.contains(value) ? ArrayRef(lifted) : ArrayRef<Dim>());
  };
  // Broadcasts values to the types that their users expect.
  auto given = [&](ValueRange from, ValueRange takers) {
    SmallVector<Value> fresh;
    for (auto [value, taker] : llvm::zip_equal(from, takers))
      fresh.push_back(more.contains(taker)
                          ? broadcast(op.getLoc(), values.lookupOrDefault(value), lifted)
                          : values.lookupOrDefault(value));
    return fresh;
  };
  auto loop = dyn_cast<scf::ForOp>(op);
  auto until = dyn_cast<scf::WhileOp>(op);
  unsigned plain = loop ? 3 : until ? 0 : op.getNumOperands(); // bounds, conditions
  SmallVector<Value> operands = llvm::map_to_vector(
      op.getOperands().take_front(plain), [&](Value v) { return values.lookupOrDefault(v); });
  llvm::append_range(operands, given(op.getOperands().drop_front(plain),
                                     loop    ? ValueRange(loop.getRegionIterArgs())
                                     : until ? ValueRange(until.getBeforeArguments())
                                             : ValueRange()));
  OperationState state(op.getLoc(), op.getName(), operands, {}, op.getAttrs());
  for (Value result : op.getResults())
    state.addTypes(typeOf(result));
  for (unsigned i = 0; i < op.getNumRegions(); ++i)
    state.addRegion();
  Operation *copy = builder.create(state);
  OpBuilder::InsertionGuard guard(builder);
  for (auto [from, to] : llvm::zip_equal(op.getRegions(), copy->getRegions())) {
    if (from.empty())
      continue;
    Block *block = builder.createBlock(&to);
    for (BlockArgument argument : from.getArguments())
      values.map(argument, block->addArgument(typeOf(argument), op.getLoc()));
    if (failed(this->copy(from.front())))
      return failure();
    Operation *end = from.front().getTerminator();
    SmallVector<Value> yielded;
    ValueRange passed = end->getOperands();
    if (auto condition = dyn_cast<scf::ConditionOp>(end)) {
      yielded.push_back(values.lookupOrDefault(condition.getCondition()));
      llvm::append_range(yielded, given(condition.getArgs(), until.getAfterArguments()));
    } else {
      yielded = given(passed, until ? ValueRange(until.getBeforeArguments()) : op.getResults());
    }
    builder.create(OperationState(end->getLoc(), end->getName(), yielded, {}, end->getAttrs()));
  }
  values.map(op.getResults(), copy->getResults());
  return success();
}

/// The tensor of a condition, over all lifted names.
Value Lifter::conditionOf(Operation *op, Value scalar) {
  if (Value lifted = scalars.lookup(scalar))
    return lifted;
  return tensorOfScalar(builder, op, values.lookupOrDefault(scalar));
}

static Value both(OpBuilder &builder, Location loc, Value a, Value b, bool notB = false) {
  if (!a && !notB)
    return b;
  return buildPointwise(builder, loc, a ? ValueRange{a, b} : ValueRange{b}, builder.getI1Type(),
                        [&](OpBuilder &inner, ValueRange s) {
                          Value second = s.back();
                          if (notB)
                            second = arith::XOrIOp::create(
                                inner, loc, second, buildNumber(inner, loc, inner.getI1Type(), 1));
                          return a ? arith::AndIOp::create(inner, loc, s[0], second).getResult()
                                   : second;
                        });
}

/// The float tensors that the ops of `region` read and that are defined outside of it.
static SmallVector<Value> floatsReadBy(Region &region) {
  llvm::SetVector<Value> used;
  for (Operation &op : region.front().without_terminator()) {
    used.insert(op.operand_begin(), op.operand_end());
    getUsedValuesDefinedAbove(op.getRegions(), used);
  }
  return llvm::filter_to_vector(used, [&](Value value) {
    return !region.isAncestor(value.getParentRegion()) && !floatTypes(value.getType()).empty();
  });
}

/// Copies a side that runs at the points of `mask`. Its reads at other points get no gradient,
/// since zero times an infinite slope would be NaN.
LogicalResult Lifter::copyMasked(Region &side) {
  SmallVector<std::pair<Value, Value>> outside;
  for (Value value : differentiable ? floatsReadBy(side) : SmallVector<Value>()) {
    Value own = values.lookupOrDefault(value);
    if (own.getDefiningOp<LiteralInterface>())
      continue;
    outside.emplace_back(value, own);
    Location loc = value.getLoc();
    Value constant = StopGradientOp::create(builder, loc, own.getType(), own);
    values.map(value, select(builder, loc, mask, own, constant));
  }
  LogicalResult copied = copy(side.front());
  for (auto [value, own] : outside)
    values.map(value, own);
  return copied;
}

/// A branch whose condition varies from point to point: runs both sides, each at its own points,
/// and selects.
LogicalResult Lifter::selectSides(scf::IfOp op) {
  Location loc = op.getLoc();
  Value condition = conditionOf(op, op.getCondition()), outer = mask;
  SmallVector<SmallVector<Value>> sides;
  for (Region *side : {&op.getThenRegion(), &op.getElseRegion()}) {
    if (side->empty())
      continue;
    mask = both(builder, loc, outer, condition, /*notB=*/!sides.empty());
    if (failed(copyMasked(*side)))
      return failure();
    sides.push_back(llvm::map_to_vector(side->front().getTerminator()->getOperands(),
                                        [&](Value v) { return values.lookupOrDefault(v); }));
  }
  mask = outer;
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    values.map(op.getResult(i), select(builder, loc, condition, sides[0][i], sides[1][i]));
  return success();
}

/// A loop that ends earlier at some points than at others: runs until it has ended at all points;
/// those that have ended keep their carried values.
LogicalResult Lifter::runUntilAllEnd(scf::WhileOp op, ArrayRef<Dim> lifted) {
  Location loc = op.getLoc();
  auto wide = [&](Value value) { return broadcast(loc, values.lookupOrDefault(value), lifted); };
  // One step: the condition, then the tensors that the loop passes on.
  auto step = [&](ArrayRef<Value> carried, Value active) -> FailureOr<SmallVector<Value>> {
    for (auto [argument, value] : llvm::zip_equal(op.getBeforeArguments(), carried))
      values.map(argument, value);
    if (failed(copy(*op.getBeforeBody())))
      return failure();
    Value condition = conditionOf(op, op.getConditionOp().getCondition());
    if (!condition)
      return failure();
    SmallVector<Value> state{broadcast(loc, both(builder, loc, active, condition), lifted)};
    for (Value value : op.getConditionOp().getArgs())
      state.push_back(wide(value));
    return state;
  };
  FailureOr<SmallVector<Value>> first = step(llvm::map_to_vector(op.getInits(), wide), mask);
  if (failed(first))
    return failure();
  SmallVector<StringRef> names;
  for (const Dim &dim : lifted)
    names.push_back(dim.name);
  SmallVector<Type> types(ValueRange(*first).getTypes());
  auto loop = scf::WhileOp::create(builder, loc, types, *first);
  OpBuilder::InsertionGuard guard(builder);
  Block *before =
      builder.createBlock(&loop.getBefore(), {}, types, SmallVector<Location>(types.size(), loc));
  Value any = buildReduce(builder, loc, before->getArgument(0), names, CombinerKind::Or);
  scf::ConditionOp::create(builder, loc, ItemOp::create(builder, loc, builder.getI1Type(), any),
                           before->getArguments());
  Block *after =
      builder.createBlock(&loop.getAfter(), {}, types, SmallVector<Location>(types.size(), loc));
  Value active = after->getArgument(0), outer = std::exchange(mask, active);
  for (auto [old, fresh] :
       llvm::zip_equal(op.getAfterArguments(), after->getArguments().drop_front()))
    values.map(old, fresh);
  if (failed(copy(*op.getAfterBody())))
    return failure();
  FailureOr<SmallVector<Value>> next =
      step(llvm::map_to_vector(op.getYieldOp().getOperands(), wide), active);
  if (failed(next))
    return failure();
  for (unsigned i = 1; i < next->size(); ++i)
    (*next)[i] = select(builder, loc, active, (*next)[i], after->getArgument(i));
  scf::YieldOp::create(builder, loc, *next);
  mask = outer;
  values.map(op.getResults(), loop.getResults().drop_front());
  return success();
}

LogicalResult Lifter::copyGroup(nest::GroupOp op) {
  Location loc = op.getLoc();
  OperationState state(loc, op->getName(), {}, op.getResultTypes(), op->getAttrs());
  state.addRegion();
  Operation *copy = builder.create(state);
  rewriter.rewriteAttributes(copy);

  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&copy->getRegion(0));
  if (failed(this->copy(op.getBody().front())))
    return failure();
  SmallVector<Value> yielded;
  SmallVector<Dim> lifted;
  Operation *end = op.getBody().front().getTerminator();
  for (auto [value, result, fresh] :
       llvm::zip_equal(end->getOperands(), op.getResults(), copy->getResults())) {
    yielded.push_back(values.lookupOrDefault(value));
    SmallVector<Dim> own = liftedNames(value);
    fresh.setType(liftedType(result.getType(), own));
    for (const Dim &dim : own)
      if (!llvm::is_contained(lifted, dim))
        lifted.push_back(dim);
  }
  nest::YieldOp::create(builder, loc, yielded);
  liftLayouts(copy, lifted);
  values.map(op.getResults(), copy->getResults());
  return success();
}
