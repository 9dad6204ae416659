//===- IndexMaps.cpp - index maps -----------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nd/simplify/Rules.h"

#include "mlir/IR/IRMapping.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

static std::optional<int64_t> sizeOf(Value value, StringRef name) {
  return tensorType(value).size(name).constant();
}

/// Replaces `op` by a value of its type.
static LogicalResult replaceBy(Operation *op, Value value, PatternRewriter &rewriter) {
  assert(value.getType() == op->getResult(0).getType() && "a rule keeps the type");
  rewriter.replaceOp(op, value);
  return success();
}

//===----------------------------------------------------------------------===//
// Splits, merges, pads, joins, gathers
//===----------------------------------------------------------------------===//

namespace {
SizeAttr sum(SizeAttr a, SizeAttr b) {
  return SizeAttr::get(a.getContext(), a.getExpr() + b.getExpr());
}

LogicalResult undoSplit(MergeOp op, PatternRewriter &rewriter) {
  auto split = op.getInput().getDefiningOp<SplitOp>();
  if (!split || split.getInto() != op.getNames())
    return rewriter.notifyMatchFailure(op, "expected to merge what was split");
  if (tensorType(split.getInput()).size(split.getName()) !=
      tensorType(op.getResult()).size(op.getInto()))
    return rewriter.notifyMatchFailure(op, "expected sizes whose product needs no check");
  return replaceBy(
      op, buildRename(rewriter, op.getLoc(), split.getInput(), {split.getName()}, {op.getInto()}),
      rewriter);
}

LogicalResult undoMerge(SplitOp op, PatternRewriter &rewriter) {
  auto merge = op.getInput().getDefiningOp<MergeOp>();
  if (!merge || merge.getInto() != op.getName() || merge.getNames().size() != op.getInto().size())
    return rewriter.notifyMatchFailure(op, "expected to split what was merged");
  SmallVector<StringRef> from = stringsOf(merge.getNames()), to = stringsOf(op.getInto());
  for (auto [before, after] : llvm::zip_equal(from, to))
    if (tensorType(merge.getInput()).size(before) != tensorType(op.getResult()).size(after))
      return rewriter.notifyMatchFailure(op, "expected the sizes that were merged");
  return replaceBy(op, buildRename(rewriter, op.getLoc(), merge.getInput(), from, to), rewriter);
}

LogicalResult composePads(PadOp op, PatternRewriter &rewriter) {
  auto inner = op.getInput().getDefiningOp<PadOp>();
  if (!inner || inner.getName() != op.getName() || op.getInterior() != 0 ||
      inner.getValueAttr() != op.getValueAttr())
    return rewriter.notifyMatchFailure(op, "expected a pad of a pad by the same value");
  rewriter.modifyOpInPlace(op, [&] {
    op->setOperand(0, inner.getInput());
    op.setLowAttr(sum(op.getLow(), inner.getLow()));
    op.setHighAttr(sum(op.getHigh(), inner.getHigh()));
    op.setInterior(inner.getInterior());
  });
  return success();
}

/// One slice along `name` that reads the elements of `a`, then those of `b`; null if there is none.
Value joined(SliceOp a, SliceOp b, StringRef name, PatternRewriter &rewriter) {
  if (!a || !b || a.getInput() != b.getInput() || a.getName() != name || b.getName() != name ||
      a.getStride() != b.getStride())
    return {};
  Expr count = a.getSize().getExpr(), start = a.getStart().getExpr();
  int64_t stride = a.getStride();
  if (b.getStart().getExpr() != start + count * Expr(stride))
    return {};
  return buildSlice(rewriter, a.getLoc(), a.getInput(), a.getName(), start,
                    count + b.getSize().getExpr(), stride);
}

LogicalResult composeConcats(ConcatOp op, PatternRewriter &rewriter) {
  SmallVector<Value> parts;
  bool changed = false;
  for (Value input : op.getInputs()) {
    auto inner = input.getDefiningOp<ConcatOp>();
    if (sizeOf(input, op.getName()) == 0 && op.getInputs().size() > 1) {
      changed = true;
    } else if (inner && inner.getName() == op.getName() && inner->hasOneUse()) {
      llvm::append_range(parts, inner.getInputs());
      changed = true;
    } else if (Value whole = parts.empty()
                                 ? Value()
                                 : joined(parts.back().getDefiningOp<SliceOp>(),
                                          input.getDefiningOp<SliceOp>(), op.getName(), rewriter)) {
      parts.back() = whole;
      changed = true;
    } else {
      parts.push_back(input);
    }
  }
  if (!changed)
    return rewriter.notifyMatchFailure(op, "expected parts that are joined already");
  if (parts.empty())
    parts.push_back(op.getInputs()[0]); // all are empty
  return replaceBy(op, buildConcat(rewriter, op.getLoc(), parts, op.getName()), rewriter);
}

LogicalResult gatherInOrder(GatherOp op, PatternRewriter &rewriter) {
  auto iota = op.getIndices().size() == 1 ? op.getIndices()[0].getDefiningOp<IotaOp>() : IotaOp();
  if (!iota)
    return rewriter.notifyMatchFailure(op, "expected a gather at 0, 1, ...");
  StringRef name = stringsOf(op.getNames())[0];
  NdTensorType type = tensorType(op.getInput());
  auto has = type.size(name).constant(), reads = sizeOf(iota, iota.getName());
  // An element type that is too narrow for the coordinates would wrap.
  bool fits = false;
  if (auto integer = dyn_cast<IntegerType>(tensorType(iota).getElementType())) {
    unsigned width = integer.getWidth();
    unsigned bits = integer.isUnsigned() || width == 1 ? width : width - 1;
    fits = reads && bits < 31 ? *reads <= int64_t(1) << bits : width >= 32;
  }
  bool all = type.size(name) == tensorType(iota).size(iota.getName()),
       some = has && reads && *reads <= *has;
  if (!fits || !(all || some) || (iota.getName() != name && type.has(iota.getName())))
    return rewriter.notifyMatchFailure(op,
                                       "expected coordinates inside, along a name of their own");
  Value part = buildSlice(rewriter, op.getLoc(), op.getInput(), name, 0,
                          tensorType(iota).size(iota.getName()).getExpr());
  return replaceBy(op, buildRename(rewriter, op.getLoc(), part, {name}, {iota.getName()}),
                   rewriter);
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

LogicalResult composeSlices(SliceOp op, PatternRewriter &rewriter) {
  auto inner = op.getInput().getDefiningOp<SliceOp>();
  if (!inner || inner.getName() != op.getName())
    return rewriter.notifyMatchFailure(op, "expected a slice of a slice along the same name");
  int64_t stride = inner.getStride();
  if (op.getSize().constant() == 0)
    return rewriter.notifyMatchFailure(op, "expected a slice that reads something");
  rewriter.modifyOpInPlace(op, [&] {
    op->setOperand(0, inner.getInput());
    op.setStartAttr(SizeAttr::get(op.getContext(), inner.getStart().getExpr() +
                                                       op.getStart().getExpr() * Expr(stride)));
    op.setStride(int64_t(op.getStride()) * stride);
  });
  return success();
}

/// The range of coordinates that a slice reads, [low, high); known if its attributes are constant.
struct Reach {
  int64_t low, high, count;
};
std::optional<Reach> reachOf(SliceOp op) {
  auto count = op.getSize().constant(), start = op.getStart().constant();
  if (!count || *count == 0 || !start)
    return std::nullopt;
  int64_t first = *start, last = first + (*count - 1) * int64_t(op.getStride());
  return Reach{std::min(first, last), std::max(first, last) + 1, *count};
}

/// Reads the same part of another tensor, which begins `offset` later.
Value sliceAt(SliceOp op, Value input, int64_t offset, PatternRewriter &rewriter) {
  return buildSlice(rewriter, op.getLoc(), input, op.getName(),
                    op.getStart().getExpr() - Expr(offset), op.getSize().getExpr(), op.getStride());
}

LogicalResult sliceOfPad(SliceOp op, PatternRewriter &rewriter) {
  auto pad = op.getInput().getDefiningOp<PadOp>();
  auto reach = reachOf(op);
  if (!pad || pad.getName() != op.getName() || pad.getInterior() != 0 || !reach)
    return rewriter.notifyMatchFailure(op, "expected a slice of a padded name");
  auto size = sizeOf(pad.getInput(), pad.getName()), before = pad.getLow().constant();
  if (!size || !before)
    return rewriter.notifyMatchFailure(op, "expected sizes that are numbers");
  int64_t low = *before;
  if (reach->low >= low && reach->high <= low + *size)
    return replaceBy(op, sliceAt(op, pad.getInput(), low, rewriter), rewriter);
  if (reach->high <= low || reach->low >= low + *size)
    return replaceBy(
        op, buildConstant(rewriter, op.getLoc(), tensorType(op.getResult()), pad.getValueAttr()),
        rewriter);
  if (op.getStride() != 1 || (reach->low == 0 && reach->high == sizeOf(pad, pad.getName())))
    return rewriter.notifyMatchFailure(op, "expected to leave out a run of the pad");
  int64_t begin = std::max<int64_t>(0, reach->low - low);
  int64_t end = std::min(*size, reach->high - low);
  before = std::max<int64_t>(0, low - reach->low);
  Value part = buildSlice(rewriter, op.getLoc(), pad.getInput(), op.getName(), begin, end - begin);
  return replaceBy(op,
                   buildPad(rewriter, pad.getLoc(), part, op.getName(), *before,
                            reach->count - *before - (end - begin), 0, pad.getValueAttr()),
                   rewriter);
}

LogicalResult sliceOfConcat(SliceOp op, PatternRewriter &rewriter) {
  auto concat = op.getInput().getDefiningOp<ConcatOp>();
  auto reach = reachOf(op);
  if (!concat || concat.getName() != op.getName() || !reach)
    return rewriter.notifyMatchFailure(op, "expected a slice of joined tensors");
  struct Piece {
    Value input;
    int64_t offset, begin, end;
  };
  SmallVector<Piece> pieces;
  int64_t offset = 0;
  for (Value input : concat.getInputs()) {
    auto size = sizeOf(input, op.getName());
    if (!size)
      return rewriter.notifyMatchFailure(op, "expected sizes that are numbers");
    int64_t begin = std::max(reach->low, offset), end = std::min(reach->high, offset + *size);
    if (begin < end)
      pieces.push_back({input, offset, begin - offset, end - offset});
    offset += *size;
  }
  if (pieces.size() == 1)
    return replaceBy(op, sliceAt(op, pieces[0].input, pieces[0].offset, rewriter), rewriter);
  if (op.getStride() != 1 || !concat->hasOneUse() || reach->count == offset)
    return rewriter.notifyMatchFailure(op, "expected to leave out a run of what is joined");
  SmallVector<Value> parts;
  for (const Piece &piece : pieces)
    parts.push_back(buildSlice(rewriter, op.getLoc(), piece.input, op.getName(), piece.begin,
                               piece.end - piece.begin));
  return replaceBy(op, buildConcat(rewriter, concat.getLoc(), parts, op.getName()), rewriter);
}

LogicalResult sliceFromConstant(DynamicSliceOp op, PatternRewriter &rewriter) {
  auto start = dyn_cast_or_null<IntegerAttr>(splatOf(op.getStart()));
  auto all = sizeOf(op.getInput(), op.getName()), size = op.getSize().constant();
  if (!start || !tensorType(op.getStart()).getDims().getDims().empty() || !all || !size)
    return rewriter.notifyMatchFailure(op, "expected a constant start");
  bool isUnsigned = tensorType(op.getStart()).getElementType().isUnsignedInteger();
  int64_t first = isUnsigned
                      ? int64_t(std::min<uint64_t>(start.getValue().getZExtValue(), INT64_MAX))
                      : start.getValue().getSExtValue();
  return replaceBy(op,
                   buildSlice(rewriter, op.getLoc(), op.getInput(), op.getName(),
                              std::clamp<int64_t>(first, 0, *all - *size), *size),
                   rewriter);
}

/// True if an attribute of `op` lists `name`.
bool mentions(Operation *op, StringRef name) {
  Attribute wanted = StringAttr::get(op->getContext(), name);
  return llvm::any_of(op->getName().getAttributeNames(), [&](StringAttr attribute) {
    Attribute value = op->getAttr(attribute);
    auto list = dyn_cast_or_null<ArrayAttr>(value);
    return value == wanted || (list && llvm::is_contained(list, wanted));
  });
}

/// True if `op` can be computed at a part of the coordinates of `name`: any op can be lifted over a
/// name that it does not mention.
bool passesThrough(Operation *op, StringRef name) {
  if (!isa<NdDialect>(op->getDialect()) || !isPure(op) || op->getNumResults() != 1 ||
      op->hasTrait<Opaque>() || isa<SliceOp>(op) || mentions(op, name))
    return false;
  auto map = indexMapOf(op);
  return !(map && map->excludes()) && llvm::any_of(op->getOperands(), [&](Value operand) {
    return tensorType(operand).has(name);
  });
}

/// The type with another size of `name`.
NdTensorType resized(NdTensorType type, StringRef name, const Expr &size) {
  SmallVector<Dim> dims;
  for (const Dim &dim : type.getDims())
    dims.push_back(dim.name == name ? Dim(type.getContext(), name, size) : dim);
  return type.withDims(dims);
}

LogicalResult sliceToOperands(SliceOp op, PatternRewriter &rewriter, const RuleContext &context) {
  Operation *inner = op.getInput().getDefiningOp();
  auto all = sizeOf(op.getInput(), op.getName()), some = op.getSize().constant();
  bool isSmaller = all && some && *some < *all;
  if (!inner || !inner->hasOneUse() || !isSmaller || !passesThrough(inner, op.getName()) ||
      context.anyExcluded(inner->getOperands()))
    return rewriter.notifyMatchFailure(op, "expected an op of one use that can be sliced");
  IRMapping sliced;
  for (Value operand : inner->getOperands())
    if (!sliced.contains(operand) && tensorType(operand).has(op.getName()))
      sliced.map(operand, sliceAt(op, operand, 0, rewriter));
  Operation *smaller = rewriter.clone(*inner, sliced);
  smaller->getResult(0).setType(
      resized(tensorType(op.getInput()), op.getName(), op.getSize().getExpr()));
  return replaceBy(op, smaller->getResult(0), rewriter);
}

LogicalResult sliceOfRename(SliceOp op, PatternRewriter &rewriter) {
  Operation *inner = op.getInput().getDefiningOp();
  auto renaming = renamingOf(inner);
  if (!renaming)
    return rewriter.notifyMatchFailure(op, "expected a slice of a rename");
  Value part =
      buildSlice(rewriter, op.getLoc(), inner->getOperand(0), renaming->before(op.getName()),
                 op.getStart().getExpr(), op.getSize().getExpr(), op.getStride());
  return replaceBy(op,
                   buildRename(rewriter, inner->getLoc(), part, stringsOf(renaming->from),
                               stringsOf(renaming->to)),
                   rewriter);
}

LogicalResult sliceOfBroadcast(SliceOp op, PatternRewriter &rewriter) {
  auto broadcast = op.getInput().getDefiningOp<BroadcastOp>();
  if (!broadcast || tensorType(broadcast.getInput()).has(op.getName()))
    return rewriter.notifyMatchFailure(op, "expected a slice of a name that is repeated");
  return replaceBy(op,
                   buildBroadcast(rewriter, op.getLoc(), broadcast.getInput(),
                                  tensorType(op.getResult()).getDims().getDims()),
                   rewriter);
}
} // namespace

void nd::addIndexMapRules(Rules &rules) {
  rules.add("merge-of-split", "A merge of the names of a split restores its operand.", undoSplit);
  rules.add("split-of-merge",
            "A split of a merged name, into the same sizes, restores the operand.", undoMerge);
  rules.add("pad-of-pad", "Two pads of one name by one value become one pad.", composePads);
  rules.add("join-parts", "Flattens nested joins, merges adjacent slices and drops empty parts.",
            composeConcats);
  rules.add("gather-in-order", "A gather at the coordinates 0, 1, ... becomes a slice.",
            gatherInOrder);
  rules.add("slice-at-constant", "A dynamic slice at a constant becomes a slice.",
            sliceFromConstant);
  rules.add("slice-of-slice", "A slice of a slice becomes one slice.", composeSlices);
  rules.add("slice-of-pad",
            "A slice of a pad becomes a slice of the operand, a constant, or a pad of a slice.",
            sliceOfPad);
  rules.add("slice-of-join", "A slice of joined tensors joins slices of those that it overlaps.",
            sliceOfConcat);
  rules.add("slice-of-rename", "A slice of a renamed tensor becomes a renamed slice.",
            sliceOfRename);
  rules.add("slice-of-broadcast",
            "A slice of a broadcast name becomes a broadcast of fewer elements.", sliceOfBroadcast);
  rules.add("slice-to-operands",
            "A slice that is the only use of an op becomes slices of the op's operands.",
            sliceToOperands);
}
