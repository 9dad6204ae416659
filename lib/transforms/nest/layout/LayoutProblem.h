//===- LayoutProblem.h - the choice of layouts as numbers -------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// States the choice of all layouts of a function as numbers, so that a chooser need not know nests.
// There are two kinds of unknowns: the layout of a value, one of its `candidates`, and how a nest
// runs, one of its `ways` (the names of the vector lanes). A term couples one nest with one value;
// all costs are cycles of one core:
//
//     c[m, n] = sum over k of a[m, k] * b[k, n]
//
//     value b:   [k, n]  or  [n floordiv 32, k, n mod 32]  or  ...
//     nest c:    lanes n  or  lanes m  or  lanes k
//     term (c, b), lanes n:    the panels cost nothing beyond the arithmetic, [k, n] strides over
//                              pages, [n, k] gathers; or b is copied to panels first, if cheaper
//
// The cost of a choice is the sum of the costs of the chosen candidates, ways and terms. That is a
// partitioned boolean quadratic problem, which is solved by reductions and search, with a lower
// bound (LayoutChooser.h).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_LAYOUTPROBLEM_H
#define HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_LAYOUTPROBLEM_H

#include "dialects/nest/Nest.h"
#include "lib/cost/Machine.h"

namespace heddle::nest {

/// A value, or several that must share one layout (a donated argument and the result that reuses
/// its buffer; the destination and the result of an update).
struct LaidValue {
  SmallVector<Value> values;
  std::string name;   ///< for remarks
  bool fixed = false; ///< by the user, or by the boundary of the function
  /// The first `cost.size()` of these may be chosen; a copy may have any of them.
  std::vector<Layout> candidates;
  std::vector<double> cost; ///< moving padding; other costs are in terms
};

/// One way to run a nest.
struct NestWay {
  std::vector<std::string> lanes; ///< names of the lanes, merged, the last fastest; empty: scalar
  bool reduced = false;           ///< they are reduced names
  double cost = 0;                ///< arithmetic, with the best layouts of operands
};

struct LaidNest {
  Operation *nest = nullptr;
  std::string name;
  std::vector<NestWay> ways;
};

/// The cost of the layout of one value for one nest.
struct LayoutTerm {
  unsigned nest = 0, value = 0;
  /// By way and by candidate that may be chosen.
  std::vector<double> cost;
  /// Likewise: the candidate layout of a copy that the nest accesses instead; -1: no copy.
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
  double bound = 0; ///< lower bound of all choices
  /// The values for which cheaper layouts may exist, since the search for them ended early.
  std::vector<unsigned> open;
};

double choiceCost(const LayoutProblem &problem, const LayoutChoice &choice);

/// Builds the problem of a function. Keeps written layouts (`layouts` on nests, `nd.layout` on
/// arguments and results); an argument without one is row-major over its sorted names, unless it is
/// donated or has `nd.layout = "any"`. Fails with a located message if a written layout does not
/// fit, or if values that must share a layout have different ones.
FailureOr<LayoutProblem> makeLayoutProblem(func::FuncOp function, const cost::Machine &machine);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_LAYOUTPROBLEM_H
