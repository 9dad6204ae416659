//===- ClusterReader.cpp - reads the devices and links of a file ----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/ClusterReader.h"

#include <algorithm>
#include <charconv>

using namespace heddle;
using namespace heddle::planner;

/// The largest number, and the most nodes and links.
static constexpr double most = 1e18;
static constexpr size_t mostNodes = 1 << 14;

/// The items between braces: `0-3`, or `a,b`.
static std::vector<std::string> itemsOf(const std::string &text, size_t most) {
  std::vector<std::string> items;
  size_t dash = text.find('-');
  if (dash != text.npos) {
    size_t low = 0, high = 0;
    const char *end = text.data() + text.size();
    auto first = std::from_chars(text.data(), end, low);
    auto last = std::from_chars(text.data() + dash + 1, end, high);
    if (first.ptr != text.data() + dash || last.ptr != end || first.ec != std::errc() ||
        last.ec != std::errc() || high < low || high - low >= most)
      return {};
    for (size_t i = low; i <= high; ++i)
      items.push_back(std::to_string(i));
    return items;
  }
  for (size_t at = 0; at <= text.size();) {
    size_t comma = std::min(text.find(',', at), text.size());
    items.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return items;
}

std::vector<std::string> planner::expandNames(const std::string &text, size_t most) {
  std::vector<std::string> names{""};
  for (size_t at = 0; at < text.size();) {
    size_t open = std::min(text.find('{', at), text.size());
    for (std::string &name : names)
      name += text.substr(at, open - at);
    if (open == text.size())
      break;
    size_t close = text.find('}', open);
    if (close == text.npos)
      return {};
    std::vector<std::string> items = itemsOf(text.substr(open + 1, close - open - 1), most), all;
    if (items.size() * names.size() > most)
      return {};
    for (const std::string &name : names)
      for (const std::string &item : items)
        all.push_back(name + item);
    names = std::move(all);
    at = close + 1;
  }
  for (const std::string &name : names)
    if (name.empty() ||
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789_.") != name.npos)
      return {};
  return names;
}

std::vector<std::string> ClusterReader::expanded(const Json &value) const {
  std::vector<std::string> names;
  if (value.is_string())
    names = expandNames(value, mostNodes);
  if (names.empty())
    json.refuse("expected a name, with lists such as {0-3} or {0,2}, got " + value.dump());
  return names;
}

void ClusterReader::addNode(const std::string &name) {
  if (!nodeOf.try_emplace(name, cluster.nodes).second)
    json.refuse("expected each device and switch once, got '" + name + "' twice");
  if (++cluster.nodes > mostNodes)
    json.refuse("expected at most " + std::to_string(mostNodes) + " devices and switches");
  names.push_back(name);
}

std::vector<unsigned> ClusterReader::nodesOf(const Json &value) const {
  std::vector<unsigned> nodes;
  for (const std::string &name : expanded(value)) {
    auto node = nodeOf.find(name);
    if (node == nodeOf.end())
      json.refuse("expected a device or a switch that is stated before, got '" + name + "'");
    nodes.push_back(node->second);
  }
  return nodes;
}

void ClusterReader::require(const std::set<std::string> &stated,
                            std::initializer_list<const char *> keys, const std::string &what,
                            const Json &value) const {
  for (const char *key : keys)
    if (!stated.contains(key))
      json.refuse("expected '" + std::string(key) + "' of " + what + ", got " + value.dump());
}

bool ClusterReader::read(const std::string &key, const Json &value) {
  using Read = void (ClusterReader::*)(const Json &);
  static const std::map<std::string, Read> lists = {{"kinds", &ClusterReader::readKind},
                                                    {"devices", &ClusterReader::readDevices},
                                                    {"switches", nullptr},
                                                    {"links", &ClusterReader::readLinks},
                                                    {"routes", &ClusterReader::readRoute}};
  auto list = lists.find(key);
  if (list == lists.end())
    return false;
  hasKeys = true;
  if (!value.is_array())
    json.refuse("expected a list of " + key + ", got " + value.dump());
  for (const Json &each : value)
    if (list->second)
      (this->*list->second)(each);
    else
      for (const std::string &name : expanded(each))
        addNode(name);
  return true;
}

void ClusterReader::readKind(const Json &value) {
  Cluster::Kind kind;
  std::set<std::string> stated;
  double efficiency = 1;
  const char *keys = "'kind', 'memory_bytes', 'operations_per_second', 'memory_bytes_per_second', "
                     "'efficiency' and 'start_seconds'";
  json.forEachKey(value, "a kind", keys, [&](const std::string &key, const Json &own) {
    stated.insert(key);
    if (key == "kind")
      kind.name = json.text(key, own);
    else if (key == "memory_bytes")
      kind.memoryBytes = json.count(key, own, most);
    else if (key == "operations_per_second")
      kind.operationsPerSecond = json.number(key, own, 1, most);
    else if (key == "memory_bytes_per_second")
      kind.bytesPerSecond = json.number(key, own, 1, most);
    else if (key == "efficiency")
      efficiency = json.number(key, own, 1e-3, 1);
    else if (key == "start_seconds")
      kind.startSeconds = json.number(key, own, 0, 1);
    else
      return false;
    return true;
  });
  require(stated, {"kind"}, "a kind", value);
  for (const char *key : {"memory_bytes_per_second", "efficiency", "start_seconds"})
    if (stated.contains(key) && !stated.contains("operations_per_second"))
      json.refuse("expected 'operations_per_second' beside '" + std::string(key) +
                  "', which has no effect without");
  kind.operationsPerSecond *= efficiency;
  kind.bytesPerSecond *= efficiency;
  if (!kindOf.try_emplace(kind.name, unsigned(cluster.kinds.size())).second)
    json.refuse("expected each kind once, got '" + kind.name + "' twice");
  cluster.kinds.push_back(kind);
  isUsed.push_back(false);
}

void ClusterReader::readDevices(const Json &value) {
  std::vector<std::string> own;
  std::optional<unsigned> kind;
  json.forEachKey(value, "devices", "'names' and 'kind'",
                  [&](const std::string &key, const Json &each) {
                    if (key == "names") {
                      own = expanded(each);
                    } else if (key == "kind") {
                      auto known = kindOf.find(json.text(key, each));
                      if (known == kindOf.end())
                        json.refuse("expected a kind that is stated before, got " + each.dump());
                      kind = known->second;
                    } else {
                      return false;
                    }
                    return true;
                  });
  if (own.empty() || !kind)
    json.refuse("expected 'names' and 'kind' of devices, got " + value.dump());
  isUsed[*kind] = true;
  if (cluster.nodes > cluster.devices.size())
    json.refuse("expected devices before switches");
  if (cluster.devices.size() + own.size() > Cluster::mostDevices)
    json.refuse("expected at most " + std::to_string(Cluster::mostDevices) + " devices");
  for (const std::string &name : own) {
    addNode(name);
    cluster.devices.push_back({name, *kind});
  }
}

void ClusterReader::readLinks(const Json &value) {
  std::vector<unsigned> from, to;
  double rate = 0, latency = 0;
  std::string directions = "both";
  std::set<std::string> stated;
  const char *keys = "'from', 'to', 'bytes_per_second', 'latency_seconds' and 'directions'";
  json.forEachKey(value, "links", keys, [&](const std::string &key, const Json &own) {
    stated.insert(key);
    if (key == "from") {
      from = nodesOf(own);
    } else if (key == "to") {
      to = nodesOf(own);
    } else if (key == "bytes_per_second") {
      rate = json.number(key, own, 1, most);
    } else if (key == "latency_seconds") {
      latency = json.number(key, own, 0, 1);
    } else if (key == "directions") {
      directions = json.text(key, own);
      if (directions != "one" && directions != "both" && directions != "shared")
        json.refuse("expected \"one\", \"both\" or \"shared\" for 'directions', got " + own.dump());
    } else {
      return false;
    }
    return true;
  });
  require(stated, {"from", "to", "bytes_per_second", "latency_seconds"}, "links", value);
  size_t count = std::max(from.size(), to.size());
  if (count % from.size() || count % to.size())
    json.refuse("expected lists of which the size of one divides the other's, got " +
                std::to_string(from.size()) + " and " + std::to_string(to.size()) + " names");
  for (size_t i = 0; i < count; ++i) {
    unsigned a = from[i / (count / from.size())], b = to[i / (count / to.size())];
    if (a == b)
      json.refuse("expected a link between two, got one from '" + names[a] + "' to itself");
    cluster.links.push_back({a, b, cluster.lanes++, rate, latency});
    if (directions == "both")
      ++cluster.lanes;
    if (directions != "one")
      cluster.links.push_back({b, a, cluster.lanes - 1, rate, latency});
  }
}

void ClusterReader::readRoute(const Json &value) {
  std::vector<unsigned> from, through, to;
  json.forEachKey(value, "a route", "'from', 'through' and 'to'",
                  [&](const std::string &key, const Json &own) {
                    if (key == "from")
                      from = nodesOf(own);
                    else if (key == "to")
                      to = nodesOf(own);
                    else if (key == "through" && own.is_array())
                      for (const Json &each : own)
                        through.push_back(nodesOf(each).front());
                    else
                      return false;
                    return true;
                  });
  size_t count = cluster.devices.size();
  if (from.size() != 1 || to.size() != 1 || from[0] >= count || to[0] >= count || from == to)
    json.refuse("expected a route from a device to another one, got " + value.dump());
  cluster.routes.resize(count * count);
  Cluster::Route route;
  through.push_back(to[0]);
  for (unsigned last = from[0]; unsigned next : through) {
    auto link = std::find_if(cluster.links.begin(), cluster.links.end(),
                             [&](auto &each) { return each.from == last && each.to == next; });
    if (link == cluster.links.end())
      json.refuse("expected a link from '" + names[last] + "' to '" + names[next] + "', got none");
    route.push_back(unsigned(link - cluster.links.begin()));
    last = next;
  }
  cluster.routes[from[0] * count + to[0]] = std::move(route);
}

std::optional<Cluster> ClusterReader::finish() {
  if (!hasKeys)
    return std::nullopt;
  auto refuse = [](const std::string &what) { throw JsonMistake{what, 1}; };
  if (cluster.devices.size() < 2)
    refuse("expected devices, got " + std::to_string(cluster.devices.size()) +
           ": one device needs no plan");
  for (const auto &[name, kind] : kindOf)
    if (!isUsed[kind])
      refuse("no device is of the kind '" + name + "'");
  for (const auto &[name, node] : nodeOf)
    if (std::none_of(cluster.links.begin(), cluster.links.end(),
                     [&, node = node](auto &link) { return link.from == node || link.to == node; }))
      refuse("no link leads to '" + name + "'");
  if (auto apart = cluster.findRoutes())
    refuse("no links lead from '" + names[apart->first] + "' to '" + names[apart->second] + "'");
  return std::move(cluster);
}
