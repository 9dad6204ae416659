//===- NdFold.cpp - folds and canonical forms -----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "dialects/nd/NdGradient.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

TypedAttr nd::splatOf(Value value) {
  auto literal = value.getDefiningOp<LiteralInterface>();
  if (!literal || !literal.getValue().isSplat())
    return {};
  return dyn_cast<TypedAttr>(literal.getValue().getSplatValue<Attribute>());
}

//===----------------------------------------------------------------------===//
// Folds of ops that return their operand. Index maps share `foldIndexMap`.
//===----------------------------------------------------------------------===//

OpFoldResult RoundOp::fold(FoldAdaptor) {
  // A value that is computed in a narrow type may have more bits than the type.
  Type element = tensorType(getInput()).getElementType();
  return element == getTo() && !isNarrowFloat(element) ? OpFoldResult(getInput()) : OpFoldResult();
}

OpFoldResult DynamicSliceOp::fold(FoldAdaptor) {
  // A slice of the whole range starts at 0, because the start is clamped.
  return getInput().getType() == getResult().getType() ? OpFoldResult(getInput()) : OpFoldResult();
}

OpFoldResult UpdateSliceOp::fold(FoldAdaptor) {
  return getPart().getType() == getResult().getType() ? OpFoldResult(getPart()) : OpFoldResult();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? OpFoldResult(getInputs()[0]) : OpFoldResult();
}

/// Not cached, because the fold queries only the few operands without uses.
static bool mayBeExcluded(Value value) { return Exclusions().reach(value); }

OpFoldResult PointwiseOp::fold(FoldAdaptor) {
  // Fold if the region yields an argument unchanged and no other operand excludes elements from a
  // reduction.
  auto argument = dyn_cast<BlockArgument>(yielded());
  if (!argument)
    return {};
  Value input = getInputs()[argument.getArgNumber()];
  bool isSame = llvm::all_of(getInputs(),
                             [&](Value other) { return other == input || !mayBeExcluded(other); });
  return input.getType() == getResult().getType() && isSame ? OpFoldResult(input) : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// Pointwise
//===----------------------------------------------------------------------===//

namespace {
/// Removes operand `i`, whose argument has no use.
void eraseOperand(PointwiseOp op, unsigned i, PatternRewriter &rewriter) {
  rewriter.modifyOpInPlace(op, [&] {
    op.getBody().front().eraseArgument(i);
    op.getInputsMutable().erase(i);
    op.setCrossed(isCrossed(llvm::map_to_vector(op.getInputs(), tensorType)));
  });
}

/// True if the result has names that only operand `i` has.
bool givesNames(PointwiseOp op, unsigned i) {
  return llvm::any_of(tensorType(op.getInputs()[i]).getDims(), [&](const Dim &dim) {
    for (auto [j, other] : llvm::enumerate(op.getInputs()))
      if (j != i && tensorType(other).has(dim.name))
        return false;
    return true;
  });
}

/// Removes operand `i`, whose argument has no use. A broadcast adds the names of the result that
/// only this operand has.
void eraseUnused(PointwiseOp op, unsigned i, PatternRewriter &rewriter) {
  if (!givesNames(op, i)) {
    eraseOperand(op, i, rewriter);
    return;
  }
  NdTensorType whole = tensorType(op.getResult());
  SmallVector<Dim> dims;
  for (const Dim &dim : whole.getDims())
    for (auto [j, other] : llvm::enumerate(op.getInputs()))
      if (j != i && tensorType(other).has(dim.name)) {
        dims.push_back(dim);
        break;
      }
  eraseOperand(op, i, rewriter);
  rewriter.modifyOpInPlace(op, [&] { op.getResult().setType(whole.withDims(dims)); });
  rewriter.setInsertionPointAfter(op);
  Value broadcast =
      buildBroadcast(rewriter, op.getLoc(), op.getResult(), whole.getDims().getDims());
  rewriter.replaceAllUsesExcept(op.getResult(), broadcast, broadcast.getDefiningOp());
}

/// Erases operands that the region does not use (except those that exclude elements from a
/// reduction), and merges equal operands.
LogicalResult pruneOperands(PointwiseOp op, PatternRewriter &rewriter) {
  Block &body = op.getBody().front();
  for (unsigned i = 0; i < op.getInputs().size(); ++i)
    for (unsigned j = 0; j < i; ++j)
      if (op.getInputs()[i] == op.getInputs()[j] && !body.getArgument(i).use_empty()) {
        rewriter.replaceAllUsesWith(body.getArgument(i), body.getArgument(j));
        return success();
      }
  for (unsigned i = 0; i < op.getInputs().size(); ++i)
    if (body.getArgument(i).use_empty() && !mayBeExcluded(op.getInputs()[i])) {
      eraseUnused(op, i, rewriter);
      return success();
    }
  return rewriter.notifyMatchFailure(op, "expected an operand without a use");
}

/// Replaces a splat operand by a scalar constant in the region, if the result's names do not depend
/// on it.
LogicalResult inlineSplat(PointwiseOp op, PatternRewriter &rewriter) {
  Block &body = op.getBody().front();
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    TypedAttr splat = splatOf(input);
    if (!splat || givesNames(op, i))
      continue;
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(&body);
    Value scalar = arith::ConstantOp::create(rewriter, input.getLoc(), splat);
    rewriter.replaceAllUsesWith(body.getArgument(i), scalar);
    eraseOperand(op, i, rewriter);
    return success();
  }
  return rewriter.notifyMatchFailure(op, "expected an operand that is a splat");
}
} // namespace

void PointwiseOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add(pruneOperands).add(inlineSplat);
}
