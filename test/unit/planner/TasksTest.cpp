//===- TasksTest.cpp - tasks of divided graphs, and of changes ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/Tasks.h"

#include "AllTimes.h"
#include "DrawnGraph.h"
#include "SmallGraph.h"

#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

using namespace heddle::planner;

TEST(Tasks, SendWhatReadersLackPointToPoint) {
  Graph graph = twoOperators();
  Cluster cluster = allLinked(4);
  Tasks tasks(graph, cluster, {.isPaper = true});
  EXPECT_EQ(tasks.computeTimes(), 192 + 24 + 2); // and the barrier
  EXPECT_EQ(tasks.totals(), (Tasks::Totals{0, 0, 216}));
  // y in halves of b; z in halves of o: each part of z gets 2 * 3 elements from the other device.
  tasks.configure(0, {{2, 1, 1}, {0, 1}});
  tasks.configure(1, {{1, 2}, {0, 1}});
  EXPECT_EQ(tasks.update(), 96 + 24 + 12 + 2);
  EXPECT_EQ(tasks.totals(), (Tasks::Totals{2 * 24, 2, 216}));
  tasks.undo();
  EXPECT_EQ(tasks.end(), 218);
  // Of 6 columns in 4 blocks of 2, the last one has none; the parts of z have the whole rows.
  tasks.configure(0, {{1, 4, 1}, {0, 1, 2, 3}});
  tasks.configure(1, {{4, 1}, {3, 0, 1, 2}});
  tasks.update();
  EXPECT_EQ(tasks.totals().transfers, 4 * 3 - 3); // device 3 has no columns
  EXPECT_EQ(tasks.totals().bytes, 9 * 2 * 4);
}

// The parts with partial sums send them to the first one, which adds them: 3 * 24 operations.
TEST(Tasks, AddPartialSumsInTheFirstPart) {
  Graph graph = twoOperators();
  Cluster cluster = allLinked(4);
  Tasks tasks(graph, cluster, {.isPaper = true});
  tasks.configure(0, {{1, 1, 4}, {3, 2, 1, 0}});
  tasks.configure(1, {{1, 1}, {3}});
  EXPECT_EQ(tasks.update(), 48 + 96 + 72 + 24 + 2);
  EXPECT_EQ(tasks.totals(), (Tasks::Totals{3 * 96, 3, 192 + 72 + 24}));
}

// Each part adds the rows of its own: 18 operations after 24 bytes of each other one. Six columns
// are no equal blocks of four parts.
TEST(Tasks, AddPartialSumsInBlocks) {
  Graph graph = twoOperators();
  Cluster cluster = allLinked(4);
  Tasks tasks(graph, cluster, {.isPaper = true});
  tasks.configure(0, {.degrees = {1, 1, 4}, .devices = {3, 2, 1, 0}, .scattered = 0});
  tasks.configure(1, {{4, 1}, {3, 2, 1, 0}});
  EXPECT_EQ(tasks.update(), 48 + 24 + 18 + 6 + 2);
  EXPECT_EQ(tasks.totals(), (Tasks::Totals{4 * 3 * 24, 4 * 3, 192 + 72 + 24}));
  // A partial sum of 96 bytes, and 24 of each other part.
  EXPECT_EQ(tasks.memory(), (std::vector<int64_t>(4, 96 + 72)));
  tasks.commit();
  tasks.configure(0, {.degrees = {1, 1, 4}, .devices = {3, 2, 1, 0}, .scattered = 1});
  tasks.configure(1, {{1, 1}, {3}});
  tasks.update();
  EXPECT_EQ(tasks.totals().bytes, 3 * 96);
}

// w(i) is 32 bytes, and is read by y and z, which follow each other. It is sent once, or fetched by
// each; the second time while y runs.
TEST(Tasks, OperatorsFetchTheirParameters) {
  Graph graph;
  graph.choices = {{"w", {{"i", 8}}}, {"y", {{"i", 8}}}, {"z", {{"i", 8}}}};
  graph.operators = {{"y", 1, {0}, 100}, {"z", 2, {0}, 200}, {"w", 0, {0}, 8}};
  graph.operators[2].isUpdate = true;
  graph.values = {{0, {8}, {0}, {}, 4}, {1, {8}, {0}, {}, 4}, {2, {8}, {0}, {}, 4}};
  Coordinate own{.terms = {{0, 1}}};
  graph.operators[0].reads = {{2, {own}, true}};
  graph.operators[1].reads = {{0, {own}}, {2, {own}, true}};
  graph.operators[2].reads = {{1, {own}}, {2, {own}, true}};
  Cluster cluster = allLinked(2);
  for (Cluster::Link &link : cluster.links)
    link.latencySeconds = 0;
  for (bool isPaper : {false, true}) {
    Tasks tasks(graph, cluster, {.isPaper = isPaper});
    tasks.configure(1, {{1}, {1}});
    tasks.configure(2, {{1}, {1}});
    int64_t barrier = isPaper ? 2 : 0;
    EXPECT_EQ(tasks.update(), 300 + barrier + 32 + 8 + 32); // z to the update, and w back
    EXPECT_EQ(tasks.totals().bytes, 2 * 32);
    tasks.commit();
    tasks.configure(0, {.degrees = {1}, .devices = {0}, .isFetched = true});
    EXPECT_EQ(tasks.update(), 32 + 300 + barrier + 32 + 8);
    EXPECT_EQ(tasks.totals().bytes, 3 * 32);
    // w, and z; y and z, and w while these run.
    EXPECT_EQ(tasks.memory(), (std::vector<int64_t>{32 + 32, 32 + 32 + 32}));
    tasks.commit();
    // Without y on the device, it waits until y has begun elsewhere.
    tasks.configure(1, {{1}, {0}});
    EXPECT_EQ(tasks.update(), 100 + 32 + 200 + barrier + 32 + 8);
    tasks.undo();
    EXPECT_EQ(tasks.end(), 32 + 300 + barrier + 32 + 8);
  }
}

// z fetches w once y, which makes its operand, has begun: 100 after the step's begin.
TEST(Tasks, FetchesBeginWithTheOperatorBefore) {
  Graph graph;
  graph.choices = {{"w", {{"i", 8}}}, {"x", {{"i", 8}}}, {"y", {{"i", 8}}}, {"z", {{"i", 8}}}};
  graph.operators = {{"x", 1, {0}, 100}, {"y", 2, {0}, 10}, {"z", 3, {0}, 200}, {"w", 0, {0}, 8}};
  graph.operators[3].isUpdate = true;
  for (unsigned i = 0; i < 4; ++i)
    graph.values.push_back({i, {8}, {0}, {}, 4});
  Coordinate own{.terms = {{0, 1}}};
  graph.operators[1].reads = {{0, {own}}};
  graph.operators[2].reads = {{1, {own}}, {3, {own}, true}};
  Cluster cluster = allLinked(2);
  for (Cluster::Link &link : cluster.links)
    link.latencySeconds = 0;
  Tasks tasks(graph, cluster, {});
  for (unsigned i = 1; i < 4; ++i)
    tasks.configure(i, {{1}, {1}});
  tasks.configure(0, {.degrees = {1}, .devices = {0}, .isFetched = true});
  EXPECT_EQ(tasks.update(), 100 + 32 + 200 + 1); // a group's join takes 1 ps without a latency
}

// A message takes the latency besides; on two links, it passes through both at once.
TEST(Tasks, MessagesTakeTheLatencyAndTheSlowestLink) {
  Graph graph = twoOperators();
  Cluster cluster;
  cluster.kinds = {{.name = "gpu", .operationsPerSecond = 1e12}};
  cluster.devices = {{"a", 0}, {"b", 0}};
  cluster.nodes = 3;
  cluster.links = {{0, 2, 0, 1e12, 5e-12}, {2, 1, 1, 5e11, 7e-12}};
  cluster.lanes = 2;
  EXPECT_EQ(cluster.findRoutes(), std::pair(1u, 0u)); // there is no way back
  Tasks tasks(graph, cluster, {});
  tasks.configure(1, {{1, 1}, {1}});
  EXPECT_EQ(tasks.update(), 192 + 5 + 2 * 96 + 7 + 24);
  // The other way round: the second link begins when the first byte arrives, and is idle at times.
  std::swap(cluster.links[0].bytesPerSecond, cluster.links[1].bytesPerSecond);
  Tasks others(graph, cluster, {});
  others.configure(1, {{1, 1}, {1}});
  EXPECT_EQ(others.update(), 192 + 2 * 96 + 5 + 7 + 24);
}

// Two messages of 96 bytes at once: on links of their own, and on one.
TEST(Tasks, FlowsShareLinks) {
  Graph graph = twoOperators();
  graph.choices.push_back(graph.choices[0]);
  graph.choices.push_back(graph.choices[1]);
  graph.operators.push_back({"y2", 2, {0, 1, 2}, 192});
  graph.operators.push_back({"z2", 3, {0, 1}, 24});
  graph.values.push_back({2, {4, 6}, {0, 1}, {2}, 4});
  graph.operators[3].reads = graph.operators[1].reads;
  graph.operators[3].reads[0].value = 1;
  for (bool isShared : {false, true}) {
    Cluster cluster = allLinked(4);
    if (isShared)
      for (Cluster::Link &link : cluster.links)
        link.lane = 0;
    Tasks tasks(graph, cluster, {.isPaper = true});
    tasks.configure(1, {{1, 1}, {1}});
    tasks.configure(2, {{1, 1, 1}, {2}});
    tasks.configure(3, {{1, 1}, {3}});
    EXPECT_EQ(tasks.update(), 192 + (isShared ? 2 : 1) * 96 + 24 + 2);
  }
}

// A gradient is summed, the parameter updated once, and the next value sent to all that read it:
// after the backward pass if it is the paper's, else as soon as it is there.
TEST(Tasks, UpdatesFollowTheBackwardPass) {
  Graph graph;
  graph.choices = {{"w", {{"b", 4}, {"i", 8}}}, {"late", {}}};
  // y(b) reads w(i); dw(i) is summed over b; w'(i) reads dw.
  graph.operators = {
      {"y", 0, {0, 1}, 32}, {"dw", 0, {0, 1}, 32}, {"update", 0, {1}, 8}, {"late", 1, {}, 1000}};
  graph.values = {{0, {4}, {0}, {1}, 4}, {1, {8}, {1}, {0}, 4}, {2, {8}, {1}, {}, 4}};
  graph.operators[0].reads = {{2, {{.terms = {{1, 1}}}}, true}};
  graph.operators[1].reads = {{0, {{.terms = {{0, 1}}}}}};
  graph.operators[2].reads = {{1, {{.terms = {{1, 1}}}}}};
  graph.operators[2].isUpdate = true;
  for (bool isPaper : {false, true}) {
    Cluster cluster = allLinked(4);
    for (Cluster::Link &link : cluster.links)
      link.latencySeconds = 0;
    Tasks tasks(graph, cluster, {.isPaper = isPaper});
    tasks.configure(0, {{4, 1}, {0, 1, 2, 3}});
    tasks.configure(1, {{}, {3}});
    // Device 3 is late: after its parts of y and dw, or between them, 1,000 ps pass.
    // Around a ring, the first part adds once; joins of what is sent take 2 ps.
    int64_t end = tasks.update(), sum = isPaper ? 24 : 8, joins = isPaper ? 0 : 2;
    int64_t afterwards = 32 + joins + sum + 8 + 32 + joins;
    EXPECT_EQ(end, 8 + (isPaper ? 8 : 0) + 1000 + (isPaper ? 2 : 0) + (isPaper ? afterwards : 0) +
                       (isPaper ? 0 : afterwards + 8))
        << isPaper;
    EXPECT_EQ(tasks.totals().bytes, 2 * 3 * 32); // to the first part and back
    EXPECT_EQ(tasks.totals().computing, 32 + 32 + 8 + sum + 1000);
    // On one device, where nothing is sent.
    tasks.commit();
    tasks.configure(0, {{1, 1}, {0}});
    EXPECT_EQ(tasks.update(), isPaper ? 1000 + 2 + 8 : 1000);
  }
}

// Elements that two operators on a device read of another one are sent once: here a forward and a
// backward pass read a parameter, and one of two reads is part of the other one.
TEST(Tasks, DevicesGetNothingTwice) {
  Graph graph = twoOperators();
  graph.choices.push_back(graph.choices[1]);
  graph.operators.push_back(graph.operators[1]);
  graph.operators[2].choice = 2;
  Cluster cluster = allLinked(3);
  Tasks tasks(graph, cluster, {.isPaper = true});
  tasks.configure(1, {{1, 1}, {1}});
  tasks.configure(2, {{1, 2}, {1, 2}});
  EXPECT_EQ(tasks.update(), 192 + 96 + 24 + 12 + 2);
  EXPECT_EQ(tasks.totals(), (Tasks::Totals{96 + 48, 2, 192 + 2 * 24}));
}

// A value is held where it is made until it is sent, and where it is read until that ends; so are
// partial sums. The next value of a parameter is held all the time.
TEST(Tasks, DevicesHoldWhatIsReadLater) {
  using Bytes = std::vector<int64_t>;
  Graph graph = twoOperators();
  Cluster cluster = allLinked(4);
  Tasks tasks(graph, cluster, {.isPaper = true});
  EXPECT_EQ(tasks.memory(), (Bytes{96, 0, 0, 0}));
  tasks.configure(1, {{1, 2}, {0, 1}});
  tasks.update();
  EXPECT_EQ(tasks.memory(), (Bytes{96, 48, 0, 0}));
  tasks.commit();
  tasks.configure(0, {{1, 1, 4}, {3, 2, 1, 0}});
  tasks.configure(1, {{1, 1}, {2}});
  tasks.update();
  EXPECT_EQ(tasks.memory(), (Bytes{96, 96, 96, 4 * 96}));
  // dw(i) is summed over b; w'(i) reads it, and is read in the next step.
  Graph update;
  update.choices = {{"w", {{"b", 4}, {"i", 8}}}};
  update.operators = {{"dw", 0, {0, 1}, 32}, {"update", 0, {1}, 8}};
  update.operators[1].isUpdate = true;
  update.values = {{0, {8}, {1}, {0}, 4}, {1, {8}, {1}, {}, 4}};
  update.operators[0].reads = {{1, {{.terms = {{1, 1}}}}, true}};
  update.operators[1].reads = {{0, {{.terms = {{1, 1}}}}}};
  Tasks others(update, cluster, {.isPaper = true});
  others.configure(0, {{4, 1}, {0, 1, 2, 3}});
  others.update();
  EXPECT_EQ(others.memory(), (Bytes{32 + 4 * 32, 32 + 32, 32 + 32, 32 + 32}));
}

/// Calls `act` with each list of numbers below the limits.
static void forEach(const std::vector<int64_t> &limits, auto &&act) {
  int64_t count = 1;
  for (int64_t limit : limits)
    count *= limit;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<int64_t> at;
    int64_t left = i;
    for (int64_t limit : limits) {
      at.push_back(left % limit);
      left /= limit;
    }
    act(at);
  }
}

// Every element that a part reads is of one block, which its maker has or sends, once to each
// device unless two parts there need different elements: counted one by one, point to point.
TEST(Tasks, MoveEachElementOnce) {
  Random random(4);
  for (unsigned round = 0; round < 60; ++round) {
    Graph graph = drawGraph(3, 5, random);
    Cluster cluster = drawCluster(4, random);
    Tasks tasks(graph, cluster, {.isPaper = true});
    for (unsigned i = 0; i < graph.choices.size(); ++i)
      tasks.configure(i, drawConfiguration(graph.choices[i], 4, random));
    int64_t bytes = 0;
    /// By value, block and device: the elements that each part needs.
    std::map<std::array<unsigned, 3>, std::set<std::set<std::vector<int64_t>>>> needs;
    auto partWith = [&](unsigned choice, auto &&indexOf) {
      unsigned part = 0;
      for (unsigned k = 0; k < graph.choices[choice].names.size(); ++k)
        part = part * tasks.configuration(choice).degrees[k] + indexOf(k);
      return part;
    };
    auto blockSize = [&](unsigned choice, unsigned name) {
      unsigned degree = tasks.configuration(choice).degrees[name];
      return (graph.choices[choice].names[name].size + degree - 1) / degree;
    };
    for (const Graph::Operator &op : graph.operators) {
      std::vector<int64_t> sizes;
      for (const Graph::Name &name : graph.choices[op.choice].names)
        sizes.push_back(name.size);
      for (const Graph::Read &read : op.reads) {
        // By part, the bounds of what its points read.
        std::map<unsigned, std::vector<Interval>> boxes;
        forEach(sizes, [&](const std::vector<int64_t> &point) {
          unsigned part = partWith(op.choice, [&](unsigned k) {
            return std::find(op.names.begin(), op.names.end(), k) == op.names.end()
                       ? 0
                       : unsigned(point[k] / blockSize(op.choice, k));
          });
          auto &box = boxes[part];
          for (size_t k = 0; k < read.coordinates.size(); ++k) {
            const Coordinate &coordinate = read.coordinates[k];
            int64_t sum = 0;
            for (auto [name, factor] : coordinate.terms)
              sum += factor * point[name];
            Interval here{llvm::divideFloorSigned(sum + coordinate.low, coordinate.divisor),
                          llvm::divideFloorSigned(sum + coordinate.high, coordinate.divisor) + 1};
            if (box.size() == k)
              box.push_back(here);
            box[k] = {std::min(box[k].low, here.low), std::max(box[k].high, here.high)};
          }
        });
        const Graph::Value &value = graph.values[read.value];
        unsigned maker = graph.operators[value.maker].choice;
        for (const auto &[part, box] : boxes) {
          std::map<unsigned, std::set<std::vector<int64_t>>> ofBlocks;
          forEach(value.sizes, [&](const std::vector<int64_t> &at) {
            for (size_t k = 0; k < at.size(); ++k)
              if (at[k] < box[k].low || at[k] >= box[k].high)
                return;
            unsigned from = partWith(maker, [&](unsigned name) {
              for (size_t k = 0; k < at.size(); ++k)
                if (value.names[k] == name)
                  return unsigned(at[k] / blockSize(maker, name));
              return 0u;
            });
            ofBlocks[from].insert(at);
          });
          unsigned device = tasks.configuration(op.choice).devices[part];
          for (const auto &[from, elements] : ofBlocks)
            if (tasks.configuration(maker).devices[from] != device)
              needs[{read.value, from, device}].insert(elements);
        }
      }
    }
    for (const auto &[key, all] : needs)
      for (const auto &own : all)
        if (std::none_of(all.begin(), all.end(), [&](const auto &other) {
              return other != own &&
                     std::includes(other.begin(), other.end(), own.begin(), own.end());
            }))
          bytes += int64_t(own.size()) * graph.values[key[0]].elementBytes;
    for (const Graph::Value &value : graph.values) {
      unsigned choice = graph.operators[value.maker].choice;
      std::vector<int64_t> limits;
      for (unsigned name : value.summed)
        limits.push_back((graph.choices[choice].names[name].size + blockSize(choice, name) - 1) /
                         blockSize(choice, name));
      forEach(value.sizes, [&](const std::vector<int64_t> &at) {
        auto deviceWith = [&](const std::vector<int64_t> &partial) {
          unsigned part = partWith(choice, [&](unsigned name) {
            for (size_t k = 0; k < value.summed.size(); ++k)
              if (value.summed[k] == name)
                return unsigned(partial[k]);
            for (size_t k = 0; k < at.size(); ++k)
              if (value.names[k] == name)
                return unsigned(at[k] / blockSize(choice, name));
            return 0u;
          });
          return tasks.configuration(choice).devices[part];
        };
        forEach(limits, [&](const std::vector<int64_t> &partial) {
          if (deviceWith(partial) != deviceWith(std::vector<int64_t>(limits.size())))
            bytes += value.elementBytes;
        });
      });
    }
    ASSERT_EQ(tasks.totals().bytes, bytes) << "round " << round;
  }
}

// Each proposal changes the configurations of one or two choices; then all times are those of a
// graph that is configured anew, and after `undo` those of before. What is left, before tasks are
// made, then, or in the walk, ends above the limit.
TEST(Tasks, ChangesGiveTheTimesOfAFreshStart) {
  Random random(5);
  size_t proposals = 0, computed = 0, all = 0, leftBefore = 0, leftInWalks = 0;
  for (unsigned round = 0; round < 250; ++round) {
    unsigned choices = 2 + below(5, random), devices = 1 + below(6, random);
    Graph graph = drawGraph(choices, choices + below(6, random), random);
    Cluster cluster = drawCluster(devices, random);
    TaskOptions options{.isPaper = round % 2 == 0};
    Tasks tasks(graph, cluster, options);
    All before = allOf(tasks.timetable());
    Tasks::Totals totals = tasks.totals();
    for (unsigned i = 0; i < 40; ++i, ++proposals) {
      std::vector<Tasks::Change> changes;
      for (unsigned k = below(choices, random), last = k + below(2, random);
           k <= last && k < choices; ++k)
        changes.emplace_back(k, drawAnyConfiguration(graph.choices[k], devices, random));
      Tasks fresh(graph, cluster, options);
      for (unsigned k = 0; k < choices; ++k)
        fresh.configure(k, tasks.configuration(k));
      for (const auto &[choice, configuration] : changes)
        fresh.configure(choice, configuration);
      int64_t end = fresh.computeTimes(), limit = limitFor(end, random);
      bool isMade = tasks.configure(changes, limit);
      std::optional<int64_t> found = isMade ? tasks.update(limit) : std::nullopt;
      ASSERT_EQ(found.has_value(), end <= limit) << "round " << round << "." << i;
      if (!found) {
        ++(isMade ? leftInWalks : leftBefore);
        // As a whole, they are left as well.
        std::vector<Configuration> anew;
        for (unsigned k = 0; k < choices; ++k)
          anew.push_back(fresh.configuration(k));
        ASSERT_EQ(fresh.rebuild(anew, end - 1), std::nullopt);
        ASSERT_EQ(fresh.rebuild(anew, end), end);
        tasks.undo();
        ASSERT_EQ(allOf(tasks.timetable()), before) << "round " << round << "." << i;
        ASSERT_EQ(tasks.totals(), totals);
        continue;
      }
      computed += tasks.timetable().computed();
      ASSERT_EQ(*found, end) << "round " << round << "." << i;
      ASSERT_EQ(allOf(tasks.timetable()), allOf(fresh.timetable()));
      ASSERT_EQ(tasks.totals(), fresh.totals());
      ASSERT_EQ(fresh.timetable().computed(), fresh.timetable().sorted().size());
      all += fresh.timetable().sorted().size();
      if (below(2, random)) {
        tasks.undo();
        ASSERT_EQ(allOf(tasks.timetable()), before);
        ASSERT_EQ(tasks.totals(), totals);
      } else {
        tasks.commit();
        before = allOf(tasks.timetable());
        totals = tasks.totals();
      }
    }
  }
  EXPECT_EQ(proposals, 10'000u);
  EXPECT_GT(leftBefore, 500u);
  EXPECT_GT(leftInWalks, 500u);
  EXPECT_LT(computed, all);
}
