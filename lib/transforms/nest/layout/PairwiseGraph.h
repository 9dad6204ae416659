//===- PairwiseGraph.h - a pairwise problem that shrinks --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of the solver (PairwiseChoice.h). All of them keep the minimum cost of the problem, so
// they may follow one another in any order:
//
//     Trail       removes unknowns, and finds their labels once those of the rest are known
//     Reduction   removes unknowns with few neighbours and labels that another one replaces
//     Dual        shifts costs between unknowns and pairs, which raises a lower bound
//     Tables      removes all unknowns, if no table of costs becomes too large
//
// Steps are additions and comparisons of costs; functions return or subtract how many they took.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_PAIRWISEGRAPH_H
#define HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_PAIRWISEGRAPH_H

#include "lib/transforms/nest/layout/PairwiseChoice.h"

#include <cstddef>
#include <limits>

namespace heddle::nest::pairwise {

using std::size_t;
using Costs = std::vector<double>;
inline constexpr double infinite = std::numeric_limits<double>::infinity();

unsigned leastOf(const Costs &costs);

struct Graph {
  struct Unknown {
    unsigned id = 0;               ///< in the problem
    std::vector<unsigned> labels;  ///< in the problem; empty: the unknown is removed
    Costs own;                     ///< of each label
    std::vector<unsigned> edges{}; ///< in the order in which they were added
  };
  struct Edge {
    unsigned a, b;
    Costs cost; ///< by label of a, then of b
  };
  /// The costs of an edge by label of one end, then of the other one.
  struct View {
    double *cost;
    size_t row, column;
    double &operator()(size_t i, size_t j) const { return cost[i * row + j * column]; }
  };

  std::vector<Unknown> unknowns;
  std::vector<Edge> edges;
  double fixed = 0; ///< cost of what is removed

  Graph() = default;
  explicit Graph(const PairwiseProblem &problem);

  bool has(unsigned u) const { return !unknowns[u].own.empty(); }
  size_t size(unsigned u) const { return unknowns[u].own.size(); }
  unsigned other(unsigned e, unsigned u) const { return edges[e].a == u ? edges[e].b : edges[e].a; }
  View view(unsigned e, unsigned u);

  /// Adds to the costs of a pair, by label of a, then of b.
  void add(unsigned a, unsigned b, const Costs &cost);
  /// Removes an unknown and its edges.
  void erase(unsigned u);
  /// Removes all labels of `u` but these, given by number in ascending order.
  void keep(unsigned u, const std::vector<unsigned> &kept);

  /// `chosen` has a label, by number, for each unknown.
  double costOf(const std::vector<unsigned> &chosen);
  /// Changes one unknown at a time while that reduces the cost.
  void improve(std::vector<unsigned> &chosen);

  /// Unknowns that are connected with `first`, nearest first. Marks them as `seen`.
  std::vector<unsigned> partOf(unsigned first, std::vector<bool> &seen) const;
  /// The graph of one part; costs of what is removed stay behind.
  Graph extract(const std::vector<unsigned> &part) const;
};

class Trail {
public:
  /// Removes an unknown with at most two neighbours: its minimum cost becomes a cost of these.
  int64_t eliminate(Graph &graph, unsigned u);
  /// Removes an unknown that has a label.
  void fix(Graph &graph, unsigned u, unsigned label);
  /// Chooses the labels of all removed unknowns, given those of the rest; by id.
  void choose(std::vector<unsigned> &labels) const;

private:
  struct Entry {
    struct Pair {
      unsigned id;
      std::vector<unsigned> labels;
      Costs cost; ///< by label of the entry, then of `id`
    };
    unsigned id;
    std::vector<unsigned> labels;
    Costs own;
    std::vector<Pair> pairs{};
  };
  std::vector<Entry> entries;
};

/// Removes unknowns with at most two neighbours, and labels that cost at least as much as another
/// one whatever the neighbours' labels are, until there are none.
int64_t reduce(Graph &graph, Trail &trail);

/// Sequential reweighted message passing (Kolmogorov 2015): an unknown collects what its pairs cost
/// at least, and distributes its excess over its minimum cost to the pairs with unknowns that come
/// later. The sum of all minimum costs is a lower bound, and does not fall.
class Dual {
public:
  explicit Dual(Graph &graph);

  std::vector<unsigned> order; ///< in which unknowns are visited

  double bound() const;
  /// A pass there and one back.
  int64_t sweep();
  /// Sweeps until the bound grows by less than a hundred-thousandth, or for that many steps.
  double raise(int64_t &steps);
  /// Removes labels that cost more than `excess` above the minimum cost of their unknown. Returns
  /// false if there are none.
  bool dropAbove(double excess, int64_t &steps);

private:
  Graph &graph;
  std::vector<size_t> place; ///< in `order`

  int64_t collect(unsigned u);
  int64_t distribute(unsigned u, bool forward);
};

/// Removes one unknown after the other: a table has the least cost of what is removed, by labels of
/// its neighbours. They are removed in an order that keeps tables small.
class Tables {
public:
  explicit Tables(Graph &graph);

  /// The number of steps that `solve` takes.
  double steps = 0;
  /// The label of each unknown, by number, of the cheapest choice.
  std::vector<unsigned> solve();

private:
  struct Table {
    std::vector<unsigned> unknowns; ///< the last one varies fastest
    Costs cost;
  };
  struct Removed {
    unsigned unknown;
    std::vector<unsigned> neighbours;  ///< at that time
    std::vector<unsigned char> labels; ///< the cheapest ones, by labels of the neighbours
  };
  Graph &graph;
  std::vector<Removed> order;

  static constexpr double mostEntries = 1 << 22; ///< of one table
  Table remove(Removed &removed, const std::vector<Table> &parts);
};

} // namespace heddle::nest::pairwise

#endif // HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_PAIRWISEGRAPH_H
