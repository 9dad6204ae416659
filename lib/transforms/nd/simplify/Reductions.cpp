//===- Reductions.cpp - reductions, scans and sorts -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nd/simplify/Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

Value nd::reduceLike(PatternRewriter &rewriter, Location loc, ReductionInterface like, Value input,
                     ArrayRef<StringRef> names, Type element) {
  NdTensorType type = tensorType(input).where(
      [&](const Dim &dim) { return !llvm::is_contained(names, dim.name.getValue()); });
  auto reduce = ReduceOp::create(rewriter, loc, TypeRange(type.withElementType(element)), input,
                                 rewriter.getStrArrayAttr(names), like.getNeutral());
  rewriter.cloneRegionBefore(like.getCombiner(), reduce.getCombiner(), reduce.getCombiner().end());
  return reduce.getResult(0);
}

static Type elementOf(Value value) { return tensorType(value).getElementType(); }
/// The names of `names` for which `holds`, in this order.
static SmallVector<StringRef> namesWhere(ArrayAttr names,
                                         llvm::function_ref<bool(StringRef)> holds) {
  SmallVector<StringRef> kept;
  llvm::copy_if(stringsOf(names), std::back_inserter(kept), holds);
  return kept;
}

namespace {
LogicalResult composeReductions(ReduceOp op, PatternRewriter &rewriter) {
  auto inner = op.getInputs()[0].getDefiningOp<ReduceOp>();
  if (!inner || op.getInputs().size() != 1 || inner.getInputs().size() != 1 ||
      !inner->hasOneUse() || inner.getNeutral() != op.getNeutral())
    return rewriter.notifyMatchFailure(op, "expected the reduction of a reduction");
  CombinerKind kind = combinerKind(op.getCombiner());
  if (kind == CombinerKind::General || kind != combinerKind(inner.getCombiner()))
    return rewriter.notifyMatchFailure(op, "expected the same named combiner twice");
  // Merging would drop the rounding between the two.
  if (elementOf(inner.getInputs()[0]) != elementOf(inner.getResult(0)))
    return rewriter.notifyMatchFailure(op, "expected one element type");
  SmallVector<Attribute> names(inner.getNames().begin(), inner.getNames().end());
  llvm::append_range(names, op.getNames());
  rewriter.modifyOpInPlace(op, [&] {
    op->setOperand(0, inner.getInputs()[0]);
    op.setNamesAttr(rewriter.getArrayAttr(names));
  });
  return success();
}

/// A reduction over names that the operand repeats: the operand itself for idempotent combiners, a
/// multiple for a sum. The product is as exact as a sum in higher precision while the number of
/// terms is exact. Repeated names that are not reduced are broadcast afterwards.
LogicalResult reduceOfBroadcast(ReduceOp op, PatternRewriter &rewriter,
                                const RuleContext &context) {
  auto broadcast = op.getInputs()[0].getDefiningOp<BroadcastOp>();
  if (!broadcast || op.getInputs().size() != 1)
    return rewriter.notifyMatchFailure(op, "expected a reduction of what is repeated");
  Value input = broadcast.getInput();
  NdTensorType inner = tensorType(input), outer = tensorType(broadcast);
  SmallVector<StringRef> left =
      namesWhere(op.getNames(), [&](StringRef n) { return inner.has(n); });
  int64_t count = 1;
  for (StringRef name : namesWhere(op.getNames(), [&](StringRef n) { return !inner.has(n); })) {
    auto size = outer.size(name).constant();
    // A symbol may be zero: then the reduction is empty.
    if (!size || *size <= 0 || *size > (int64_t(1) << 31) / count)
      return rewriter.notifyMatchFailure(op, "expected a number of repetitions");
    count *= *size;
  }
  CombinerKind kind = combinerKind(op.getCombiner());
  bool isIdempotent = kind == CombinerKind::Max || kind == CombinerKind::Min ||
                      kind == CombinerKind::And || kind == CombinerKind::Or;
  Type accumulator = cast<TypedAttr>(op.getNeutral()[0]).getType();
  auto real = dyn_cast<FloatType>(accumulator);
  bool isCounted =
      kind == CombinerKind::Add && (!real || llvm::isIntN(real.getFPMantissaWidth(), count));
  if (count != 1 && !isIdempotent && !isCounted)
    return rewriter.notifyMatchFailure(
        op, "expected a sum, or a combiner to which repeating is nothing");
  if (context.mayBeExcluded(input))
    return rewriter.notifyMatchFailure(op, "expected an operand without excluded taps");
  bool scales = kind == CombinerKind::Add && count != 1;
  Type element = elementOf(op.getResult(0));
  Type between = scales || left.empty() ? accumulator : element;
  if (isa<IntegerType>(between))
    between = element; // signed or not, of the same width
  Location loc = op.getLoc();
  Value value = left.empty() ? input : reduceLike(rewriter, loc, op, input, left, between);
  if (scales || left.empty())
    value = buildPointwise(rewriter, loc, value, element, [&](OpBuilder &b, ValueRange s) -> Value {
      Type wide = real ? Type(real) : element;
      Value x = convertFloat(b, loc, s[0], wide);
      if (scales) {
        Value times = arith::ConstantOp::create(
            b, loc,
            real
                ? TypedAttr(FloatAttr::get(real, double(count)))
                : TypedAttr(IntegerAttr::get(accumulator, APInt(accumulator.getIntOrFloatBitWidth(),
                                                                uint64_t(count), false, true))));
        x = real ? Value(arith::MulFOp::create(b, loc, x, times))
                 : Value(arith::MulIOp::create(b, loc, x, times));
      }
      return convertFloat(b, loc, x, element);
    });
  rewriter.replaceOp(
      op, buildBroadcast(rewriter, loc, value, tensorType(op.getResult(0)).getDims().getDims()));
  return success();
}

LogicalResult reduceOfPad(ReduceOp op, PatternRewriter &rewriter) {
  auto pad = op.getInputs()[0].getDefiningOp<PadOp>();
  if (!pad || op.getInputs().size() != 1 ||
      !llvm::is_contained(stringsOf(op.getNames()), pad.getName()) ||
      combinerKind(op.getCombiner()) == CombinerKind::General)
    return rewriter.notifyMatchFailure(op, "expected a reduction over a padded name");
  Attribute value = pad.getValueAttr(), neutral = op.getNeutral()[0];
  auto a = dyn_cast<FloatAttr>(value), b = dyn_cast<FloatAttr>(neutral);
  bool isZero = a && b && a.getValue().isZero() && b.getValue().isZero();
  if (value != neutral && !isZero)
    return rewriter.notifyMatchFailure(op, "expected a pad by the neutral element");
  rewriter.modifyOpInPlace(op, [&] { op->setOperand(0, pad.getInput()); });
  return success();
}

/// Reduces over a merged name, or over all parts of a split name, without the reshape. A reduction
/// of a merge of no names reduces one element.
LogicalResult reduceOfReshape(ReduceOp op, PatternRewriter &rewriter, const RuleContext &context) {
  Value input = op.getInputs()[0];
  SmallVector<StringRef> names = stringsOf(op.getNames()), from, to;
  if (auto merge = input.getDefiningOp<MergeOp>()) {
    from = {merge.getInto()};
    to = stringsOf(merge.getNames());
  } else if (auto split = input.getDefiningOp<SplitOp>()) {
    from = stringsOf(split.getInto());
    to = {split.getName()};
  }
  auto reduces = [&](StringRef name) { return llvm::is_contained(names, name); };
  if (from.empty() || op.getInputs().size() != 1 || !llvm::all_of(from, reduces))
    return rewriter.notifyMatchFailure(op, "expected a reduction over all of a merge or split");
  llvm::erase_if(names, [&](StringRef name) { return llvm::is_contained(from, name); });
  llvm::append_range(names, to);
  Value original = input.getDefiningOp()->getOperand(0);
  if (names.empty()) {
    if (combinerKind(op.getCombiner()) == CombinerKind::General ||
        original.getType() != op.getResult(0).getType() || context.mayBeExcluded(original))
      return rewriter.notifyMatchFailure(op, "expected a named combiner of one element");
    rewriter.replaceOp(op, original);
    return success();
  }
  rewriter.modifyOpInPlace(op, [&] {
    op->setOperand(0, original);
    op.setNamesAttr(rewriter.getStrArrayAttr(names));
  });
  return success();
}

LogicalResult scanOfOne(ScanOp op, PatternRewriter &rewriter, const RuleContext &context) {
  auto size = tensorType(op.getInputs()[0]).size(op.getName()).constant();
  // The neutral element of another combiner may not be neutral for infinities: a product of complex
  // numbers computes 1 * inf - 0 * inf.
  if (op.getExclusive() || !size || *size > 1 ||
      combinerKind(op.getCombiner()) == CombinerKind::General ||
      op.getInputs().getTypes() != op.getResultTypes() || context.anyExcluded(op.getInputs()))
    return rewriter.notifyMatchFailure(op, "expected an inclusive scan of one element");
  rewriter.replaceOp(op, op.getInputs());
  return success();
}

LogicalResult simplifySort(SortOp op, PatternRewriter &rewriter) {
  auto size = tensorType(op.getInputs()[0]).size(op.getName()).constant();
  if (size && *size <= 1 && op.getInputs().getTypes() == op.getResultTypes()) {
    rewriter.replaceOp(op, op.getInputs());
    return success();
  }
  SmallVector<Value> inputs;
  SmallVector<Type> types;
  for (auto [input, result] : llvm::zip_equal(op.getInputs(), op.getResults()))
    if (inputs.empty() || !result.use_empty()) { // the keys are needed
      inputs.push_back(input);
      types.push_back(result.getType());
    }
  if (inputs.size() == op.getInputs().size())
    return rewriter.notifyMatchFailure(op, "expected a carried operand without a use");
  auto smaller =
      SortOp::create(rewriter, op.getLoc(), types, inputs, op.getName(), op.getDescending());
  auto next = smaller.getResults().begin();
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    if (i == 0 || !result.use_empty())
      rewriter.replaceAllUsesWith(result, *next++);
  rewriter.eraseOp(op);
  return success();
}
} // namespace

void nd::addReductionRules(Rules &rules) {
  rules.add("reduce-of-reduce",
            "A sum of sums becomes one sum over all names; likewise for every named combiner.",
            composeReductions);
  rules.add("reduce-of-broadcast",
            "A sum over a broadcast name becomes a multiple, a maximum becomes the operand; "
            "broadcasts over other names move behind the reduction.",
            reduceOfBroadcast);
  rules.add("reduce-of-pad", "Removes a pad by the neutral element.", reduceOfPad);
  rules.add("reduce-of-reshape",
            "A reduction over a merged or split name becomes one over the original names.",
            reduceOfReshape);
  rules.add("scan-of-one",
            "An inclusive scan of one element by a named combiner becomes its operand.", scanOfOne);
  rules.add("sort-of-little",
            "Removes a sort of one element, and the unused results of other sorts.", simplifySort);
}
