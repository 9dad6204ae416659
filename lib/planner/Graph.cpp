//===- Graph.cpp - operators, the values between them, and splits ---------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/Graph.h"

#include <algorithm>
#include <map>

using namespace heddle;
using namespace heddle::planner;

unsigned planner::partsOf(const Configuration &configuration) {
  unsigned parts = 1;
  for (unsigned degree : configuration.degrees)
    parts *= degree;
  return parts;
}

Interval planner::blockOf(int64_t size, unsigned degree, unsigned index) {
  int64_t block = (size + degree - 1) / degree;
  return {std::min(size, block * index), std::min(size, block * (index + 1))};
}

Configuration planner::onDevice(const Graph::Choice &choice, unsigned device) {
  return {std::vector<unsigned>(choice.names.size(), 1), {device}};
}

void planner::findDepths(Graph &graph) {
  auto layerOf = [&](const Graph::Operator &op) -> const std::string & {
    return graph.choices[op.choice].layer;
  };
  size_t count = graph.operators.size();
  std::vector<unsigned> depths(count), needed(count, ~0u); // by operator
  for (size_t i = 0; i < count; ++i)
    for (const Graph::Read &read : graph.operators[i].reads)
      if (unsigned maker = graph.values[read.value].maker; !read.ofNextStep)
        depths[i] =
            std::max(depths[i], depths[maker] + graph.operators[maker].sequence.has_value());
  // By layer; first those of operators that read its parameters.
  std::map<std::string, std::pair<bool, unsigned>> ofLayers;
  for (size_t i = count; i-- > 0;) {
    const Graph::Operator &op = graph.operators[i];
    if (!op.sequence && needed[i] != ~0u)
      depths[i] = needed[i];
    bool readsNone = true;
    for (const Graph::Read &read : op.reads) {
      unsigned maker = graph.values[read.value].maker;
      if (!read.ofNextStep)
        needed[maker] = std::min(needed[maker], depths[i]);
      else if (!op.isUpdate && layerOf(graph.operators[maker]) == layerOf(op))
        readsNone = false;
    }
    std::pair own(readsNone, depths[i]);
    auto [first, isNew] = ofLayers.try_emplace(layerOf(op), own);
    first->second = std::min(first->second, own);
  }
  for (Graph::Choice &choice : graph.choices)
    choice.depth = ofLayers[choice.layer].second;
}
