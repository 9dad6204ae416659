//===- Cluster.cpp - devices, links and routes ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/Cluster.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

using namespace heddle::planner;

std::optional<std::pair<unsigned, unsigned>> Cluster::findRoutes() {
  size_t count = devices.size();
  routes.resize(count * count);
  std::vector<std::vector<unsigned>> leaving(nodes);
  for (unsigned i = 0; i < links.size(); ++i)
    leaving[links[i].from].push_back(i);
  constexpr unsigned none = ~0u;
  for (unsigned from = 0; from < count; ++from) {
    // The best way to each node: its links, its latency, and the last link.
    std::vector<std::tuple<unsigned, double, unsigned>> best(nodes, {none, 0, none});
    std::set<std::tuple<unsigned, double, unsigned>> open{{0, 0, from}};
    best[from] = {0, 0, none};
    while (!open.empty()) {
      auto [hops, latency, node] = *open.begin();
      open.erase(open.begin());
      for (unsigned link : leaving[node]) {
        unsigned to = links[link].to;
        std::tuple next(hops + 1, latency + links[link].latencySeconds, link);
        if (next >= best[to])
          continue;
        open.erase({std::get<0>(best[to]), std::get<1>(best[to]), to});
        best[to] = next;
        open.insert({std::get<0>(next), std::get<1>(next), to});
      }
    }
    for (unsigned to = 0; to < count; ++to) {
      Route &route = routes[from * count + to];
      if (to == from || !route.empty())
        continue;
      if (std::get<2>(best[to]) == none)
        return std::pair(from, to);
      for (unsigned node = to; node != from; node = links[route.back()].from)
        route.push_back(std::get<2>(best[node]));
      std::reverse(route.begin(), route.end());
    }
  }
  return std::nullopt;
}
