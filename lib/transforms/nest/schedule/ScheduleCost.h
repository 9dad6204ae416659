//===- ScheduleCost.h - cost of a candidate ---------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cost of a candidate is the time that `lib/cost` estimates for its loops and copies on one
// thread, and the time that threads would wait for one another. The arithmetic of its tiles is a
// lower bound, which drops most candidates:
//
//     ScheduleCost cost(space, facts);
//     cost.countTiles(candidate);
//     if (cost.mayWin(candidate)) {
//       cost.measure(candidate);
//       if (cost.improves(candidate, Staging::Near))
//         best = candidate;
//     }
//
// Each kind of `Staging` places the copies of the operands (PlaceCopies.h); the cost decides which
// kind is the best.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_NEST_SCHEDULE_SCHEDULECOST_H
#define HEDDLE_TRANSFORMS_NEST_SCHEDULE_SCHEDULECOST_H

#include "lib/cost/Cost.h"
#include "lib/transforms/nest/schedule/PlaceCopies.h"

namespace heddle::nest {

class ScheduleCost {
public:
  ScheduleCost(const LoopSpace &space, const cost::NestFacts &facts);

  /// Forgets all candidates; from now on only those win that cost less than `cost`.
  void restart(double cost) {
    toBeat = cost;
    worth = facts.adjustments ? INFINITY : cost;
  }
  /// Counts the register tiles, and the reduction steps in each. A narrower tile at the end costs
  /// slightly more than its fraction.
  void countTiles(Candidate &candidate) const;
  /// Returns true if a candidate with counted tiles may cost less than all before it.
  bool mayWin(const Candidate &candidate) {
    return leastWithWaits(candidate, leastCost(candidate)) < worth * 0.9999;
  }
  /// Starts to evaluate a candidate.
  void measure(const Candidate &candidate);
  /// Returns true, and sets the cost and copies, if a candidate costs less than all before it.
  bool improves(Candidate &candidate, Staging staging);

private:
  const LoopSpace &s;
  const cost::Machine &machine;
  cost::NestFacts facts;
  std::vector<unsigned> numbers; ///< of the names of the nest, in `facts`
  double points;                 ///< of the groups around the nest
  CopyPlaces places;
  SmallVector<unsigned, 12> loopOf;      ///< of each level of the candidate
  const RegisterTile *tile = nullptr;    ///< of which `stepCycles` are known
  double stepCycles = 0, loopCycles = 0; ///< of a step of the reduction, alone and in a loop
  double tileCycles = 0;                 ///< of the start of a tile
  double toBeat = INFINITY;              ///< the least cost so far
  /// Candidates whose lower bounds are above this are dropped. Bounds know nothing of extensions.
  double worth = INFINITY;

  cost::Names numbersOf(ArrayRef<unsigned> names) const;
  double cyclesOf(const cost::Amounts &amounts) const {
    return machine.cycles(cost::secondsOf(amounts, machine.rates));
  }
  /// Returns the least cycles of a candidate: those of arithmetic and loads in its tiles.
  double leastCost(const Candidate &candidate);
  /// Returns the number of chunks if symbolic sizes are smaller by the factor `shrink`.
  double chunksOf(const Candidate &candidate, double shrink) const;
  /// Returns a lower bound of `cost` including the time that threads wait for one another.
  double leastWithWaits(const Candidate &candidate, double cost) const;
  /// Returns `cost` including the time that threads wait for one another; infinite if chunks would
  /// be too small.
  double costWithWaits(const Candidate &candidate, double cost);
};

} // namespace heddle::nest

#endif // HEDDLE_TRANSFORMS_NEST_SCHEDULE_SCHEDULECOST_H
