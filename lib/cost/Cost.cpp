//===- Cost.cpp - how long nests take -------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/Cost.h"

#include "lib/analysis/NestAnalysis.h"
#include "lib/cost/AssumedLoops.h"

#include <cmath>

using namespace heddle;
using namespace heddle::cost;
using namespace mlir;

namespace {
/// Times that overlap: the longest counts in full, the others by a part.
struct Overlap {
  double longest = 0, sum = 0;
  const char *limit = "loops";

  void add(double time, const char *what) {
    sum += time;
    if (time > longest) {
      longest = time;
      limit = what;
    }
  }
  double total(double exposed) const { return longest + exposed * (sum - longest); }
};

struct Time {
  double seconds;
  const char *limit;
};
} // namespace

/// Returns the seconds of `amounts` on a team of threads. `isBound`: all that may overlap does, the
/// team is awake.
static Time timeOf(const Amounts &a, const Rates &r, unsigned threads, bool isBound = false) {
  double exposed = isBound ? 0 : 1;
  Overlap core;
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
  double loops =
      a.entries * r.enterLoopCycles + a.tiles * r.startTileCycles + a.copied * r.stageCycles;
  double inCore = core.total(exposed * r.exposedInCore);

  // The thread with the most chunks decides.
  double most = std::ceil(a.chunks / double(threads)), part = most / a.chunks;
  double shared[] = {part, std::max(part, 1 / r.l3Threads), std::max(part, 1 / r.memoryThreads)};
  Overlap all;
  all.add((inCore + loops) * part, loops > inCore ? "loops" : core.limit);
  const char *levels[] = {"l2", "l3", "memory"};
  double near[] = {r.l2ByteCycles + r.coldL2Byte, r.l3ByteCycles + r.coldL3Byte,
                   r.memoryByteCycles};
  double far[] = {r.l2FarCycles, r.l3FarCycles + r.coldL3Far, r.memoryFarCycles};
  double waited = a.waited * r.waitedCycles * part; // does not overlap
  for (int level = 0; level < memoryLevels; ++level) {
    all.add(a.bytes[level] * near[level] * shared[level], levels[level]);
    waited += a.scattered[level] * far[level] * shared[level];
  }
  double start = exposed * (r.stepStart + r.coldStart + (part < 1 ? r.teamStart : 0));
  return {start + (all.total(exposed * r.exposedPart) + exposed * waited) / r.clock +
              most * r.chunkSeconds,
          all.limit};
}

/// Returns the number of chunks that a schedule would have: as many as are worth fetching.
static double assumedChunks(const Amounts &amounts, ArrayRef<NestFacts> nests, const Rates &r) {
  double cycles = amounts.operations * r.operationCycles + amounts.products * r.productCycles +
                  amounts.loads * r.loadCycles + amounts.gathered * r.laneCycles;
  double most = INFINITY;
  for (const NestFacts &nest : nests)
    most = std::min(most, nest.nest().points(0, nest.nest().firstReduced));
  return std::clamp(std::floor(cycles / r.smallestChunk), 1.0, std::max(1.0, std::min(most, 64.0)));
}

static Amounts amountsOf(ArrayRef<const NestFacts *> nests, Fetched how) {
  Amounts amounts;
  for (const NestFacts *nest : nests) {
    Amounts each = countInstructions(*nest);
    amounts += each;
    amounts.chunks = std::max(amounts.chunks, each.chunks);
  }
  addBytes(nests, how, amounts);
  return amounts;
}

/// Returns the amounts of nests of which layouts or loops are assumed.
static Amounts assumedAmounts(ArrayRef<NestFacts> nests, const Rates &r) {
  std::vector<NestFacts> best;
  for (const NestFacts &nest : nests) {
    double fastest = INFINITY;
    best.push_back(nest);
    forEachAssumption(nest, [&](const NestFacts &assumed) {
      const NestFacts *one = &assumed;
      double seconds = timeOf(amountsOf(one, Fetched::Once), r, 1).seconds;
      if (seconds < fastest) {
        fastest = seconds;
        best.back() = assumed;
      }
    });
  }
  auto all = llvm::map_to_vector(best, [](const NestFacts &each) { return &each; });
  Amounts amounts =
      amountsOf(SmallVector<const NestFacts *>(all.begin(), all.end()), Fetched::Once);
  amounts.chunks = assumedChunks(amounts, nests, r);
  return amounts;
}

double cost::secondsOf(const Amounts &amounts, const Rates &rates, unsigned threads) {
  return timeOf(amounts, rates, threads).seconds;
}

Bound cost::boundOf(const Amounts &amounts, const Rates &rates, unsigned threads) {
  Amounts least = amounts;
  least.chunks = threads;
  Time time = timeOf(least, rates.warm(), threads, /*isBound=*/true);
  return {time.seconds * rates.boundPart, time.limit};
}

double cost::secondsOf(const NestFacts &nest, const Rates &rates) {
  if (nest.adjustments)
    return costOf(nest, rates).seconds;
  const NestFacts *one = &nest;
  return secondsOf(amountsOf(one, Fetched::ByLoops), rates);
}

Cost cost::costOf(ArrayRef<NestFacts> nests, const Rates &rates, unsigned threads) {
  Cost cost;
  if (nests.empty())
    return cost;
  cost.basis = Knowledge::Schedule;
  SmallVector<const NestFacts *, 4> all;
  for (const NestFacts &nest : nests) {
    cost.basis = std::min(cost.basis, nest.knowledge());
    all.push_back(&nest);
  }
  if (cost.basis == Knowledge::Schedule) {
    cost.amounts = amountsOf(all, Fetched::ByLoops);
  } else if (cost.basis == Knowledge::Layouts) {
    cost.amounts = assumedAmounts(nests, rates);
  } else {
    cost.amounts = amountsBySizes(nests);
    cost.amounts.chunks = assumedChunks(cost.amounts, nests, rates);
  }
  Time time = timeOf(cost.amounts, rates, threads);
  if (cost.basis == Knowledge::Nothing)
    time.seconds *= rates.bySizes;
  cost.bound = boundOf(leastAmounts(nests), rates, threads).seconds;
  cost.seconds = std::max(time.seconds, cost.bound);
  cost.limit = time.limit;
  adjust(nests[0].adjustments, nests, cost);
  return cost;
}

Cost cost::costOf(const NestFacts &nest, const Rates &rates, unsigned threads) {
  return costOf(ArrayRef(nest), rates, threads);
}

Cost cost::costOf(Operation *op, const Machine &machine, unsigned threads, Knowledge known) {
  if (isa<nest::SortOp>(op)) {
    Cost cost;
    cost.amounts.operations = arithmeticOf(op);
    Time time = timeOf(cost.amounts, machine.rates, threads);
    cost.seconds = cost.bound = time.seconds;
    cost.limit = time.limit;
    adjust(adjustmentsOf(op->getContext()), {}, cost);
    return cost;
  }
  std::vector<NestFacts> nests = factsOf(op, machine.facts);
  for (NestFacts &nest : nests)
    nest.forget(known);
  return costOf(nests, machine.rates, threads);
}

double cost::secondsBySizes(Operation *op, const Machine &machine) {
  return costOf(op, machine, 1, Knowledge::Nothing).seconds;
}

double cost::secondsSavedAsGroup(ArrayRef<Operation *> ops) {
  std::vector<NestFacts> nests;
  llvm::SmallDenseSet<Value, 8> inside;
  for (Operation *op : ops) {
    nests.emplace_back(op, nest::MachineAttr());
    for (Value result : op->getResults())
      if (llvm::all_of(result.getUsers(),
                       [&](Operation *user) { return llvm::is_contained(ops, user); }))
        inside.insert(result);
  }
  auto all = [](Value) { return true; };
  auto stays = [&](Value tensor) { return !inside.contains(tensor); };
  auto secondsOfBytes = [](ArrayRef<NestFacts> group, function_ref<bool(Value)> counts) {
    const Rates &rates = Machine::ofClass("cpu").rates;
    Cost cost;
    // Other nests may run in between, so caches hold nothing from one nest to the next.
    forEachTensor(group, [&](Value tensor, double bytes, bool) {
      if (counts(tensor))
        cost.amounts.bytes[Memory] += bytes;
    });
    Time time = timeOf(cost.amounts, rates, 1);
    cost.seconds = time.seconds * rates.bySizes;
    cost.limit = time.limit;
    adjust(group[0].adjustments, group, cost);
    return cost.seconds;
  };
  double saved = -secondsOfBytes(nests, stays);
  for (const NestFacts &nest : nests)
    saved += secondsOfBytes(nest, all);
  return saved;
}

double cost::mostBytesOfPoint() {
  return Machine::ofClass("cpu").capacityBefore(L3) / 4; // what the nests read is there, too
}
