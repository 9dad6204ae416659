//===- Network.h - an emulated network, as a file describes it --*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A JSON file. All fields are optional; without a rate a link is as fast as shared memory:
//
//     {"latency_us": 20, "gigabytes_per_second": 1.5,
//      "links": [{"from": 0, "to": 1, "latency_us": 200}],
//      "faults": [{"kind": "hang", "rank": 1, "operation": 3}],
//      "draw": {"seed": 7, "count": 1, "within": 20, "kinds": ["delay", "hang", "death"]},
//      "delay_ms": 50}
//
// A fault occurs when a rank starts its n-th operation (from 1), so that it is the same in every
// run. `draw` adds faults that the seed determines: any rank, any of its first `within` operations.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_COLLECTIVES_NET_NETWORK_H
#define HEDDLE_RUNTIME_COLLECTIVES_NET_NETWORK_H

#include "runtime/collectives/engine/World.h"

#include <optional>

namespace heddle::collectives {

enum class FaultKind {
  Delay, ///< nothing leaves or reaches the rank for some time
  Hang,  ///< ... for longer than others wait
  Death  ///< the process ends; a rank that is a thread leaves without a word
};

struct Fault {
  FaultKind kind;
  int32_t rank;
  int64_t operation; ///< from 1, of those that the rank starts
};

struct Link {
  double latency = 0; ///< in nanoseconds
  double rate = 0;    ///< in bytes a nanosecond; 0: as fast as memory
};

struct Network {
  std::vector<Link> links; ///< from rank i to rank j: i * size + j
  std::vector<Fault> faults;
  double delay = 0.05; ///< in seconds

  /// Reads a file (none if the name is empty). `seed` replaces that of `draw`. Throws Failure with
  /// the field that is wrong.
  static Network read(const std::string &file, int32_t size, std::optional<uint64_t> seed);
};

} // namespace heddle::collectives

#endif // HEDDLE_RUNTIME_COLLECTIVES_NET_NETWORK_H
