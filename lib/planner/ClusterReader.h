//===- ClusterReader.h - reads the devices and links of a file --*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the keys of a topology (Topology.h) that describe a graph: 'kinds', 'devices', 'switches',
// 'links' and 'routes'. Names are read before they are used, so that a mistake has a line.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PLANNER_CLUSTERREADER_H
#define HEDDLE_LIB_PLANNER_CLUSTERREADER_H

#include "lib/planner/Cluster.h"
#include "lib/support/JsonReader.h"

#include <map>

namespace heddle::planner {

/// The names for which a text with braces stands: `a.{0-1}.{x,y}` for a.0.x, a.0.y, a.1.x, a.1.y.
/// Returns none, or a mistake, for a text that is malformed or stands for more than `most` names.
std::vector<std::string> expandNames(const std::string &text, size_t most);

class ClusterReader {
public:
  explicit ClusterReader(JsonReader &json) : json(json) {}

  /// Reads a key of the file; returns false if it is another one.
  bool read(const std::string &key, const Json &value);
  /// Finds routes, and returns the graph; none if the file has no such keys.
  std::optional<Cluster> finish();

private:
  JsonReader &json;
  Cluster cluster;
  std::map<std::string, unsigned> nodeOf, kindOf;
  std::vector<std::string> names; ///< by node
  std::vector<bool> isUsed;       ///< by kind
  bool hasKeys = false;

  void readKind(const Json &value);
  void readDevices(const Json &value);
  void readLinks(const Json &value);
  void readRoute(const Json &value);
  void addNode(const std::string &name);
  std::vector<std::string> expanded(const Json &value) const;
  std::vector<unsigned> nodesOf(const Json &value) const;
  void require(const std::set<std::string> &stated, std::initializer_list<const char *> keys,
               const std::string &what, const Json &value) const;
};

} // namespace heddle::planner

#endif // HEDDLE_LIB_PLANNER_CLUSTERREADER_H
