//===- PairwiseTables.cpp - exact choices by tables -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/layout/PairwiseGraph.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

using namespace heddle::nest;
using namespace heddle::nest::pairwise;

/// Orders unknowns: next is the one whose removal connects the fewest labels that are not connected
/// yet.
Tables::Tables(Graph &graph) : graph(graph) {
  std::vector<std::set<unsigned>> adjacent(graph.unknowns.size());
  for (unsigned u = 0; u < graph.unknowns.size(); ++u)
    for (unsigned e : graph.unknowns[u].edges)
      adjacent[u].insert(graph.other(e, u));
  auto entriesOf = [&](unsigned u) {
    double entries = 1;
    for (unsigned v : adjacent[u])
      entries *= double(graph.size(v));
    return entries;
  };
  auto keyOf = [&](unsigned u) {
    double missing = 0;
    for (auto a = adjacent[u].begin(); a != adjacent[u].end(); ++a)
      for (auto b = std::next(a); b != adjacent[u].end(); ++b)
        if (!adjacent[*a].count(*b))
          missing += double(graph.size(*a) * graph.size(*b));
    return std::tuple(missing, entriesOf(u), u);
  };
  std::set<std::tuple<double, double, unsigned>> left;
  std::vector<std::tuple<double, double, unsigned>> keys(graph.unknowns.size());
  for (unsigned u = 0; u < graph.unknowns.size(); ++u)
    if (graph.has(u))
      left.insert(keys[u] = keyOf(u));
  while (!left.empty() && steps < infinite) {
    unsigned u = std::get<unsigned>(*left.begin());
    left.erase(left.begin());
    double entries = entriesOf(u);
    steps += entries * double(graph.size(u)) * double(1 + adjacent[u].size());
    if (entries > mostEntries)
      steps = infinite;
    order.push_back({u, {adjacent[u].begin(), adjacent[u].end()}, {}});
    std::set<unsigned> changed = adjacent[u];
    for (unsigned a : adjacent[u]) {
      adjacent[a].insert(adjacent[u].begin(), adjacent[u].end());
      adjacent[a].erase(a);
      adjacent[a].erase(u);
    }
    for (unsigned a : adjacent[u])
      changed.insert(adjacent[a].begin(), adjacent[a].end());
    for (unsigned v : changed) {
      left.erase(keys[v]);
      left.insert(keys[v] = keyOf(v));
    }
    adjacent[u].clear();
  }
}

Tables::Table Tables::remove(Removed &removed, const std::vector<Table> &parts) {
  const std::vector<unsigned> &neighbours = removed.neighbours;
  size_t labels = graph.size(removed.unknown), entries = 1;
  for (unsigned v : neighbours)
    entries *= graph.size(v);
  // How far the place in a part moves with each neighbour's label, and with the unknown's.
  std::vector<std::vector<size_t>> moves(parts.size(), std::vector<size_t>(neighbours.size()));
  std::vector<size_t> own(parts.size()), at(parts.size());
  for (size_t p = 0; p < parts.size(); ++p) {
    size_t step = 1;
    for (size_t i = parts[p].unknowns.size(); i-- > 0; step *= graph.size(parts[p].unknowns[i])) {
      auto found = std::find(neighbours.begin(), neighbours.end(), parts[p].unknowns[i]);
      (found == neighbours.end() ? own[p] : moves[p][size_t(found - neighbours.begin())]) = step;
    }
  }
  Table made{neighbours, Costs(entries)};
  removed.labels.resize(entries);
  std::vector<size_t> digits(neighbours.size());
  for (size_t entry = 0; entry < entries; ++entry) {
    double least = infinite;
    for (size_t label = 0; label < labels; ++label) {
      double cost = graph.unknowns[removed.unknown].own[label];
      for (size_t p = 0; p < parts.size(); ++p)
        cost += parts[p].cost[at[p] + label * own[p]];
      if (cost < least) {
        least = cost;
        removed.labels[entry] = static_cast<unsigned char>(label);
      }
    }
    made.cost[entry] = least;
    for (size_t d = neighbours.size(); d-- > 0;) {
      size_t size = graph.size(neighbours[d]);
      bool turns = ++digits[d] == size;
      for (size_t p = 0; p < parts.size(); ++p)
        at[p] = turns ? at[p] - (size - 1) * moves[p][d] : at[p] + moves[p][d];
      if (!turns)
        break;
      digits[d] = 0;
    }
  }
  return made;
}

std::vector<unsigned> Tables::solve() {
  std::vector<std::vector<Table>> tables(graph.unknowns.size()); // at the first of their unknowns
  std::vector<size_t> place(graph.unknowns.size());
  for (size_t i = 0; i < order.size(); ++i)
    place[order[i].unknown] = i;
  auto put = [&](Table table) {
    if (table.unknowns.empty())
      return;
    unsigned first = *std::min_element(table.unknowns.begin(), table.unknowns.end(),
                                       [&](unsigned a, unsigned b) { return place[a] < place[b]; });
    tables[first].push_back(std::move(table));
  };
  for (const Graph::Edge &edge : graph.edges)
    if (!edge.cost.empty())
      put({{edge.a, edge.b}, edge.cost});
  for (Removed &each : order)
    put(remove(each, std::exchange(tables[each.unknown], {})));
  std::vector<unsigned> chosen(graph.unknowns.size());
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    size_t entry = 0;
    for (unsigned v : it->neighbours)
      entry = entry * graph.size(v) + chosen[v];
    chosen[it->unknown] = it->labels[entry];
  }
  return chosen;
}
