//===- Cost.h - how long a scheduled nest takes -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the amounts of a nest (Amounts.h) into seconds, by the rates of a machine:
//
//     Cost cost = costOf(amountsOf(nest, machine), Rates::of(machine));
//     cost.seconds    1.2e-5
//     cost.limit      "memory": what takes the longest
//
// A core computes while caches and memory send it data: the longest of the four times counts in
// full, and the others by the part that does not overlap with it (`exposed_part`). Within the core,
// the longest of arithmetic, accesses, issue and dependent operations counts in the same way.
// `bench/cost` measures drawn nests, prints the errors of these predictions, and fits the rates.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COST_COST_H
#define HEDDLE_LIB_COST_COST_H

#include "lib/cost/Amounts.h"
#include "lib/cost/Rates.h"

namespace heddle::cost {

struct Cost {
  double seconds = 0;
  /// The part that takes the longest: "arithmetic", "accesses", "issue", "latency", "loops", "l2", "l3",
  /// "memory".
  const char *limit = "loops";
};

/// Returns the cost of these amounts on one thread, with data that fits in a cache already there.
Cost costOf(const Amounts &amounts, const Rates &rates);

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_COST_H
