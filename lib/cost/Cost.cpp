//===- Cost.cpp - how long nests take -------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/Cost.h"

#include "lib/analysis/NestAnalysis.h"
#include "lib/cost/AssumedLoops.h"
#include "lib/cost/Formula.h"

#include <cmath>

using namespace heddle;
using namespace heddle::cost;
using namespace mlir;

/// Returns the seconds of `amounts` on a team of threads.
static Time<double> timeOf(const Amounts &a, const Rates &r, unsigned threads) {
  // The thread with the most chunks decides.
  double most = std::ceil(a.chunks / double(threads)), part = most / a.chunks;
  Share<double> share{
      most, part, {part, std::max(part, 1 / r.l3Threads), std::max(part, 1 / r.memoryThreads)}};
  return formula<Overlap>(a, r, share);
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
  Time<double> time = timeOf(least, rates.warm().overlapping(), threads);
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
  Time<double> time = timeOf(cost.amounts, rates, threads);
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
    Time<double> time = timeOf(cost.amounts, machine.rates, threads);
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
    Time<double> time = timeOf(cost.amounts, rates, 1);
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
