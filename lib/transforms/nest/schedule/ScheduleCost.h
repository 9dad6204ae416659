//===- ScheduleCost.h - cost of a candidate ---------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cost of a candidate in cycles (ScheduleModel.h): arithmetic (ScheduleCost.cpp), copies and
// the bytes that move between caches (ScheduleTraffic.cpp), and the time that threads wait for one
// another. Partial costs only grow, so a candidate is dropped as soon as its partial cost is too
// high:
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
/// neighbouring boxes overlap least, so that nothing is copied twice; or none, except for operands
/// that can't be read otherwise.
enum class Staging { Near, Once, None };

class ScheduleCost {
public:
  explicit ScheduleCost(const LoopSpace &space)
      : s(space), nest(space.m.nest), r(space.m.rates), boxes(space) {}

  /// Counts the register tiles, and the reduction steps in each. A narrower tile at the end costs
  /// slightly more than its fraction.
  void countTiles(Candidate &candidate) const;
  /// Returns true if a candidate with counted tiles may cost less than all before it.
  bool mayWin(const Candidate &candidate) const {
    return mayWin(candidate, arithmeticOf(candidate, candidate.tile->cycles) + startsOf(candidate));
  }
  /// Starts to evaluate a candidate.
  void measure(const Candidate &candidate) { boxes.measure(candidate); }
  /// Returns true, and sets the cost and copies, if a candidate costs less than all before it.
  bool improves(Candidate &candidate, Staging staging);

private:
  const LoopSpace &s;
  const NestModel &nest;
  const cost::Rates &r;
  Boxes boxes;
  double toBeat = INFINITY; ///< the least cost so far

  /// Returns true if a candidate with this lower bound of its cost, excluding waiting threads, may
  /// still be the best.
  bool mayWin(const Candidate &candidate, double cost) const;
  /// Sets `candidate.stages`, and for each access the loop that contains its copy (-1: none).
  /// Returns false if another kind of staging gives the same result.
  bool placeStages(Candidate &candidate, Staging staging, llvm::MutableArrayRef<int> stage);
  /// Returns the cycles of one reduction step in a tile.
  double cyclesOfStep(const Candidate &candidate, llvm::ArrayRef<int> stage);
  /// Returns how often a tile is executed: once per block of an enclosing reduced loop.
  double runsOf(const Candidate &candidate) const;
  /// Returns the additional cycles of the innermost reduction step if its stride in an access is
  /// about a page, or not a multiple of a vector, so that vectors span two lines.
  double hops(const PlacedAccess &access, const Candidate &candidate);
  /// Returns the additional cycles of a step if a tile's rows map to the same sets of the first
  /// cache and evict one another.
  double crowding(const PlacedAccess &access, const RegisterTile &tile);
  /// Returns the cycles of a step for widening elements narrower than 32 bits; copies hold them
  /// widened.
  double conversions(const PlacedAccess &access, const RegisterTile &tile);
  /// Returns the number of chunks if symbolic sizes are smaller by the factor `shrink`.
  double chunksOf(const Candidate &candidate, double shrink) const;
  /// Returns the fraction of the work of `chunks` that threads wait for the last one (for two, four
  /// or sixteen threads; a single chunk leaves all other threads idle).
  double waits(double chunks) const;
  /// Returns a lower bound of `cost` including the time that threads wait for one another.
  double waiting(const Candidate &candidate, double cost) const;
  /// Returns `cost` including the time that threads wait for one another; infinite if chunks would
  /// be too small.
  double shared(const Candidate &candidate, double cost);
  /// Returns true if each range of `part` merged points of a group, the last name fastest, is a box
  /// of its names: 15 points of (batch, time: 5), but not 16.
  bool isBox(const Walked &group, int64_t part) const;
  /// Returns the best loop to contain the copy of an access: the one with the fewest copies, then
  /// with the smallest box. -1: none.
  int stageOf(const Candidate &candidate, unsigned index, Staging staging);
  /// Returns the outermost loop whose reads stay in the first (or second) cache from step to step.
  size_t cachedFrom(const Candidate &candidate, llvm::ArrayRef<int> stage, bool second);
  /// Returns the bytes fetched into a cache. Data that a loop's steps share is fetched once.
  double fetched(const Candidate &candidate, unsigned access, size_t from, bool copied);
  /// Returns the factor by which short contiguous runs are slower to fetch from an outer level,
  /// which is largest if each is on a separate page: runs that are copied, and runs that no cache
  /// holds.
  double shortness(unsigned access, size_t from, std::optional<size_t> at);
  /// Returns the factor by which results beyond the second cache are slower to store. A store
  /// fetches its line; that is not prefetched if the reduction is too short, and the stores of a
  /// few tiles, which fit the first cache, are short runs on separate pages.
  double storeShortness(const Candidate &candidate, llvm::ArrayRef<int> stage, unsigned access);
  /// Returns the bytes fetched into the first or second cache, weighted so that all bytes cost the
  /// same.
  double movedBytes(const Candidate &candidate, llvm::ArrayRef<int> stage, bool second);
  /// Returns the cycles of a copy, in vectors; contiguous runs are rarely aligned to vectors.
  double copyCost(const Candidate &candidate, const Staged &copy);
  /// Returns the cycles of the arithmetic of all steps, excluding the prologues and epilogues of
  /// tiles.
  double arithmeticOf(const Candidate &candidate, double perStep) const;
  /// Returns the cycles of the prologues and epilogues of tiles, which load and store accumulators.
  double startsOf(const Candidate &candidate) const;
};

} // namespace heddle::nest

#endif // HEDDLE_TRANSFORMS_NEST_SCHEDULE_SCHEDULECOST_H
