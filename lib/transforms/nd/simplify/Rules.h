//===- Rules.h - the rules of simplification --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `nd-simplify` applies a list of named rules, each a function that rewrites an op:
//
//     rules.add("slice-of-slice", "A slice of a slice is one slice.", composeSlices);
//
// The name is the pattern's label, by which the pass options `only=` and `without=` select rules.
// The table of rules in docs/reference is generated from these names and sentences. A rule that
// changes floats by more than reordered reductions and excess precision declares the permissions
// (heddle/FastMath.h) that it needs.
//
// The rules terminate together: each removes an op, makes values smaller, or moves slices towards
// operands or broadcasts towards users, and no rule undoes that.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_ND_SIMPLIFY_RULES_H
#define HEDDLE_TRANSFORMS_ND_SIMPLIFY_RULES_H

#include "dialects/nd/NdBuild.h"
#include "dialects/nd/NdGradient.h"
#include "heddle/FastMath.h"

#include "mlir/IR/PatternMatch.h"

namespace heddle::nd {

/// State that rules need besides the op that they rewrite; shared by the rules of one run.
struct RuleContext {
  unsigned granted; ///< permissions
  Exclusions &exclusions;

  bool mayBeExcluded(Value value) const { return exclusions.reach(value); }
  bool anyExcluded(ValueRange values) const {
    return llvm::any_of(values, [&](Value value) { return exclusions.reach(value); });
  }
};

class Rules {
public:
  Rules(mlir::RewritePatternSet &patterns, RuleContext context)
      : patterns(patterns), context(context) {}

  /// A rule rewrites ops of the class or interface `Op`, or any op (`Operation *`).
  template <typename Op>
  using Rule = LogicalResult (*)(Op, mlir::PatternRewriter &);
  template <typename Op>
  using RuleInContext = LogicalResult (*)(Op, mlir::PatternRewriter &, const RuleContext &);

  /// Adds `rule` if the permissions in `needs` are granted. `says`: one sentence for the table of
  /// rules.
  template <typename Op>
  void add(StringRef name, StringRef says, Rule<Op> rule, unsigned needs = Strict,
           mlir::PatternBenefit benefit = 1) {
    addFunction<Op>(name, says, needs, benefit, rule);
  }
  template <typename Op>
  void add(StringRef name, StringRef says, RuleInContext<Op> rule, unsigned needs = Strict,
           mlir::PatternBenefit benefit = 1) {
    addFunction<Op>(name, says, needs, benefit, [rule, context = context](Op op, auto &rewriter) {
      return rule(op, rewriter, context);
    });
  }

  SmallVector<StringRef> names; ///< all rules, permitted or not

private:
  mlir::RewritePatternSet &patterns;
  RuleContext context;

  struct AnyOpPattern : mlir::RewritePattern {
    AnyOpPattern(MLIRContext *context, mlir::PatternBenefit benefit)
        : RewritePattern(MatchAnyOpTypeTag(), benefit, context) {}
  };
  template <typename Op>
  static constexpr bool isInterface = requires { Op::getInterfaceID(); };
  template <typename Op>
  using PatternBase =
      std::conditional_t<std::is_pointer_v<Op>, AnyOpPattern,
                         std::conditional_t<isInterface<Op>, mlir::OpInterfaceRewritePattern<Op>,
                                            mlir::OpRewritePattern<Op>>>;
  template <typename Op>
  struct Pattern : PatternBase<Op> {
    using Function = std::function<LogicalResult(Op, mlir::PatternRewriter &)>;
    Pattern(MLIRContext *context, mlir::PatternBenefit benefit, Function rule)
        : PatternBase<Op>(context, benefit), rule(std::move(rule)) {}
    LogicalResult matchAndRewrite(Op op, mlir::PatternRewriter &rewriter) const override {
      return rule(op, rewriter);
    }
    Function rule;
  };

  template <typename Op>
  void addFunction(StringRef name, StringRef says, unsigned needs, mlir::PatternBenefit benefit,
                   typename Pattern<Op>::Function rule) {
    assert(!says.empty() && "a rule says what it does");
    names.push_back(name);
    if ((needs & ~context.granted) == 0)
      patterns.addWithLabel<Pattern<Op>>(name, patterns.getContext(), benefit, std::move(rule));
  }
};

/// Constant folding (FoldConstants.cpp).
void addConstantRules(Rules &rules);
/// Slices, pads, joins, splits, merges and gathers (IndexMaps.cpp).
void addIndexMapRules(Rules &rules);
/// Reductions, scans and sorts (Reductions.cpp).
void addReductionRules(Rules &rules);
/// Pointwise ops, and the scalar code in them (Pointwise.cpp).
void addPointwiseRules(Rules &rules);
/// Sums of products, and other semirings (Products.cpp).
void addProductRules(Rules &rules);
/// Products with a factor in common (CommonFactors.cpp).
void addCommonFactorRules(Rules &rules);
/// Loops, recurrences and branches (Loops.cpp).
void addLoopRules(Rules &rules);

/// True if `times` distributes over the combiner, with these permissions.
bool isSemiring(CombinerKind plus, bool isSigned, Operation *times, unsigned granted);
/// Reduces `input` over `names` with the combiner of `like`, to elements of type `element`.
Value reduceLike(mlir::PatternRewriter &rewriter, Location loc, ReductionInterface like,
                 Value input, ArrayRef<StringRef> names, Type element);
/// The number of elements of a tensor, for the typical values of symbols.
double elementsOf(Value value);

} // namespace heddle::nd

#endif // HEDDLE_TRANSFORMS_ND_SIMPLIFY_RULES_H
