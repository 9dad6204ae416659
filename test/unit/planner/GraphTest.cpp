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

// w(i, o) is renamed and transposed to c(p, j), which two operators read; a scaled copy is none.
TEST(Graph, CopiesAreForwarded) {
  Graph graph;
  Coordinate first{.terms = {{0, 1}}}, second{.terms = {{1, 1}}};
  graph.choices = {
      {"y", {{"j", 4}, {"p", 6}}}, {"copy", {{"j", 4}, {"p", 6}}}, {"w", {{"i", 4}, {"o", 6}}}};
  graph.operators = {
      {"copy", 1, {0, 1}}, {"y", 0, {0, 1}, 24}, {"z", 0, {0, 1}, 24}, {"w", 2, {0, 1}, 24}};
  graph.operators[3].isUpdate = true;
  graph.values = {
      {0, {6, 4}, {1, 0}}, {1, {4, 6}, {0, 1}}, {2, {4, 6}, {0, 1}}, {3, {4, 6}, {0, 1}}};
  graph.operators[0].reads = {{3, {first, second}, true}};
  graph.operators[1].reads = {{0, {second, first}}};
  graph.operators[2].reads = {{0, {{{{1, 1}}, 0, 1}, first}}, {1, {first, second}}};
  Graph scaled = graph, window = graph;
  forwardCopies(graph);
  ASSERT_EQ(graph.operators.size(), 3u);
  ASSERT_EQ(graph.choices.size(), 2u);
  EXPECT_EQ(graph.operators[0].name, "y");
  EXPECT_EQ(graph.values[2].maker, 2u);
  EXPECT_EQ(graph.operators[2].choice, 1u);
  for (unsigned reader : {0u, 1u}) {
    const Graph::Read &read = graph.operators[reader].reads[0];
    EXPECT_EQ(read.value, 2u);
    EXPECT_TRUE(read.ofNextStep);
    EXPECT_EQ(nameIn(read.coordinates[0]), 0u);
    EXPECT_EQ(read.coordinates[1].terms[0].name, 1u);
    EXPECT_EQ(read.coordinates[1].high, reader); // a window of two
  }
  EXPECT_EQ(graph.operators[1].reads[1].value, 0u);
  scaled.operators[0].operations = 24;
  forwardCopies(scaled);
  EXPECT_EQ(scaled.operators.size(), 4u);
  window.operators[0].reads[0].coordinates[0].high = 1;
  forwardCopies(window);
  EXPECT_EQ(window.operators.size(), 4u);
}
