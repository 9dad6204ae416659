//===- Topology.h - devices and the links between them ----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A topology is a file of devices that are alike, in groups within groups. Each level of groups is
// an axis of the mesh, the outermost first:
//
//     {
//      "heddle_topology": 1,
//      "device": {"memory_bytes": 1.6e10, "facts": {"cycles_per_second": 2.6e9}},
//      "axes": [
//       {"axis": "node", "devices": 4, "bytes_per_second": 1.094e10, "latency_seconds": 5e-7},
//       {"axis": "gpu", "devices": 4, "bytes_per_second": 1.852e10, "latency_seconds": 1e-6}
//      ]
//     }
//
// A device sends to those that differ along an axis at the axis's rate; the first byte arrives after
// the latency. The facts have the keys of a file of heddle-probe (lib/target/MachineFile.h); those that
// are not stated are those of the program's module, or nominal. Units are part of the keys.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PLANNER_TOPOLOGY_H
#define HEDDLE_LIB_PLANNER_TOPOLOGY_H

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle::planner {

struct Topology {
  struct Axis {
    std::string name;
    int64_t devices = 1;
    double bytesPerSecond = 0, latencySeconds = 0;
  };
  std::vector<Axis> axes; ///< the last one varies fastest over devices
  int64_t memoryBytes = std::numeric_limits<int64_t>::max();
  std::vector<std::pair<std::string, double>> facts; ///< by key of `#nest.machine`

  int64_t devices() const;
  /// "node=4,gpu=4"
  std::string mesh() const;
};

/// Parses the text of a file. On failure returns none and sets `error` to a message that begins
/// with the path and the line.
std::optional<Topology> parseTopology(const std::string &text, const std::string &path,
                                      std::string &error);

} // namespace heddle::planner

#endif // HEDDLE_LIB_PLANNER_TOPOLOGY_H
