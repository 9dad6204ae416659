//===- Cluster.h - devices, links and routes --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A graph of devices, switches and links, in which each pair of devices has a route:
//
//     gpu.0 --\                            /-- gpu.2
//              switch.0 --- switch.1 ------
//     gpu.1 --/                            \-- gpu.3
//
//     routeOf(0, 3)     gpu.0 to switch.0, switch.0 to switch.1, switch.1 to gpu.3
//
// A message passes through the links of its route at once; each link is busy for the bytes divided
// by its rate. Links of one lane are never busy at once: the two directions of a link that is
// shared, say.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PLANNER_CLUSTER_H
#define HEDDLE_LIB_PLANNER_CLUSTER_H

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace heddle::planner {

struct Cluster {
  struct Kind {
    std::string name;
    int64_t memoryBytes = std::numeric_limits<int64_t>::max();
    double operationsPerSecond = 0; ///< 0: tasks take the time that the program's machine takes
    double bytesPerSecond = std::numeric_limits<double>::infinity(); ///< of the memory
    double startSeconds = 0;                                         ///< of each task
  };
  struct Device {
    std::string name;
    unsigned kind = 0;
  };
  /// In one direction, between nodes: the devices, then the switches.
  struct Link {
    unsigned from = 0, to = 0, lane = 0;
    double bytesPerSecond = 0, latencySeconds = 0;
  };
  using Route = std::vector<unsigned>; ///< links

  /// More devices would have too many routes.
  static constexpr unsigned mostDevices = 1024;

  std::vector<Kind> kinds;
  std::vector<Device> devices;
  unsigned nodes = 0, lanes = 0;
  std::vector<Link> links;
  std::vector<Route> routes; ///< from * devices + to

  const Route &routeOf(unsigned from, unsigned to) const {
    return routes[from * devices.size() + to];
  }
  /// Finds a route between all devices that have none: the one with the fewest links, of these the
  /// one with the shortest latency, then the smallest numbers. Returns two devices without one.
  std::optional<std::pair<unsigned, unsigned>> findRoutes();
};

} // namespace heddle::planner

#endif // HEDDLE_LIB_PLANNER_CLUSTER_H
