//===- NdIndexMaps.cpp - index maps ---------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The coordinates that index maps read (NdOps.td states the formulas), their folds, and their
// gradients, which are index maps again.
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "dialects/nd/NdGradient.h"

#include "mlir/IR/PatternMatch.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

using Gradients = SmallVectorImpl<Value>;

static Expr sizeOf(Value value, StringRef name) { return tensorType(value).size(name).getExpr(); }

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

std::optional<IndexMap> nd::indexMapOf(Operation *op) {
  auto indexed = dyn_cast_or_null<IndexMapInterface>(op);
  return indexed ? indexed.getIndexMap() : std::nullopt;
}

OpFoldResult nd::foldIndexMap(Operation *op) {
  if (op->getOperand(0).getType() != op->getResult(0).getType())
    return {};
  auto map = indexMapOf(op);
  return map && map->isIdentity() ? OpFoldResult(op->getOperand(0)) : OpFoldResult();
}

std::optional<IndexMap> WindowOp::getIndexMap() {
  WindowShape shape = windowShape(*this);
  Expr windows = sizeOf(getResult(), shape.name), size = sizeOf(getInput(), shape.name);
  Expr row = Expr::name(shape.name.str()) * Expr(shape.stride) +
             Expr::name(shape.tap.str()) * Expr(shape.dilation) - Expr(shape.low);
  IndexMap map{{{shape.name.str(), row}}};
  // Without padding after the input, the last tap of the last window is inside. With padding it may
  // be inside as well: a window of size 2, stride 2 and high 1 on two elements.
  Expr last = (windows - Expr(1)) * Expr(shape.stride) +
              Expr((shape.size - 1) * shape.dilation - shape.low);
  auto left = (size - Expr(1) - last).constant();
  bool reachesBeyond = shape.low > 0 || (shape.high > 0 && !(left && *left >= 0));
  if (getPaddingAttr() ? shape.low > 0 || shape.high > 0 : reachesBeyond && windows != Expr(0)) {
    map.conditions = {{row}, {size - Expr(1) - row}};
    map.outside = getPaddingAttr();
  }
  return map;
}

std::optional<IndexMap> SliceOp::getIndexMap() {
  std::string name = getName().str();
  return IndexMap{{{name, Expr(int64_t(getStride())) * Expr::name(name) + getStart().getExpr()}}};
}

std::optional<IndexMap> PadOp::getIndexMap() {
  std::string name = getName().str();
  int64_t spacing = int64_t(getInterior()) + 1;
  Expr shifted = Expr::name(name) - getLow().getExpr();
  Expr last = (sizeOf(getInput(), name) - Expr(1)) * Expr(spacing);
  IndexMap map{{{name, shifted.floordiv(spacing)}}, {{shifted}, {last - shifted}}, getValue()};
  if (spacing > 1)
    map.conditions.push_back({shifted.mod(spacing), /*isEquality=*/true});
  return map;
}

std::optional<IndexMap> SplitOp::getIndexMap() {
  Expr index;
  for (StringRef name : stringsOf(getInto()))
    index = index * sizeOf(getResult(), name) + Expr::name(name.str());
  return IndexMap{{{getName().str(), index}}};
}

std::optional<IndexMap> MergeOp::getIndexMap() {
  IndexMap map;
  int64_t below = 1;
  SmallVector<StringRef> names = stringsOf(getNames());
  for (size_t i = names.size(); i-- > 0;) {
    auto size = sizeOf(getInput(), names[i]).constant();
    if (i > 0 && !size)
      return std::nullopt;
    Expr part = Expr::name(getInto().str()).floordiv(below);
    map.coordinates[names[i].str()] = i > 0 ? part.mod(std::max<int64_t>(1, *size)) : part;
    below *= std::max<int64_t>(1, size.value_or(1));
  }
  return map;
}

std::optional<IndexMap> RenameOp::getIndexMap() {
  IndexMap map;
  for (auto [from, to] : llvm::zip_equal(stringsOf(getFrom()), stringsOf(getTo())))
    map.coordinates[from.str()] = Expr::name(to.str());
  return map;
}

std::optional<IndexMap> BroadcastOp::getIndexMap() { return IndexMap(); }

//===----------------------------------------------------------------------===//
// Conditions on sizes
//===----------------------------------------------------------------------===//

SmallVector<SizeCondition> SliceOp::getSizeConditions() {
  // The highest element read, if any, is the first or the last; the last is at least 0.
  Expr size = sizeOf(getResult(), getName()), whole = sizeOf(getInput(), getName());
  Expr start = getStart().getExpr();
  int64_t stride = getStride();
  if (stride > 0)
    return {{getName(), start + (size - Expr(1)) * Expr(stride) + Expr(1), whole, size},
            {getName(), 0, start, size, "the first element along"}};
  return {{getName(), start + Expr(1), whole, size},
          {getName(), size, start.floordiv(-stride) + Expr(1), 1,
           "the elements up to the first along"}};
}

SmallVector<SizeCondition> PadOp::getSizeConditions() {
  return {{getName(), 0, getLow().getExpr(), 1, "the elements beyond"},
          {getName(), 0, getHigh().getExpr(), 1, "the elements beyond"}};
}

SmallVector<SizeCondition> SplitOp::getSizeConditions() {
  Expr product(1), size = sizeOf(getInput(), getName());
  for (StringRef name : stringsOf(getInto()))
    product = product * sizeOf(getResult(), name);
  return {{getName(), product, size}, {getName(), size, product}};
}

//===----------------------------------------------------------------------===//
// Canonical forms of renames and broadcasts
//===----------------------------------------------------------------------===//

/// The entry of `there` at the position of `name` in `here`.
StringRef Renaming::across(ArrayAttr here, ArrayAttr there, StringRef name) {
  for (auto [own, other] :
       llvm::zip_equal(here.getAsValueRange<StringAttr>(), there.getAsValueRange<StringAttr>()))
    if (own == name)
      return other;
  return name;
}

std::optional<Renaming> nd::renamingOf(Operation *op) {
  auto indexed = dyn_cast_or_null<IndexMapInterface>(op);
  return indexed ? indexed.getRenaming() : std::nullopt;
}

namespace {
/// rename(rename(x)) becomes one rename, which lists only changed names.
LogicalResult composeRenames(RenameOp op, PatternRewriter &rewriter) {
  auto inner = op.getInput().getDefiningOp<RenameOp>();
  if (!inner)
    return rewriter.notifyMatchFailure(op, "expected a rename of a rename");
  SmallVector<StringRef> from, to;
  for (const Dim &dim : tensorType(inner.getInput()).getDims()) {
    StringRef last = op.getRenaming()->after(inner.getRenaming()->after(dim.name));
    if (dim.name == last)
      continue;
    from.push_back(dim.name);
    to.push_back(last);
  }
  rewriter.replaceOpWithNewOp<RenameOp>(op, op.getType(), inner.getInput(),
                                        rewriter.getStrArrayAttr(from),
                                        rewriter.getStrArrayAttr(to));
  return success();
}

/// The rename of a constant is a constant: the written order carries the names.
LogicalResult renameConstant(RenameOp op, PatternRewriter &rewriter) {
  auto literal = op.getInput().getDefiningOp<LiteralInterface>();
  if (!literal)
    return rewriter.notifyMatchFailure(op, "expected a rename of a constant");
  SmallVector<StringRef> order = llvm::map_to_vector(
      stringsOf(literal.getOrder()), [&](StringRef name) { return op.getRenaming()->after(name); });
  rewriter.replaceOp(
      op, buildLiteral(rewriter, op.getLoc(), tensorType(op), literal.getValue(), order));
  return success();
}

/// The broadcast of a splat is a splat; two broadcasts become one.
LogicalResult simplifyBroadcast(BroadcastOp op, PatternRewriter &rewriter) {
  if (TypedAttr splat = splatOf(op.getInput())) {
    rewriter.replaceOp(op, buildConstant(rewriter, op.getLoc(), tensorType(op.getResult()), splat));
    return success();
  }
  auto inner = op.getInput().getDefiningOp<BroadcastOp>();
  if (!inner)
    return rewriter.notifyMatchFailure(op, "expected the broadcast of a splat or a broadcast");
  rewriter.modifyOpInPlace(op, [&] { op.getInputMutable().assign(inner.getInput()); });
  return success();
}

} // namespace

void RenameOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add(composeRenames).add(renameConstant);
}
void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add(simplifyBroadcast);
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

LogicalResult WindowOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                      Gradients &gradients) {
  gradients[0] =
      buildUnwindow(b, getLoc(), cotangents[0], windowShape(*this), sizeOf(getInput(), getName()));
  return success();
}

LogicalResult UnwindowOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                        Gradients &gradients) {
  gradients[0] = buildWindow(
      b, getLoc(), cotangents[0], windowShape(*this),
      getLow() || getHigh() ? numberAttr(tensorType(getInput()).scalarType(), 0) : TypedAttr());
  return success();
}

LogicalResult SliceOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                     Gradients &gradients) {
  Location loc = getLoc();
  NdTensorType type = tensorType(getInput());
  int64_t stride = getStride();
  Expr start = getStart().getExpr(), size = getSize().getExpr();
  auto count = size.constant();
  if (count == 0)
    return success();
  Value cotangent = cotangents[0];
  Expr span = (size - Expr(1)) * Expr(stride);
  // If the number of elements may be 0, the coordinate of the last one is not known.
  if (count || std::abs(stride) == 1) {
    if (stride < 0) { // reverse first, if it was read backwards
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
  gradients[0] = buildSlice(b, getLoc(), cotangents[0], getName(), getLow().getExpr(),
                            sizeOf(getInput(), getName()), getInterior() + 1);
  return success();
}

LogicalResult ConcatOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                      Gradients &gradients) {
  if (!cotangents[0])
    return success();
  Expr start(0);
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    Expr size = sizeOf(input, getName());
    if (wanted[i])
      gradients[i] = buildSlice(b, getLoc(), cotangents[0], getName(), start, size);
    start = start + size;
  }
  return success();
}

LogicalResult SplitOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                     Gradients &gradients) {
  gradients[0] = buildResized(
      b, getLoc(), buildMerge(b, getLoc(), cotangents[0], stringsOf(getInto()), getName()),
      tensorType(getInput()));
  return success();
}

LogicalResult MergeOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                     Gradients &gradients) {
  SmallVector<Dim> into;
  for (StringRef name : stringsOf(getNames()))
    into.emplace_back(getContext(), name, sizeOf(getInput(), name));
  gradients[0] = buildSplit(b, getLoc(), cotangents[0], getInto(), into);
  return success();
}

LogicalResult RenameOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                      Gradients &gradients) {
  gradients[0] = buildRename(b, getLoc(), cotangents[0], stringsOf(getTo()), stringsOf(getFrom()));
  return success();
}

LogicalResult BroadcastOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                         Gradients &gradients) {
  gradients[0] = buildSumTo(b, getLoc(), cotangents[0], tensorType(getInput()));
  return success();
}
