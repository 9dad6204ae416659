//===- Network.h - an emulated network, as a file describes it --*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A JSON file. All fields are optional; a link without a rate is as fast as shared memory:
//
//     {"latency_us": 20, "gigabytes_per_second": 1.5,
//      "links": [{"from": 0, "to": 1, "latency_us": 200}],
//      "faults": [{"kind": "hang", "rank": 1, "operation": 3}],
//      "draw": {"seed": 7, "count": 1, "within": 20, "kinds": ["delay", "hang", "death"]},
//      "delay_ms": 50}
//
// A fault occurs when a rank starts its n-th operation (from 1), so it is reproducible. `draw` adds
// faults determined by the seed: in any rank, in any of its first `within` operations.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_COLLECTIVES_NET_NETWORK_H
#define HEDDLE_RUNTIME_COLLECTIVES_NET_NETWORK_H

#include "runtime/collectives/engine/World.h"

#include <optional>

namespace heddle::collectives {

enum class FaultKind {
  Delay, ///< the rank neither sends nor receives for `delay`
  Hang,  ///< ... for longer than the timeout
  Death  ///< the process ends; a rank that is a thread leaves without a report
};

struct Fault {
  FaultKind kind;
  int32_t rank;
  int64_t operation; ///< number of the rank's operation, from 1
};

struct Link {
  double latency = 0; ///< in nanoseconds
  double rate = 0;    ///< in bytes a nanosecond; 0: as fast as memory
};

struct Network {
  std::vector<Link> links; ///< from rank i to rank j: i * size + j
  std::vector<Fault> faults;
  double delay = 0.05; ///< in seconds

  /// Reads a file (no file if the name is empty). `seed` replaces that of `draw`. Throws Failure
  /// that names the wrong field.
  static Network read(const std::string &file, int32_t size, std::optional<uint64_t> seed);
};

} // namespace heddle::collectives

#endif // HEDDLE_RUNTIME_COLLECTIVES_NET_NETWORK_H
