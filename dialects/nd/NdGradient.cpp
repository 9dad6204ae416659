//===- NdGradient.cpp - gradients of pointwise ops and index maps ---------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdGradient.h"
#include "dialects/nd/NdBuild.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"

#include <numeric>
#include <set>

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

using Gradients = SmallVectorImpl<Value>;

/// A gradient is needed for operand `i`, and there is a cotangent.
static bool asked(ValueRange cotangents, ArrayRef<bool> wanted, unsigned i = 0) {
  return wanted[i] && cotangents[0];
}

//===----------------------------------------------------------------------===//
// Sources have no operands, or integer ones
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, Gradients &) {
  return success();
}
LogicalResult IotaOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, Gradients &) {
  return success();
}
LogicalResult RandomOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, Gradients &) {
  return success();
}

//===----------------------------------------------------------------------===//
// Exclusion
//===----------------------------------------------------------------------===//

bool nd::leavesOut(WindowOp op) {
  WindowShape shape = windowShape(op);
  Expr windows = tensorType(op.getResult()).size(shape.name).getExpr();
  if (op.getPaddingAttr() || windows == Expr(0))
    return false;
  // The last place that is read: windows are as many as fit, so that less than a stride is left.
  Expr last = (windows - Expr(1)) * Expr(shape.stride) +
              Expr((shape.size - 1) * shape.dilation - shape.low);
  auto left = (tensorType(op.getInput()).size(shape.name).getExpr() - Expr(1) - last).constant();
  return shape.low > 0 || (shape.high > 0 && !(left && *left >= 0));
}

bool nd::carriesExclusion(Operation *op) {
  return isa_and_nonnull<PointwiseOp, RoundOp, WindowOp, SliceOp, PadOp, ConcatOp, SplitOp, MergeOp,
                         RenameOp, BroadcastOp, GatherOp, StopGradientOp, AfterOp>(op);
}

/// Calls `visit` on the ops behind `value` (and its own) that carry exclusion, makers before users;
/// not on those behind a value that `skip` accepts. No recursion: programs may be deep.
static void visitCarriers(Value value, llvm::function_ref<bool(Value)> skip,
                          llvm::function_ref<void(Operation *)> visit) {
  SmallVector<std::pair<Operation *, unsigned>> open;
  auto enter = [&](Value next) {
    if (carriesExclusion(next.getDefiningOp()) && !skip(next))
      open.emplace_back(next.getDefiningOp(), 0);
  };
  for (enter(value); !open.empty();) {
    auto &[op, operand] = open.back();
    if (operand < op->getNumOperands()) {
      enter(op->getOperand(operand++));
      continue;
    }
    Operation *done = op;
    open.pop_back();
    if (!skip(done->getResult(0)))
      visit(done);
  }
}

bool Exclusions::reach(Value value) {
  visitCarriers(
      value, [&](Value each) { return known.contains(each); },
      [&](Operation *op) {
        auto window = dyn_cast<WindowOp>(op);
        known[op->getResult(0)] =
            (window && leavesOut(window)) ||
            llvm::any_of(op->getOperands(), [&](Value operand) { return known.lookup(operand); });
      });
  return known.lookup(value);
}

void Exclusions::forget(Operation *op) {
  for (Value result : op->getResults())
    known.erase(result);
}

/// The op on operands that are filled in already, and its mask.
static Value fillOne(OpBuilder &b, Operation *op, IRMapping &filled,
                     const DenseMap<Value, Value> &maskOf) {
  Location loc = op->getLoc();
  NdTensorType type = tensorType(op->getResult(0));
  SmallVector<Value> masks =
      llvm::map_to_vector(op->getOperands(), [&](Value operand) { return maskOf.lookup(operand); });
  Operation *copy = b.clone(*op, filled);
  Type bit = b.getI1Type();
  auto allTrue = [&](Value like) {
    return buildConstant(b, loc, tensorType(like).withElementType(bit), 1);
  };
  if (isa<PointwiseOp>(op)) {
    Value mask;
    for (Value own : masks) {
      if (!own)
        continue;
      mask =
          !mask ? own : buildPointwise(b, loc, {mask, own}, bit, [&](OpBuilder &b, ValueRange s) {
            return arith::AndIOp::create(b, loc, s[0], s[1]).getResult();
          });
    }
    return buildBroadcast(b, loc, mask, type.getDims().getDims());
  }
  // The same index map takes the masks of the operands to that of the result.
  if (isa<RoundOp, StopGradientOp, AfterOp>(op))
    return masks[0];
  IRMapping ofMasks;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (i == 0 || isa<ConcatOp>(op))
      ofMasks.map(operand, masks[i] ? masks[i] : allTrue(operand));
  Operation *mask = b.clone(*op, ofMasks);
  mask->getResult(0).setType(type.withElementType(bit));
  if (auto window = dyn_cast<WindowOp>(copy); window && leavesOut(cast<WindowOp>(op))) {
    window.setPaddingAttr(numberAttr(type.scalarType(), 0));
    cast<WindowOp>(mask).setPaddingAttr(numberAttr(bit, 0));
  } else if (isa<WindowOp, PadOp>(mask)) {
    mask->setAttr(isa<PadOp>(mask) ? "value" : "padding", numberAttr(bit, 1));
  }
  return mask->getResult(0);
}

std::pair<Value, Value> nd::fillExcluded(OpBuilder &b, Value value) {
  Exclusions exclusions;
  if (!exclusions.reach(value))
    return {value, Value()};
  IRMapping filled;
  DenseMap<Value, Value> masks;
  visitCarriers(
      value, [&](Value each) { return !exclusions.reach(each) || masks.contains(each); },
      [&](Operation *op) {
        Value mask = fillOne(b, op, filled, masks);
        masks[op->getResult(0)] = mask;
      });
  return {filled.lookup(value), masks.lookup(value)};
}

/// The ones of an op's result from those of its operands, as few as say what is excluded.
static Value includedBy(OpBuilder &b, Location loc, Operation *op,
                        const DenseMap<Value, Value> &onesOf) {
  Type i64 = b.getI64Type();
  auto ones = [&](Value operand, ArrayRef<Dim> dims) {
    Value known = onesOf.lookup(operand);
    return known ? buildBroadcast(b, loc, known, dims)
                 : buildConstant(b, loc, NdTensorType::get(i64, dims), 1);
  };
  auto onesAlong = [&](Value operand, StringRef name) {
    ArrayRef<Dim> dims = tensorType(operand).getDims().getDims();
    return ones(operand,
                *llvm::find_if(dims, [&](const Dim &dim) { return dim.name.getValue() == name; }));
  };
  if (auto window = dyn_cast<WindowOp>(op))
    return buildWindow(b, loc, onesAlong(window.getInput(), window.getName()), windowShape(window),
                       window.getPaddingAttr() ? numberAttr(i64, 1) : TypedAttr());
  if (auto slice = dyn_cast<SliceOp>(op))
    return buildSlice(b, loc, onesAlong(slice.getInput(), slice.getName()), slice.getName(),
                      slice.getStart().getExpr(),
                      tensorType(slice.getResult()).size(slice.getName()).getExpr(),
                      int64_t(slice.getStride()));
  if (auto rename = dyn_cast<RenameOp>(op)) {
    Value own = onesOf.lookup(rename.getInput());
    SmallVector<StringRef> from, to;
    for (auto [before, after] :
         llvm::zip_equal(stringsOf(rename.getFrom()), stringsOf(rename.getTo())))
      if (tensorType(own).has(before))
        from.push_back(before), to.push_back(after);
    return buildRename(b, loc, own, from, to);
  }
  if (isa<PointwiseOp, BroadcastOp, RoundOp, StopGradientOp, AfterOp>(op)) {
    SmallVector<Value> known;
    for (Value operand : op->getOperands())
      if (Value own = onesOf.lookup(operand))
        known.push_back(own);
    // A product, so that no rule takes it for a constant: what it is excluded by may not be seen.
    return known.size() == 1
               ? known[0]
               : buildPointwise(b, loc, known, i64, [&](OpBuilder &b, ValueRange s) {
                   return std::accumulate(s.begin() + 1, s.end(), s[0], [&](Value x, Value y) {
                     return arith::MulIOp::create(b, loc, x, y).getResult();
                   });
                 });
  }
  IRMapping filled;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (i == 0 || isa<ConcatOp>(op)) // others are indices
      filled.map(operand, ones(operand, tensorType(operand).getDims().getDims()));
  Operation *copy = b.clone(*op, filled);
  copy->getResult(0).setType(tensorType(op->getResult(0)).withElementType(i64));
  if (isa<PadOp>(op))
    copy->setAttr("value", numberAttr(i64, 1));
  return copy->getResult(0);
}

Value nd::buildIncluded(OpBuilder &b, Location loc, Value value, DenseMap<Value, Value> ones) {
  Exclusions exclusions;
  for (Value each : llvm::make_first_range(ones))
    exclusions.assume(each);
  if (!exclusions.reach(value))
    return {};
  auto isKnown = [&](Value each) { return !exclusions.reach(each) || ones.contains(each); };
  visitCarriers(value, isKnown, [&](Operation *op) {
    Value made = includedBy(b, loc, op, ones);
    ones[op->getResult(0)] = made;
  });
  return ones.lookup(value);
}

//===----------------------------------------------------------------------===//
// Pointwise
//===----------------------------------------------------------------------===//

/// The gradient of operand `i`. The cotangent of a sum is a broadcast: its new names are given by
/// the other operands, or missing altogether, so that mostly nothing is left of it.
static FailureOr<Value> pointwiseGradient(OpBuilder &b, PointwiseOp op, ValueRange operands,
                                          Value cotangent, unsigned i, Value mask) {
  Location loc = op.getLoc();
  NdTensorType type = tensorType(op.getInputs()[i]), all = tensorType(op.getResult());
  unsigned n = operands.size();

  Region region;
  Block *block;
  {
    OpBuilder::InsertionGuard guard(b);
    block = b.createBlock(&region);
    for (Value operand : operands)
      block->addArgument(tensorType(operand).scalarType(), loc);
    block->addArgument(all.scalarType(), loc);
    SmallVector<bool> wanted(n);
    wanted[i] = true;
    FailureOr<SmallVector<Value>> gradients =
        buildScalarGradient(b, loc, op.getBody().front(), block->getArguments().take_front(n),
                            {block->getArgument(n)}, wanted);
    if (failed(gradients))
      return failure();
    if (!(*gradients)[i])
      return Value();
    Value result = (*gradients)[i];
    if (mask) {
      Value bit = block->addArgument(b.getI1Type(), loc);
      result =
          arith::SelectOp::create(b, loc, bit, result, buildNumber(b, loc, result.getType(), 0));
    }
    YieldOp::create(b, loc, result);
    eraseDeadScalars(*block);
  }

  SmallVector<Value> used(operands);
  used.push_back(cotangent);
  if (mask)
    used.push_back(mask);
  llvm::StringSet<> names;
  for (unsigned k = used.size(); k-- > 0;) {
    if (block->getArgument(k).use_empty()) {
      used.erase(used.begin() + k);
      block->eraseArgument(k);
    } else if (used[k] != cotangent) {
      for (const Dim &dim : tensorType(used[k]).getDims())
        names.insert(dim.name);
    }
  }
  if (auto broadcast = cotangent.getDefiningOp<BroadcastOp>()) {
    Value inner = broadcast.getInput();
    SmallVector<Dim> counted; // summed over below: these must be there
    for (const Dim &dim : all.getDims())
      if (!tensorType(inner).has(dim.name) && !names.contains(dim.name) && !type.has(dim.name))
        counted.push_back(dim);
    Value smaller = buildBroadcast(b, loc, inner, counted);
    llvm::replace(used, cotangent, smaller);
  }

  SmallVector<NdTensorType> types = llvm::map_to_vector(used, tensorType);
  FailureOr<NdTensorType> result = inferPointwise(type.getElementType(), types, /*crossed=*/true,
                                                  [&] { return op.emitOpError(); });
  if (failed(result))
    return failure();
  Value gradient;
  auto yield = cast<YieldOp>(block->getTerminator());
  if (used.size() == 1 && yield.getValues()[0] == block->getArgument(0)) {
    gradient = used[0];
  } else {
    auto pointwise = PointwiseOp::create(b, loc, *result, used, isCrossed(types));
    pointwise.getBody().takeBody(region);
    gradient = pointwise.getResult();
  }
  return buildBroadcast(b, loc, buildSumTo(b, loc, gradient, type), type.getDims().getDims());
}

/// `fills`: places that a reduction will leave out have no gradient, whatever the formula says
/// there.
static LogicalResult buildPointwiseGradient(OpBuilder &b, PointwiseOp op, ValueRange cotangents,
                                            ArrayRef<bool> wanted, Gradients &gradients,
                                            bool fills) {
  if (!cotangents[0] || !llvm::is_contained(wanted, true))
    return success();
  SmallVector<Value> operands(op.getInputs());
  Value mask;
  if (fills) {
    auto [copy, outside] = fillExcluded(b, op.getResult());
    operands.assign(copy.getDefiningOp()->operand_begin(), copy.getDefiningOp()->operand_end());
    mask = outside;
  }
  for (unsigned i = 0; i < op.getInputs().size(); ++i) {
    if (!wanted[i])
      continue;
    FailureOr<Value> gradient = pointwiseGradient(b, op, operands, cotangents[0], i, mask);
    if (failed(gradient))
      return failure();
    gradients[i] = *gradient;
  }
  return success();
}

LogicalResult PointwiseOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                         Gradients &gradients) {
  return buildPointwiseGradient(b, *this, cotangents, wanted, gradients,
                                Exclusions().reach(getResult()));
}

LogicalResult Exclusions::buildGradient(OpBuilder &b, Operation *op, ValueRange cotangents,
                                        ArrayRef<bool> wanted, Gradients &gradients) {
  if (auto pointwise = dyn_cast<PointwiseOp>(op))
    return buildPointwiseGradient(b, pointwise, cotangents, wanted, gradients,
                                  reach(pointwise.getResult()));
  if (auto differentiable = dyn_cast<DifferentiableInterface>(op))
    return differentiable.buildGradient(b, cotangents, wanted, gradients);
  return op->emitOpError() << "cannot be differentiated" << ownGradientHint;
}

LogicalResult RoundOp::buildGradient(OpBuilder &, ValueRange cotangents, ArrayRef<bool> wanted,
                                     Gradients &gradients) {
  if (asked(cotangents, wanted))
    gradients[0] = cotangents[0]; // straight through
  return success();
}

//===----------------------------------------------------------------------===//
// Index maps: the adjoint is an index map again
//===----------------------------------------------------------------------===//

LogicalResult WindowOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                      Gradients &gradients) {
  if (asked(cotangents, wanted))
    gradients[0] = buildUnwindow(b, getLoc(), cotangents[0], windowShape(*this),
                                 tensorType(getInput()).size(getName()).getExpr());
  return success();
}

LogicalResult UnwindowOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                        Gradients &gradients) {
  if (asked(cotangents, wanted))
    gradients[0] = buildWindow(
        b, getLoc(), cotangents[0], windowShape(*this),
        getLow() || getHigh() ? numberAttr(tensorType(getInput()).scalarType(), 0) : TypedAttr());
  return success();
}

LogicalResult SliceOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                     Gradients &gradients) {
  if (!asked(cotangents, wanted))
    return success();
  Location loc = getLoc();
  NdTensorType type = tensorType(getInput());
  int64_t stride = getStride();
  Expr start = getStart().getExpr(), size = getSize().getExpr();
  auto count = size.constant();
  if (count == 0)
    return success();
  Value cotangent = cotangents[0];
  Expr span = (size - Expr(1)) * Expr(stride);
  // Of a number of elements that may be 0 it is not known where the last one lies.
  if (count || std::abs(stride) == 1) {
    if (stride < 0) { // what was read backwards is turned first
      cotangent = buildSlice(b, loc, cotangent, getName(), size - Expr(1), size, -1);
      start = start + span;
      span = -span;
    }
    gradients[0] =
        buildPad(b, loc, cotangent, getName(), start,
                 type.size(getName()).getExpr() - start - span - Expr(1), std::abs(stride) - 1);
    return success();
  }
  Dim whole(getContext(), getName(), type.size(getName()).getExpr());
  Value positions =
      buildSlice(b, loc, buildIota(b, loc, whole, b.getI64Type()), getName(), start, size, stride);
  gradients[0] = buildScatter(b, loc, buildZero(b, loc, type), cotangent, {getName()}, positions,
                              CombinerKind::Add, /*unique=*/true);
  return success();
}

LogicalResult PadOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                   Gradients &gradients) {
  if (asked(cotangents, wanted))
    gradients[0] = buildSlice(b, getLoc(), cotangents[0], getName(), getLow().getExpr(),
                              tensorType(getInput()).size(getName()).getExpr(), getInterior() + 1);
  return success();
}

LogicalResult ConcatOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                      Gradients &gradients) {
  if (!cotangents[0])
    return success();
  Expr start(0);
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    Expr size = tensorType(input).size(getName()).getExpr();
    if (wanted[i])
      gradients[i] = buildSlice(b, getLoc(), cotangents[0], getName(), start, size);
    start = start + size;
  }
  return success();
}

LogicalResult SplitOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                     Gradients &gradients) {
  if (asked(cotangents, wanted))
    gradients[0] = buildResized(
        b, getLoc(), buildMerge(b, getLoc(), cotangents[0], stringsOf(getInto()), getName()),
        tensorType(getInput()));
  return success();
}

LogicalResult MergeOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                     Gradients &gradients) {
  if (!asked(cotangents, wanted))
    return success();
  SmallVector<Dim> into;
  for (StringRef name : stringsOf(getNames()))
    into.emplace_back(getContext(), name, tensorType(getInput()).size(name).getExpr());
  gradients[0] = buildSplit(b, getLoc(), cotangents[0], getInto(), into);
  return success();
}

LogicalResult RenameOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                      Gradients &gradients) {
  if (asked(cotangents, wanted))
    gradients[0] =
        buildRename(b, getLoc(), cotangents[0], stringsOf(getTo()), stringsOf(getFrom()));
  return success();
}

LogicalResult BroadcastOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                         Gradients &gradients) {
  if (asked(cotangents, wanted))
    gradients[0] = buildSumTo(b, getLoc(), cotangents[0], tensorType(getInput()));
  return success();
}

//===----------------------------------------------------------------------===//
// Access by value
//===----------------------------------------------------------------------===//

/// The last coordinate along `dim`, as a tensor without names.
static Value buildLast(OpBuilder &b, Location loc, const Dim &dim, Type element) {
  if (auto size = dim.size().constant())
    return buildConstant(b, loc, NdTensorType::get(element, ArrayRef<Dim>()), double(*size - 1));
  return buildReduce(b, loc, buildIota(b, loc, dim, element), {dim.name.getValue()},
                     CombinerKind::Max);
}

/// Index `i` of an access, in signed 64 bits, and the last coordinate that it may have.
static std::pair<Value, Value> indexAndLast(OpBuilder &b, Location loc, NdTensorType type,
                                            StringRef name, Value index) {
  Type element = b.getI64Type();
  return {buildCast(b, loc, index, element),
          buildLast(b, loc, Dim(b.getContext(), name, type.size(name).getExpr()), element)};
}

LogicalResult GatherOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                      Gradients &gradients) {
  if (!asked(cotangents, wanted))
    return success();
  // A scatter drops what lies outside, a gather clamps.
  Location loc = getLoc();
  NdTensorType type = tensorType(getInput());
  SmallVector<Value> clamped;
  for (auto [name, operand] : llvm::zip_equal(stringsOf(getNames()), getIndices())) {
    auto [index, last] = indexAndLast(b, loc, type, name, operand);
    clamped.push_back(buildPointwise(
        b, loc, {index, last}, b.getI64Type(), [&](OpBuilder &b, ValueRange s) -> Value {
          Value low = arith::MaxSIOp::create(b, loc, s[0], buildNumber(b, loc, b.getI64Type(), 0));
          return arith::MinSIOp::create(b, loc, low, s[1]);
        }));
  }
  gradients[0] = buildScatter(b, loc, buildZero(b, loc, type), cotangents[0], stringsOf(getNames()),
                              clamped, CombinerKind::Add);
  return success();
}

/// What lies at the targets of a scatter. A tensor that may be empty, where all is dropped, gets a
/// place to which these are clamped.
static Value gatherTargets(OpBuilder &b, Location loc, Value source, Strings names,
                           ValueRange indices) {
  for (StringRef name : names)
    if (Expr size = tensorType(source).size(name).getExpr(); !size.isConstant())
      source = buildPad(b, loc, source, name, 0, Expr::max(Expr(1) - size, Expr(0)));
  return buildGather(b, loc, source, names, indices);
}

/// The same, zero where a target lies outside.
static Value gatherInside(OpBuilder &b, Location loc, Value source, Strings names,
                          ValueRange indices) {
  NdTensorType type = tensorType(source);
  SmallVector<Value> operands{gatherTargets(b, loc, source, names, indices)};
  for (auto [name, operand] : llvm::zip_equal(names, indices)) {
    auto [index, last] = indexAndLast(b, loc, type, name, operand);
    operands.append({index, last});
  }
  return buildPointwise(b, loc, operands, type.getElementType(), [&](OpBuilder &b, ValueRange s) {
    Value result = s[0], zero = buildNumber(b, loc, result.getType(), 0);
    for (unsigned i = 1; i < s.size(); i += 2) {
      // As unsigned numbers negative coordinates are beyond the end.
      Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, s[i], s[i + 1]);
      result = arith::SelectOp::create(b, loc, inside, result, zero);
    }
    return result;
  });
}

/// Writes `updates` over what stands in `destination`; no place is met twice.
static Value put(OpBuilder &b, Location loc, Value destination, Value updates, Strings names,
                 ValueRange indices) {
  return buildScatter(
      b, loc, destination, updates, names, indices, [](OpBuilder &, ValueRange s) { return s[1]; },
      /*unique=*/true);
}

/// The gradient of a scatter's combiner by its old value (0) or the update (1), given tensors of
/// both and of the cotangent. Null, with a diagnostic, where it has none.
static Value combinerSlope(OpBuilder &b, ScatterOp op, ValueRange given, unsigned by) {
  Location loc = op.getLoc();
  bool isFailure = false;
  Value slope = buildPointwise(b, loc, given, tensorType(op.getUpdates()).getElementType(),
                               [&](OpBuilder &b, ValueRange s) -> Value {
                                 FailureOr<SmallVector<Value>> result = buildScalarGradient(
                                     b, loc, op.getCombiner().front(), s.take_front(2), {s[2]},
                                     {by == 0, by == 1});
                                 isFailure = failed(result);
                                 Value value = isFailure ? Value() : (*result)[by];
                                 return value ? value : buildNumber(b, loc, s[0].getType(), 0);
                               });
  if (isFailure)
    return {};
  eraseDeadScalars(cast<PointwiseOp>(slope.getDefiningOp()).getBody().front());
  return slope;
}

/// Any combiner, where several updates may meet at a place: they are combined one after the other,
/// and what stood there before each is kept; then back.
///
///     old[p] = d[i[p]];  d[i[p]] = combine(old[p], u[p])       for p = 0, 1, ...
///     (d[i[p]], du[p]) = slopes of combine(old[p], u[p]), times d[i[p]]    for p = ..., 1, 0
static LogicalResult orderedScatterGradient(OpBuilder &b, ScatterOp op, Value cotangent,
                                            ArrayRef<Dim> iterated, ArrayRef<bool> wanted,
                                            Gradients &gradients) {
  Location loc = op.getLoc();
  DialectInterfaceCollection<RecurrenceInterface> recurrences(b.getContext());
  assert(recurrences.begin() != recurrences.end() && "a dialect with recurrences is loaded");
  const RecurrenceInterface &recurrence = *recurrences.begin();
  auto names = stringsOf(op.getNames());
  NdTensorType type = tensorType(op.getDestination());
  // Updates and indices point after point.
  SmallVector<StringRef> merged;
  std::string point = iterated[0].name.str();
  Expr count(1);
  for (const Dim &dim : iterated) {
    merged.push_back(dim.name);
    count = count * dim.size().getExpr();
  }
  while (type.has(point))
    point += "$";
  SmallVector<Value> points;
  for (Value value : op->getOperands().drop_front()) {
    value = buildBroadcast(b, loc, value, iterated);
    points.push_back(merged.size() == 1 ? buildRename(b, loc, value, merged, {point})
                                        : buildMerge(b, loc, value, merged, point));
  }
  Dim along(b.getContext(), point, count);
  SmallVector<Value> forth = recurrence.build(
      b, loc, along, /*reverse=*/false, op.getDestination(), points, [&](ValueRange state) {
        ValueRange where = state.drop_front(2);
        Value old = gatherTargets(b, loc, state[0], names, where);
        Value next = buildPointwise(b, loc, {old, state[1]}, type.getElementType(),
                                    [&](OpBuilder &b, ValueRange s) {
                                      return inlineScalars(b, op.getCombiner().front(), s)[0];
                                    });
        return SmallVector<Value>{put(b, loc, state[0], next, names, where), old};
      });
  points.push_back(forth[1]);
  bool isFailure = false;
  SmallVector<Value> back =
      recurrence.build(b, loc, along, /*reverse=*/true, cotangent, points, [&](ValueRange state) {
        ValueRange where = state.drop_front(2).drop_back();
        Value given = gatherInside(b, loc, state[0], names, where);
        SmallVector<Value> slopes(2, given);
        for (unsigned by : {0, 1}) {
          Value slope = combinerSlope(b, op, {state.back(), state[1], given}, by);
          isFailure |= !slope;
          if (slope)
            slopes[by] = slope;
        }
        return SmallVector<Value>{put(b, loc, state[0], slopes[0], names, where), slopes[1]};
      });
  if (isFailure)
    return failure();
  if (wanted[0])
    gradients[0] = back[0];
  if (wanted[1])
    gradients[1] = merged.size() == 1 ? buildRename(b, loc, back[1], {point}, merged)
                                      : buildSplit(b, loc, back[1], point, iterated);
  return success();
}

Value nd::productWithout(OpBuilder &b, Location loc, const ProductParts &all,
                         const ProductFactor &one) {
  auto number = [&](double value) { return buildNumber(b, loc, one.other.getType(), value); };
  auto times = [&](Value x, Value y) -> Value { return arith::MulFOp::create(b, loc, x, y); };
  auto minus = [&](Value x, Value y) -> Value { return arith::SubFOp::create(b, loc, x, y); };
  Value zeros = minus(all.zeros, one.isZero), sum = minus(all.zeroSum, one.zero),
        squares = minus(all.squareSum, times(one.zero, one.zero));
  Value product = number(0), two = times(minus(times(sum, sum), squares), number(0.5));
  for (auto [count, ofZeros] : {std::pair(2, two), {1, sum}, {0, number(1)}})
    product = arith::SelectOp::create(
        b, loc, arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, zeros, number(count)),
        ofZeros, product);
  return times(product, arith::DivFOp::create(b, loc, all.others, one.other));
}

/// Several updates may meet at a place. Of a maximum or minimum all that equal the result share its
/// gradient, since they have no order; of a product each gets the product of all others.
static LogicalResult sharedScatterGradient(OpBuilder &b, ScatterOp op, Value cotangent,
                                           ArrayRef<Dim> iterated, ArrayRef<bool> wanted,
                                           Gradients &gradients) {
  CombinerKind kind = combinerKind(op.getCombiner());
  bool isProduct = kind == CombinerKind::Mul;
  if (!isProduct && kind != CombinerKind::Max && kind != CombinerKind::Min)
    return orderedScatterGradient(b, op, cotangent, iterated, wanted, gradients);
  Location loc = op.getLoc();
  Type element = tensorType(op.getUpdates()).getElementType();
  Type exact = element.isF64() ? element : Type(b.getF32Type());
  auto names = stringsOf(op.getNames());
  auto wide = [&](Value value) { // as it is stored, whatever was kept while it was computed
    return buildCast(b, loc, element == exact ? value : buildRound(b, loc, value, element), exact);
  };
  auto together = [&](ValueRange both, CombinerKind by) {
    return buildScatter(b, loc, both[0], both[1], names, op.getIndices(), by);
  };
  auto atTargets = [&](Value value) {
    return gatherTargets(b, loc, value, names, op.getIndices());
  };
  auto pointwise = [&](ValueRange values, ScalarBody body) {
    return buildPointwise(b, loc, values, exact, body);
  };
  auto isEqual = [&](OpBuilder &b, Value x, Value y) -> Value {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, y);
  };
  auto number = [&](OpBuilder &b, double value) { return buildNumber(b, loc, exact, value); };
  auto choose = [&](OpBuilder &b, Value condition, Value yes, Value no) -> Value {
    return arith::SelectOp::create(b, loc, condition, yes, no);
  };
  SmallVector<Value> factors{wide(op.getDestination()), wide(op.getUpdates())}, marks, others,
      zeros;
  Value all, zeroSum, squareSum;
  if (!isProduct)
    all = together(factors, kind);
  for (unsigned i = 0; i < 2; ++i) {
    // What equals the result; of a product, what is zero, and the others.
    SmallVector<Value> operands{factors[i]};
    if (!isProduct)
      operands.push_back(i ? atTargets(all) : all);
    marks.push_back(pointwise(operands, [&](OpBuilder &b, ValueRange s) {
      return choose(b, isEqual(b, s[0], isProduct ? number(b, 0) : s[1]), number(b, 1),
                    number(b, 0));
    }));
    if (!isProduct)
      continue;
    others.push_back(pointwise(factors[i], [&](OpBuilder &b, ValueRange s) {
      return choose(b, isEqual(b, s[0], number(b, 0)), number(b, 1), s[0]);
    }));
    zeros.push_back(pointwise(factors[i], [&](OpBuilder &b, ValueRange s) {
      return choose(b, isEqual(b, s[0], number(b, 0)), s[0], number(b, 0));
    }));
  }
  Value count = together(marks, CombinerKind::Add), given = buildCast(b, loc, cotangent, exact);
  if (isProduct) {
    auto squares = llvm::map_to_vector(zeros, [&](Value x) { return mul(b, loc, x, x); });
    all = together(others, CombinerKind::Mul);
    zeroSum = together(zeros, CombinerKind::Add);
    squareSum = together(squares, CombinerKind::Add);
  } else
    given = pointwise({given, count}, [&](OpBuilder &b, ValueRange s) -> Value {
      Value some = arith::MaximumFOp::create(b, loc, s[1], number(b, 1)); // NaN equals nothing
      return arith::DivFOp::create(b, loc, s[0], some);
    });
  for (unsigned i = 0; i < 2; ++i) {
    if (!wanted[i])
      continue;
    SmallVector<Value> operands{i ? gatherInside(b, loc, given, names, op.getIndices()) : given,
                                marks[i]};
    if (isProduct) {
      operands.append({others[i], zeros[i]});
      for (Value sum : {all, count, zeroSum, squareSum})
        operands.push_back(i ? atTargets(sum) : sum);
    }
    Value slope = pointwise(operands, [&](OpBuilder &b, ValueRange s) -> Value {
      Value factor = s[1];
      if (isProduct) // all others: without this one
        factor = productWithout(b, loc, {s[4], s[5], s[6], s[7]}, {s[2], s[1], s[3]});
      return arith::MulFOp::create(b, loc, s[0], factor);
    });
    gradients[i] = buildCast(b, loc, slope, element);
  }
  return success();
}

LogicalResult ScatterOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                       Gradients &gradients) {
  Value cotangent = cotangents[0];
  if (!cotangent)
    return success();
  Location loc = getLoc();
  NdTensorType type = tensorType(getDestination());
  bool isEmpty = llvm::any_of(stringsOf(getNames()), [&](StringRef name) {
    return type.size(name).constant() == int64_t(0);
  });
  if (isEmpty) { // every update is dropped
    gradients[0] = cotangent;
    gradients[1] = buildZero(b, loc, tensorType(getUpdates()));
    return success();
  }
  if (combinerKind(getCombiner()) == CombinerKind::Add) {
    gradients[0] = cotangent;
    if (wanted[1])
      gradients[1] = gatherInside(b, loc, cotangent, stringsOf(getNames()), getIndices());
    return success();
  }
  // A point of the rest of the destination is met by one update, if updates have no more names.
  SmallVector<Dim> iterated;
  for (const Dim &dim : tensorType(getUpdates()).getDims())
    if (!type.has(dim.name) || llvm::is_contained(stringsOf(getNames()), dim.name.getValue()))
      iterated.push_back(dim);
  if (!getUnique() && !iterated.empty())
    return sharedScatterGradient(b, *this, cotangent, iterated, wanted, gradients);
  // Each target is met once: the combiner's derivative there, from the old value and the update.
  auto names = stringsOf(getNames());
  Value given = gatherInside(b, loc, cotangent, names, getIndices());
  Value old = gatherTargets(b, loc, getDestination(), names, getIndices());
  for (unsigned i = 0; i < 2; ++i) {
    if (!wanted[i])
      continue;
    gradients[i] = combinerSlope(b, *this, {old, getUpdates(), given}, i);
    if (!gradients[i])
      return failure();
    if (i == 0) // targets get what the combiner passes on, all other places keep their cotangent
      gradients[0] = put(b, loc, cotangent, gradients[0], names, getIndices());
  }
  return success();
}

LogicalResult DynamicSliceOp::buildGradient(OpBuilder &b, ValueRange cotangents,
                                            ArrayRef<bool> wanted, Gradients &gradients) {
  if (!asked(cotangents, wanted))
    return success();
  // Along names of the start that the input lacks every range has a tensor of its own, then all are
  // added up.
  NdTensorType type = tensorType(getInput());
  SmallVector<Dim> dims(type.getDims().getDims());
  for (const Dim &dim : tensorType(getStart()).getDims())
    if (!type.has(dim.name))
      dims.push_back(dim);
  Value places =
      buildUpdateSlice(b, getLoc(), cotangents[0], buildZero(b, getLoc(), type.withDims(dims)),
                       getName(), getStart());
  gradients[0] = buildSumTo(b, getLoc(), places, type);
  return success();
}

LogicalResult UpdateSliceOp::buildGradient(OpBuilder &b, ValueRange cotangents,
                                           ArrayRef<bool> wanted, Gradients &gradients) {
  NdTensorType part = tensorType(getPart());
  if (asked(cotangents, wanted))
    gradients[0] = buildDynamicSlice(b, getLoc(), cotangents[0], getName(), getStart(),
                                     part.size(getName()).getExpr());
  if (asked(cotangents, wanted, 1))
    gradients[1] = buildUpdateSlice(b, getLoc(), buildZero(b, getLoc(), part), cotangents[0],
                                    getName(), getStart());
  return success();
}

LogicalResult SortOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                    Gradients &gradients) {
  // Elements go back to where the order has them from. Where they came from is sorted along, so
  // that no floats are compared again.
  Value from;
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    if (!wanted[i] || !cotangents[i])
      continue;
    NdTensorType type = tensorType(input);
    if (!from)
      from = buildArgSort(b, getLoc(), getInputs()[0], getName(), getDescending(),
                          tensorType(getResult(i)).size(getName()).getExpr());
    gradients[i] = buildScatter(b, getLoc(), buildZero(b, getLoc(), type), cotangents[i],
                                {getName()}, from, CombinerKind::Add, /*unique=*/true);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The names of `value` that `formal` lacks: those over which a call is lifted.
static std::set<std::string> liftedNames(Value value, Type formal) {
  std::set<std::string> names;
  for (const Dim &dim : tensorType(value).getDims())
    if (!cast<NdTensorType>(formal).has(dim.name))
      names.insert(dim.name.str());
  return names;
}

/// `value` with the names in `from`, which it has, spelled otherwise.
static Value respelled(OpBuilder &b, Location loc, Value value, const std::set<std::string> &from,
                       bool back) {
  SmallVector<std::string> aside;
  SmallVector<StringRef> names, others;
  for (const std::string &name : from)
    aside.push_back(name + "$lifted");
  for (auto [name, other] : llvm::zip_equal(from, aside)) {
    names.push_back(back ? StringRef(other) : StringRef(name));
    others.push_back(back ? StringRef(name) : StringRef(other));
  }
  return buildRename(b, loc, value, names, others);
}

static Value zeroWithout(OpBuilder &b, Location loc, Value value,
                         const std::set<std::string> &names) {
  SmallVector<Dim> dims;
  for (const Dim &dim : tensorType(value).getDims())
    if (!names.count(dim.name.str()))
      dims.push_back(dim);
  return buildZero(b, loc, tensorType(value).withDims(dims));
}

/// The gradient is lifted as the call is. A result that lacks a lifted name counts once, not once
/// for each of its coordinates, so results with the same lifted names go together; they do not
/// depend on operands with others. A lifted name may be one that the gradient has itself (for
/// another argument), so all are spelled aside.
LogicalResult CallOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                    Gradients &gradients) {
  if (!getGradientAttr())
    return emitOpError() << "cannot be differentiated before it is inlined";
  auto gradient = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(*this, getGradientAttr());
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(*this, getCalleeAttr());
  SmallVector<std::set<std::string>> ofOperand, ofResult;
  for (auto [value, formal] : llvm::zip_equal(getInputs(), callee.getArgumentTypes()))
    ofOperand.push_back(liftedNames(value, formal));
  for (auto [value, formal] : llvm::zip_equal(getResults(), callee.getResultTypes()))
    ofResult.push_back(liftedNames(value, formal));
  std::set<std::set<std::string>> groups;
  for (auto [names, cotangent] : llvm::zip_equal(ofResult, cotangents))
    if (cotangent)
      groups.insert(names);
  for (const std::set<std::string> &group : groups) {
    auto isIn = [&](const std::set<std::string> &names) {
      return std::includes(group.begin(), group.end(), names.begin(), names.end());
    };
    SmallVector<Value> inputs;
    for (auto [value, names] : llvm::zip_equal(getInputs(), ofOperand))
      inputs.push_back(isIn(names) ? respelled(b, getLoc(), value, names, false)
                                   : zeroWithout(b, getLoc(), value, names));
    for (auto [value, names, cotangent] : llvm::zip_equal(getResults(), ofResult, cotangents))
      inputs.push_back(cotangent && names == group ? respelled(b, getLoc(), cotangent, names, false)
                                                   : zeroWithout(b, getLoc(), value, names));
    SmallVector<Value> made = buildCall(b, getLoc(), gradient, inputs);
    if (made.size() != gradient.getNumResults())
      return failure();
    unsigned next = 0;
    for (auto [i, input] : llvm::enumerate(getInputs())) {
      if (!isa<FloatType>(tensorType(input).getElementType()))
        continue;
      Value own = made[next++];
      if (!wanted[i] || !isIn(ofOperand[i]))
        continue;
      // Over lifted names that the operand lacks its gradients add up.
      NdTensorType type = tensorType(inputs[i]);
      own =
          buildBroadcast(b, getLoc(), buildSumTo(b, getLoc(), own, type), type.getDims().getDims());
      own = respelled(b, getLoc(), own, ofOperand[i], true);
      gradients[i] = gradients[i] ? add(b, getLoc(), gradients[i], own) : own;
    }
  }
  return success();
}

LogicalResult StopGradientOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, Gradients &) {
  return success();
}
LogicalResult AfterOp::buildGradient(OpBuilder &, ValueRange cotangents, ArrayRef<bool> wanted,
                                     Gradients &gradients) {
  if (asked(cotangents, wanted))
    gradients[0] = cotangents[0];
  return success();
}
