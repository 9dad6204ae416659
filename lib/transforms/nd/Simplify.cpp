//===- Simplify.cpp - remove what changes nothing -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops' own folds and canonical forms (NdFold.cpp, and arith in scalar regions), and rewrites
// that look at several ops.
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "lib/transforms/nd/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/StringSet.h"

namespace heddle::nd {
#define GEN_PASS_DEF_NDSIMPLIFYPASS
#include "lib/transforms/nd/Passes.h.inc"
} // namespace heddle::nd

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

namespace {
/// pointwise(broadcast(x), y) = pointwise(x, y) where y has the new names anyway.
struct DropBroadcastOperand : OpRewritePattern<PointwiseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PointwiseOp op, PatternRewriter &rewriter) const override {
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      auto broadcast = input.getDefiningOp<BroadcastOp>();
      if (!broadcast)
        continue;
      SmallVector<NdTensorType> types = llvm::map_to_vector(op.getInputs(), tensorType);
      types[i] = tensorType(broadcast.getInput());
      llvm::StringSet<> names;
      for (NdTensorType type : types)
        for (const Dim &dim : type.getDims())
          names.insert(dim.name);
      if (names.size() != tensorType(op.getResult()).getDims().size())
        continue;
      rewriter.modifyOpInPlace(op, [&] {
        op->setOperand(i, broadcast.getInput());
        op.setCrossed(isCrossed(types));
      });
      return success();
    }
    return rewriter.notifyMatchFailure(op, "expected a broadcast that others make unnecessary");
  }
};

/// A sum of a sum is one sum over all names; likewise other named combiners.
struct ComposeReductions : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInputs()[0].getDefiningOp<ReduceOp>();
    if (!inner || op.getInputs().size() != 1 || inner.getInputs().size() != 1 ||
        !inner->hasOneUse() || inner.getNeutral() != op.getNeutral())
      return rewriter.notifyMatchFailure(op, "expected the reduction of a reduction");
    CombinerKind kind = combinerKind(op.getCombiner());
    if (kind == CombinerKind::General || kind != combinerKind(inner.getCombiner()))
      return rewriter.notifyMatchFailure(op, "expected the same named combiner twice");
    // Not where rounding in between would be lost.
    if (tensorType(inner.getInputs()[0]).getElementType() !=
        tensorType(inner.getResult(0)).getElementType())
      return rewriter.notifyMatchFailure(op, "expected one element type");
    SmallVector<Attribute> names(inner.getNames().begin(), inner.getNames().end());
    llvm::append_range(names, op.getNames());
    rewriter.modifyOpInPlace(op, [&] {
      op->setOperand(0, inner.getInputs()[0]);
      op.setNamesAttr(rewriter.getArrayAttr(names));
    });
    return success();
  }
};

/// merge(split(x)) and split(merge(x)) over the same names are x.
struct UndoSplit : OpRewritePattern<MergeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MergeOp op, PatternRewriter &rewriter) const override {
    auto split = op.getInput().getDefiningOp<SplitOp>();
    if (!split || split.getInto() != op.getNames())
      return rewriter.notifyMatchFailure(op, "expected to merge what was split");
    rewriter.replaceOp(op, buildRename(rewriter, op.getLoc(), split.getInput(), {split.getName()},
                                       {op.getInto()}));
    return success();
  }
};

struct UndoMerge : OpRewritePattern<SplitOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SplitOp op, PatternRewriter &rewriter) const override {
    auto merge = op.getInput().getDefiningOp<MergeOp>();
    if (!merge || merge.getInto() != op.getName() || merge.getNames().size() != op.getInto().size())
      return rewriter.notifyMatchFailure(op, "expected to split what was merged");
    SmallVector<StringRef> from = stringsOf(merge.getNames()), to = stringsOf(op.getInto());
    for (auto [before, after] : llvm::zip_equal(from, to))
      if (tensorType(merge.getInput()).size(before) != tensorType(op.getResult()).size(after))
        return rewriter.notifyMatchFailure(op, "expected the sizes that were merged");
    rewriter.replaceOp(op, buildRename(rewriter, op.getLoc(), merge.getInput(), from, to));
    return success();
  }
};

/// slice(slice(x)) along one name is one slice.
struct ComposeSlices : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<SliceOp>();
    if (!inner || inner.getName() != op.getName())
      return rewriter.notifyMatchFailure(op, "expected a slice of a slice along the same name");
    int64_t stride = inner.getStride();
    if (op.getSize().constant() == 0)
      return rewriter.notifyMatchFailure(op, "expected a slice that reads something");
    rewriter.modifyOpInPlace(op, [&] {
      op->setOperand(0, inner.getInput());
      op.setStart(int64_t(inner.getStart()) + int64_t(op.getStart()) * stride);
      op.setStride(int64_t(op.getStride()) * stride);
    });
    return success();
  }
};

/// A sort of one element changes nothing; what nobody reads need not be carried along.
struct SimplifySort : OpRewritePattern<SortOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SortOp op, PatternRewriter &rewriter) const override {
    auto size = tensorType(op.getInputs()[0]).size(op.getName()).constant();
    if (size && *size <= 1 && op.getInputs().getTypes() == op.getResultTypes()) {
      rewriter.replaceOp(op, op.getInputs());
      return success();
    }
    SmallVector<Value> inputs;
    SmallVector<Type> types;
    for (auto [input, result] : llvm::zip_equal(op.getInputs(), op.getResults()))
      if (inputs.empty() || !result.use_empty()) { // the keys stay
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
};

struct NdSimplifyPass : nd::impl::NdSimplifyPassBase<NdSimplifyPass> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    for (RegisteredOperationName name : context->getRegisteredOperations())
      if (isa<NdDialect>(name.getDialect()))
        name.getCanonicalizationPatterns(set, context);
    set.add<DropBroadcastOperand, ComposeReductions, UndoSplit, UndoMerge, ComposeSlices,
            SimplifySort>(context);
    patterns = std::move(set);
    return success();
  }
  void runOnOperation() override {
    if (failed(applyPatternsGreedily(getOperation(), patterns))) {
      emitError(getOperation()->getLoc()) << "simplifying comes to no end";
      signalPassFailure();
    }
  }

  FrozenRewritePatternSet patterns;
};
} // namespace
