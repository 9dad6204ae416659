//===- Formula.h - from amounts to seconds ----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The formula by which amounts and rates make up the time of nests. It is a template: of numbers it
// makes a number, and of names a text, which `bench/cost` evaluates to fit the rates.
//
//     formula<Overlap>(amounts, rates, share)     1.2e-6 s, limited by "arithmetic"
//     formulaText()     "step_start_seconds + ... + (overlap(exposed_part,
//                        overlap(exposed_in_core, operations * operation_cycles + ..."
//
// A new term needs a rate in Rates.h and a line here, and if it has a new amount, one in Amounts.h.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COST_FORMULA_H
#define HEDDLE_LIB_COST_FORMULA_H

#include "lib/cost/Amounts.h"

namespace heddle::cost {

/// Times that overlap: the longest counts in full, the others by a part.
struct Overlap {
  double longest = 0, sum = 0;
  const char *limit = "loops"; ///< what takes the longest

  void add(double time, const char *what) {
    sum += time;
    if (time > longest) {
      longest = time;
      limit = what;
    }
  }
  double total(double exposed) const { return longest + exposed * (sum - longest); }
  /// Returns `total` and `more`, which overlaps with nothing.
  double total(double exposed, double more, const char *what) {
    double all = total(exposed);
    if (more > all)
      limit = what;
    return all + more;
  }
};

/// The part of the work of all threads that one thread does.
template <typename Number>
struct Share {
  Number chunks;
  double part = 1;
  std::array<double, memoryLevels> ofBytes = {1, 1, 1}; ///< threads share bandwidths
};

template <typename Number>
struct Time {
  Number seconds;
  const char *limit;
};

/// `Among`: `Overlap`, or one of names.
template <typename Among, typename Number, typename OfAmounts, typename OfRates>
Time<Number> formula(const OfAmounts &a, const OfRates &r, const Share<Number> &share) {
  Among core;
  core.add(a.operations * r.operationCycles + a.products * r.productCycles +
               a.calls * r.callCycles + a.converted * r.convertCycles,
           "arithmetic");
  core.add(a.loads * r.loadCycles + a.stores * (r.storeCycles + r.coldStore) +
               a.gathered * r.laneCycles + a.missed * r.missCycles + a.rows * r.rowCycles +
               a.turned * (r.turnCycles + r.coldTurn) + a.spilled * r.spillCycles +
               a.divided * r.dividedCycles + a.crowded * r.crowdedLine + a.hops * r.hopStep +
               a.pages * r.pageSearch,
           "accesses");
  // A step of a loop counts as two instructions, an addition and a branch.
  core.add((a.operations + a.products + a.loads + a.stores + a.converted + 2 * a.steps) *
               r.issueCycles,
           "issue");
  core.add(a.chained * r.chainPart, "latency");
  Number loops =
      a.entries * r.enterLoopCycles + a.tiles * r.startTileCycles + a.copied * r.stageCycles;
  Number inCore = core.total(r.exposedInCore, loops, "loops");

  Among all;
  all.add(inCore * share.part, core.limit);
  const char *levels[] = {"l2", "l3", "memory"};
  Number near[] = {r.l2ByteCycles + r.coldL2Byte, r.l3ByteCycles + r.coldL3Byte,
                   r.memoryByteCycles};
  Number far[] = {r.l2FarCycles, r.l3FarCycles + r.coldL3Far, r.memoryFarCycles};
  Number waited = a.waited * r.waitedCycles * share.part; // does not overlap
  for (int level = 0; level < memoryLevels; ++level) {
    all.add(a.bytes[level] * near[level] * share.ofBytes[level], levels[level]);
    waited = waited + a.scattered[level] * far[level] * share.ofBytes[level];
  }
  Number start = r.stepStart + r.coldStart;
  if (share.part < 1)
    start = start + r.teamStart;
  return {start + (all.total(r.exposedPart) + waited) / r.clock + share.chunks * r.chunkSeconds,
          all.limit};
}

/// Returns the seconds of a nest that one thread runs, over the names of amounts and rates, as an
/// expression of Python. `overlap(part, times...)` is what `Overlap` computes.
std::string formulaText();

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_FORMULA_H
