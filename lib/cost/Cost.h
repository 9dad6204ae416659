//===- Cost.h - how long nests take -----------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Estimates the seconds that nests take on a machine, at three degrees of knowledge:
//
//     NestFacts facts(op, machine);
//     Cost cost = costOf(facts, rates);      good layouts and loops are assumed
//     facts.setLayouts(layouts);             costOf: good loops are assumed
//     facts.setLoops(loops);                 costOf: what the loops execute and move
//
//     cost.seconds      1.2e-5               what is expected
//     cost.bound        0.9e-5               no layouts and loops of the nest take less
//     cost.limit        "memory"             what takes the longest
//     cost.amounts      operations and bytes by level; no rate is in them (Amounts.h)
//
// The amounts times the rates of the machine give times of its parts. A core computes while caches
// and memory send it data: the longest of the times counts in full, and the others by the part that
// does not overlap with it (`exposed_part`). Within the core, the longest of arithmetic, accesses,
// issue and dependent operations counts in the same way. Staged copies wait for bytes from L3 and
// memory; this time does not overlap. Of the bound, only the longest counts. Threads share the
// chunks of a nest, and the bandwidth of L3 and memory. Extensions may change the result
// (Adjustment.h).
//
// `bench/cost` measures drawn nests, prints the errors of these estimates, and fits the rates.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COST_COST_H
#define HEDDLE_LIB_COST_COST_H

#include "lib/cost/CountAmounts.h"
#include "lib/cost/Machine.h"

namespace heddle::cost {

struct Cost {
  double seconds = 0;
  double bound = 0; ///< depends on the nest alone, and is never above an estimate
  Amounts amounts;  ///< of the estimate
  /// The part that takes the longest: "arithmetic", "accesses", "issue", "latency", "loops", "l2",
  /// "l3", "memory".
  const char *limit = "loops";
  Knowledge basis = Knowledge::Nothing; ///< what the estimate is based on
};

/// Returns the seconds of these amounts. Extensions change those of nests alone.
double secondsOf(const Amounts &amounts, const Rates &rates, unsigned threads = 1);

/// A time that no layouts and loops go below.
struct Bound {
  double seconds = 0;
  const char *limit = "loops"; ///< as in `Cost`
};
/// Returns the bound of these least amounts.
Bound boundOf(const Amounts &least, const Rates &rates, unsigned threads = 1);

/// Returns the seconds of a nest whose loops are known, by itself.
double secondsOf(const NestFacts &nest, const Rates &rates);

/// Returns the cost of a nest whose data, as far as it fits, is in the caches already.
Cost costOf(const NestFacts &nest, const Rates &rates, unsigned threads = 1);

/// Returns the cost of nests that run one after another at each point of their common groups, which
/// keeps what they share near. As much is known of them as of the one of which least is known.
Cost costOf(ArrayRef<NestFacts> nests, const Rates &rates, unsigned threads = 1);

/// Returns the cost of a nest, a group or recurrence of nests, or a sort, by the layouts and
/// schedules that it states, but at most by `known`.
Cost costOf(Operation *op, const Machine &machine, unsigned threads = 1,
            Knowledge known = Knowledge::Schedule);

/// Returns the seconds of a nest, a group, a recurrence or a sort with good layouts and loops.
/// Decisions that change the order of sums ask for the machine that stands for all CPUs: they are
/// equal on all CPUs.
double secondsBySizes(Operation *op, const Machine &machine = Machine::ofClass("cpu"));

/// Returns the seconds of transfers that nests save as a group, since what no other op uses stays
/// near. Their arithmetic is the same.
double secondsSavedAsGroup(ArrayRef<Operation *> nests);

/// Returns the most bytes of values that stay near at a point of a group, on the machine that
/// stands for all CPUs.
double mostBytesOfPoint();

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_COST_H
