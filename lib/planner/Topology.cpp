//===- Topology.cpp - devices and the links between them ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/Topology.h"

#include "heddle/Expr.h"
#include "lib/planner/ClusterReader.h"
#include "lib/target/MachineFile.h"

#include <algorithm>
#include <set>

using namespace heddle;
using namespace heddle::planner;

static constexpr int format = 1;
/// The most devices, as in a mesh, and the largest number of other kinds.
static constexpr double mostDevices = 1 << 20, most = 1e18;

MeshSpec Topology::mesh() const {
  MeshSpec mesh;
  for (const Axis &axis : axes)
    mesh.axes.emplace_back(axis.name, axis.devices);
  return mesh;
}

namespace {
class Reader : public JsonReader {
public:
  Topology topologyOf(const Json &json) {
    Topology topology;
    bool hasFormat = false;
    const char *keys = "'heddle_topology', 'device' and 'axes', or 'kinds', 'devices', 'switches', "
                       "'links' and 'routes'";
    forEachKey(json, "a topology", keys, [&](const std::string &key, const Json &value) {
      if (key == "heddle_topology") {
        if (value != format)
          refuse("expected \"heddle_topology\": 1, got " + value.dump());
        hasFormat = true;
      } else if (key == "device") {
        readDevice(value, topology);
      } else if (key == "axes") {
        if (!value.is_array())
          refuse("expected a list of axes, got " + value.dump());
        for (const Json &each : value)
          readAxis(each, topology);
      } else {
        return cluster.read(key, value);
      }
      return true;
    });
    if (!hasFormat)
      throw JsonMistake{"expected \"heddle_topology\": 1 in a topology, got none", 1};
    if (std::optional<Cluster> made = cluster.finish()) {
      if (!topology.axes.empty() || !topology.facts.empty())
        throw JsonMistake{"expected 'device' and 'axes' or 'links', got both", 1};
      topology.cluster = std::move(made);
      return topology;
    }
    if (topology.axes.empty())
      throw JsonMistake{"expected axes, got none: one device needs no plan", 1};
    return topology;
  }

private:
  ClusterReader cluster{*this};

  void readDevice(const Json &json, Topology &topology) {
    forEachKey(json, "a device", "'memory_bytes' and 'facts'",
               [&](const std::string &key, const Json &value) {
                 if (key == "memory_bytes")
                   topology.memoryBytes = count(key, value, most);
                 else if (key == "facts")
                   forEachKey(value, "facts", "those of a file of heddle-probe",
                              [&](const std::string &fact, const Json &own) {
                                if (MachineFacts::isKnown(fact))
                                  topology.facts.emplace_back(fact, number(fact, own, 1e-15, most));
                                return MachineFacts::isKnown(fact);
                              });
                 else
                   return false;
                 return true;
               });
  }

  void readAxis(const Json &json, Topology &topology) {
    Topology::Axis axis;
    std::set<std::string> stated;
    const char *keys = "'axis', 'devices', 'bytes_per_second', 'latency_seconds', "
                       "'core_bytes_per_second' and 'core_seconds'";
    forEachKey(json, "an axis", keys, [&](const std::string &key, const Json &value) {
      stated.insert(key);
      if (key == "axis") {
        if (!value.is_string() || !isValidName(std::string(value)) ||
            std::string(value).find('.') != std::string::npos)
          refuse("expected the name of an axis, got " + value.dump());
        axis.name = value;
        for (const Topology::Axis &other : topology.axes)
          if (other.name == axis.name)
            refuse("expected each axis once, got '" + axis.name + "' twice");
      } else if (key == "devices") {
        axis.devices = count(key, value, mostDevices / double(topology.mesh().ranks()));
      } else if (key == "bytes_per_second") {
        axis.bytesPerSecond = number(key, value, 1, most);
      } else if (key == "latency_seconds") {
        axis.latencySeconds = number(key, value, 0, 1);
      } else if (key == "core_bytes_per_second") {
        axis.coreBytesPerSecond = number(key, value, 1, most);
      } else if (key == "core_seconds") {
        axis.coreSeconds = number(key, value, 0, 1);
      } else {
        return false;
      }
      return true;
    });
    for (const char *key : {"axis", "devices", "bytes_per_second", "latency_seconds"})
      if (!stated.contains(key))
        refuse("expected '" + std::string(key) + "' of an axis, got " + json.dump());
    topology.axes.push_back(std::move(axis));
  }
};
} // namespace

Cluster planner::clusterOf(const Topology &topology) {
  if (topology.cluster)
    return *topology.cluster;
  Cluster cluster;
  cluster.kinds.push_back({.name = "device", .memoryBytes = topology.memoryBytes});
  auto count = unsigned(topology.mesh().ranks());
  cluster.nodes = count;
  cluster.lanes = count * unsigned(topology.axes.size());
  cluster.routes.resize(size_t(count) * count);
  for (unsigned from = 0; from < count; ++from) {
    cluster.devices.push_back({"device." + std::to_string(from), 0});
    for (unsigned to = 0; to < count; ++to) {
      // The outermost axis along which the two differ.
      int64_t left = count;
      unsigned axis = 0;
      for (; to != from; ++axis) {
        left /= topology.axes[axis].devices;
        if (from / left != to / left)
          break;
      }
      if (to == from)
        continue;
      cluster.routes[size_t(from) * count + to] = {unsigned(cluster.links.size())};
      cluster.links.push_back({from, to, from * unsigned(topology.axes.size()) + axis,
                               topology.axes[axis].bytesPerSecond,
                               topology.axes[axis].latencySeconds});
    }
  }
  return cluster;
}

std::optional<Topology> planner::parseTopology(const std::string &text, const std::string &path,
                                               std::string &error) {
  Reader reader;
  auto at = [&](unsigned line, const std::string &what) {
    error = "topology '" + path + "', line " + std::to_string(line) + ": " + what;
    return std::nullopt;
  };
  try {
    return reader.topologyOf(reader.parse(text));
  } catch (const JsonMistake &mistake) {
    return at(mistake.line, mistake.what);
  } catch (const Json::exception &failure) { // text that is not UTF-8, in a message
    return at(reader.lineOf(), failure.what());
  }
}
