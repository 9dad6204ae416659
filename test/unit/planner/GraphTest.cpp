//===- GraphTest.cpp - depths of layers -----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/Graph.h"

#include "gtest/gtest.h"

using namespace heddle::planner;

namespace {
/// Operators of one name each, with one value each, and their layers.
struct Layers {
  Graph graph;

  unsigned add(const std::string &layer, std::vector<unsigned> reads, bool isRecurrence = false) {
    auto number = unsigned(graph.operators.size());
    graph.choices.push_back({layer + std::to_string(number), {{"t", 4}}, layer});
    Graph::Operator op{"o", number, {0}};
    if (isRecurrence)
      op.sequence = 0;
    for (unsigned value : reads)
      op.reads.push_back({value, {}});
    graph.operators.push_back(op);
    graph.values.push_back({number, {4}, {0}});
    return number;
  }
  /// The next value of a parameter that an operator reads.
  void update(const std::string &layer, unsigned reader, unsigned gradient) {
    unsigned next = add(layer, {gradient});
    graph.operators[next].isUpdate = true;
    graph.operators[next].reads.push_back({next, {}, true});
    graph.operators[reader].reads.push_back({next, {}, true});
  }
  std::vector<unsigned> depths() {
    findDepths(graph);
    std::vector<unsigned> all;
    for (const Graph::Choice &choice : graph.choices)
      all.push_back(choice.depth);
    return all;
  }
};
} // namespace

// Two recurrences one after the other. The product of other inputs of the second one could be
// computed at once, but nobody needs it before.
TEST(Depths, AreThoseOfWhatNeedsAnOperator) {
  Layers layers;
  unsigned first = layers.add("first", {}, true);
  unsigned product = layers.add("product", {});
  unsigned second = layers.add("second", {first, product}, true);
  unsigned output = layers.add("output", {second});
  unsigned back = layers.add("output", {output});
  unsigned backSecond = layers.add("second", {back}, true);
  unsigned backProduct = layers.add("product", {backSecond, product});
  layers.update("product", product, backProduct);
  EXPECT_EQ(layers.depths(), (std::vector<unsigned>{0, 1, 1, 2, 2, 1, 1, 1}));
}

// The depth of a layer is that of the operator that reads its parameter, here after a recurrence.
// An operator of the layer without parameters does not change it.
TEST(Depths, OfLayersAreThoseOfTheirParameters) {
  Layers layers;
  unsigned seed = layers.add("output", {});
  unsigned first = layers.add("first", {seed}, true);
  unsigned output = layers.add("output", {first});
  unsigned back = layers.add("output", {output});
  layers.update("output", output, back);
  layers.update("state", seed, seed);
  EXPECT_EQ(layers.depths(), (std::vector<unsigned>{1, 0, 1, 1, 1, 0}));
}
