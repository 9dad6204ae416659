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
// A device sends to those that differ along an axis at the axis's rate; the first byte arrives
// after the latency. If the cores that compute also move the data, an axis states the rate at which
// they do, "core_bytes_per_second", and their time for each message, "core_seconds"; they compute
// nothing meanwhile. The facts have the keys of a file of heddle-probe (lib/target/MachineFile.h);
// those that are not stated are those of the program's module, or nominal. Units are part of the
// keys.
//
// Devices that are not alike, and other links, are a graph (Cluster.h) instead:
//
//     {
//      "heddle_topology": 1,
//      "kinds": [{"kind": "k80", "memory_bytes": 1.2e10, "operations_per_second": 2.8e12,
//                 "memory_bytes_per_second": 2.4e11, "start_seconds": 1e-5}],
//      "devices": [{"names": "gpu.{0-15}.{0-3}", "kind": "k80"}],
//      "switches": ["pcie.{0-15}.{0,1}", "host.{0-15}", "network"],
//      "links": [
//       {"from": "gpu.{0-15}.{0-3}", "to": "pcie.{0-15}.{0,1}",
//        "bytes_per_second": 1.258e10, "latency_seconds": 1e-6, "directions": "both"},
//       {"from": "pcie.{0-15}.{0,1}", "to": "host.{0-15}", ...},
//       {"from": "host.{0-15}", "to": "network", ...}
//      ],
//      "routes": [{"from": "gpu.0.0", "through": ["pcie.0.0"], "to": "gpu.0.1"}]
//     }
//
// A name with braces stands for a list: `{0-3}` counts, `{0,2}` lists, and the last braces vary
// fastest. The i-th name of `from` is linked with the i-th name of `to`; if there are fewer of
// these, each is linked with several neighbours of the other list: here two devices with each
// switch. A link has one direction, "one", or both: each with the rate ("both"), or one after the
// other ("shared"). Devices without a stated route, which holds in its direction, take the one with
// the fewest links. Tasks reach the share "efficiency" (1) of the rates of a kind of devices, which
// may be peaks. Without "operations_per_second", tasks take the time that they take on the machine
// of the program.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PLANNER_TOPOLOGY_H
#define HEDDLE_LIB_PLANNER_TOPOLOGY_H

#include "lib/planner/Cluster.h"
#include "runtime/format/MeshSpec.h"

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
    double coreBytesPerSecond = std::numeric_limits<double>::infinity(), coreSeconds = 0;
  };
  std::vector<Axis> axes; ///< the last one varies fastest over devices
  int64_t memoryBytes = std::numeric_limits<int64_t>::max();
  std::vector<std::pair<std::string, double>> facts; ///< by key of `#nest.machine`
  std::optional<Cluster> cluster; ///< of a file with links; there are no axes then

  MeshSpec mesh() const;
};

/// The devices and links as a graph. A device has a link along each axis, which all messages share
/// to those that differ along this axis, and no outer one. There are at most Cluster::mostDevices.
Cluster clusterOf(const Topology &topology);

/// Parses the text of a file. On failure returns none and sets `error` to a message that begins
/// with the path and the line.
std::optional<Topology> parseTopology(const std::string &text, const std::string &path,
                                      std::string &error);

} // namespace heddle::planner

#endif // HEDDLE_LIB_PLANNER_TOPOLOGY_H
