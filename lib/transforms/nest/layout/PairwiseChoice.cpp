//===- PairwiseChoice.cpp - choices whose costs couple pairs --------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/layout/PairwiseGraph.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

using namespace heddle::nest;
using namespace heddle::nest::pairwise;

double PairwiseProblem::costOf(const std::vector<unsigned> &labels) const {
  double cost = 0;
  for (size_t u = 0; u < costs.size(); ++u)
    cost += costs[u][labels[u]];
  for (const Pair &pair : pairs)
    cost += pair.cost[labels[pair.a] * costs[pair.b].size() + labels[pair.b]];
  return cost;
}

/// Differences below this part of a cost come from the order of additions.
static constexpr double rounding = 1e-9;

/// The least gain of a label over that of the quick choice, as a part of the cost.
static constexpr double leastGain = 1e-7;

static bool isBelow(double a, double b) { return a < b - rounding * std::abs(b); }

//===----------------------------------------------------------------------===//
// A quick choice
//===----------------------------------------------------------------------===//

/// The label with the least cost if each neighbour had its best one.
static unsigned likelyLabel(Graph &graph, unsigned u) {
  Costs costs = graph.unknowns[u].own;
  for (unsigned e : graph.unknowns[u].edges) {
    Graph::View pair = graph.view(e, u);
    const Costs &own = graph.unknowns[graph.other(e, u)].own;
    for (size_t i = 0; i < costs.size(); ++i) {
      double best = infinite;
      for (size_t j = 0; j < own.size(); ++j)
        best = std::min(best, pair(i, j) + own[j]);
      costs[i] += best;
    }
  }
  return leastOf(costs);
}

/// Removes unknowns with at most two neighbours; if there is none, the one with the most neighbours
/// gets its likely label. Returns labels by number.
static std::vector<unsigned> quickChoice(Graph whole) {
  for (unsigned u = 0; u < whole.unknowns.size(); ++u) {
    whole.unknowns[u].id = u;
    std::iota(whole.unknowns[u].labels.begin(), whole.unknowns[u].labels.end(), 0);
  }
  Graph graph = whole;
  Trail trail;
  std::set<std::pair<size_t, unsigned>> left; // by the number of neighbours
  auto keyOf = [&](unsigned u) { return std::pair(graph.unknowns[u].edges.size(), u); };
  for (unsigned u = 0; u < graph.unknowns.size(); ++u)
    left.insert(keyOf(u));
  while (!left.empty()) {
    auto [least, next] = *left.begin();
    if (least > 2)
      next = left.lower_bound({left.rbegin()->first, 0})->second;
    left.erase(keyOf(next));
    std::vector<unsigned> touched;
    for (unsigned e : graph.unknowns[next].edges) {
      touched.push_back(graph.other(e, next));
      left.erase(keyOf(touched.back()));
    }
    if (least > 2)
      trail.fix(graph, next, likelyLabel(graph, next));
    else
      trail.eliminate(graph, next);
    for (unsigned v : touched)
      left.insert(keyOf(v));
  }
  std::vector<unsigned> labels(whole.unknowns.size());
  trail.choose(labels);
  whole.improve(labels);
  return labels;
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

namespace {
class Search {
public:
  Search(size_t unknowns, int64_t steps) : labels(unknowns), left(steps) {}

  struct Found {
    double cost = infinite, bound = 0;
    std::vector<std::pair<unsigned, unsigned>> labels{}; ///< by id of each unknown
    std::vector<unsigned> open{}; ///< ids of the parts whose bounds are below their costs
  };

  /// Returns a choice of all unknowns: the cheapest one, unless that costs at least `most` or the
  /// steps are used up. The bound holds for all choices that cost less than `most`.
  Found run(Graph graph, double most) {
    std::vector<unsigned> ids;
    for (unsigned u = 0; u < graph.unknowns.size(); ++u)
      if (graph.has(u))
        ids.push_back(graph.unknowns[u].id);
    Trail trail;
    left -= reduce(graph, trail);
    Found found = ofParts(graph, most);
    for (auto [id, label] : found.labels)
      labels[id] = label;
    trail.choose(labels);
    found.labels.clear();
    for (unsigned id : ids)
      found.labels.emplace_back(id, labels[id]);
    return found;
  }

private:
  std::vector<unsigned> labels; ///< by id
  int64_t left;                 ///< steps

  /// Chooses in each part that shares no pair with the others.
  Found ofParts(Graph &graph, double most) {
    std::vector<bool> seen(graph.unknowns.size());
    std::vector<Graph> parts;
    for (unsigned u = 0; u < graph.unknowns.size(); ++u)
      if (!seen[u] && graph.has(u))
        parts.push_back(graph.extract(graph.partOf(u, seen)));
    Found found{graph.fixed, graph.fixed};
    std::vector<double> bounds;
    for (Graph &part : parts) {
      bounds.push_back(Dual(part).raise(left));
      found.bound += bounds.back();
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      Found each = ofPart(parts[i], most - (found.bound - bounds[i]), bounds[i]);
      found.cost += each.cost;
      found.bound += each.bound - bounds[i];
      found.labels.insert(found.labels.end(), each.labels.begin(), each.labels.end());
      if (isBelow(each.bound, each.cost))
        for (const Graph::Unknown &unknown : parts[i].unknowns)
          found.open.push_back(unknown.id);
    }
    std::sort(found.open.begin(), found.open.end());
    return found;
  }

  static Found foundIn(Graph &graph, const std::vector<unsigned> &chosen, double bound) {
    Found found{graph.costOf(chosen), bound};
    for (unsigned u = 0; u < chosen.size(); ++u)
      if (graph.has(u))
        found.labels.emplace_back(graph.unknowns[u].id, graph.unknowns[u].labels[chosen[u]]);
    return found;
  }

  /// Chooses in a connected part. The costs of `graph` are shifted, so that `bound` is known.
  Found ofPart(Graph &graph, double most, double bound) {
    Found best = foundIn(graph, quickChoice(graph), bound);
    most = std::min(most, best.cost);
    if (!isBelow(bound, most) || left <= 0)
      return best;
    auto take = [&](Found found) {
      if (isBelow(found.cost, best.cost)) {
        best.cost = found.cost;
        best.labels = std::move(found.labels);
      }
    };
    // Drop labels that alone cost more than the best choice so far.
    if (Dual(graph).dropAbove((most - bound) * (1 + rounding), left)) {
      Found found = run(graph, most);
      best.bound = std::max(bound, std::min(found.bound, most));
      take(std::move(found));
      return best;
    }
    if (Tables tables(graph); tables.steps <= double(left)) {
      left -= int64_t(tables.steps);
      Found found = foundIn(graph, tables.solve(), 0);
      best.bound = std::max(bound, std::min(found.cost, best.cost));
      take(std::move(found));
      return best;
    }
    return branch(graph, most, bound, std::move(best));
  }

  /// Tries all labels of the unknown with the most neighbours.
  Found branch(Graph &graph, double most, double bound, Found best) {
    unsigned u = 0;
    for (unsigned v = 1; v < graph.unknowns.size(); ++v)
      if (graph.unknowns[v].edges.size() > graph.unknowns[u].edges.size())
        u = v;
    std::vector<unsigned> order(graph.size(u));
    std::iota(order.begin(), order.end(), 0);
    const Costs own = graph.unknowns[u].own;
    std::sort(order.begin(), order.end(),
              [&](unsigned a, unsigned b) { return std::pair(own[a], a) < std::pair(own[b], b); });
    double least = infinite;
    for (unsigned i : order) {
      Graph child = graph;
      Trail().fix(child, u, i);
      Found found = run(std::move(child), most);
      least = std::min(least, found.bound);
      if (!isBelow(found.cost, best.cost))
        continue;
      best.cost = found.cost;
      best.labels = std::move(found.labels);
      best.labels.emplace_back(graph.unknowns[u].id, graph.unknowns[u].labels[i]);
      most = std::min(most, best.cost);
    }
    best.bound = std::max(bound, std::min(least, most));
    return best;
  }
};
} // namespace

PairwiseChoice heddle::nest::solve(const PairwiseProblem &problem, int64_t steps) {
  Graph graph(problem);
  PairwiseChoice choice{quickChoice(graph), 0, 0};
  choice.cost = problem.costOf(choice.labels);
  // Where labels cost the same, those of the quick choice stay.
  double fee = leastGain * choice.cost, fees = 0;
  for (Graph::Unknown &unknown : graph.unknowns)
    if (unknown.own.size() > 1) {
      for (double &cost : unknown.own)
        cost += fee;
      unknown.own[choice.labels[unknown.id]] -= fee;
      fees += fee;
    }
  Search::Found found = Search(problem.costs.size(), steps).run(std::move(graph), choice.cost);
  std::vector<unsigned> labels = choice.labels;
  for (auto [u, label] : found.labels)
    labels[u] = label;
  if (double cost = problem.costOf(labels); isBelow(cost, choice.cost)) {
    choice.labels = std::move(labels);
    choice.cost = cost;
  }
  choice.bound = std::min(found.bound - fees, choice.cost);
  choice.open = std::move(found.open);
  return choice;
}
