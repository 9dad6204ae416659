//===- LayoutProblem.h - the choice of layouts, as numbers ------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which layout every value gets is one choice over the whole function, stated here so that a chooser
// needs to know nothing of nests. There are two kinds of unknowns: where a value lies, one of its
// `candidates`, and how a nest runs, one of its `ways` (which names the lanes of a vector walk). A
// term couples one nest with one value; everything is counted in cycles of one core:
//
//     c[m, n] = sum over k of a[m, k] * b[k, n]
//
//     value b:   [k, n]  or  [n floordiv 32, k, n mod 32]  or  ...
//     nest c:    lanes n  or  lanes m  or  lanes k
//     term (c, b), lanes n:    the panels cost nothing beyond the arithmetic, [k, n] strides over
//                              pages, [n, k] gathers; or b is copied to panels first, if the copy is cheaper
//
// The cost of a choice is the sum of the costs of what was chosen. That is a partitioned boolean quadratic
// problem, whose optimum is found by reductions and search, and bounded from below (LayoutChooser.h).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_LAYOUTPROBLEM_H
#define HEDDLE_LIB_TRANSFORMS_NEST_LAYOUTPROBLEM_H

#include "dialects/nest/Nest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::nest {

/// What lies in one place: a value, or several that must lie alike (a donated argument and the
/// result in its place; what an update consumes and what it makes).
struct LaidValue {
  llvm::SmallVector<mlir::Value> values;
  std::string name;   ///< for people
  bool fixed = false; ///< by the user, or by the boundary of the function
  /// The first `cost.size()` of these may be chosen, all of them may be copied to.
  std::vector<Layout> candidates;
  std::vector<double> cost; ///< apart from the nests: padding that is moved about
};

/// One way to run a nest.
struct NestWay {
  std::vector<std::string>
      lanes;            ///< names that lanes walk, merged, the last fastest; empty: no vectors
  bool reduced = false; ///< they are reduced names
  double cost = 0;      ///< arithmetic, with every operand lying as this way wants it
};

struct LaidNest {
  mlir::Operation *nest = nullptr;
  std::string name;
  std::vector<NestWay> ways;
};

/// What it costs a nest that a value lies as it does.
struct LayoutTerm {
  unsigned nest = 0, value = 0;
  /// For each way, for each candidate that may be chosen.
  std::vector<double> cost;
  /// Likewise: the candidate to which a copy is made that the nest reads (or writes) instead; -1: none.
  std::vector<int> copy;
};

struct LayoutProblem {
  std::vector<LaidValue> values;
  std::vector<LaidNest> nests;
  std::vector<LayoutTerm> terms;

  double termCost(const LayoutTerm &term, unsigned way, unsigned layout) const {
    return term.cost[way * values[term.value].cost.size() + layout];
  }
  int termCopy(const LayoutTerm &term, unsigned way, unsigned layout) const {
    return term.copy[way * values[term.value].cost.size() + layout];
  }
};

/// One candidate for each value, one way for each nest.
struct LayoutChoice {
  std::vector<unsigned> layouts, ways;
  double cost = 0;
  double bound = 0; ///< no choice costs less
};

double choiceCost(const LayoutProblem &problem, const LayoutChoice &choice);

/// Reads the problem off a function. Layouts that are written (`layouts` on nests, `nd.layout` on
/// arguments and results) are kept; an argument without one is row-major over its sorted names, unless
/// it is donated or says `nd.layout = "any"`. Fails with a located message where a written layout does not fit, or where
/// values that must lie alike were given different ones.
mlir::FailureOr<LayoutProblem> makeLayoutProblem(mlir::func::FuncOp function, MachineAttr machine);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_LAYOUTPROBLEM_H
