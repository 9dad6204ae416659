//===- Cost.cpp - how long a scheduled nest takes -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/Cost.h"

using namespace heddle;
using namespace heddle::cost;

namespace {
/// Times that overlap: the longest counts in full, the others by a part.
struct Overlap {
  double longest = 0, sum = 0;
  const char *limit = "";

  void add(double time, const char *what) {
    sum += time;
    if (time > longest) {
      longest = time;
      limit = what;
    }
  }
  double total(double exposed) const { return longest + exposed * (sum - longest); }
};
} // namespace

Cost cost::costOf(const Amounts &a, const Rates &r) {
  Overlap core;
  core.add(a.operations * r.operationCycles + a.calls * r.callCycles +
               a.converted * r.convertCycles,
           "arithmetic");
  core.add(a.loads * r.loadCycles + a.stores * r.storeCycles + a.gathered * r.laneCycles +
               a.rows * r.rowCycles + a.turned * r.turnCycles,
           "accesses");
  // A step of a loop counts as two instructions, an addition and a branch.
  core.add((a.operations + a.loads + a.stores + a.converted + 2 * a.steps) * r.issueCycles,
           "issue");
  core.add(a.chained * r.chainPart, "latency");
  double loops =
      a.entries * r.enterLoopCycles + a.tiles * r.startTileCycles + a.copied * r.stageCycles;
  double inCore = core.total(r.exposedInCore);

  Overlap all;
  all.add(inCore + loops, loops > inCore ? "loops" : core.limit);
  const char *levels[] = {"l2", "l3", "memory"};
  double near[] = {r.l2ByteCycles, r.l3ByteCycles, r.memoryByteCycles};
  double far[] = {r.l2FarCycles, r.l3FarCycles, r.memoryFarCycles};
  for (int level = 0; level < memoryLevels; ++level)
    all.add(a.bytes[level] * near[level] + a.scattered[level] * far[level], levels[level]);
  return {r.stepStart + all.total(r.exposedPart) / r.clock + a.chunks * r.chunkSeconds, all.limit};
}
