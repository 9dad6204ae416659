//===- ScheduleCost.cpp - cost of a candidate -----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/schedule/ScheduleCost.h"

#include <cmath>

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

bool ScheduleCost::mayWin(const Candidate &candidate, double cost) const {
  return waiting(candidate, cost) < toBeat * 0.9999;
}

void ScheduleCost::countTiles(Candidate &candidate) const {
  double tiles = 1, steps = 1;
  for (const Level &level : candidate.levels) {
    double trips = double(level.tile / level.step);
    const Walked &group = s.groups[level.group];
    if (int64_t rest = level.tile % level.step;
        rest && group.names.size() == 1 && group.names[0] == unsigned(s.m.pair))
      trips += level.step == 2 ? 1 : double(rest) / double(level.step); // half a pair costs a pair
    else if (rest)
      trips += group.reduced || level.group == s.vectorGroup
                   ? double(rest) / double(level.step)
                   : std::max(double(rest) / double(level.step), 0.3);
    (s.groups[level.group].reduced ? steps : tiles) *= trips;
  }
  candidate.tiles = tiles, candidate.steps = steps;
}

double ScheduleCost::cyclesOfStep(const Candidate &candidate, ArrayRef<int> stage) {
  double perStep = candidate.tile->cycles;
  for (unsigned i = 0; i < s.m.accesses.size(); ++i)
    if (!s.m.accesses[i].isWrite && stage[i] < 0)
      perStep += (s.m.accesses[i].scattered()
                      ? double(nest.lanes * candidate.tile->vectors) * r.scatterCycles
                      : 0) +
                 hops(s.m.accesses[i], candidate) + conversions(s.m.accesses[i], *candidate.tile) +
                 (s.m.accesses[i].onLanes() ? 0 : crowding(s.m.accesses[i], *candidate.tile));
  return perStep;
}

double ScheduleCost::arithmeticOf(const Candidate &candidate, double perStep) const {
  double steps = candidate.tiles * candidate.steps, arithmetic = steps * perStep;
  if (candidate.outer < candidate.levels.size())
    arithmetic +=
        steps * std::min(r.enterCycles / candidate.levels.back().trips(), r.enterCycles / 12);
  return arithmetic;
}

double ScheduleCost::startsOf(const Candidate &candidate) const {
  double runs = runsOf(candidate);
  int64_t accumulators = candidate.tile->vectors;
  for (auto &[name, points] : candidate.tile->rows)
    accumulators *= points;
  double scatter = 0;
  for (const PlacedAccess &access : s.m.accesses)
    if (access.isWrite)
      scatter = access.scattered() ? double(accumulators * nest.lanes) * r.scatterCycles
                                   : double(accumulators);
  return runs * (r.tileCycles + double(accumulators) * (candidate.split ? 2 : 1) + scatter);
}

double ScheduleCost::runsOf(const Candidate &candidate) const {
  double runs = candidate.tiles;
  for (size_t i = 0; i < candidate.outer; ++i)
    if (s.groups[candidate.levels[i].group].reduced)
      runs *= candidate.levels[i].trips();
  return runs;
}

double ScheduleCost::hops(const PlacedAccess &access, const Candidate &candidate) {
  if (candidate.outer == candidate.levels.size())
    return 0;
  const Level &last = candidate.levels.back();
  unsigned innermost = s.groups[last.group].names[0];
  double cycles = 0;
  for (const PlacedAccess::Dim &dim : access.dims)
    for (const auto &[name, coefficient] : dim.terms)
      if (name == innermost) {
        int64_t bytes = dim.stride * coefficient * access.bytes * last.step;
        cycles += bytes > 1024 ? r.hopCycles * std::min(1.0, double(bytes) / 2048) : 0;
        cycles +=
            access.onLanes() && bytes % 64 ? double(candidate.tile->vectors) * r.splitCycles : 0;
      }
  return cycles;
}

double ScheduleCost::crowding(const PlacedAccess &access, const RegisterTile &tile) {
  auto ways = int64_t(r.l1Ways);
  int64_t way = nest.l1 / ways;
  double cycles = 0;
  for (auto &[name, points] : tile.rows)
    for (const PlacedAccess::Dim &dim : access.dims)
      for (const auto &[each, coefficient] : dim.terms) {
        int64_t bytes = dim.stride * coefficient * access.bytes;
        if (each == name && points * std::min(bytes & -bytes, way) > ways * way)
          cycles += r.crowdedCycles * double(points);
      }
  return cycles;
}

double ScheduleCost::conversions(const PlacedAccess &access, const RegisterTile &tile) {
  if (access.bytes >= 4)
    return 0;
  double count = access.onLanes() ? double(tile.vectors) * r.widenVector : r.widenScalar;
  if (s.m.pair >= 0) {
    const PlacedAccess::Dim *dim = access.find(unsigned(s.m.pair));
    if (!access.onLanes() && dim && dim->contiguous)
      return 0;
    count *= r.gatherPair;
  }
  for (auto &[name, points] : tile.rows)
    if (access.mentions(name))
      count *= double(points);
  return count;
}

double ScheduleCost::chunksOf(const Candidate &candidate, double shrink) const {
  double chunks = 1;
  for (size_t i = 0; i < candidate.chunkLevels; ++i) {
    const Level &level = candidate.levels[i];
    double size = double(level.tile) * (s.groups[level.group].symbolic ? shrink : 1);
    chunks *= std::ceil(size / double(level.step));
  }
  return chunks;
}

double ScheduleCost::waits(double chunks) const {
  auto of = [&](double threads) { return std::ceil(chunks / threads) * threads / chunks - 1; };
  return 1 + 0.1 * of(2) + 0.015 * of(4) + 0.003 * of(16);
}

double ScheduleCost::waiting(const Candidate &candidate, double cost) const {
  if (llvm::any_of(s.groups, [](const Walked &group) { return group.symbolic; }))
    return cost;
  double chunks = chunksOf(candidate, 1);
  return cost * waits(chunks) + chunks * r.chunkCycles;
}

double ScheduleCost::shared(const Candidate &candidate, double cost) {
  // Symbolic sizes may be smaller: count the chunks that remain for at most this much work.
  double symbols = 0;
  for (const Walked &group : s.groups)
    symbols += group.symbolic;
  auto chunksFor = [&](double work) {
    return chunksOf(candidate, symbols ? std::min(1.0, std::pow(work / cost, 1 / symbols)) : 1);
  };
  double chunks = chunksFor(cost), usual = chunksFor(r.largeWork);
  if (chunks > 1 && cost / chunks < r.smallestChunk)
    return INFINITY;
  double alone = cost > r.smallWork && chunksFor(r.smallWork) == 1 ? 1.15 : 1;
  return cost * alone * waits(usual) + chunks * r.chunkCycles;
}

bool ScheduleCost::improves(Candidate &candidate, Staging staging) {
  SmallVector<int, 8> stage(s.m.accesses.size(), -1);
  if (!placeStages(candidate, staging, stage))
    return false;
  double arithmetic = arithmeticOf(candidate, cyclesOfStep(candidate, stage));
  double cost = arithmetic + startsOf(candidate), runs = runsOf(candidate);

  // Every tile looks up the pages of its rows again (TLB).
  for (unsigned i = 0; i < s.m.accesses.size(); ++i)
    if (!s.m.accesses[i].isWrite && !s.m.accesses[i].onLanes() && stage[i] < 0 && candidate.outer &&
        s.mentioned[i][candidate.levels[candidate.outer - 1].group])
      cost +=
          runs * boxPages(s.m.accesses[i], boxes.at(candidate.outer), r.pageBytes) * r.pageCycles;
  if (!mayWin(candidate, cost))
    return false;

  // Bytes between caches. Adjacent tiles share the reads of their rows, if these do not evict one
  // another from the first cache.
  double rows = 0;
  for (unsigned i = 0; i < s.m.accesses.size(); ++i)
    if (!s.m.accesses[i].isWrite && !s.m.accesses[i].onLanes())
      rows += boxes.bytes(i, candidate.outer, stage[i] >= 0 ? Boxes::Copied : Boxes::InL1);
  double driven = std::clamp(6 * rows / double(nest.l1) - 2, 1.0, 4.0);
  // Arithmetic overlaps with fetches from L2 while these are few.
  double near = movedBytes(candidate, stage, /*second=*/false);
  cost += r.l2Exposed * driven * near / r.l2Bandwidth +
          std::max(0.0, near / r.l2Bandwidth - r.l2Overlap * arithmetic);
  if (!mayWin(candidate, cost))
    return false;
  cost += movedBytes(candidate, stage, /*second=*/true) / r.l3Bandwidth;
  for (const Staged &copy : candidate.stages)
    cost += copyCost(candidate, copy);
  cost = shared(candidate, cost);
  if (cost >= toBeat * 0.9999)
    return false;
  candidate.cost = toBeat = cost;
  return true;
}
