//===- PairwiseChoice.h - choices whose costs couple pairs ------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses a label for each unknown so that the sum of the costs of unknowns and of pairs is small:
// a partitioned boolean quadratic problem. Knows nothing but numbers.
//
//     unknowns  x: 2 labels, costs [0, 3]      y: 2 labels, costs [1, 0]
//     pair      (x, y): costs [[5, 1], [0, 0]]
//     choice    x = 0, y = 1, cost 0 + 0 + 1
//
// `solve` repeats these steps, which keep the least cost (PairwiseGraph.h):
//
//   1. An unknown with at most two neighbours becomes costs of these. A label that costs at least
//      as much as another one, whatever the neighbours' labels are, is dropped.
//   2. What remains falls into parts that share no pair. In each part costs are shifted between
//      unknowns and pairs, which changes no total, until the sum of all minimum costs, a lower
//      bound, hardly grows. Labels that exceed it by more than the best known choice are dropped.
//   3. If labels were dropped: again from 1. Otherwise all unknowns are eliminated by tables of
//      costs, if these are not too large. Otherwise one unknown gets each of its labels in turn
//      (branch and bound).
//
// Training steps of networks are long and narrow, so tables are small: all steps of the model zoo
// are solved exactly.
//
// The effort is limited by a count of steps, never by time, so a choice is deterministic.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_PAIRWISECHOICE_H
#define HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_PAIRWISECHOICE_H

#include <cstdint>
#include <vector>

namespace heddle::nest {

struct PairwiseProblem {
  struct Pair {
    unsigned a, b;            ///< a != b; several pairs of the same unknowns add up
    std::vector<double> cost; ///< by label of a, then of b; not negative
  };
  std::vector<std::vector<double>> costs; ///< by unknown and label; not negative
  std::vector<Pair> pairs;

  double costOf(const std::vector<unsigned> &labels) const;
};

struct PairwiseChoice {
  std::vector<unsigned> labels; ///< of each unknown
  double cost = 0, bound = 0;   ///< of the choice; of any choice, at least
  std::vector<unsigned> open{}; ///< unknowns for which cheaper labels may exist, ascending
};

/// Returns a choice, the cheapest one if `open` is empty, up to a ten-millionth of the cost for
/// each unknown: labels that gain less are not changed for others. `steps` limits the effort:
/// additions and comparisons of costs.
PairwiseChoice solve(const PairwiseProblem &problem, int64_t steps);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_PAIRWISECHOICE_H
