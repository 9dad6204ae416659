//===- Candidate.h - a schedule of the family that is searched --*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The search for schedules (ScheduleModel.h) describes a candidate by its loops, outermost first.
// One loop may iterate over several names together, such as those of merged lanes:
//
//     thread n by 512                 levels[0]   chunkLevels = 1
//       loop k by 256                 levels[1]   split
//         cache m by 14, n by 32      levels[2], levels[3]
//           loop k by 1               levels[4]   outer = 4
//             register m, n           tile
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_NEST_SCHEDULE_CANDIDATE_H
#define HEDDLE_TRANSFORMS_NEST_SCHEDULE_CANDIDATE_H

#include "lib/transforms/nest/schedule/ScheduleModel.h"

namespace heddle::nest {

/// Names that loops iterate over as one.
struct Merged {
  std::vector<unsigned> names;
  int64_t size = 1;
  bool reduced = false, symbolic = false;
};

/// One loop of a candidate.
struct Level {
  unsigned merged; ///< the number of its names in `LoopSpace::merged`
  int64_t step;
  int64_t tile; ///< points that it walks
  double trips() const { return double((tile + step - 1) / step); }
};

/// A copy of a part of an operand.
struct Staged {
  unsigned access;
  int loop; ///< the loop that contains the copy
};

struct Candidate {
  const RegisterTile *tile;
  SmallVector<Level, 12> levels; ///< outside of the register tile
  size_t chunkLevels = 0;        ///< the first ones are shared by threads
  size_t outer = 0;              ///< levels[outer..] are the reduction
  bool split = false;            ///< a reduced loop contains produced ones
  double tiles = 1;              ///< register tiles
  double steps = 1;              ///< of the reduction, in each tile
  SmallVector<Staged, 4> stages;
  double cost = INFINITY;
  /// From what a search made it: the names of loops from the outermost inwards, and how many tiles
  /// of each a chunk has.
  std::vector<unsigned> order = {};
  std::vector<int64_t> parts = {};
};

/// The names, some of them merged, over which the loops of all candidates iterate.
struct LoopSpace {
  const Model &m;
  std::vector<Merged> merged;
  unsigned firstProduced = 0; ///< those before it are of the reduction's loops
  unsigned lanes = 0;         ///< the number of the names that vector lanes run over
  std::vector<std::pair<unsigned, int64_t>> reduction; ///< numbers and steps of its loops
  /// By access: whether it depends on each of `merged`.
  std::vector<SmallVector<bool, 12>> mentioned;

  LoopSpace(const Model &model, ArrayRef<Loop> reductionOrder);
  /// Returns the number of merged names; adds them if they are new.
  unsigned numberOf(const std::vector<unsigned> &names, bool reduced);
  /// For each level, computes the points of each name that the loop and its inner loops cover.
  void findExtents(const Candidate &candidate, std::vector<Extents> &result) const;
};

/// The number of steps of the reduction between prefetches.
inline constexpr int64_t shareSteps = 16;

/// Returns the steps of a block of the innermost reduced loop between which results in an outer
/// cache or memory are prefetched; 0: none are.
int64_t sharedStep(const LoopSpace &space, const Candidate &candidate);
/// True if a copy changes with every tile, so that the next one is prefetched in time. Copies at
/// reduced loops are prefetched, too, but larger: the cost counts waiting for them.
bool isFetchedAhead(const LoopSpace &space, const Candidate &candidate, const Staged &copy);
/// Returns the schedule of a candidate.
Schedule writeSchedule(const LoopSpace &space, const Candidate &candidate);

} // namespace heddle::nest

#endif // HEDDLE_TRANSFORMS_NEST_SCHEDULE_CANDIDATE_H
