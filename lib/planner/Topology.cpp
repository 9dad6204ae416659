//===- Topology.cpp - devices and the links between them ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/Topology.h"

#include "heddle/Expr.h"
#include "lib/support/JsonText.h"
#include "lib/target/MachineFile.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

using namespace heddle;
using namespace heddle::planner;
using Json = nlohmann::ordered_json; // the keys of an object in the order of the file

static constexpr int format = 1;
/// The most devices, as in a mesh, and the largest number of other kinds.
static constexpr double mostDevices = 1 << 20, most = 1e18;

int64_t Topology::devices() const {
  int64_t product = 1;
  for (const Axis &axis : axes)
    product *= axis.devices;
  return product;
}

std::string Topology::mesh() const {
  std::string text;
  for (const Axis &axis : axes)
    text += (text.empty() ? "" : ",") + axis.name + "=" + std::to_string(axis.devices);
  return text;
}

namespace {
/// Reads the keys of a file in its order, so that the n-th key read is at the n-th line found.
class Reader {
public:
  Topology read(const std::string &text) {
    std::vector<std::set<std::string>> open; // the keys of the objects around the parser
    auto seen = [&](int depth, Json::parse_event_t event, Json &value) {
      if (depth > 8)
        throw JsonMistake{"expected at most 8 levels", line};
      if (event == Json::parse_event_t::object_start)
        open.emplace_back();
      else if (event == Json::parse_event_t::object_end)
        open.pop_back();
      else if (event == Json::parse_event_t::key) {
        if (!open.back().insert(value).second)
          throw JsonMistake{"'" + std::string(value) + "' occurs twice", line};
        lines.push_back(line);
      }
      return true;
    };
    Json json;
    try {
      json = Json::parse(JsonText(text.data(), &line), JsonText(text.data() + text.size(), &line),
                         seen);
    } catch (const Json::exception &error) {
      throw JsonMistake::malformed(error, line);
    }
    return topologyOf(json);
  }
  unsigned lineOf() const { return next ? lines[next - 1] : 1; }

private:
  unsigned line = 1;
  size_t next = 0;
  std::vector<unsigned> lines; ///< of all keys, in the order of the file

  [[noreturn]] void refuse(const std::string &what) const { throw JsonMistake{what, lineOf()}; }

  /// Calls `read` with each key of an object; it returns false for keys that it does not know.
  template <typename Read>
  void forEachKey(const Json &json, const std::string &what, const std::string &keys, Read &&read) {
    if (!json.is_object())
      refuse("expected an object with " + keys + " for " + what + ", got " + json.dump());
    for (const auto &[key, value] : json.items()) {
      ++next;
      if (!read(key, value))
        refuse("unknown key '" + key + "' of " + what + ", expected " + keys);
    }
  }

  double number(const std::string &key, const Json &value, double least, double largest) const {
    if (!value.is_number() || !(value >= least && value <= largest)) {
      char limits[64];
      std::snprintf(limits, sizeof limits, "from %g to %g", least, largest);
      refuse("expected a number " + std::string(limits) + " for '" + key + "', got " +
             value.dump());
    }
    return value;
  }
  int64_t count(const std::string &key, const Json &value, double largest) const {
    double counted = number(key, value, 1, largest);
    if (counted != double(int64_t(counted)))
      refuse("expected a whole number for '" + key + "', got " + value.dump());
    return int64_t(counted);
  }

  Topology topologyOf(const Json &json) {
    Topology topology;
    bool hasFormat = false;
    const char *keys = "'heddle_topology', 'device' and 'axes'";
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
        return false;
      }
      return true;
    });
    if (!hasFormat)
      throw JsonMistake{"expected \"heddle_topology\": 1 in a topology, got none", 1};
    if (topology.axes.empty())
      throw JsonMistake{"expected axes, got none: one device needs no plan", 1};
    return topology;
  }

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
    const char *keys = "'axis', 'devices', 'bytes_per_second' and 'latency_seconds'";
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
        axis.devices = count(key, value, mostDevices / double(topology.devices()));
      } else if (key == "bytes_per_second") {
        axis.bytesPerSecond = number(key, value, 1, most);
      } else if (key == "latency_seconds") {
        axis.latencySeconds = number(key, value, 0, 1);
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

std::optional<Topology> planner::parseTopology(const std::string &text, const std::string &path,
                                               std::string &error) {
  Reader reader;
  auto at = [&](unsigned line, const std::string &what) {
    error = "topology '" + path + "', line " + std::to_string(line) + ": " + what;
    return std::nullopt;
  };
  try {
    return reader.read(text);
  } catch (const JsonMistake &mistake) {
    return at(mistake.line, mistake.what);
  } catch (const Json::exception &failure) { // text that is not UTF-8, in a message
    return at(reader.lineOf(), failure.what());
  }
}
