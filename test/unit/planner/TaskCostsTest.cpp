//===- TaskCostsTest.cpp - searches of configurations ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/ExactSearch.h"

#include "AllTimes.h"
#include "DrawnGraph.h"

#include "gtest/gtest.h"

#include <cmath>
#include <set>

using namespace heddle::planner;

// Of 8 and 3 coordinates: 1, 2 or 4 blocks, and 1 or 2. Two parts are on 2 pairs of neighbours, or
// 2 of others; four on all devices, and one on each. Three coordinates in four blocks of one leave
// one without.
TEST(Configurations, ListDegreesAndDevices) {
  Graph::Choice choice{"c", {{"a", 8}, {"b", 3}}};
  Configurations all(choice, 4);
  std::set<std::pair<std::vector<unsigned>, std::vector<unsigned>>> seen;
  for (unsigned i = 0; i < all.size(); ++i) {
    Configuration each = all[i];
    seen.emplace(each.degrees, each.devices);
    EXPECT_EQ(all.find(each), i);
  }
  EXPECT_EQ(seen.size(), all.size()); // all are different
  using Numbers = std::vector<unsigned>;
  std::set<std::pair<Numbers, Numbers>> expected;
  for (unsigned i = 0; i < 4; ++i)
    expected.insert({{1, 1}, {i}});
  for (const Numbers &pair : {Numbers{0, 1}, {2, 3}, {0, 2}, {1, 3}}) {
    expected.insert({{2, 1}, pair});
    expected.insert({{1, 2}, pair});
  }
  expected.insert({{4, 1}, {0, 1, 2, 3}});
  expected.insert({{2, 2}, {0, 1, 2, 3}});
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(all.find({{2, 1}, {1, 2}}), std::nullopt);
  EXPECT_EQ(all.find({{3, 1}, {0, 1, 2}}), std::nullopt);
}

/// The time of a point, of tasks that are made anew.
static int64_t freshTime(const Graph &graph, const Cluster &cluster, TaskOptions options,
                         const TaskCosts &costs, const Point &point) {
  Tasks tasks(graph, cluster, options);
  for (unsigned i = 0; i < point.size(); ++i)
    tasks.configure(i, costs.of(i)[point[i]]);
  return tasks.computeTimes();
}

// A search that updates times visits the points that one visits which computes each anew.
TEST(TaskCosts, SearchesByUpdatesAsByFreshStarts) {
  Random random(7);
  for (unsigned round = 0; round < 20; ++round) {
    Graph graph = drawGraph(4, 8, random);
    Cluster cluster = drawCluster(4, random);
    TaskOptions options{.isPaper = round % 2 == 0};
    Tasks tasks(graph, cluster, options);
    TaskCosts costs(tasks, graph, 4);
    double unit = double(tasks.end());
    auto visited = [&](SearchOptions how, Search::Cost cost) {
      std::vector<Point> points;
      how.onVisit = [&](const Point &point) { points.push_back(point); };
      Search search(costs.choices(), how, std::move(cost));
      search.run(costs.dataParallel("n1"));
      return std::pair(points, search.best());
    };
    SearchOptions how{.seed = round, .proposals = 200, .beta = 5};
    auto found = visited(costs.options(how), costs.function(unit));
    EXPECT_EQ(found, visited(how, [&](const Point &point, double) {
                return double(freshTime(graph, cluster, options, costs, point)) / unit;
              }));
    Tasks anew(graph, cluster, options);
    for (bool isToTheEnd : {false, true})
      for (bool isFull : {false, true}) {
        Tasks others(graph, cluster, options);
        TaskCosts same(others, graph, 4, {isFull, isToTheEnd});
        EXPECT_EQ(found, visited(same.options(how), same.function(unit)));
      }
    TaskCosts full(anew, graph, 4, {.remakesAll = true});
    full.propose(found.second);
    costs.propose(found.second);
    EXPECT_EQ(allOf(anew.timetable()), allOf(tasks.timetable()));
    EXPECT_EQ(anew.totals(), tasks.totals());
  }
}

// The visits of a search that updates times follow exp(-beta * cost), as in SearchTest.cpp. Points
// of one choice of 4 devices; 15 degrees of freedom: above 37.7 in one of 1,000 cases.
TEST(TaskCosts, VisitsPointsByTheirTime) {
  Random random(1);
  Graph graph = drawGraph(2, 4, random);
  graph.choices[0].names = graph.choices[1].names = {};
  for (Graph::Operator &op : graph.operators)
    op = {op.name, op.choice, {}, 10};
  graph.operators[2].reads = {{0, {}}};
  graph.operators[3].reads = {{1, {}}, {2, {}}};
  for (unsigned i = 0; i < 4; ++i)
    graph.values[i] = {i, {}, {}, {}, 4 + i};
  Cluster cluster = drawCluster(4, random);
  Tasks tasks(graph, cluster, {});
  TaskCosts costs(tasks, graph, 4);
  double unit = double(tasks.end()), beta = 2, sum = 0, count = 0, square = 0;
  std::map<Point, double> weights, visits;
  for (unsigned a = 0; a < 4; ++a)
    for (unsigned b = 0; b < 4; ++b)
      sum += weights[{a, b}] =
          std::exp(-beta * double(freshTime(graph, cluster, {}, costs, {a, b})) / unit);
  uint64_t proposals = 0;
  SearchOptions how{.seed = 3, .proposals = 200'000, .beta = beta};
  how.onVisit = [&](const Point &point) {
    if (++proposals % 40 == 0) {
      ++visits[point];
      ++count;
    }
  };
  Search search(costs.choices(), costs.options(how), costs.function(unit));
  search.run({0, 0});
  for (const auto &[point, weight] : weights) {
    double wanted = count * weight / sum;
    square += (visits[point] - wanted) * (visits[point] - wanted) / wanted;
  }
  EXPECT_LT(square, 37.7);
  EXPECT_EQ(search.points(), 200'001u);
}

// On small random graphs: the exact search finds what brute force finds, and no bound is above the
// time of any point that begins with what is decided.
TEST(ExactSearch, AgreesWithBruteForceAndBoundsAreAdmissible) {
  Random random(11);
  uint64_t tried = 0, all = 0, whole = 0, close = 0;
  for (unsigned round = 0; round < 150; ++round) {
    unsigned devices = 2 + 2 * below(2, random), choices = 2 + (devices == 2);
    Graph graph = drawGraph(choices, choices + below(4, random), random);
    for (Graph::Choice &choice : graph.choices)
      for (Graph::Name &name : choice.names)
        name.size = name.label == "n1" ? name.size : 1; // few points
    for (Graph::Value &value : graph.values)
      for (size_t k = 0; k < value.sizes.size(); ++k)
        if (value.names[k])
          value.sizes[k] =
              graph.choices[graph.operators[value.maker].choice].names[*value.names[k]].size;
    Cluster cluster = drawCluster(devices, random);
    TaskOptions options{.isPaper = round % 2 == 0};
    Tasks tasks(graph, cluster, options);
    TaskCosts costs(tasks, graph, devices);
    ExactSearch exact(costs, tasks, graph, devices);
    StepBound boundOf(costs, tasks, graph, devices);
    /// The least time of the points that begin with these numbers.
    auto leastOf = [&](auto &self, Point &decided) -> int64_t {
      int64_t least = std::numeric_limits<int64_t>::max();
      if (decided.size() == choices) {
        ++all;
        least = freshTime(graph, cluster, options, costs, decided);
      } else {
        for (unsigned i = 0; i < costs.choices()[decided.size()]; ++i) {
          decided.push_back(i);
          least = std::min(least, self(self, decided));
          decided.pop_back();
        }
      }
      StepBound::Decided some(decided.begin(), decided.end());
      some.resize(choices);
      int64_t bound = boundOf(some);
      EXPECT_LE(bound, least) << "round " << round;
      EXPECT_GT(bound, 0);
      if (decided.size() == choices) {
        ++whole;
        close += bound * 10 >= least * 9;
      }
      return least;
    };
    Point none;
    int64_t least = leastOf(leastOf, none);
    ASSERT_TRUE(exact.run(Point(choices), 1'000'000));
    EXPECT_EQ(exact.picoseconds(), least) << "round " << round;
    EXPECT_EQ(exact.bound(), least);
    EXPECT_EQ(freshTime(graph, cluster, options, costs, exact.best()), least);
    tried += exact.points();
    // Too few plans are said to be too few, with a bound.
    if (exact.plans() > 1) {
      Tasks again(graph, cluster, options);
      TaskCosts others(again, graph, devices);
      ExactSearch cut(others, again, graph, devices);
      EXPECT_FALSE(cut.run(Point(choices), exact.plans() - 1));
      EXPECT_LE(cut.bound(), least);
      EXPECT_GT(cut.bound(), 0);
    }
  }
  EXPECT_GT(close, whole * 3 / 4); // within 10 % if all is decided
  EXPECT_LT(tried, all / 2);       // bounds spare points
}

// The best of the points that fit, by trying all: some memory is too small for the fastest point.
TEST(ExactSearch, FindsTheBestOfWhatIsAllowed) {
  Random random(12);
  unsigned slower = 0;
  for (unsigned round = 0; round < 40; ++round) {
    Graph graph = drawGraph(2, 5, random);
    Cluster cluster = drawCluster(2, random);
    Tasks tasks(graph, cluster, {});
    TaskCosts costs(tasks, graph, 2);
    auto bytes = [&] {
      std::vector<int64_t> memory = tasks.memory();
      return *std::max_element(memory.begin(), memory.end());
    };
    std::vector<std::tuple<int64_t, int64_t, Point>> all; // bytes and times
    int64_t fastest = std::numeric_limits<int64_t>::max(), least = fastest;
    for (unsigned a = 0; a < costs.choices()[0]; ++a)
      for (unsigned b = 0; b < costs.choices()[1]; ++b) {
        int64_t time = costs.propose({a, b});
        costs.decide(true);
        all.emplace_back(bytes(), time, Point{a, b});
        fastest = std::min(fastest, time);
      }
    std::sort(all.begin(), all.end());
    int64_t limit = std::get<0>(all[all.size() / 4]);
    for (auto &[own, time, point] : all)
      if (own <= limit)
        least = std::min(least, time);
    ExactSearch exact(costs, tasks, graph, 2, [&] { return bytes() <= limit; });
    EXPECT_TRUE(exact.run(std::get<2>(all[0]), 1'000'000));
    EXPECT_EQ(exact.picoseconds(), least) << "round " << round;
    slower += least > fastest;
  }
  EXPECT_GT(slower, 5u);
}
