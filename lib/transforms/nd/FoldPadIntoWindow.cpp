//===- FoldPadIntoWindow.cpp - folds pads into windows --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "lib/transforms/nd/Passes.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace heddle::nd {
#define GEN_PASS_DEF_NDFOLDPADINTOWINDOWPASS
#include "lib/transforms/nd/Passes.h.inc"
} // namespace heddle::nd

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

/// True if elements outside of `window`'s operand are `value`, or it reads none there.
static bool readsOutside(WindowOp window, TypedAttr value) {
  return (window.getLow() == 0 && window.getHigh() == 0) || window.getPaddingAttr() == value;
}

namespace {
/// window(pad(x)) along one name becomes a window with padding.
LogicalResult foldPad(WindowOp op, PatternRewriter &rewriter) {
  auto pad = op.getInput().getDefiningOp<PadOp>();
  if (!pad || pad.getName() != op.getName() || pad.getInterior() != 0)
    return rewriter.notifyMatchFailure(op, "expected a window over a padded name");
  auto low = pad.getLow().constant(), high = pad.getHigh().constant();
  if (!low || !high || !readsOutside(op, pad.getValueAttr()))
    return rewriter.notifyMatchFailure(op, "expected a window that reads the padded value");
  rewriter.modifyOpInPlace(op, [&] {
    op->setOperand(0, pad.getInput());
    op.setLow(int64_t(op.getLow()) + *low);
    op.setHigh(int64_t(op.getHigh()) + *high);
    op.setPaddingAttr(pad.getValueAttr());
  });
  return success();
}

/// The pad of `name` below `value`, through pads of other names, if all of them have the same
/// value.
PadOp padBelow(Value value, StringRef name) {
  auto first = value.getDefiningOp<PadOp>();
  for (auto pad = first; pad; pad = pad.getInput().getDefiningOp<PadOp>()) {
    if (pad.getValueAttr() != first.getValueAttr())
      return {};
    if (pad.getName() == name)
      return pad;
  }
  return {};
}

/// window(pad(x)) along different names becomes pad(window(x)) if the chain of operands contains a
/// pad of the window's name, so that the two can be folded.
LogicalResult moveWindowBelowPad(WindowOp op, PatternRewriter &rewriter) {
  auto pad = op.getInput().getDefiningOp<PadOp>();
  if (!pad || pad.getName() == op.getName() || !padBelow(pad, op.getName()))
    return rewriter.notifyMatchFailure(op, "expected a pad of the same name below");
  // Where both are out of bounds, the values must be equal.
  if (!readsOutside(op, pad.getValueAttr()))
    return rewriter.notifyMatchFailure(op, "expected a window that reads the padded value");
  if (pad.getName() == op.getTap())
    return rewriter.notifyMatchFailure(op, "expected a pad of another name than the tap");
  Value window =
      buildWindow(rewriter, op.getLoc(), pad.getInput(), windowShape(op), op.getPaddingAttr());
  rewriter.replaceOp(op,
                     buildPad(rewriter, op.getLoc(), window, pad.getName(), pad.getLow().getExpr(),
                              pad.getHigh().getExpr(), pad.getInterior(), pad.getValueAttr()));
  return success();
}

/// window_row(window_column(pad_row(x))): swaps the two windows, so that the outer one can be
/// folded with the pad.
LogicalResult swapWindows(WindowOp op, PatternRewriter &rewriter) {
  auto inner = op.getInput().getDefiningOp<WindowOp>();
  if (!inner || !inner->hasOneUse() || inner.getName() == op.getName() ||
      inner.getTap() == op.getName() || !padBelow(inner.getInput(), op.getName()) ||
      padBelow(inner.getInput(), inner.getName())) // the inner window folds its own pad first
    return rewriter.notifyMatchFailure(op, "expected a window of another name over a pad");
  auto pad = padBelow(inner.getInput(), op.getName());
  if (!readsOutside(op, pad.getValueAttr()) || !readsOutside(inner, pad.getValueAttr()))
    return rewriter.notifyMatchFailure(op, "expected windows that read the padded value");
  Value first =
      buildWindow(rewriter, op.getLoc(), inner.getInput(), windowShape(op), op.getPaddingAttr());
  rewriter.replaceOp(
      op, buildWindow(rewriter, inner.getLoc(), first, windowShape(inner), inner.getPaddingAttr()));
  return success();
}

struct NdFoldPadIntoWindowPass : nd::impl::NdFoldPadIntoWindowPassBase<NdFoldPadIntoWindowPass> {
  using NdFoldPadIntoWindowPassBase::NdFoldPadIntoWindowPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add(foldPad).add(moveWindowBelowPad).add(swapWindows);
    patterns = std::move(set);
    return success();
  }
  void runOnOperation() override {
    GreedyRewriteConfig config; // blocks of nd are never merged
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    config.setMaxIterations(mostRoundsOf(getOperation(), mostRounds));
    if (failed(applyPatternsGreedily(getOperation(), patterns, config))) {
      emitError(getOperation()->getLoc()) << "folding pads into windows does not terminate";
      signalPassFailure();
    }
  }

  FrozenRewritePatternSet patterns;
};
} // namespace
