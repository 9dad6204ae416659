//===- SmallGraph.h - a graph of two operators, and linked devices -*- C++ -*-//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_PLANNER_SMALLGRAPH_H
#define HEDDLE_TEST_UNIT_PLANNER_SMALLGRAPH_H

#include "lib/planner/Cluster.h"
#include "lib/planner/Graph.h"

namespace heddle::planner {

/// Devices in a row that have a link to each other one, of 1 byte and 1 operation per picosecond.
inline Cluster allLinked(unsigned devices) {
  Cluster cluster;
  cluster.kinds = {{.name = "gpu", .operationsPerSecond = 1e12}};
  cluster.devices.assign(devices, {"gpu", 0});
  cluster.nodes = devices;
  for (unsigned a = 0; a < devices; ++a)
    for (unsigned b = 0; b < devices; ++b)
      if (a != b)
        cluster.links.push_back({a, b, cluster.lanes++, 1e12, 5e-12});
  cluster.findRoutes();
  return cluster;
}

/// y(b, o) = sum over i of x(b, i) * w(i, o), and z(b, o) of y alone.
inline Graph twoOperators() {
  Graph graph;
  graph.choices = {{"y", {{"b", 4}, {"o", 6}, {"i", 8}}}, {"z", {{"b", 4}, {"o", 6}}}};
  graph.operators = {{"y", 0, {0, 1, 2}, 192}, {"z", 1, {0, 1}, 24}};
  graph.values = {{0, {4, 6}, {0, 1}, {2}, 4}};
  graph.operators[1].reads = {{0, {{.terms = {{0, 1}}}, {.terms = {{1, 1}}}}}};
  return graph;
}

} // namespace heddle::planner

#endif // HEDDLE_TEST_UNIT_PLANNER_SMALLGRAPH_H
