//===- PairwiseDual.cpp - lower bounds of a pairwise problem --------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/layout/PairwiseGraph.h"

#include <algorithm>
#include <cmath>

using namespace heddle::nest;
using namespace heddle::nest::pairwise;

Dual::Dual(Graph &graph) : graph(graph), place(graph.unknowns.size()) {
  std::vector<bool> seen(graph.unknowns.size());
  for (unsigned u = 0; u < graph.unknowns.size(); ++u)
    if (!seen[u] && graph.has(u))
      for (unsigned each : graph.partOf(u, seen))
        order.push_back(each);
  for (size_t i = 0; i < order.size(); ++i)
    place[order[i]] = i;
}

double Dual::bound() const {
  double sum = graph.fixed;
  for (unsigned u : order)
    sum += graph.unknowns[u].own[leastOf(graph.unknowns[u].own)];
  return sum;
}

int64_t Dual::collect(unsigned u) {
  Costs &own = graph.unknowns[u].own;
  int64_t steps = 0;
  for (unsigned e : graph.unknowns[u].edges) {
    Graph::View pair = graph.view(e, u);
    size_t m = graph.size(graph.other(e, u));
    for (size_t i = 0; i < own.size(); ++i) {
      double least = infinite;
      for (size_t j = 0; j < m; ++j)
        least = std::min(least, pair(i, j));
      for (size_t j = 0; j < m; ++j)
        pair(i, j) -= least;
      own[i] += least;
    }
    steps += int64_t(2 * own.size() * m);
  }
  return steps;
}

int64_t Dual::distribute(unsigned u, bool forward) {
  Graph::Unknown &unknown = graph.unknowns[u];
  auto isAhead = [&](unsigned e) { return (place[graph.other(e, u)] > place[u]) == forward; };
  auto ahead = size_t(std::count_if(unknown.edges.begin(), unknown.edges.end(), isAhead));
  if (ahead == 0)
    return 0;
  int64_t steps = 0;
  double share = 1 / double(std::max(ahead, unknown.edges.size() - ahead));
  double least = unknown.own[leastOf(unknown.own)];
  for (unsigned e : unknown.edges) {
    if (!isAhead(e))
      continue;
    Graph::View pair = graph.view(e, u);
    size_t m = graph.size(graph.other(e, u));
    for (size_t i = 0; i < unknown.own.size(); ++i)
      for (size_t j = 0; j < m; ++j)
        pair(i, j) += share * (unknown.own[i] - least);
    steps += int64_t(unknown.own.size() * m);
  }
  for (double &cost : unknown.own)
    cost = least + (1 - double(ahead) * share) * (cost - least);
  return steps;
}

int64_t Dual::sweep() {
  int64_t steps = 0;
  for (unsigned u : order)
    steps += collect(u) + distribute(u, /*forward=*/true);
  for (auto it = order.rbegin(); it != order.rend(); ++it)
    steps += collect(*it) + distribute(*it, /*forward=*/false);
  return steps;
}

double Dual::raise(int64_t &steps) {
  steps -= sweep(); // at least one, since the bound holds if no pair has negative costs
  double least = bound();
  for (int round = 0; round < 60 && steps > 0; ++round) {
    steps -= sweep();
    double before = least;
    least = std::max(least, bound());
    if (least - before <= 1e-5 * std::abs(least))
      break;
  }
  return least;
}

bool Dual::dropAbove(double excess, int64_t &steps) {
  bool any = false;
  for (unsigned u : order) {
    steps -= collect(u);
    const Costs &own = graph.unknowns[u].own;
    double least = own[leastOf(own)];
    std::vector<unsigned> kept;
    for (unsigned i = 0; i < own.size(); ++i)
      if (own[i] - least <= excess)
        kept.push_back(i);
    if (kept.size() < own.size()) {
      any = true;
      graph.keep(u, kept);
    }
    steps -= distribute(u, /*forward=*/true);
  }
  return any;
}
