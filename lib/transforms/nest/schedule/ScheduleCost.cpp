//===- ScheduleCost.cpp - cost of a candidate -----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/schedule/ScheduleCost.h"

#include "lib/cost/ChunkOverhead.h"

#include <cmath>

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

ScheduleCost::ScheduleCost(const LoopSpace &space, const cost::NestFacts &given)
    : s(space), machine(space.m.machine), facts(given), places(space) {
  for (const std::string &name : s.m.nest.names)
    numbers.push_back(unsigned(facts.nest().indexOf(name)));
  points = facts.nest().points(0, facts.nest().firstProduced);
  cost::Amounts start;
  start.tiles = 1;
  tileCycles = cyclesOf(start) - cyclesOf({});
}

cost::Names ScheduleCost::numbersOf(ArrayRef<unsigned> names) const {
  cost::Names result;
  for (unsigned name : names)
    result.push_back(numbers[name]);
  return result;
}

void ScheduleCost::countTiles(Candidate &candidate) const {
  double tiles = 1, steps = 1;
  for (const Level &level : candidate.levels) {
    double trips = double(level.tile / level.step);
    const Merged &merged = s.merged[level.merged];
    if (int64_t rest = level.tile % level.step;
        rest && merged.names.size() == 1 && merged.names[0] == unsigned(s.m.pair))
      trips += level.step == 2 ? 1 : double(rest) / double(level.step); // half a pair costs a pair
    else if (rest)
      trips += double(rest) / double(level.step);
    (s.merged[level.merged].reduced ? steps : tiles) *= trips;
  }
  candidate.tiles = tiles, candidate.steps = steps;
}

double ScheduleCost::leastCost(const Candidate &candidate) {
  if (tile != candidate.tile) {
    tile = candidate.tile;
    cost::Amounts step;
    double rows = 1;
    for (auto [name, count] : tile->rows)
      rows *= double(count);
    step.operations = (facts.body.vector + facts.combine.vector) * double(tile->vectors) * rows;
    step.products = facts.combine.products * double(tile->vectors) * rows;
    step.steps = 1;
    for (const PlacedAccess &access : s.m.accesses) {
      double loads = access.onLanes() ? double(tile->vectors) : 1;
      for (auto [name, count] : tile->rows)
        loads *= access.mentions(name) ? double(count) : 1;
      bool moves = llvm::any_of(
          s.reduction, [&](auto &each) { return access.mentions(s.merged[each.first].names[0]); });
      if (!access.isWrite && moves)
        step.loads += loads;
    }
    stepCycles = cyclesOf(step) - cyclesOf({});
    step.chained = facts.combine.cycles; // each step waits for the sums of the one before
    loopCycles = cyclesOf(step) - cyclesOf({});
  }
  if (candidate.outer == candidate.levels.size()) // all that is reduced is in the tile
    return candidate.tiles * stepCycles;
  return candidate.tiles * (candidate.steps * loopCycles + tileCycles);
}

void ScheduleCost::measure(const Candidate &candidate) {
  places.measure(candidate);
  SmallVector<cost::Loop, 16> loops;
  loopOf.clear();
  SmallVector<int64_t, 12> left;
  for (const Merged &merged : s.merged)
    left.push_back(merged.size);
  for (auto [i, level] : llvm::enumerate(candidate.levels)) {
    const Merged &merged = s.merged[level.merged];
    if (i + 1 == candidate.levels.size())
      if (int64_t share = sharedStep(s, candidate))
        loops.emplace_back(cost::Loop::Sequential, numbersOf(merged.names), share);
    loopOf.push_back(unsigned(loops.size()));
    loops.emplace_back(i < candidate.chunkLevels ? cost::Loop::Thread : cost::Loop::Sequential,
                       numbersOf(merged.names), level.step);
    left[level.merged] = level.step;
  }
  for (auto [name, count] : candidate.tile->rows)
    loops.emplace_back(cost::Loop::Register, numbersOf(name), 1);
  cost::Names lanes = numbersOf(s.m.lanes);
  if (left[s.lanes] > s.m.nest.lanes)
    loops.emplace_back(cost::Loop::Register, lanes, s.m.nest.lanes);
  loops.emplace_back(cost::Loop::Vector, lanes, 1);
  if (s.m.pair >= 0)
    loops.emplace_back(cost::Loop::Unit, numbersOf(unsigned(s.m.pair)), 1);
  facts.setLoops(loops);
}

double ScheduleCost::chunksOf(const Candidate &candidate, double shrink) const {
  double chunks = 1;
  for (size_t i = 0; i < candidate.chunkLevels; ++i) {
    const Level &level = candidate.levels[i];
    double size = double(level.tile) * (s.merged[level.merged].symbolic ? shrink : 1);
    chunks *= std::ceil(size / double(level.step));
  }
  return chunks;
}

double ScheduleCost::leastWithWaits(const Candidate &candidate, double cost) const {
  if (llvm::any_of(s.merged, [](const Merged &merged) { return merged.symbolic; }))
    return cost;
  return cost * cost::waitFactor(chunksOf(candidate, 1));
}

double ScheduleCost::costWithWaits(const Candidate &candidate, double cost) {
  double symbols = 0;
  for (const Merged &merged : s.merged)
    symbols += merged.symbolic;
  auto chunksFor = [&](double work) {
    return chunksOf(candidate, symbols ? std::min(1.0, std::pow(work / cost, 1 / symbols)) : 1);
  };
  return cost::cyclesWithWaits(cost, chunksFor, machine);
}

bool ScheduleCost::improves(Candidate &candidate, Staging staging) {
  if (!places.place(candidate, staging))
    return false;
  SmallVector<cost::Stage, 4> stages;
  for (const Staged &copy : candidate.stages)
    stages.push_back(
        {copy.access, loopOf[unsigned(copy.loop)], isFetchedAhead(s, candidate, copy)});
  facts.setStages(stages);
  cost::Amounts amounts = cost::countInstructions(facts);
  if (leastWithWaits(candidate, cyclesOf(amounts) / points) >= worth * 0.9999)
    return false;
  const cost::NestFacts *one = &facts;
  cost::addBytes(one, cost::Fetched::ByLoops, amounts);
  double cycles = cyclesOf(amounts), cost = costWithWaits(candidate, cycles / points);
  if (facts.adjustments) {
    worth = std::min(worth, cost::mostAdjusted * cost);
    cost *= machine.cycles(cost::secondsOf(facts, machine.rates)) / cycles;
  }
  if (cost >= toBeat * 0.9999)
    return false;
  candidate.cost = toBeat = cost;
  if (!facts.adjustments)
    worth = toBeat;
  return true;
}
