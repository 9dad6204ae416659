//===- LayoutChooser.cpp - solves the choice of layouts -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/LayoutChooser.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

using namespace heddle;
using namespace heddle::nest;

double nest::choiceCost(const LayoutProblem &problem, const LayoutChoice &choice) {
  double cost = 0;
  for (size_t v = 0; v < problem.values.size(); ++v)
    cost += problem.values[v].cost[choice.layouts[v]];
  for (size_t n = 0; n < problem.nests.size(); ++n)
    cost += problem.nests[n].ways[choice.ways[n]].cost;
  for (const LayoutTerm &term : problem.terms)
    cost += problem.termCost(term, choice.ways[term.nest], choice.layouts[term.value]);
  return cost;
}

namespace {
using Costs = std::vector<double>;

unsigned leastOf(const Costs &costs) {
  return unsigned(std::min_element(costs.begin(), costs.end()) - costs.begin());
}

/// Unknowns with costs, and costs of pairs: `pair(a, b)[i * |b| + j]` with a < b.
class Graph {
public:
  std::vector<Costs> own;
  std::vector<std::map<unsigned, Costs>> pairs; ///< by unknown and neighbour

  explicit Graph(const LayoutProblem &problem) {
    for (const LaidValue &value : problem.values)
      own.push_back(value.cost);
    for (const LaidNest &nest : problem.nests) {
      own.emplace_back();
      for (const NestWay &way : nest.ways)
        own.back().push_back(way.cost);
    }
    pairs.resize(own.size());
    for (const LayoutTerm &term : problem.terms)
      add(unsigned(problem.values.size()) + term.nest, term.value, term.cost);
  }

  void add(unsigned a, unsigned b, const Costs &costs) {
    Costs &forth = pairs[a].try_emplace(b, Costs(costs.size())).first->second;
    Costs &back = pairs[b].try_emplace(a, Costs(costs.size())).first->second;
    size_t n = own[a].size(), m = own[b].size();
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < m; ++j) {
        forth[i * m + j] += costs[i * m + j];
        back[j * n + i] += costs[i * m + j];
      }
  }

  void erase(unsigned a) {
    for (auto &[b, costs] : pairs[a])
      pairs[b].erase(a);
    pairs[a].clear();
  }
};

class Reducer {
public:
  explicit Reducer(const Graph &graph) : whole(graph), graph(graph), choice(graph.own.size()) {}

  std::vector<unsigned> run() {
    // Sorted by the number of neighbours.
    std::set<std::pair<size_t, unsigned>> left;
    auto keyOf = [&](unsigned u) { return std::pair(graph.pairs[u].size(), u); };
    for (unsigned u = 0; u < graph.own.size(); ++u)
      left.insert(keyOf(u));
    while (!left.empty()) {
      auto [least, next] = *left.begin();
      bool easy = least <= 2;
      if (!easy)
        next = left.lower_bound({left.rbegin()->first, 0})->second;
      left.erase(keyOf(next));
      std::vector<unsigned> touched;
      for (const auto &[v, pair] : graph.pairs[next]) {
        touched.push_back(v);
        left.erase(keyOf(v));
      }
      if (easy)
        eliminate(next);
      else
        fix(next);
      for (unsigned v : touched)
        left.insert(keyOf(v));
    }
    for (auto it = order.rbegin(); it != order.rend(); ++it)
      choose(*it);
    improve();
    return choice;
  }

private:
  const Graph &whole;
  Graph graph;
  std::vector<unsigned> choice;
  struct Eliminated {
    unsigned unknown;
    Costs own;
    std::map<unsigned, Costs> pairs;
  };
  std::vector<Eliminated> order;

  /// Eliminates an unknown: its minimum cost becomes a cost of its neighbours.
  void eliminate(unsigned u) {
    order.push_back({u, graph.own[u], graph.pairs[u]});
    auto neighbours = graph.pairs[u];
    const Costs own = graph.own[u];
    graph.erase(u);
    if (neighbours.empty())
      return;
    unsigned a = neighbours.begin()->first, b = neighbours.rbegin()->first;
    const Costs &toA = neighbours.begin()->second, &toB = neighbours.rbegin()->second;
    size_t n = graph.own[a].size(), m = graph.own[b].size();
    if (neighbours.size() == 1) {
      for (size_t i = 0; i < n; ++i) {
        double least = std::numeric_limits<double>::infinity();
        for (size_t k = 0; k < own.size(); ++k)
          least = std::min(least, own[k] + toA[k * n + i]);
        graph.own[a][i] += least;
      }
      return;
    }
    Costs joint(n * m);
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < m; ++j) {
        double least = std::numeric_limits<double>::infinity();
        for (size_t k = 0; k < own.size(); ++k)
          least = std::min(least, own[k] + toA[k * n + i] + toB[k * m + j]);
        joint[i * m + j] = least;
      }
    graph.add(a, b, joint);
  }

  void fix(unsigned u) {
    Costs costs = graph.own[u];
    for (auto &[v, pair] : graph.pairs[u]) {
      size_t m = graph.own[v].size();
      for (size_t i = 0; i < costs.size(); ++i) {
        double least = std::numeric_limits<double>::infinity();
        for (size_t j = 0; j < m; ++j)
          least = std::min(least, pair[i * m + j] + graph.own[v][j]);
        costs[i] += least;
      }
    }
    unsigned best = leastOf(costs);
    for (auto &[v, pair] : graph.pairs[u])
      for (size_t j = 0; j < graph.own[v].size(); ++j)
        graph.own[v][j] += pair[best * graph.own[v].size() + j];
    graph.erase(u);
    Costs only(costs.size(), std::numeric_limits<double>::infinity());
    only[best] = 0;
    order.push_back({u, only, {}});
  }

  void choose(const Eliminated &eliminated) {
    Costs costs = eliminated.own;
    for (auto &[v, pair] : eliminated.pairs) {
      size_t m = whole.own[v].size();
      for (size_t i = 0; i < costs.size(); ++i)
        costs[i] += pair[i * m + choice[v]];
    }
    choice[eliminated.unknown] = leastOf(costs);
  }

  /// Changes one unknown at a time while that reduces the cost.
  void improve() {
    bool changed = true;
    for (int round = 0; round < 20 && changed; ++round) {
      changed = false;
      for (unsigned u = 0; u < whole.own.size(); ++u) {
        Costs costs = whole.own[u];
        for (auto &[v, pair] : whole.pairs[u])
          for (size_t i = 0; i < costs.size(); ++i)
            costs[i] += pair[i * whole.own[v].size() + choice[v]];
        unsigned best = leastOf(costs);
        if (costs[best] < costs[choice[u]] * (1 - 1e-9)) {
          choice[u] = best;
          changed = true;
        }
      }
    }
  }
};

class ReducingChooser : public LayoutChooser {
public:
  LayoutChoice choose(const LayoutProblem &problem) const override {
    Graph graph(problem);
    std::vector<unsigned> chosen = Reducer(graph).run();
    LayoutChoice choice;
    auto middle = chosen.begin() + long(problem.values.size());
    choice.layouts.assign(chosen.begin(), middle);
    choice.ways.assign(middle, chosen.end());
    choice.cost = choiceCost(problem, choice);
    return choice;
  }
};
} // namespace

/// Shifts costs from pairs to their unknowns and back, so that the minimum cost of each unknown
/// grows. Costs in pairs never become negative.
double nest::lowerBound(const LayoutProblem &problem) {
  std::vector<Costs> own;
  for (const LaidValue &value : problem.values)
    own.push_back(value.cost);
  size_t offset = own.size();
  for (const LaidNest &nest : problem.nests) {
    own.emplace_back();
    for (const NestWay &way : nest.ways)
      own.back().push_back(way.cost);
  }
  std::vector<Costs> pair;
  std::vector<unsigned> degree(own.size());
  for (const LayoutTerm &term : problem.terms) {
    pair.push_back(term.cost);
    ++degree[offset + term.nest];
    ++degree[term.value];
  }
  double best = 0;
  for (int round = 0; round < 30; ++round) {
    for (size_t t = 0; t < pair.size(); ++t) {
      Costs &a = own[offset + problem.terms[t].nest], &b = own[problem.terms[t].value];
      size_t n = a.size(), m = b.size();
      for (size_t i = 0; i < n; ++i) {
        double least = *std::min_element(&pair[t][i * m], &pair[t][i * m] + m);
        for (size_t j = 0; j < m; ++j)
          pair[t][i * m + j] -= least;
        a[i] += least;
      }
      for (size_t j = 0; j < m; ++j) {
        double least = std::numeric_limits<double>::infinity();
        for (size_t i = 0; i < n; ++i)
          least = std::min(least, pair[t][i * m + j]);
        for (size_t i = 0; i < n; ++i)
          pair[t][i * m + j] -= least;
        b[j] += least;
      }
    }
    double sum = 0;
    for (const Costs &costs : own)
      sum += *std::min_element(costs.begin(), costs.end());
    best = std::max(best, sum);
    // An unknown distributes the excess over its minimum cost among its pairs, for other unknowns
    // to use.
    for (size_t t = 0; t < pair.size(); ++t) {
      size_t a = offset + problem.terms[t].nest, b = problem.terms[t].value;
      size_t n = own[a].size(), m = own[b].size();
      double leastA = *std::min_element(own[a].begin(), own[a].end());
      double leastB = *std::min_element(own[b].begin(), own[b].end());
      for (size_t i = 0; i < n; ++i) {
        double share = (own[a][i] - leastA) / degree[a];
        own[a][i] -= share;
        for (size_t j = 0; j < m; ++j)
          pair[t][i * m + j] += share;
      }
      for (size_t j = 0; j < m; ++j) {
        double share = (own[b][j] - leastB) / degree[b];
        own[b][j] -= share;
        for (size_t i = 0; i < n; ++i)
          pair[t][i * m + j] += share;
      }
    }
  }
  return best * (1 - 1e-9); // margin for rounding
}

std::unique_ptr<LayoutChooser> nest::createReducingChooser() {
  return std::make_unique<ReducingChooser>();
}
