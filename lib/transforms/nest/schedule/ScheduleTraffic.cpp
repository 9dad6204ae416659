//===- ScheduleTraffic.cpp - copies and traffic between caches ------------===//
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

bool ScheduleCost::isBox(const Walked &group, int64_t part) const {
  if (part >= group.size)
    return true;
  for (unsigned name : llvm::reverse(ArrayRef(group.names).drop_front())) {
    int64_t size = nest.sizes[name];
    if (part % size)
      return size % part == 0;
    part /= size;
  }
  return true;
}

int ScheduleCost::stageOf(const Candidate &candidate, unsigned index, Staging staging) {
  int best = -1;
  double fewest = INFINITY, repeated = 1, trips = 1;
  bool boxed = true; // inner loops cover a box of the merged lanes
  for (size_t i = 0; i < candidate.outer; ++i) {
    const Level &level = candidate.levels[i];
    if (level.group == s.vectorGroup)
      boxed = isBox(s.groups[s.vectorGroup], level.step);
    bool matters = s.mentioned[index][level.group];
    trips *= level.trips();
    if (!matters)
      repeated *= level.trips();
    // Each chunk makes its own copies.
    if (i + 1 < candidate.chunkLevels)
      continue;
    matters |= i < candidate.chunkLevels;
    // Whether inner loops use it again.
    double bytes = boxes.bytes(index, i + 1, Boxes::Elements);
    bool reused = false;
    for (size_t j = i + 1; j < candidate.outer; ++j)
      reused |= !s.mentioned[index][candidate.levels[j].group];
    if (!matters || !reused || bytes > 0.6 * double(nest.l2) ||
        (s.mentioned[index][s.vectorGroup] && !boxed))
      continue;
    double copied = staging == Staging::Once ? trips * bytes : repeated;
    if (copied <= fewest * 1.05) {
      fewest = copied;
      best = int(i);
    }
  }
  return best;
}

bool ScheduleCost::placeStages(Candidate &candidate, Staging staging, MutableArrayRef<int> stage) {
  candidate.stages.clear();
  bool any = false, other = staging != Staging::Once;
  for (unsigned i = 0; i < s.m.accesses.size(); ++i) {
    const PlacedAccess &access = s.m.accesses[i];
    if (!access.stageable || (staging == Staging::None && !access.scattered()))
      continue;
    stage[i] = stageOf(candidate, i, staging);
    other |= stage[i] != stageOf(candidate, i, Staging::Near);
    any |= stage[i] >= 0;
    if (stage[i] >= 0)
      candidate.stages.push_back({i, stage[i]});
  }
  return (staging == Staging::None || any) && other;
}

size_t ScheduleCost::cachedFrom(const Candidate &candidate, ArrayRef<int> stage, bool second) {
  double capacity = 0.75 * double(second ? nest.l2 : nest.l1);
  size_t level = 0;
  for (; level < candidate.levels.size(); ++level) {
    double total = 0;
    for (unsigned i = 0; i < s.m.accesses.size(); ++i) {
      const PlacedAccess &access = s.m.accesses[i];
      if (access.isWrite && level > candidate.outer)
        continue;
      bool buffered = stage[i] >= 0;
      if (buffered)
        total += boxes.bytes(i, std::max<size_t>(level, size_t(stage[i]) + 1), Boxes::Copied);
      if (!buffered || int(level) <= stage[i])
        total += boxes.bytes(i, level,
                             buffered ? Boxes::Plain
                             : second ? Boxes::InL2
                                      : Boxes::InL1);
      if (total > capacity)
        break;
    }
    if (total <= capacity)
      break;
  }
  return level;
}

double ScheduleCost::fetched(const Candidate &candidate, unsigned access, size_t from,
                             bool copied) {
  size_t around = from ? from - 1 : 0;
  double bytes = boxes.bytes(access, around, copied ? Boxes::Copied : Boxes::Plain);
  for (size_t q = 0; q < around; ++q)
    bytes *= candidate.levels[q].trips();
  return bytes;
}

/// Returns the factor by which contiguous runs of `run` bytes on separate pages are slower to
/// fetch.
static double ofFarRuns(double run) { return std::min(6.0, 1 + 640 / run); }

double ScheduleCost::shortness(unsigned access, size_t from, std::optional<size_t> at) {
  double pitch = 0, run = runBytes(s.m.accesses[access], boxes.at(at.value_or(from)), &pitch);
  if (at && pitch >= r.pageBytes)
    return ofFarRuns(run);
  return std::min(3.0, 1 + 256 / runBytes(s.m.accesses[access], boxes.at(from)));
}

double ScheduleCost::storeShortness(const Candidate &candidate, ArrayRef<int> stage,
                                    unsigned access) {
  if (candidate.steps >= 2 * double(shareSteps) ||
      boxes.bytes(access, 0, Boxes::Plain) <= double(nest.l2))
    return 1;
  double pitch = 0;
  size_t from = std::min(cachedFrom(candidate, stage, /*second=*/false), candidate.outer);
  double run = runBytes(s.m.accesses[access], boxes.at(from), &pitch);
  return pitch >= r.pageBytes ? ofFarRuns(run) : 1;
}

double ScheduleCost::movedBytes(const Candidate &candidate, ArrayRef<int> stage, bool second) {
  size_t level = cachedFrom(candidate, stage, second);
  auto slow = [&](unsigned i, size_t from, std::optional<size_t> at) {
    return second ? shortness(i, from, at) : 1.0;
  };
  double moved = 0;
  for (unsigned i = 0; i < s.m.accesses.size(); ++i) {
    const PlacedAccess &access = s.m.accesses[i];
    double exposed = 0;
    if (access.isWrite) {
      exposed = 2 * fetched(candidate, i, std::min(level, candidate.outer), false) *
                (candidate.split ? 0.3 * std::max(1.0, 4 / double(access.bytes)) : 0.4);
      if (second)
        exposed *= storeShortness(candidate, stage, i);
    } else if (stage[i] < 0) {
      std::optional<size_t> tile;
      if (boxes.bytes(i, 0, Boxes::Plain) > double(nest.l3))
        tile = std::max(level, candidate.outer);
      exposed = fetched(candidate, i, level, false) * slow(i, level, tile);
    } else {
      size_t at = size_t(stage[i]) + 1;
      double inside = 1, lines = boxes.bytes(i, at, Boxes::Plain) / 64;
      for (size_t q = at; q < candidate.outer; ++q)
        inside *= candidate.levels[q].trips();
      bool ahead = at > candidate.chunkLevels &&
                   !s.groups[candidate.levels[at - 1].group].reduced && lines / inside <= 60;
      exposed = fetched(candidate, i, std::min(level, at), false) *
                (ahead ? r.prefetchedExposed : r.stagedExposed) * slow(i, std::min(level, at), at);
      if (level > at)
        exposed += fetched(candidate, i, level, true);
    }
    moved += exposed;
  }
  return moved;
}

double ScheduleCost::copyCost(const Candidate &candidate, const Staged &copy) {
  const PlacedAccess &access = s.m.accesses[copy.access];
  size_t at = size_t(copy.loop) + 1;
  double lanes = double(nest.lanes), run = runBytes(access, boxes.at(at)) / double(access.bytes);
  double elements = boxes.bytes(copy.access, at, Boxes::Elements) /
                    double(boxes.copiedBytes(access)) * (std::ceil(run / lanes) + 0.5) * lanes /
                    run;
  if (s.m.pair >= 0)
    elements *= r.pairCopy;
  for (size_t q = 0; q < at; ++q)
    elements *= candidate.levels[q].trips();
  return elements * (access.scattered() ? r.transposeCycles : r.copyCycles);
}
