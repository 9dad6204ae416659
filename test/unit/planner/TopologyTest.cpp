//===- TopologyTest.cpp - files of devices and links ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/Topology.h"

#include "gtest/gtest.h"

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
  EXPECT_EQ(topology->mesh(), "node=4,gpu=2");
  EXPECT_EQ(topology->devices(), 8);
  EXPECT_EQ(topology->memoryBytes, 16'000'000'000);
  EXPECT_EQ(topology->axes[0].latencySeconds, 5e-7);
  EXPECT_EQ(topology->axes[1].bytesPerSecond, 2e10);
  EXPECT_EQ(topology->facts, (std::vector<std::pair<std::string, double>>{
                                 {"cycles_per_second", 2e9}, {"l2_bytes", 1048576}}));
}

/// The error for the text with `from` replaced by `to`.
static std::string errorWith(const std::string &from, const std::string &to) {
  std::string text = good, error;
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
         "'bytes_per_second' and 'latency_seconds'");
  expect("\"latency_seconds\": 5e-7", "\"latency_seconds\": 2",
         "7: expected a number from 0 to 1 for 'latency_seconds', got 2");
  expect(" \"bytes_per_second\": 1e10,\n", "\n",
         "7: expected 'bytes_per_second' of an axis, got {\"axis\":\"node\",\"devices\":4,"
         "\"latency_seconds\":5e-07}");
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
                   "and 'axes' for a topology, got [1]");
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
