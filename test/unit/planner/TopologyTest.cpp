//===- TopologyTest.cpp - files of devices and links ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/Topology.h"

#include "lib/planner/ClusterReader.h"

#include "gtest/gtest.h"

#include <fstream>
#include <sstream>

using namespace heddle::planner;

static const std::string good = R"({
 "heddle_topology": 1,
 "device": {"memory_bytes": 1.6e10,
  "facts": {"cycles_per_second": 2e9, "l2_bytes": 1048576}},
 "axes": [
  {"axis": "node", "devices": 4, "bytes_per_second": 1e10,
   "latency_seconds": 5e-7},
  {"latency_seconds": 0, "axis": "gpu", "devices": 2, "bytes_per_second": 2e10}
 ]
}
)";

TEST(Topology, ReadsDevicesAndLinks) {
  std::string error;
  auto topology = parseTopology(good, "t.json", error);
  ASSERT_TRUE(topology) << error;
  EXPECT_EQ(topology->mesh().str(), "node=4,gpu=2");
  EXPECT_EQ(topology->mesh().ranks(), 8);
  EXPECT_EQ(topology->memoryBytes, 16'000'000'000);
  EXPECT_EQ(topology->axes[0].latencySeconds, 5e-7);
  EXPECT_EQ(topology->axes[1].bytesPerSecond, 2e10);
  EXPECT_EQ(topology->facts, (std::vector<std::pair<std::string, double>>{
                                 {"cycles_per_second", 2e9}, {"l2_bytes", 1048576}}));
}

TEST(Topology, ReadsWhatCoresMove) {
  std::string error, text = good;
  const std::string from = "\"devices\": 2,";
  text.replace(text.find(from), from.size(),
               from + " \"core_bytes_per_second\": 3e9, \"core_seconds\": 2e-6,");
  auto topology = parseTopology(text, "t.json", error);
  ASSERT_TRUE(topology) << error;
  EXPECT_EQ(topology->axes[0].coreBytesPerSecond, std::numeric_limits<double>::infinity());
  EXPECT_EQ(topology->axes[0].coreSeconds, 0);
  EXPECT_EQ(topology->axes[1].coreBytesPerSecond, 3e9);
  EXPECT_EQ(topology->axes[1].coreSeconds, 2e-6);
}

/// The error for the text with `from` replaced by `to`.
static std::string errorWith(const std::string &from, const std::string &to,
                             std::string text = good) {
  std::string error;
  text.replace(text.find(from), from.size(), to);
  EXPECT_FALSE(parseTopology(text, "t.json", error)) << text;
  return error;
}

TEST(Topology, RefusesMistakesAtTheirLines) {
  auto expect = [](const std::string &from, const std::string &to, const std::string &error) {
    EXPECT_EQ(errorWith(from, to), "topology 't.json', line " + error);
  };
  expect("\"heddle_topology\": 1", "\"heddle_topology\": 2",
         "2: expected \"heddle_topology\": 1, got 2");
  expect(" \"heddle_topology\": 1,\n", "",
         "1: expected \"heddle_topology\": 1 in a topology, got none");
  expect("1.6e10", "0", "3: expected a number from 1 to 1e+18 for 'memory_bytes', got 0");
  expect("1.6e10", "1.5", "3: expected a whole number for 'memory_bytes', got 1.5");
  expect("l2_bytes", "l2",
         "4: unknown key 'l2' of facts, expected those of a file of "
         "heddle-probe");
  expect("\"devices\": 4", "\"devices\": \"4\"",
         "6: expected a number from 1 to 1.04858e+06 for 'devices', got \"4\"");
  expect("\"bytes_per_second\": 1e10", "\"bytes_per_second\": -1e10",
         "6: expected a number from 1 to 1e+18 for 'bytes_per_second', got -10000000000.0");
  expect("\"bytes_per_second\": 1e10", "\"megabytes_per_second\": 1e4",
         "6: unknown key 'megabytes_per_second' of an axis, expected 'axis', 'devices', "
         "'bytes_per_second', 'latency_seconds', 'core_bytes_per_second' and 'core_seconds'");
  expect("\"latency_seconds\": 5e-7", "\"latency_seconds\": 2",
         "7: expected a number from 0 to 1 for 'latency_seconds', got 2");
  expect(" \"bytes_per_second\": 1e10,\n", "\n",
         "7: expected 'bytes_per_second' of an axis, got {\"axis\":\"node\",\"devices\":4,"
         "\"latency_seconds\":5e-07}");
  expect("\"devices\": 2,", "\"devices\": 2, \"core_bytes_per_second\": 0,",
         "8: expected a number from 1 to 1e+18 for 'core_bytes_per_second', got 0");
  expect("\"axis\": \"gpu\"", "\"axis\": \"node\"", "8: expected each axis once, got 'node' twice");
  expect("\"axis\": \"gpu\"", "\"axis\": \"g.pu\"",
         "8: expected the name of an axis, got \"g.pu\"");
  expect("\"devices\": 2,", "\"devices\": 2, \"devices\": 2,", "8: 'devices' occurs twice");
  expect("\"devices\": 2,", "\"devices\": 400000,",
         "8: expected a number from 1 to 262144 for 'devices', got 400000");
  EXPECT_NE(errorWith("]\n}", "").find("malformed JSON"), std::string::npos);
  EXPECT_NE(errorWith("\"device\"", "\"dev\xffice\"").find("line 3"), std::string::npos);
  std::string error;
  EXPECT_FALSE(parseTopology("", "t.json", error));
  EXPECT_FALSE(parseTopology("[1]", "t.json", error));
  EXPECT_EQ(error, "topology 't.json', line 1: expected an object with 'heddle_topology', 'device' "
                   "and 'axes', or 'kinds', 'devices', 'switches', 'links' and 'routes' for a "
                   "topology, got [1]");
  EXPECT_FALSE(parseTopology(R"({"heddle_topology": 1, "axes": []})", "t.json", error));
  EXPECT_EQ(error, "topology 't.json', line 1: expected axes, got none: one device needs no plan");
  EXPECT_FALSE(parseTopology(std::string(100, '['), "t.json", error));
}

// Every file that is cut is refused.
TEST(Topology, RefusesCutFiles) {
  for (size_t size = 0; size + 2 < good.size(); ++size) {
    std::string error;
    EXPECT_FALSE(parseTopology(good.substr(0, size), "t.json", error)) << size;
    EXPECT_TRUE(error.starts_with("topology 't.json', line ")) << error;
  }
}

// A switch for two devices each, which share a link to the next switch; one device is of another
// kind.
static const std::string graph = R"({
 "heddle_topology": 1,
 "kinds": [
  {"kind": "a", "operations_per_second": 1e12, "memory_bytes_per_second": 5e11, "start_seconds": 1e-6},
  {"kind": "b", "memory_bytes": 100}
 ],
 "devices": [
  {"names": "gpu.{0-1}.{x,y}", "kind": "a"},
  {"names": "cpu", "kind": "b"}
 ],
 "switches": ["switch.{0,1}"],
 "links": [
  {"from": "gpu.{0-1}.{x,y}", "to": "switch.{0-1}", "bytes_per_second": 1e9, "latency_seconds": 1e-6},
  {"from": "switch.0", "to": "switch.1", "bytes_per_second": 2e9, "latency_seconds": 0, "directions": "shared"},
  {"from": "cpu", "to": "switch.0", "bytes_per_second": 3e9, "latency_seconds": 0, "directions": "one"},
  {"from": "switch.1", "to": "cpu", "bytes_per_second": 4e9, "latency_seconds": 0, "directions": "one"},
  {"from": "gpu.0.x", "to": "gpu.1.y", "bytes_per_second": 1, "latency_seconds": 1}
 ],
 "routes": [
  {"from": "gpu.0.x", "through": ["switch.0", "switch.1"], "to": "gpu.1.y"}
 ]
}
)";

static std::string routeOf(const Cluster &cluster, unsigned from, unsigned to) {
  std::string text;
  for (unsigned link : cluster.routeOf(from, to))
    text += std::to_string(cluster.links[link].from) + ">" +
            std::to_string(cluster.links[link].to) + " ";
  return text;
}

TEST(Topology, ReadsGraphsOfDevicesAndLinks) {
  std::string error;
  auto topology = parseTopology(graph, "t.json", error);
  ASSERT_TRUE(topology) << error;
  ASSERT_TRUE(topology->cluster);
  Cluster cluster = clusterOf(*topology);
  ASSERT_EQ(cluster.devices.size(), 5u);
  EXPECT_EQ(cluster.devices[2].name, "gpu.1.x");
  EXPECT_EQ(cluster.kinds[cluster.devices[2].kind].operationsPerSecond, 1e12);
  EXPECT_EQ(cluster.kinds[cluster.devices[4].kind].memoryBytes, 100);
  EXPECT_EQ(cluster.nodes, 7u);
  EXPECT_EQ(cluster.links.size(), 4u * 2 + 2 + 1 + 1 + 2);
  // Both directions of the shared link are one lane; those of others are not.
  EXPECT_EQ(cluster.lanes, 4u * 2 + 1 + 1 + 1 + 2);
  EXPECT_EQ(cluster.links[8].lane, cluster.links[9].lane);
  EXPECT_NE(cluster.links[0].lane, cluster.links[1].lane);
  EXPECT_EQ(routeOf(cluster, 0, 1), "0>5 5>1 ");
  EXPECT_EQ(routeOf(cluster, 1, 2), "1>5 5>6 6>2 ");
  EXPECT_EQ(routeOf(cluster, 0, 3), "0>5 5>6 6>3 "); // as stated
  EXPECT_EQ(routeOf(cluster, 3, 0), "3>0 ");         // directly
  EXPECT_EQ(routeOf(cluster, 4, 2), "4>5 5>6 6>2 ");
  EXPECT_EQ(routeOf(cluster, 2, 4), "2>6 6>4 ");
}

// Of two ways with one switch, the one with the shorter latency; then the one stated first.
TEST(Topology, RoutesHaveTheFewestLinksThenTheShortestLatency) {
  Cluster cluster;
  cluster.devices.resize(2);
  cluster.nodes = 5;
  for (unsigned between : {2u, 3u, 4u})
    for (auto [from, to] : {std::pair(0u, between), std::pair(between, 1u)}) {
      cluster.links.push_back({from, to, 0, 1, between == 2 ? 2.0 : 1.0});
      cluster.links.push_back({to, from, 0, 1, 1});
    }
  EXPECT_EQ(cluster.findRoutes(), std::nullopt);
  EXPECT_EQ(routeOf(cluster, 0, 1), "0>3 3>1 ");
  EXPECT_EQ(routeOf(cluster, 1, 0), "1>2 2>0 ");
}

TEST(Topology, GroupsAreGraphsWithALinkPerAxis) {
  std::string error;
  Cluster cluster = clusterOf(*parseTopology(good, "t.json", error));
  ASSERT_EQ(cluster.devices.size(), 8u);
  EXPECT_EQ(cluster.kinds[0].memoryBytes, 16'000'000'000);
  auto linkOf = [&](unsigned from, unsigned to) {
    EXPECT_EQ(cluster.routeOf(from, to).size(), 1u);
    return cluster.links[cluster.routeOf(from, to)[0]];
  };
  EXPECT_EQ(linkOf(2, 3).bytesPerSecond, 2e10);
  EXPECT_EQ(linkOf(2, 4).bytesPerSecond, 1e10);
  EXPECT_EQ(linkOf(2, 4).latencySeconds, 5e-7);
  EXPECT_EQ(linkOf(2, 4).lane, linkOf(2, 7).lane);
  EXPECT_NE(linkOf(2, 4).lane, linkOf(2, 3).lane);
  EXPECT_NE(linkOf(2, 4).lane, linkOf(3, 4).lane);
}

TEST(Topology, ExpandsNames) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(expandNames("a.{8-10}.{x,y}", 10),
            (Names{"a.8.x", "a.8.y", "a.9.x", "a.9.y", "a.10.x", "a.10.y"}));
  EXPECT_EQ(expandNames("host", 10), Names{"host"});
  for (const char *bad : {"", "a{", "a{1", "a{2-1}", "a{1-}", "a{-1}", "a{1-2-3}", "a b", "a}",
                          "a{1,,2}x{ }", "{0-20}", "{0-3}{0-3}", "{0-99999999999999999999}", "{}"})
    EXPECT_EQ(expandNames(bad, 10), Names()) << bad;
}

TEST(Topology, RefusesMistakesOfGraphsAtTheirLines) {
  auto expect = [](const std::string &from, const std::string &to, const std::string &error) {
    EXPECT_EQ(errorWith(from, to, graph), "topology 't.json', line " + error);
  };
  expect("\"memory_bytes\"", "\"memory_megabytes\"",
         "5: unknown key 'memory_megabytes' of a kind, expected 'kind', 'memory_bytes', "
         "'operations_per_second', 'memory_bytes_per_second', 'efficiency' and 'start_seconds'");
  expect("1e12", "0", "4: expected a number from 1 to 1e+18 for 'operations_per_second', got 0");
  expect("\"operations_per_second\": 1e12, ", "",
         "4: expected 'operations_per_second' beside 'memory_bytes_per_second', which has no "
         "effect without");
  expect("\"kind\": \"b\"", "\"kind\": \"a\"", "5: expected each kind once, got 'a' twice");
  expect("\"cpu\", \"kind\": \"b\"", "\"cpu\", \"kind\": \"c\"",
         "9: expected a kind that is stated before, got \"c\"");
  expect("\"cpu\", \"kind\": \"b\"", "\"cpu\", \"kind\": \"a\"", "1: no device is of the kind 'b'");
  expect("\"switch.{0,1}\"", "\"switch.{0,1}\", \"cpu\"",
         "11: expected each device and switch once, got 'cpu' twice");
  expect("\"switch.{0,1}\"", "\"switch.{0,1}\", \"more\"", "1: no link leads to 'more'");
  expect("\"switch.{0,1}\"", "\"switch.{0,1\"",
         "11: expected a name, with lists such as {0-3} or {0,2}, got \"switch.{0,1\"");
  expect("\"to\": \"switch.{0-1}\"", "\"to\": \"switch.{0-2}\"",
         "13: expected a device or a switch that is stated before, got 'switch.2'");
  expect("gpu.{0-1}.{x,y}\", \"to\"", "gpu.{0,0,1}.x\", \"to\"",
         "13: expected lists of which the size of one divides the other's, got 3 and 2 names");
  expect("\"bytes_per_second\": 2e9", "\"bytes_per_second\": -2",
         "14: expected a number from 1 to 1e+18 for 'bytes_per_second', got -2");
  expect("\"bytes_per_second\": 2e9, ", "",
         "14: expected 'bytes_per_second' of links, got {\"from\":\"switch.0\",\"to\":\"switch.1\","
         "\"latency_seconds\":0,\"directions\":\"shared\"}");
  expect("shared", "all",
         "14: expected \"one\", \"both\" or \"shared\" for 'directions', got \"all\"");
  expect("\"to\": \"switch.1\"", "\"to\": \"switch.0\"",
         "14: expected a link between two, got one from 'switch.0' to itself");
  expect("\"from\": \"cpu\", \"to\": \"switch.0\"", "\"from\": \"switch.1\", \"to\": \"cpu\"",
         "1: no links lead from 'cpu' to 'gpu.0.x'");
  expect("\"through\": [\"switch.0\"", "\"through\": [\"cpu\"",
         "20: expected a link from 'gpu.0.x' to 'cpu', got none");
  expect("\"to\": \"gpu.1.y\"}\n", "\"to\": \"switch.1\"}\n",
         "20: expected a route from a device to another one, got {\"from\":\"gpu.0.x\",\"through\":"
         "[\"switch.0\",\"switch.1\"],\"to\":\"switch.1\"}");
  expect("\"heddle_topology\": 1,",
         "\"heddle_topology\": 1, \"axes\": [{\"axis\": \"d\", \"devices\": 2, "
         "\"bytes_per_second\": 1, \"latency_seconds\": 0}],",
         "1: expected 'device' and 'axes' or 'links', got both");
  for (size_t size = 0; size + 2 < graph.size(); ++size) {
    std::string error;
    EXPECT_FALSE(parseTopology(graph.substr(0, size), "t.json", error)) << size;
    EXPECT_TRUE(error.starts_with("topology 't.json', line ")) << error;
  }
}

// The shipped files, with what their README says of them.
TEST(Topology, ReadsShippedFiles) {
  auto read = [](const std::string &name) {
    std::ifstream file(HEDDLE_TOPOLOGIES "/" + name);
    std::stringstream text;
    text << file.rdbuf();
    std::string error;
    auto topology = parseTopology(text.str(), name, error);
    EXPECT_TRUE(topology && topology->cluster) << error;
    return clusterOf(*topology);
  };
  auto hops = [](const Cluster &cluster, unsigned from, unsigned to) {
    return cluster.routeOf(from, to).size();
  };
  Cluster p100 = read("p100-4x4.json");
  EXPECT_EQ(p100.devices.size(), 16u);
  EXPECT_EQ(hops(p100, 0, 3), 1u);
  EXPECT_EQ(hops(p100, 0, 4), 4u);
  Cluster k80 = read("k80-16x4.json");
  EXPECT_EQ(k80.devices.size(), 64u);
  EXPECT_EQ(hops(k80, 0, 1), 2u);
  EXPECT_EQ(hops(k80, 0, 2), 4u);
  EXPECT_EQ(hops(k80, 0, 63), 6u);
  Cluster both = read("p100-and-k80.json");
  EXPECT_EQ(both.devices.size(), 16u);
  EXPECT_EQ(hops(both, 0, 15), 5u);
  Cluster nvlink = read("nvlink-8.json");
  EXPECT_EQ(nvlink.devices.size(), 8u);
  EXPECT_EQ(hops(nvlink, 0, 4), 1u);
  EXPECT_EQ(hops(nvlink, 0, 5), 2u);
  Cluster torus = read("torus-4x4.json");
  EXPECT_EQ(torus.devices.size(), 16u);
  EXPECT_EQ(hops(torus, 0, 3), 1u);
  EXPECT_EQ(hops(torus, 0, 10), 4u);
}
