//===- NestGradientScan.cpp - gradients of scans and sorts ----------------===//
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
