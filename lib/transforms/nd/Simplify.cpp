//===- Simplify.cpp - applies the rules of simplification -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Applies the folds and canonical forms of ops (NdFold.cpp, NdIndexMaps.cpp, and arith in scalar
// regions), and the rules of simplify/.
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nd/Passes.h"
#include "lib/transforms/nd/simplify/Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace heddle::nd {
#define GEN_PASS_DEF_NDSIMPLIFYPASS
#include "lib/transforms/nd/Passes.h.inc"
} // namespace heddle::nd

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

namespace {
struct NdSimplifyPass : nd::impl::NdSimplifyPassBase<NdSimplifyPass> {
  using NdSimplifyPassBase::NdSimplifyPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    Exclusions none;
    return success(succeeded(patternsOf(context, none))); // refuses invalid options
  }

  void runOnOperation() override {
    Exclusions exclusions;
    auto patterns = patternsOf(&getContext(), exclusions);
    if (failed(patterns))
      return signalPassFailure();
    Watch watch(exclusions, verifyRules ? getOperation() : nullptr);
    GreedyRewriteConfig config; // blocks of nd are never merged
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    config.setMaxIterations(mostRoundsOf(getOperation(), mostRounds)).setListener(&watch);
    if (failed(applyPatternsGreedily(getOperation(), *patterns, config))) {
      emitError(getOperation()->getLoc()) << "simplification does not terminate";
      signalPassFailure();
    }
    if (watch.isBroken)
      signalPassFailure();
  }

private:
  /// Drops cached facts about erased ops. Verifies `root`, if not null, after each rule.
  struct Watch : RewriterBase::Listener {
    Watch(Exclusions &exclusions, Operation *root) : exclusions(exclusions), root(root) {}
    void notifyOperationErased(Operation *op) override { exclusions.forget(op); }
    void notifyPatternEnd(const Pattern &rule, LogicalResult status) override {
      if (!root || failed(status) || isBroken || succeeded(verify(root)))
        return;
      isBroken = true;
      StringRef name =
          rule.getDebugLabels().empty() ? rule.getDebugName() : rule.getDebugLabels()[0];
      emitError(root->getLoc()) << "expected legal ops after each rule, got others after the rule '"
                                << name << "'";
    }
    Exclusions &exclusions;
    Operation *root;
    bool isBroken = false;
  };

  /// The rules that the options select; they share `exclusions`.
  FailureOr<FrozenRewritePatternSet> patternsOf(MLIRContext *context, Exclusions &exclusions) {
    auto refuse = [&](const Twine &message) {
      return emitError(UnknownLoc::get(context), message);
    };
    unsigned granted = Strict;
    for (const std::string &word : fastMath)
      if (!permit(granted, word))
        return refuse("expected one of " + fastMathList() + " for fast-math, got '" + word + "'");
    RewritePatternSet set(context);
    for (RegisteredOperationName name : context->getRegisteredOperations())
      if (isa<NdDialect>(name.getDialect()))
        name.getCanonicalizationPatterns(set, context);
    Rules rules(set, {granted, exclusions});
    addConstantRules(rules);
    addIndexMapRules(rules);
    addReductionRules(rules);
    addPointwiseRules(rules);
    addProductRules(rules);
    addCommonFactorRules(rules);
    addLoopRules(rules);
    for (const auto *list : {&only, &without})
      for (const std::string &name : *list)
        if (!llvm::is_contained(rules.names, StringRef(name)))
          return refuse("expected the name of a rule, got '" + name + "'; there are " +
                        llvm::join(rules.names, ", "));
    SmallVector<std::string> wanted(only.begin(), only.end()),
        unwanted(without.begin(), without.end());
    return FrozenRewritePatternSet(std::move(set), unwanted, wanted);
  }
};
} // namespace
