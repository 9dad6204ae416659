//===- DrawnGraph.h - random graphs and clusters ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random graphs with branches, partial sums, windows, gathers, updates and values for the next
// step, and random clusters whose devices share links.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_PLANNER_DRAWNGRAPH_H
#define HEDDLE_TEST_UNIT_PLANNER_DRAWNGRAPH_H

#include "lib/planner/Cluster.h"
#include "lib/planner/Graph.h"

#include <algorithm>
#include <random>

namespace heddle::planner {

using Random = std::mt19937_64;
inline unsigned below(unsigned bound, Random &random) { return unsigned(random() % bound); }

/// Device `i` is linked with switch `i / 2`, and switches in a row; some links are shared by both
/// directions.
inline Cluster drawCluster(unsigned devices, Random &random) {
  Cluster cluster;
  cluster.kinds = {{.name = "fast", .operationsPerSecond = 1e12, .bytesPerSecond = 1e12},
                   {.name = "slow", .operationsPerSecond = 2e11, .startSeconds = 3e-12}};
  for (unsigned i = 0; i < devices; ++i)
    cluster.devices.push_back({"d" + std::to_string(i), below(2, random)});
  unsigned switches = (devices + 1) / 2;
  cluster.nodes = devices + switches;
  auto connect = [&](unsigned a, unsigned b) {
    double rate = 1e12 / double(1 + below(4, random));
    double latency = double(below(3, random)) * 1e-12;
    bool isShared = below(2, random);
    cluster.links.push_back({a, b, cluster.lanes, rate, latency});
    cluster.lanes += !isShared;
    cluster.links.push_back({b, a, cluster.lanes++, rate, latency});
  };
  for (unsigned i = 0; i < devices; ++i)
    connect(i, devices + i / 2);
  for (unsigned i = 1; i < switches; ++i)
    connect(devices + i - 1, devices + i);
  cluster.findRoutes();
  return cluster;
}

inline Configuration drawConfiguration(const Graph::Choice &choice, unsigned devices,
                                       Random &random) {
  Configuration drawn;
  for (const Graph::Name &name : choice.names)
    drawn.degrees.push_back(1 + below(unsigned(std::min<int64_t>(name.size, 3)), random));
  for (unsigned i = 0; i < partsOf(drawn); ++i)
    drawn.devices.push_back(below(devices, random));
  return drawn;
}

/// Also with sums in blocks, and values that are fetched.
inline Configuration drawAnyConfiguration(const Graph::Choice &choice, unsigned devices,
                                          Random &random) {
  Configuration drawn = drawConfiguration(choice, devices, random);
  if (!choice.names.empty() && below(2, random))
    drawn.scattered = below(unsigned(choice.names.size()), random);
  drawn.isFetched = below(2, random);
  return drawn;
}

/// A read of a value whose coordinates are names, sums, quotients or all there is.
inline Graph::Read drawRead(const Graph &graph, const Graph::Operator &op, unsigned value,
                            Random &random) {
  Graph::Read read{value, {}, false};
  for (int64_t size : graph.values[value].sizes) {
    Coordinate coordinate;
    for (unsigned name : op.names)
      if (below(3, random) == 0)
        coordinate.terms.push_back({name, int64_t(below(4, random)) - 1});
    coordinate.low = int64_t(below(3, random)) - 1;
    coordinate.high = coordinate.terms.empty() ? size - 1 : coordinate.low + below(2, random);
    coordinate.divisor = 1 + below(2, random);
    read.coordinates.push_back(coordinate);
  }
  return read;
}

inline Graph drawGraph(unsigned choices, unsigned operators, Random &random) {
  Graph graph;
  for (unsigned i = 0; i < choices; ++i) {
    graph.choices.push_back({"c" + std::to_string(i), {}});
    for (unsigned k = below(4, random); k > 0; --k)
      graph.choices[i].names.push_back({"n" + std::to_string(k), 1 + below(9, random)});
  }
  for (unsigned i = 0; i < operators; ++i) {
    Graph::Operator op{"o" + std::to_string(i), i < choices ? i : below(choices, random)};
    for (unsigned k = 0; k < graph.choices[op.choice].names.size(); ++k)
      if (below(4, random))
        op.names.push_back(k);
    op.operations = double(1 + below(60, random));
    op.isUpdate = i > operators / 2 && below(3, random) == 0;
    for (unsigned k = below(4, random); k > 0 && !graph.values.empty(); --k)
      op.reads.push_back(drawRead(graph, op, below(unsigned(graph.values.size()), random), random));
    graph.operators.push_back(op);
    Graph::Value value{i, {}, {}, {}, 1 + below(4, random)};
    for (unsigned name : op.names)
      if (below(4, random)) {
        value.sizes.push_back(graph.choices[op.choice].names[name].size);
        value.names.push_back(name);
      } else if (below(2, random)) {
        value.summed.push_back(name);
      }
    if (below(3, random) == 0) {
      value.sizes.push_back(1 + below(4, random));
      value.names.push_back(std::nullopt);
    }
    graph.values.push_back(value);
  }
  // What is not an update does not read what updates make, but in the next step; so does some of
  // what reads other values.
  for (Graph::Operator &op : graph.operators)
    for (Graph::Read &read : op.reads)
      if (!op.isUpdate &&
          (graph.operators[graph.values[read.value].maker].isUpdate || below(8, random) == 0))
        read.ofNextStep = true;
  return graph;
}

} // namespace heddle::planner

#endif // HEDDLE_TEST_UNIT_PLANNER_DRAWNGRAPH_H
