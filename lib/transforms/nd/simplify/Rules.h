//===- Rules.h - the rules of simplification --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `nd-simplify` is a list of rules, each a rewrite pattern with a name:
//
//     rules.add<ComposeSlices>("slice-of-slice", "A slice of a slice is one slice.");
//
// The name is the pattern's label, by which `only=` and `without=` of the pass choose rules, and
// stands with the sentence in the table of rules in docs/reference, which is made from these lines.
// A rule that changes floats beyond what a reduction in any order and any greater precision may
// give says which permissions (heddle/FastMath.h) it needs.
//
// Rules terminate together: each removes an op, makes values smaller, or moves slices towards
// operands and broadcasts towards users, which no rule undoes.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_ND_SIMPLIFY_RULES_H
#define HEDDLE_TRANSFORMS_ND_SIMPLIFY_RULES_H

#include "dialects/nd/NdBuild.h"
#include "dialects/nd/NdGradient.h"
#include "heddle/FastMath.h"

#include "mlir/IR/PatternMatch.h"

namespace heddle::nd {

/// A rule that asks which values may have elements that are left out of reductions. Rules of one
/// run share the answers.
struct AsksForExclusions {};
template <typename Op>
struct ExclusionRule : mlir::OpRewritePattern<Op>, AsksForExclusions {
  ExclusionRule(mlir::MLIRContext *context, unsigned granted, Exclusions &exclusions,
                mlir::PatternBenefit benefit = 1)
      : mlir::OpRewritePattern<Op>(context, benefit), granted(granted), exclusions(exclusions) {}
  bool mayBeExcluded(mlir::Value value) const { return exclusions.reach(value); }
  bool anyExcluded(mlir::ValueRange values) const {
    return llvm::any_of(values, [&](mlir::Value value) { return exclusions.reach(value); });
  }

  unsigned granted;
  Exclusions &exclusions;
};

class Rules {
public:
  Rules(mlir::RewritePatternSet &patterns, unsigned granted, Exclusions &exclusions)
      : granted(granted), patterns(patterns), exclusions(exclusions) {}

  /// `says`: one sentence for the table of rules.
  template <typename Pattern>
  void add(llvm::StringRef name, llvm::StringRef says, unsigned needs = Strict) {
    assert(!says.empty() && "a rule says what it does");
    names.push_back(name);
    if ((needs & ~granted) != 0)
      return;
    if constexpr (std::is_base_of_v<AsksForExclusions, Pattern>)
      patterns.addWithLabel<Pattern>(name, patterns.getContext(), granted, exclusions);
    else if constexpr (std::is_constructible_v<Pattern, mlir::MLIRContext *, unsigned>)
      patterns.addWithLabel<Pattern>(name, patterns.getContext(), granted);
    else
      patterns.addWithLabel<Pattern>(name, patterns.getContext());
  }

  llvm::SmallVector<llvm::StringRef> names; ///< of all rules, permitted or not
  const unsigned granted;

private:
  mlir::RewritePatternSet &patterns;
  Exclusions &exclusions;
};

/// Literals: what is computed from them is one (Constants.cpp).
void addConstantRules(Rules &rules);
/// Slices, pads, joins, splits, merges and gathers (IndexMaps.cpp).
void addIndexMapRules(Rules &rules);
/// Reductions, scans and sorts (Reductions.cpp).
void addReductionRules(Rules &rules);
/// Pointwise ops, and the scalar code in them (Pointwise.cpp).
void addPointwiseRules(Rules &rules);
/// Sums of products, and what has the same laws (Products.cpp).
void addProductRules(Rules &rules);
/// Products with a factor in common (CommonFactors.cpp).
void addCommonFactorRules(Rules &rules);
/// Loops, recurrences and branches (Loops.cpp).
void addLoopRules(Rules &rules);

/// True if `times` distributes over the combiner, with these permissions.
bool isSemiring(CombinerKind plus, bool isSigned, mlir::Operation *times, unsigned granted);
/// How many elements a tensor has; of symbols a typical number is taken.
double elementsOf(mlir::Value value);

/// The one element of a literal, null if `value` is none or has several.
inline mlir::TypedAttr splatOf(mlir::Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? constant.splat() : mlir::TypedAttr();
}

} // namespace heddle::nd

#endif // HEDDLE_TRANSFORMS_ND_SIMPLIFY_RULES_H
