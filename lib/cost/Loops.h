//===- Loops.h - the loops of a schedule over a nest ------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Resolves a schedule for the names of a nest: loops outside of a register tile, with their trip
// counts, and the points of each name that a step of a loop covers.
//
//     (m: 64, n: 32) reduce (k: 16)   [cache m by 8, loop k by 1, register m by 1,
//                                      register n by 16, vector n by 1]
//
//     levels    m: 8 trips, k: 16 trips          runs      1, 8, 128
//     extents   (64, 32, 16), (8, 32, 16), (8, 32, 1)
//     tile      8 rows of m, 2 vectors of n
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COST_LOOPS_H
#define HEDDLE_LIB_COST_LOOPS_H

#include "lib/analysis/Footprint.h"

namespace heddle::cost {

/// Iteration names by number; the last varies fastest.
using Names = SmallVector<unsigned, 2>;

/// A loop of a schedule (dialects/nest/Schedule.h), with names by number.
struct Loop {
  enum Kind { Thread, Sequential, Register, Vector, Unit } kind;
  Names names;
  int64_t step = 1;

  Loop(Kind kind, Names names, int64_t step) : kind(kind), names(std::move(names)), step(step) {}
  Loop(const nest::NestModel &nest, const nest::Loop &loop);

  bool operator==(const Loop &other) const {
    return kind == other.kind && step == other.step && names == other.names;
  }
};

/// Merged names by number.
using MergedSet = llvm::SmallBitVector;

/// Names that loops walk as one.
struct Merged {
  Names names;
  int64_t left = 1; ///< points in a register tile
  bool reduced = false;
  SmallVector<int64_t, 2> unrolled{}; ///< the steps of the loops of the tile
};

/// A loop outside of the register tile.
struct Level {
  unsigned merged;
  double trips; ///< a last step that is shorter counts as a fraction
};

class Loops {
public:
  Loops() = default;
  /// `loops`: those of the groups around the nest (the first `outer`), then its own. A name without
  /// a loop gets one (dialects/nest/Schedule.h).
  Loops(const nest::NestModel &nest, ArrayRef<Loop> loops, size_t outer);

  SmallVector<Merged, 6> merged;
  MergedSet produced; ///< of produced names
  SmallVector<Level, 12> levels;
  SmallVector<nest::Extents, 8> extents; ///< of each name, in a step of the first n levels
  SmallVector<double, 12> runs = {1};    ///< steps of the first n levels
  SmallVector<unsigned, 12> levelAfter;  ///< of each of `loops`: the number of levels up to it
  size_t outerLevels = 0;                ///< those of the groups around
  int vectors = -1;                      ///< the names whose points are lanes; -1: none
  int64_t width = 1;                     ///< lanes of a vector
  double together = 1; ///< reduced points that one instruction of a matrix unit adds
  unsigned added = 0;  ///< their name
  double chunks = 1;   ///< steps of the loops that threads share

  /// Returns the merged names that have one of these names.
  MergedSet mergedOf(const llvm::SmallBitVector &names) const;
  ArrayRef<unsigned> lanes() const {
    return vectors < 0 ? ArrayRef<unsigned>() : merged[unsigned(vectors)].names;
  }
  /// Returns the points of merged names in a register tile, or its vectors if the points are lanes.
  double inTile(unsigned merged) const;
  bool lanesAreReduced() const { return vectors >= 0 && merged[unsigned(vectors)].reduced; }
  /// Returns the number of levels up to the innermost one over a produced name.
  size_t producedLevels() const;
  /// Returns true if a reduced loop encloses a produced one: partial sums are stored and loaded.
  bool isSplit() const;
  /// Returns how often an instruction runs that depends on the names `matters`: the trips of their
  /// loops and of all up to the innermost such loop, but of those that it is moved out of
  /// (`skips`), times the points of these names in a tile.
  double times(const MergedSet &matters, const MergedSet &skips) const;
};

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_LOOPS_H
