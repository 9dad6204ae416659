//===- TaskGroupsTest.cpp - what devices exchange at once -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/TaskTimes.h"
#include "lib/cost/Transfer.h"
#include "lib/planner/StepBound.h"

#include "SmallGraph.h"

#include "gtest/gtest.h"

#include <numeric>
#include <set>

using namespace heddle;
using namespace heddle::planner;

namespace {
/// x(i) of so many bytes, and parts of z that read all of it; with an update, of the step before.
Graph gathered(int64_t bytes, unsigned parts) {
  Graph graph;
  graph.choices = {{"x", {{"i", bytes}}}, {"z", {{"p", parts}}}};
  graph.operators = {{"x", 0, {0}, double(bytes)}, {"z", 1, {0}, double(parts)}};
  graph.values = {{0, {bytes}, {0}, {}, 1}};
  graph.operators[1].reads = {{0, {{{}, 0, bytes - 1}}}};
  return graph;
}
/// Parts of z that read columns of x, which is in rows, of 3 bytes each.
Graph transposed(int64_t size) {
  Graph graph;
  graph.choices = {{"x", {{"i", size}}}, {"z", {{"k", size}}}};
  graph.operators = {{"x", 0, {0}, double(size)}, {"z", 1, {0}, double(size)}};
  graph.values = {{0, {size, size}, {0, std::nullopt}, {}, 3}};
  graph.operators[1].reads = {{0, {{{}, 0, size - 1}, {{{0, 1}}}}}};
  return graph;
}
Configuration over(unsigned devices) {
  Configuration made{{devices}, std::vector<unsigned>(devices)};
  std::iota(made.devices.begin(), made.devices.end(), 0u);
  return made;
}
/// The time of a step without that of the tasks: in parts, these take 1 ps and as many as bytes.
int64_t gatherTime(const Cluster &cluster, int64_t bytes) {
  auto devices = unsigned(cluster.devices.size());
  Graph graph = gathered(bytes, devices);
  Tasks tasks(graph, cluster, {});
  tasks.configure(0, over(devices));
  tasks.configure(1, over(devices));
  EXPECT_EQ(tasks.totals().bytes, (devices - 1) * bytes);
  EXPECT_EQ(tasks.totals().transfers, 1);
  return tasks.update() - bytes / devices - 1;
}
/// Messages of all rounds of a ring: those of a round at once, each as soon as the device has what
/// it sends on.
int64_t timeOfRounds(unsigned devices, int64_t sent, int64_t latency) {
  Timetable times;
  std::vector<unsigned> links, last;
  for (unsigned i = 0; i < devices; ++i)
    links.push_back(times.addResource());
  for (unsigned round = 1; round < devices; ++round) {
    std::vector<unsigned> now;
    for (unsigned i = 0; i < devices; ++i) {
      now.push_back(times.addTask(round * devices + i, links[i], sent));
      if (round > 1)
        times.addDependence({last[(i + devices - 1) % devices], now[i], latency});
    }
    last = now;
  }
  return times.computeTimes() + latency;
}
/// Two nodes of two devices: 2 bytes and 1 ps in a node; through switches, half a byte and 8 ps.
Cluster twoNodes() {
  Cluster cluster;
  cluster.kinds = {{.name = "gpu", .operationsPerSecond = 1e12}};
  cluster.devices.assign(4, {"gpu", 0});
  cluster.nodes = 6;
  auto connect = [&](unsigned a, unsigned b, double rate, double latency) {
    cluster.links.push_back({a, b, cluster.lanes++, rate * 1e12, latency * 1e-12});
    cluster.links.push_back({b, a, cluster.lanes++, rate * 1e12, latency * 1e-12});
  };
  connect(0, 1, 2, 1);
  connect(2, 3, 2, 1);
  for (unsigned device = 0; device < 4; ++device)
    connect(device, 4 + device / 2, 1, 2);
  connect(4, 5, 0.5, 4);
  cluster.findRoutes();
  return cluster;
}
} // namespace

// (n - 1) (latency + bytes / n / rate).
TEST(TaskGroups, GatherAroundARing) {
  EXPECT_EQ(gatherTime(allLinked(2), 240), 5 + 120);
  EXPECT_EQ(gatherTime(allLinked(3), 240), 2 * (5 + 80));
  EXPECT_EQ(gatherTime(allLinked(4), 240), 3 * (5 + 60));
  // The hop between nodes is the slowest one.
  EXPECT_EQ(gatherTime(twoNodes(), 240), 3 * (8 + 120));
}

// One task on each link is what all messages of all rounds are, and the formula of lib/cost.
TEST(TaskGroups, TakeTheTimeOfAllRounds) {
  for (unsigned devices : {2u, 3u, 4u, 5u, 8u, 16u, 64u}) {
    Cluster cluster = allLinked(devices);
    int64_t bytes = devices * 24, time = gatherTime(cluster, bytes);
    EXPECT_EQ(time, timeOfRounds(devices, 24, 5)) << devices;
    cost::Transfer gather{.rounds = double(devices - 1), .bytes = double(devices - 1) * 24};
    cost::Group group{.devices = devices, .link = {.bytesPerSecond = 1e12, .startSeconds = 5e-12}};
    EXPECT_EQ(time, cost::picoseconds(cost::costOf(gather, group).seconds)) << devices;
  }
}

// 2 (n - 1) (latency + bytes / n / rate), and the time of the sums between.
TEST(TaskGroups, AddAroundARing) {
  Graph graph = twoOperators();
  graph.operators[1].reads[0].coordinates = {{{}, 0, 3}, {{}, 0, 5}};
  Cluster cluster = allLinked(4);
  Tasks tasks(graph, cluster, {});
  tasks.configure(0, {.degrees = {1, 1, 4}, .devices = {3, 2, 1, 0}, .scattered = 0});
  tasks.configure(1, {{4, 1}, {3, 2, 1, 0}});
  EXPECT_EQ(tasks.update(), 48 + 2 * 3 * (5 + 24) + 18 + 6);
  EXPECT_EQ(tasks.totals(), (Tasks::Totals{2 * 3 * 96, 2, 192 + 4 * 18 + 24}));
  // The partial sums, and a block that is added or the blocks of the others.
  EXPECT_EQ(tasks.memory(), (std::vector<int64_t>(4, 96 + 24)));
  tasks.commit();
  // All in the first part, which adds what the ring has added once.
  tasks.configure(0, {{1, 1, 4}, {3, 2, 1, 0}});
  tasks.configure(1, {{1, 1}, {3}});
  EXPECT_EQ(tasks.update(), 48 + 3 * 5 + 96 + 24 + 24);
  EXPECT_EQ(tasks.totals(), (Tasks::Totals{3 * 96, 1, 192 + 24 + 24}));
  EXPECT_EQ(tasks.memory(), (std::vector<int64_t>{96, 96, 96, 2 * 96}));
  EXPECT_EQ(tasks.busy()[4 + 8], 96); // from device 2 to 3, which sends nothing on to 0
  EXPECT_EQ(tasks.busy()[4 + 9], 0);
  tasks.commit();
  // Two parts on a device are added there; nothing is sent if all are.
  tasks.configure(0, {{1, 1, 4}, {3, 3, 1, 1}});
  EXPECT_EQ(tasks.update(), 2 * 48 + 5 + 96 + 2 * 24 + 24);
  tasks.commit();
  tasks.configure(0, {{1, 1, 4}, {3, 3, 3, 3}});
  EXPECT_EQ(tasks.update(), 192 + 72 + 24);
  EXPECT_EQ(tasks.totals().transfers, 0);
}

// Devices whose parts read the same columns are rings of their own.
TEST(TaskGroups, AreDevicesThatHaveToDoWithEachOther) {
  Graph graph = twoOperators();
  Cluster cluster = allLinked(4);
  Tasks tasks(graph, cluster, {});
  tasks.configure(0, {{4, 1, 1}, {0, 1, 2, 3}});
  graph.operators[1].reads[0].coordinates[1] = {{}, 0, 5};
  tasks.configure(1, {{2, 2}, {0, 1, 2, 3}});
  EXPECT_EQ(tasks.update(), 48 + 5 + 24 + 6);
  EXPECT_EQ(tasks.totals(), (Tasks::Totals{2 * 48, 2, 192 + 24}));
}

// Rows that become columns: all messages between two devices at once if there are many, else each.
TEST(TaskGroups, ExchangeBlocks) {
  for (unsigned devices : {3u, 8u}) {
    int64_t size = 2 * devices;
    Graph graph = transposed(size);
    // Each device has a link to a switch, and one from it.
    Cluster cluster = allLinked(devices);
    cluster.links.clear();
    cluster.routes.clear();
    cluster.lanes = 0;
    cluster.nodes = devices + 1;
    for (unsigned i = 0; i < devices; ++i) {
      cluster.links.push_back({i, devices, cluster.lanes++, 1e12, 5e-12});
      cluster.links.push_back({devices, i, cluster.lanes++, 1e12, 5e-12});
    }
    cluster.findRoutes();
    Tasks tasks(graph, cluster, {});
    tasks.configure(0, over(devices));
    tasks.configure(1, over(devices));
    int64_t end = tasks.update(), sent = (devices - 1) * 2 * 2 * 3;
    EXPECT_EQ(tasks.totals().bytes, devices * sent);
    EXPECT_EQ(tasks.totals().transfers, devices == 8 ? 1 : devices * (devices - 1));
    if (devices == 8)
      EXPECT_EQ(end, 2 + 10 + sent + 2);
    // A block of rows, and one of columns.
    EXPECT_EQ(tasks.memory(), std::vector<int64_t>(devices, 2 * size * 3 + sent));
  }
}

// More links than parts: each task has a key of its own.
TEST(TaskGroups, HaveManyLinks) {
  Graph graph = transposed(130);
  Cluster cluster = allLinked(130);
  Tasks tasks(graph, cluster, {});
  tasks.configure(0, over(130));
  tasks.configure(1, over(130));
  EXPECT_EQ(tasks.update(), 1 + 5 + 3 + 1);
  EXPECT_EQ(tasks.totals(), (Tasks::Totals{130 * 129 * 3, 1, 260}));
  std::set<uint64_t> keys;
  for (unsigned task : tasks.timetable().sorted())
    EXPECT_TRUE(keys.insert(tasks.timetable().key(task)).second);
}

// Fetched parameters pass around a ring once all operators that make other operands have begun.
TEST(TaskGroups, FetchParameters) {
  Graph graph = gathered(32, 4);
  graph.operators[0].isUpdate = graph.operators[1].reads[0].ofNextStep = true;
  graph.operators.push_back({"before", 1, {0}, 40});
  graph.values.push_back({2, {4}, {0}, {}, 4});
  graph.operators[1].reads.push_back({1, {{{{0, 1}}}}});
  std::swap(graph.operators[0], graph.operators[2]); // each before its readers
  graph.values[0].maker = 2;
  graph.values[1].maker = 0;
  Cluster cluster = allLinked(4);
  Tasks tasks(graph, cluster, {});
  Configuration fetched = over(4);
  fetched.isFetched = true;
  tasks.configure(0, fetched);
  tasks.configure(1, over(4));
  EXPECT_EQ(tasks.update(), 1 + 3 * (5 + 8) + 1); // the update does not wait
  EXPECT_EQ(tasks.memory(), (std::vector<int64_t>(4, 8 + 24 + 4)));
  tasks.commit();
  // They get it at the end of a step if they do not fetch it, and keep it.
  tasks.configure(0, over(4));
  EXPECT_EQ(tasks.update(), 10 + 8 + 3 * (5 + 8));
  EXPECT_EQ(tasks.memory(), (std::vector<int64_t>(4, 8 + 24 + 4)));
}

// A ring may take links that are faster than those of the route from the device that has a value.
TEST(TaskGroups, AreBounded) {
  Graph graph = gathered(240, 3);
  Cluster cluster = allLinked(3);
  for (Cluster::Link &link : cluster.links)
    if (link.from == 0 && link.to == 2)
      link.bytesPerSecond = 1e11;
  Tasks tasks(graph, cluster, {});
  TaskCosts costs(tasks, graph, 3);
  StepBound boundOf(costs, tasks, graph, 3);
  unsigned first = *costs.of(0).find({{1}, {0}}), all = *costs.of(1).find(over(3));
  int64_t time = costs.propose({first, all});
  EXPECT_EQ(time, 240 + 2 * 5 + 240 + 1);
  EXPECT_LE(boundOf({first, all}), time);
  EXPECT_GE(boundOf({first, all}), 240 + 5 + 240 + 1);
}
