//===- PairwiseGraph.cpp - a pairwise problem that shrinks ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/layout/PairwiseGraph.h"

#include <algorithm>
#include <cassert>

using namespace heddle::nest;
using namespace heddle::nest::pairwise;

unsigned pairwise::leastOf(const Costs &costs) {
  return unsigned(std::min_element(costs.begin(), costs.end()) - costs.begin());
}

//===----------------------------------------------------------------------===//
// Graph
//===----------------------------------------------------------------------===//

Graph::Graph(const PairwiseProblem &problem) {
  for (const Costs &costs : problem.costs) {
    Unknown &made = unknowns.emplace_back(Unknown{unsigned(unknowns.size()), {}, costs});
    for (unsigned i = 0; i < costs.size(); ++i)
      made.labels.push_back(i);
  }
  for (const PairwiseProblem::Pair &pair : problem.pairs)
    add(pair.a, pair.b, pair.cost);
}

Graph::View Graph::view(unsigned e, unsigned u) {
  size_t columns = size(edges[e].b);
  return edges[e].a == u ? View{edges[e].cost.data(), columns, 1}
                         : View{edges[e].cost.data(), 1, columns};
}

void Graph::add(unsigned a, unsigned b, const Costs &cost) {
  for (unsigned e : unknowns[a].edges)
    if (other(e, a) == b) {
      View to = view(e, a);
      for (size_t i = 0; i < size(a); ++i)
        for (size_t j = 0; j < size(b); ++j)
          to(i, j) += cost[i * size(b) + j];
      return;
    }
  unknowns[a].edges.push_back(unsigned(edges.size()));
  unknowns[b].edges.push_back(unsigned(edges.size()));
  edges.push_back({a, b, cost});
}

void Graph::erase(unsigned u) {
  for (unsigned e : unknowns[u].edges) {
    std::erase(unknowns[other(e, u)].edges, e);
    edges[e].cost.clear();
  }
  unknowns[u] = {unknowns[u].id, {}, {}};
}

void Graph::keep(unsigned u, const std::vector<unsigned> &kept) {
  for (unsigned e : unknowns[u].edges) {
    size_t m = size(other(e, u));
    bool isFirst = edges[e].a == u;
    View from = view(e, u);
    Costs left(kept.size() * m);
    for (size_t i = 0; i < kept.size(); ++i)
      for (size_t j = 0; j < m; ++j)
        left[isFirst ? i * m + j : j * kept.size() + i] = from(kept[i], j);
    edges[e].cost = std::move(left);
  }
  Unknown &unknown = unknowns[u];
  for (size_t i = 0; i < kept.size(); ++i) {
    unknown.own[i] = unknown.own[kept[i]];
    unknown.labels[i] = unknown.labels[kept[i]];
  }
  unknown.own.resize(kept.size());
  unknown.labels.resize(kept.size());
}

double Graph::costOf(const std::vector<unsigned> &chosen) {
  double cost = fixed;
  for (unsigned u = 0; u < unknowns.size(); ++u) {
    if (!has(u))
      continue;
    cost += unknowns[u].own[chosen[u]];
    for (unsigned e : unknowns[u].edges)
      if (edges[e].a == u)
        cost += view(e, u)(chosen[u], chosen[edges[e].b]);
  }
  return cost;
}

void Graph::improve(std::vector<unsigned> &chosen) {
  bool changed = true;
  for (int round = 0; round < 20 && changed; ++round) {
    changed = false;
    for (unsigned u = 0; u < unknowns.size(); ++u) {
      if (!has(u))
        continue;
      Costs costs = unknowns[u].own;
      for (unsigned e : unknowns[u].edges) {
        View pair = view(e, u);
        for (size_t i = 0; i < costs.size(); ++i)
          costs[i] += pair(i, chosen[other(e, u)]);
      }
      unsigned best = leastOf(costs);
      if (costs[best] < costs[chosen[u]] * (1 - 1e-9)) {
        chosen[u] = best;
        changed = true;
      }
    }
  }
}

std::vector<unsigned> Graph::partOf(unsigned first, std::vector<bool> &seen) const {
  std::vector<unsigned> part{first};
  seen[first] = true;
  for (size_t i = 0; i < part.size(); ++i)
    for (unsigned e : unknowns[part[i]].edges)
      if (unsigned v = other(e, part[i]); !seen[v]) {
        seen[v] = true;
        part.push_back(v);
      }
  return part;
}

Graph Graph::extract(const std::vector<unsigned> &part) const {
  Graph made;
  std::vector<unsigned> numbers(unknowns.size());
  for (unsigned u : part) {
    numbers[u] = unsigned(made.unknowns.size());
    made.unknowns.push_back(unknowns[u]);
    made.unknowns.back().edges.clear();
  }
  for (unsigned u : part)
    for (unsigned e : unknowns[u].edges)
      if (edges[e].a == u)
        made.add(numbers[u], numbers[edges[e].b], edges[e].cost);
  return made;
}

//===----------------------------------------------------------------------===//
// Trail
//===----------------------------------------------------------------------===//

int64_t Trail::eliminate(Graph &graph, unsigned u) {
  const Graph::Unknown unknown = graph.unknowns[u];
  size_t k = unknown.own.size();
  Entry entry{unknown.id, unknown.labels, unknown.own};
  for (unsigned e : unknown.edges) {
    const Graph::Unknown &neighbour = graph.unknowns[graph.other(e, u)];
    Entry::Pair pair{neighbour.id, neighbour.labels, {}};
    for (size_t i = 0; i < k; ++i)
      for (size_t j = 0; j < neighbour.own.size(); ++j)
        pair.cost.push_back(graph.view(e, u)(i, j));
    entry.pairs.push_back(std::move(pair));
  }
  if (unknown.edges.empty()) {
    graph.fixed += unknown.own[leastOf(unknown.own)];
    graph.erase(u);
    entries.push_back(std::move(entry));
    return int64_t(k);
  }
  unsigned a = graph.other(unknown.edges[0], u), b = graph.other(unknown.edges.back(), u);
  bool isLeaf = a == b;
  size_t n = graph.size(a), m = isLeaf ? 1 : graph.size(b);
  const Costs &toA = entry.pairs.front().cost, &toB = entry.pairs.back().cost;
  Costs joint(n * m, infinite);
  for (size_t l = 0; l < k; ++l)
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < m; ++j)
        joint[i * m + j] = std::min(joint[i * m + j], unknown.own[l] + toA[l * n + i] +
                                                          (isLeaf ? 0 : toB[l * m + j]));
  graph.erase(u);
  if (isLeaf)
    for (size_t i = 0; i < n; ++i)
      graph.unknowns[a].own[i] += joint[i];
  else
    graph.add(a, b, joint);
  entries.push_back(std::move(entry));
  return int64_t(k * n * m);
}

void Trail::fix(Graph &graph, unsigned u, unsigned label) {
  Graph::Unknown &unknown = graph.unknowns[u];
  entries.push_back({unknown.id, {unknown.labels[label]}, {0}});
  graph.fixed += unknown.own[label];
  for (unsigned e : unknown.edges) {
    Costs &costs = graph.unknowns[graph.other(e, u)].own;
    for (size_t j = 0; j < costs.size(); ++j)
      costs[j] += graph.view(e, u)(label, j);
  }
  graph.erase(u);
}

void Trail::choose(std::vector<unsigned> &labels) const {
  for (auto it = entries.rbegin(); it != entries.rend(); ++it) {
    Costs costs = it->own;
    for (const Entry::Pair &pair : it->pairs) {
      auto found = std::find(pair.labels.begin(), pair.labels.end(), labels[pair.id]);
      assert(found != pair.labels.end() && "expected a label that the neighbour had");
      size_t j = size_t(found - pair.labels.begin());
      for (size_t i = 0; i < costs.size(); ++i)
        costs[i] += pair.cost[i * pair.labels.size() + j];
    }
    labels[it->id] = it->labels[leastOf(costs)];
  }
}

//===----------------------------------------------------------------------===//
// Reduction
//===----------------------------------------------------------------------===//

/// True if label `i` of `u` costs at least as much as label `by`, whatever the neighbours' labels.
static bool isReplaced(Graph &graph, unsigned u, size_t i, size_t other, int64_t &steps) {
  double more = graph.unknowns[u].own[i] - graph.unknowns[u].own[other];
  for (unsigned e : graph.unknowns[u].edges) {
    Graph::View pair = graph.view(e, u);
    size_t m = graph.size(graph.other(e, u));
    double least = infinite;
    for (size_t j = 0; j < m; ++j)
      least = std::min(least, pair(i, j) - pair(other, j));
    more += least;
    steps += int64_t(m);
  }
  return more >= 0;
}

static bool dropReplaced(Graph &graph, unsigned u, int64_t &steps) {
  size_t n = graph.size(u);
  std::vector<bool> gone(n);
  for (size_t i = 0; i < n; ++i)
    for (size_t other = 0; other < n && !gone[i]; ++other)
      gone[i] = other != i && !gone[other] && isReplaced(graph, u, i, other, steps);
  std::vector<unsigned> kept;
  for (unsigned i = 0; i < n; ++i)
    if (!gone[i])
      kept.push_back(i);
  if (kept.size() == n)
    return false;
  graph.keep(u, kept);
  return true;
}

int64_t pairwise::reduce(Graph &graph, Trail &trail) {
  int64_t steps = 0;
  std::vector<bool> changed(graph.unknowns.size(), true);
  for (bool any = true; any;) {
    any = false;
    for (unsigned u = 0; u < graph.unknowns.size(); ++u) {
      if (!changed[u] || !graph.has(u))
        continue;
      changed[u] = false;
      bool goes = graph.size(u) == 1 || graph.unknowns[u].edges.size() <= 2;
      if (!goes && !dropReplaced(graph, u, steps))
        continue;
      any = changed[u] = true;
      for (unsigned e : graph.unknowns[u].edges)
        changed[graph.other(e, u)] = true;
      if (goes && graph.size(u) == 1)
        trail.fix(graph, u, 0);
      else if (goes)
        steps += trail.eliminate(graph, u);
    }
  }
  return steps;
}
