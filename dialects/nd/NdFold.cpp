//===- NdFold.cpp - folds and canonical forms -----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/Nd.h"

#include "mlir/IR/PatternMatch.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

OpFoldResult RenameOp::fold(FoldAdaptor) {
  // The same type does not mean the same value: two names of one size may change places.
  return getFrom() == getTo() ? OpFoldResult(getInput()) : OpFoldResult();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return getInput().getType() == getResult().getType() ? OpFoldResult(getInput()) : OpFoldResult();
}

OpFoldResult PointwiseOp::fold(FoldAdaptor) {
  // A region that yields one of its arguments as it is.
  auto yield = cast<YieldOp>(getBody().front().getTerminator());
  auto argument = dyn_cast<BlockArgument>(yield.getValues()[0]);
  if (argument && getInputs()[argument.getArgNumber()].getType() == getResult().getType())
    return getInputs()[argument.getArgNumber()];
  return {};
}

namespace {
/// rename(rename(x)) is one rename.
struct ComposeRenames : OpRewritePattern<RenameOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RenameOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<RenameOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "expected a rename of a rename");
    llvm::StringMap<StringRef> outer;
    for (auto [from, to] : llvm::zip_equal(op.getFrom().getAsValueRange<StringAttr>(),
                                           op.getTo().getAsValueRange<StringAttr>()))
      outer[from] = to;
    llvm::StringMap<StringRef> first;
    for (auto [from, to] : llvm::zip_equal(inner.getFrom().getAsValueRange<StringAttr>(),
                                           inner.getTo().getAsValueRange<StringAttr>()))
      first[from] = to;
    SmallVector<StringRef> from, to;
    for (const Dim &dim : cast<NdTensorType>(inner.getInput().getType()).getDims()) {
      StringRef name = dim.name.getValue(), middle = first.contains(name) ? first[name] : name;
      StringRef last = outer.contains(middle) ? outer[middle] : middle;
      if (name != last) {
        from.push_back(name);
        to.push_back(last);
      }
    }
    rewriter.replaceOpWithNewOp<RenameOp>(op, op.getType(), inner.getInput(),
                                          rewriter.getStrArrayAttr(from),
                                          rewriter.getStrArrayAttr(to));
    return success();
  }
};

/// Operands that the region does not use go away, and an operand that stands twice stands once,
/// where the result's names do not depend on them.
struct PruneOperands : OpRewritePattern<PointwiseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PointwiseOp op, PatternRewriter &rewriter) const override {
    Block &body = op.getBody().front();
    for (unsigned i = 0; i < op.getInputs().size(); ++i)
      for (unsigned j = 0; j < i; ++j)
        if (op.getInputs()[i] == op.getInputs()[j] && !body.getArgument(i).use_empty()) {
          rewriter.modifyOpInPlace(
              op, [&] { body.getArgument(i).replaceAllUsesWith(body.getArgument(j)); });
          return success();
        }
    for (unsigned i = 0; i < op.getInputs().size(); ++i) {
      if (!body.getArgument(i).use_empty())
        continue;
      auto has = [&](unsigned j, StringRef name) {
        return cast<NdTensorType>(op.getInputs()[j].getType()).has(name);
      };
      bool needed = llvm::any_of(cast<NdTensorType>(op.getInputs()[i].getType()).getDims(),
                                 [&](const Dim &dim) {
                                   for (unsigned j = 0; j < op.getInputs().size(); ++j)
                                     if (j != i && has(j, dim.name.getValue()))
                                       return false;
                                   return true;
                                 });
      if (needed)
        continue;
      rewriter.modifyOpInPlace(op, [&] {
        body.eraseArgument(i);
        op.getInputsMutable().erase(i);
        op.setCrossed(true); // the operand may have linked the others
      });
      return success();
    }
    return rewriter.notifyMatchFailure(op, "expected an operand without a use");
  }
};
} // namespace

void RenameOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ComposeRenames>(context);
}
void PointwiseOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<PruneOperands>(context);
}
