//===- TaskSearchTest.cpp - spaces of configurations, and their searches --===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/TaskSearch.h"
#include "lib/planner/RulePlans.h"

#include "DrawnGraph.h"

#include "gtest/gtest.h"

using namespace heddle::planner;

namespace {
/// Four devices in two nodes.
Cluster twoNodes(int64_t memoryBytes) {
  Cluster cluster;
  cluster.kinds = {{.name = "gpu", .memoryBytes = memoryBytes, .operationsPerSecond = 1e12}};
  cluster.devices = {{"gpu.0.0", 0}, {"gpu.0.1", 0}, {"gpu.1.0", 0}, {"gpu.1.1", 0}};
  cluster.nodes = 4;
  for (unsigned a = 0; a < 4; ++a)
    for (unsigned b = 0; b < 4; ++b)
      if (a != b)
        cluster.links.push_back({a, b, cluster.lanes++, 1e12, 0});
  cluster.findRoutes();
  return cluster;
}

/// A layer that scales, and one that is fully connected.
Graph twoLayers() {
  Graph graph;
  graph.choices = {{"few", {{"b", 8}, {"o", 32}}}, {"many", {{"b", 8}, {"i", 32}, {"o", 16}}}};
  graph.choices[1].names[1].isSummed = true;
  graph.operators = {{"few", 0, {0, 1}, 256},
                     {"many", 1, {0, 1, 2}, 8192},
                     {"few.update", 0, {1}, 32},
                     {"many.update", 1, {1, 2}, 512}};
  graph.operators[2].isUpdate = graph.operators[3].isUpdate = true;
  graph.values = {{0, {8, 32}, {0, 1}, {}, 4},
                  {1, {8, 16}, {0, 2}, {1}, 4},
                  {2, {32}, {1}, {}, 4},
                  {3, {32, 16}, {1, 2}, {}, 4}};
  auto along = [](unsigned name) { return Coordinate{{{name, 1}}, 0, 0, 1}; };
  graph.operators[0].reads = {{2, {along(1)}, true}};
  graph.operators[1].reads = {{0, {along(0), along(1)}, false}, {3, {along(1), along(2)}, true}};
  return graph;
}

struct TaskSearchTest : ::testing::Test {
  Graph graph = twoLayers();
  Cluster cluster = twoNodes(1'000'000);
  std::optional<Tasks> tasks;
  std::optional<TaskCosts> costs;
  std::optional<TaskSearch> search;
  void make(unsigned devices = 4) {
    tasks.emplace(graph, cluster, TaskOptions{});
    costs.emplace(*tasks, graph, devices);
    search.emplace(*tasks, *costs, graph, cluster,
                   TaskSearchOptions{.sample = "b",
                                     .devices = devices,
                                     .nodes = nodesOf(cluster, devices),
                                     .search = {.proposals = 100, .beta = 10}});
  }
  Configuration of(unsigned choice, const Point &point) const {
    return costs->of(choice)[point[choice]];
  }
};
} // namespace

TEST(Nodes, AreDevicesOfOneName) {
  Cluster cluster = twoNodes(1);
  EXPECT_EQ(nodesOf(cluster, 4), 2u);
  EXPECT_EQ(nodesOf(cluster, 2), 1u);
  EXPECT_EQ(nodesOf(cluster, 3), 1u); // not alike
}

TEST_F(TaskSearchTest, ExpertsSplitFullyConnectedLayers) {
  make();
  Point point = *search->byRule(SpaceKind::Expert);
  EXPECT_EQ(of(0, point), (Configuration{{4, 1}, {0, 1, 2, 3}}));
  EXPECT_EQ(of(1, point), (Configuration{{1, 1, 4}, {0, 1, 2, 3}}));
  // The choices of a layer are split alike.
  graph.choices[0].layer = graph.choices[1].layer = "many";
  make();
  point = *search->byRule(SpaceKind::Expert);
  EXPECT_EQ(of(0, point), (Configuration{{1, 4}, {0, 1, 2, 3}}));
  EXPECT_EQ(of(1, point), (Configuration{{1, 1, 4}, {0, 1, 2, 3}}));
}

// A parameter that is read for each place of a sample, as in a convolution, is not split.
TEST_F(TaskSearchTest, ExpertsSplitSamplesOfConvolutions) {
  graph.choices[1].names.push_back({"place", 6});
  graph.operators[1].names.push_back(3);
  graph.values[1].names.push_back(3);
  graph.values[1].sizes.push_back(6);
  make();
  EXPECT_EQ(of(1, *search->byRule(SpaceKind::Expert)), (Configuration{{4, 1, 1, 1}, {0, 1, 2, 3}}));
}

// Two recurrences: what is before and after the first one is on the two devices of a node.
TEST_F(TaskSearchTest, ExpertsPutLayersOnDevicesOfNodes) {
  graph.choices[1].depth = 1;
  make();
  Point point = *search->byRule(SpaceKind::Expert);
  EXPECT_EQ(of(0, point), (Configuration{{2, 1}, {0, 2}}));
  EXPECT_EQ(of(1, point), (Configuration{{2, 1, 1}, {1, 3}}));
}

namespace {
/// h(b, f) = sum over i of x(b, i) * v(i, f), a(b, g) of h(b, g), and
/// y(b, o) = sum over g of a(b, g) * w(g, o), between x and z, with updates of v and w.
Graph twoProducts() {
  Graph graph;
  auto along = [](unsigned name) { return Coordinate{{{name, 1}}, 0, 0, 1}; };
  graph.choices = {{"x", {{"b", 8}, {"i", 4}}}, {"h", {{"f", 8}, {"b", 8}, {"i", 4}}},
                   {"a", {{"b", 8}, {"g", 8}}}, {"y", {{"b", 8}, {"o", 6}, {"g", 8}}},
                   {"z", {{"b", 8}, {"o", 6}}}, {"v", {{"i", 4}, {"f", 8}}},
                   {"w", {{"f", 8}, {"o", 6}}}};
  graph.operators = {{"x", 0, {0, 1}, 32},     {"h", 1, {0, 1, 2}, 512}, {"a", 2, {0, 1}, 64},
                     {"y", 3, {0, 1, 2}, 768}, {"z", 4, {0, 1}, 48},     {"v", 5, {0, 1}, 32},
                     {"w", 6, {0, 1}, 48}};
  graph.operators[5].isUpdate = graph.operators[6].isUpdate = true;
  graph.values = {{0, {8, 4}, {0, 1}, {}, 4}, {1, {8, 8}, {1, 0}, {2}, 4},
                  {2, {8, 8}, {0, 1}, {}, 4}, {3, {8, 6}, {0, 1}, {2}, 4},
                  {4, {8, 6}, {0, 1}, {}, 4}, {5, {4, 8}, {0, 1}, {}, 4},
                  {6, {8, 6}, {0, 1}, {}, 4}};
  graph.operators[1].reads = {{0, {along(1), along(2)}}, {5, {along(2), along(0)}, true}};
  graph.operators[2].reads = {{1, {along(0), along(1)}}};
  graph.operators[3].reads = {{2, {along(0), along(2)}}, {6, {along(2), along(1)}, true}};
  graph.operators[4].reads = {{3, {along(0), along(1)}}};
  return graph;
}
} // namespace

// Two nodes of two devices: f is split in a node, samples over nodes. Devices of a node exchange
// their rows of x, 32 bytes each, and halves of their partial sums of y, 48 bytes each. Those of
// the second node get their half of v, 64 bytes, and of w, 96 bytes.
TEST_F(TaskSearchTest, MegatronSplitsInsidePairsOfProducts) {
  graph = twoProducts();
  make();
  Point point = *search->byRule(SpaceKind::Megatron);
  std::vector<unsigned> all{0, 1, 2, 3}, mesh{0, 2, 1, 3};
  EXPECT_EQ(of(0, point), (Configuration{{4, 1}, all}));
  EXPECT_EQ(of(1, point), (Configuration{{2, 2, 1}, mesh, 1}));
  EXPECT_EQ(of(2, point), (Configuration{{2, 2}, all, 0}));
  EXPECT_EQ(of(3, point), (Configuration{{2, 1, 2}, all, 0}));
  EXPECT_EQ(of(4, point), (Configuration{{4, 1}, all}));
  EXPECT_EQ(of(5, point), (Configuration{{1, 2}, {0, 1}}));
  EXPECT_EQ(of(6, point), (Configuration{{2, 1}, {0, 1}}));
  search->show(point);
  EXPECT_EQ(tasks->totals().bytes, 4 * 32 + 4 * 48 + 2 * 64 + 2 * 96);
  search->show(search->dataParallel());
  EXPECT_EQ(tasks->totals().bytes, 3 * 128 + 3 * 192);
  // It is a start of what is searched in all.
  EXPECT_TRUE(TaskSpace::make(SpaceKind::All, *costs, graph, 4)->own(point).has_value());
  EXPECT_FALSE(TaskSpace::make(SpaceKind::Soap, *costs, graph, 4)->own(point).has_value());
}

// Something else sums over f; v alone, which its own gradient sums over f; or a second pair, which
// follows the first one.
TEST_F(TaskSearchTest, MegatronLeavesNamesThatOthersSum) {
  graph = twoProducts();
  graph.values[2].names[1] = std::nullopt;
  graph.operators[2].names = {0, 1};
  graph.values.push_back({2, {8}, {0}, {1}, 4});
  make();
  EXPECT_EQ(search->byRule(SpaceKind::Megatron), std::nullopt);
  graph = twoProducts();
  graph.choices.push_back({"n", {{"b", 8}, {"g", 8}}}); // the sums of rows of a
  graph.operators.push_back({"n", 7, {0, 1}, 64});
  graph.operators[7].reads = {{2, {{{{0, 1}}, 0, 0, 1}, {{{1, 1}}, 0, 0, 1}}}};
  graph.values.push_back({7, {8}, {0}, {1}, 4});
  make();
  EXPECT_EQ(search->byRule(SpaceKind::Megatron), std::nullopt);
  graph = twoProducts();
  graph.operators[3].reads.pop_back(); // y sums, but without a parameter
  make();
  EXPECT_EQ(search->byRule(SpaceKind::Megatron), std::nullopt);
  graph.operators[3].reads.push_back({5, {{{}, 0, 3, 1}, {{{2, 1}}, 0, 0, 1}}, true});
  graph.operators[3].reads.back().coordinates[0] = {{{1, 1}}, 0, 0, 1};
  make();
  EXPECT_EQ(search->byRule(SpaceKind::Megatron), std::nullopt);
  graph = twoProducts();
  graph.choices.push_back({"u", {{"b", 8}, {"p", 2}, {"o", 6}}});
  graph.choices.push_back({"t", {{"o", 6}, {"p", 2}}});
  graph.operators.push_back({"u", 7, {0, 1, 2}, 96});
  graph.operators.push_back({"t", 8, {0, 1}, 12});
  graph.operators.back().isUpdate = true;
  graph.values.push_back({7, {8, 2}, {0, 1}, {2}, 4});
  graph.values.push_back({8, {6, 2}, {0, 1}, {}, 4});
  auto along = [](unsigned name) { return Coordinate{{{name, 1}}, 0, 0, 1}; };
  graph.operators[7].reads = {{4, {along(0), along(2)}}, {8, {along(2), along(1)}, true}};
  make();
  Point point = *search->byRule(SpaceKind::Megatron);
  EXPECT_EQ(of(3, point).degrees, (std::vector<unsigned>{2, 1, 2}));
  EXPECT_EQ(of(7, point).degrees, (std::vector<unsigned>{4, 1, 1}));
}

// y(b) = sum over i of x(b, i) * w(i), d(b, i) = e(b) * w(i), and dw(i) = sum over b. w has 32
// bytes. Data parallelism sends dw to the first of 4 devices, and w back; in parts, w is fetched
// twice.
TEST_F(TaskSearchTest, ZeroSplitsParametersOverAllDevices) {
  auto along = [](unsigned name) { return Coordinate{{{name, 1}}, 0, 0, 1}; };
  graph = {};
  graph.choices = {{"y", {{"b", 4}, {"i", 8}}},
                   {"d", {{"b", 4}, {"i", 8}}},
                   {"dw", {{"b", 4}, {"i", 8}}},
                   {"w", {{"i", 8}}}};
  graph.operators = {
      {"y", 0, {0, 1}, 32}, {"d", 1, {0, 1}, 32}, {"dw", 2, {0, 1}, 32}, {"w", 3, {0}, 8}};
  graph.operators[3].isUpdate = true;
  graph.values = {{0, {4}, {0}, {1}, 4},
                  {1, {4, 8}, {0, 1}, {}, 4},
                  {2, {8}, {1}, {0}, 4},
                  {3, {8}, {0}, {}, 4},
                  {3, {8}, {0}, {}, 4}}; // the last one is of the optimizer
  graph.operators[0].reads = {{3, {along(1)}, true}};
  graph.operators[1].reads = {{0, {along(0)}}, {3, {along(1)}, true}};
  graph.operators[2].reads = {{1, {along(0), along(1)}}};
  graph.operators[3].reads = {{2, {along(0)}}, {3, {along(0)}, true}, {4, {along(0)}, true}};
  make();
  search->show(search->dataParallel());
  EXPECT_EQ(tasks->totals().bytes, 2 * 3 * 32);
  std::vector<int64_t> memory = tasks->memory();
  std::vector<unsigned> all{0, 1, 2, 3};
  Point point = *search->byRule(SpaceKind::Zero3);
  EXPECT_EQ(of(2, point), (Configuration{{4, 1}, all, 1}));
  EXPECT_EQ(of(3, point), (Configuration{{4}, all, std::nullopt, true}));
  search->show(point);
  EXPECT_EQ(tasks->totals().bytes, 3 * 3 * 32);
  // Most is held when d and dw are there: besides, two parts of 8 bytes, not of 32.
  for (int64_t bytes : tasks->memory())
    EXPECT_LE(bytes, 2 * 8 + 4 + 32 + 32 + 3 * 8);
  EXPECT_GE(memory[0], 2 * 32 + 32 + 32);
  graph.operators[3].choice = 2; // one choice with its gradient
  graph.operators[3].names = {1};
  for (unsigned value : {3, 4})
    graph.values[value].names = {1};
  for (Graph::Read &read : graph.operators[3].reads)
    read.coordinates = {along(1)};
  make();
  EXPECT_EQ(search->byRule(SpaceKind::Zero3), std::nullopt);
}

// By definition: which configurations each space has.
TEST_F(TaskSearchTest, SpacesContainEachOther) {
  make();
  auto sizeOf = [&](SpaceKind kind) {
    std::vector<unsigned> counts;
    auto space = TaskSpace::make(kind, *costs, graph, 4);
    for (unsigned count : space->choices())
      counts.push_back(count);
    return counts;
  };
  using Counts = std::vector<unsigned>;
  EXPECT_EQ(sizeOf(SpaceKind::Placement), (Counts{4, 4}));
  EXPECT_EQ(sizeOf(SpaceKind::OptCnn), (Counts{6, 6})); // 1, 2 and 4 parts of two names
  EXPECT_EQ(sizeOf(SpaceKind::Soap), (Counts{15, 15})); // 4 + 2 * 4 + 3
  EXPECT_EQ(sizeOf(SpaceKind::All), (Counts{15, 22}));  // 4 + 3 * 4 + 6
  EXPECT_EQ(sizeOf(SpaceKind::OneMap), (Counts{3, 3, 3, 3}));
  auto soap = TaskSpace::make(SpaceKind::Soap, *costs, graph, 4);
  for (SpaceKind kind : {SpaceKind::Placement, SpaceKind::OptCnn}) {
    auto space = TaskSpace::make(kind, *costs, graph, 4);
    for (unsigned a = 0; a < space->choices()[0]; ++a)
      for (unsigned b = 0; b < space->choices()[1]; ++b) {
        Point full = *space->full({a, b});
        EXPECT_EQ(space->own(full), (Point{a, b}));
        EXPECT_TRUE(soap->own(full).has_value());
      }
  }
  unsigned summed = *costs->of(1).find({{1, 4, 1}, {0, 1, 2, 3}});
  EXPECT_FALSE(soap->own({0, summed}).has_value());
}

// `b` on the outer axis of 2 x 2, `o` on the inner one; both on one axis contradict each other.
TEST_F(TaskSearchTest, OneMapSplitsNamesAlike) {
  make();
  auto space = TaskSpace::make(SpaceKind::OneMap, *costs, graph, 4);
  Point point = *space->full({1, 1, 2, 0}); // meshes 4x1, 2x2 and 1x4; names b, o and i
  EXPECT_EQ(of(0, point), (Configuration{{2, 2}, {0, 1, 2, 3}}));
  EXPECT_EQ(of(1, point), (Configuration{{2, 1, 2}, {0, 1, 2, 3}}));
  point = *space->full({1, 1, 0, 0});
  EXPECT_EQ(of(0, point), (Configuration{{2, 1}, {0, 2}}));
  EXPECT_FALSE(space->full({1, 1, 1, 0}).has_value());
  EXPECT_EQ(space->own(search->dataParallel()), (Point{0, 1, 0, 0}));
}

TEST_F(TaskSearchTest, NoSpaceIsSlowerThanOneInside) {
  Random random(6);
  for (unsigned round = 0; round < 10; ++round) {
    graph = drawGraph(3, 6, random);
    cluster = drawCluster(4, random);
    make();
    auto timeOf = [&](SpaceKind kind) {
      search->show(*search->find(kind));
      return tasks->end();
    };
    int64_t all = timeOf(SpaceKind::All), soap = timeOf(SpaceKind::Soap);
    EXPECT_LE(all, soap);
    EXPECT_LE(all, timeOf(SpaceKind::OneMap));
    for (SpaceKind kind :
         {SpaceKind::DataParallel, SpaceKind::Expert, SpaceKind::Placement, SpaceKind::OptCnn})
      EXPECT_LE(soap, timeOf(kind)) << spelling(kind);
  }
}

// A device must hold the parameters and values of its parts: less than 2,000 bytes if all are
// split.
TEST_F(TaskSearchTest, PlansFitIntoMemory) {
  cluster = twoNodes(2'000);
  make();
  search->show(search->dataParallel());
  EXPECT_GT(tasks->memory()[0], 2'000);
  EXPECT_EQ(search->find(SpaceKind::DataParallel), std::nullopt);
  std::optional<Point> found = search->find(SpaceKind::All);
  ASSERT_TRUE(found.has_value());
  search->show(*found);
  for (int64_t bytes : tasks->memory())
    EXPECT_LE(bytes, 2'000);
  EXPECT_FALSE(search->isTooLarge());
  cluster = twoNodes(100);
  make();
  EXPECT_EQ(search->find(SpaceKind::All), std::nullopt);
  EXPECT_EQ(tasks->stateBytes(), 32 * 4 + 32 * 16 * 4);
  EXPECT_TRUE(search->isTooLarge()); // 2,176 bytes on devices with 400
  TaskSearch::Excess least = search->leastExcess();
  EXPECT_EQ(least.bytes - least.excess, 100);
  EXPECT_GE(least.bytes, 512); // a quarter of the parameters
}

// By trying all single changes.
TEST_F(TaskSearchTest, NoSingleChangeImprovesWhatWasImproved) {
  Random random(8);
  unsigned improved = 0;
  for (unsigned round = 0; round < 10; ++round) {
    graph = drawGraph(4, 8, random);
    cluster = drawCluster(4, random);
    make();
    Point point = search->dataParallel();
    search->show(point);
    int64_t before = tasks->end();
    ASSERT_TRUE(search->improve(SpaceKind::All, point));
    search->show(point);
    int64_t end = tasks->end();
    improved += end < before;
    EXPECT_LE(end, before);
    for (unsigned choice = 0; choice < point.size(); ++choice)
      for (unsigned number = 0; number < costs->choices()[choice]; ++number) {
        Point other = point;
        other[choice] = number;
        EXPECT_GE(costs->propose(other), end);
        costs->decide(false);
      }
  }
  EXPECT_GT(improved, 5u);
}

// Two parts of a layer, and another layer.
TEST_F(TaskSearchTest, LayersHaveOneConfiguration) {
  graph.choices.push_back(graph.choices[0]);
  graph.choices[0].layer = graph.choices[2].layer = "scale";
  graph.choices[2].names[1].size = 3; // not in four parts
  make();
  auto space = TaskSpace::make(SpaceKind::Layers, *costs, graph, 4);
  EXPECT_EQ(space->choices(), (std::vector<unsigned>{15, 15}));
  unsigned both = *costs->of(0).find({{4, 1}, {0, 1, 2, 3}});
  Point point = *space->full({both, 0});
  EXPECT_EQ(of(2, point), of(0, point));
  EXPECT_EQ(space->own(point), (Point{both, 0}));
  point[2] = 0;
  EXPECT_EQ(space->own(point), std::nullopt);
  unsigned four = *costs->of(0).find({{1, 4}, {0, 1, 2, 3}});
  EXPECT_EQ(space->full({four, 0}), std::nullopt);
}
