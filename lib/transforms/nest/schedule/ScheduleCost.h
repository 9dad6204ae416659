//===- ScheduleCost.h - cost of a candidate ---------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cost of a candidate in cycles (ScheduleModel.h): arithmetic (ScheduleCost.cpp), copies and the
// bytes that move between caches (ScheduleTraffic.cpp), and the time that threads wait for one
// another. Costs only grow, so a candidate is given up as soon as a part of its cost is too much:
//
//     ScheduleCost cost(space);
//     cost.countTiles(candidate);
//     if (cost.mayWin(candidate)) {
//       cost.measure(candidate);
//       if (cost.improves(candidate, Staging::Near))
//         best = candidate;
//     }
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_NEST_SCHEDULE_SCHEDULECOST_H
#define HEDDLE_TRANSFORMS_NEST_SCHEDULE_SCHEDULECOST_H

#include "lib/transforms/nest/schedule/Boxes.h"

namespace heddle::nest {

/// Selects the loop of a copy: where the copy is smallest, so that it stays in a near cache; where
/// neighbouring boxes overlap least, so that nothing is copied again; or none, except for operands
/// that can't be read otherwise.
enum class Staging { Near, Once, None };

class ScheduleCost {
public:
  explicit ScheduleCost(const LoopSpace &space)
      : s(space), nest(space.m.nest), r(space.m.nest.rates), boxes(space) {}

  /// Counts the register tiles, and the steps of the reduction in each. A narrower tile at the end
  /// costs a little more than its fraction.
  void countTiles(Candidate &candidate) const;
  /// Returns true if a candidate whose tiles are counted may cost less than all before it.
  bool mayWin(const Candidate &candidate) const {
    return mayWin(candidate, arithmeticOf(candidate, candidate.tile->cycles) + startsOf(candidate));
  }
  /// Starts to evaluate a candidate.
  void measure(const Candidate &candidate) { boxes.measure(candidate); }
  /// Returns true, and sets its cost and copies, if a candidate costs less than all before it.
  bool improves(Candidate &candidate, Staging staging);

private:
  const LoopSpace &s;
  const NestModel &nest;
  const Rates &r;
  Boxes boxes;
  double toBeat = INFINITY; ///< the least cost so far

  /// Returns true if a candidate of at least this cost, without the time that threads wait, may
  /// still be the best.
  bool mayWin(const Candidate &candidate, double cost) const;
  /// Sets `candidate.stages`, and for each access the loop inside of which it is copied (-1: none).
  /// Returns false if another kind of staging gives the same.
  bool placeStages(Candidate &candidate, Staging staging, llvm::MutableArrayRef<int> stage);
  /// Returns the cycles of a step of the reduction in a tile.
  double cyclesOfStep(const Candidate &candidate, llvm::ArrayRef<int> stage);
  /// Returns how often a tile is run: once for each block of a reduced loop around it.
  double runsOf(const Candidate &candidate) const;
  /// Returns the additional cycles of the innermost step of the reduction if its stride in an
  /// access is about a page, or no multiple of a vector, so that each vector spans two lines.
  double hops(const PlacedAccess &access, const Candidate &candidate);
  /// Returns the additional cycles of a step if a tile's rows map to the same sets of the first
  /// cache, so that they evict one another.
  double crowding(const PlacedAccess &access, const RegisterTile &tile);
  /// Returns the cycles of a step for widening elements of less than 32 bits; copies hold them
  /// widened.
  double conversions(const PlacedAccess &access, const RegisterTile &tile);
  /// Returns the number of chunks if symbolic sizes are smaller by the factor `shrink`.
  double chunksOf(const Candidate &candidate, double shrink) const;
  /// Returns the part of the work of `chunks` that threads wait for the last one: two, four or
  /// sixteen of them; all but one for the only chunk.
  double waits(double chunks) const;
  /// Returns at least what `cost` is with the time that threads wait for one another.
  double waiting(const Candidate &candidate, double cost) const;
  /// Returns `cost` with the time that threads wait for one another; infinite if chunks would be
  /// too small.
  double shared(const Candidate &candidate, double cost);
  /// Returns true if each `part` of a group's merged points, the last name varying fastest, is a box
  /// of its names: 15 points of (batch, time: 5), but not 16.
  bool isBox(const Walked &group, int64_t part) const;
  /// Returns the best loop inside of which to copy an access: the fewest copies, then the smallest
  /// box. -1: none.
  int stageOf(const Candidate &candidate, unsigned index, Staging staging);
  /// Returns the outermost loop whose reads stay in a cache from step to step: the first or the
  /// second cache.
  size_t cachedFrom(const Candidate &candidate, llvm::ArrayRef<int> stage, bool second);
  /// Returns the bytes that are fetched into a cache. Data that a loop's steps share is fetched
  /// once.
  double fetched(const Candidate &candidate, unsigned access, size_t from, bool copied);
  /// Returns the factor by which short contiguous runs are slower to fetch from an outer level,
  /// most of all if each lies in a page of its own: runs that are copied, and runs that no cache
  /// holds.
  double shortness(unsigned access, size_t from, std::optional<size_t> at);
  /// Returns the factor by which results beyond the second cache are slower to store. A store
  /// fetches its line, and nothing fetches it ahead if a reduction is too short to prefetch it and
  /// the stores of some tiles, which fit the first cache, are in short runs on pages of their own.
  double storeShortness(const Candidate &candidate, llvm::ArrayRef<int> stage, unsigned access);
  /// Returns the bytes that are fetched into the first or the second cache, weighted so that all
  /// bytes cost the same.
  double movedBytes(const Candidate &candidate, llvm::ArrayRef<int> stage, bool second);
  /// Returns the cycles of a copy, in vectors: a contiguous run is seldom aligned to vectors.
  double copyCost(const Candidate &candidate, const Staged &copy);
  /// Returns the cycles of the arithmetic of all steps, without the prologues and epilogues of
  /// tiles.
  double arithmeticOf(const Candidate &candidate, double perStep) const;
  /// Returns the cycles of the prologues and epilogues of tiles, which load and store accumulators.
  double startsOf(const Candidate &candidate) const;
};

} // namespace heddle::nest

#endif // HEDDLE_TRANSFORMS_NEST_SCHEDULE_SCHEDULECOST_H
