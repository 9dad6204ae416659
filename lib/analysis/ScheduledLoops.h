//===- ScheduledLoops.h - the loops of a schedule ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `scheduledLoops` gives a schedule the form that the emitter needs. Every legal schedule has one:
//
//     parallel (shared by chunks) and sequential loops, in the order written
//         [thread row, cache column by 14, loop k]
//     the register tile: unrolled loops, and at most one vector
//         [register column, register out by 16, vector out]
//
// A `unit` loop over two points of a reduced name is unrolled if the unit can multiply the two
// together, otherwise it is sequential. Names that no loop mentions get loops: produced ones
// outside, reduced ones inside. A register loop becomes sequential if it contains a sequential loop
// over the same names, or if it would unroll too much. A vector wider than the machine's becomes
// several vectors, which are unrolled if they are few. Sequential loops over reduced names after
// the last loop over a produced name carry the accumulators in registers; those before it keep them
// in memory.
//
// `warp` and `lane` loops may be bound to the lanes of a block, which run together. A loop that
// is bound takes no time, so those over produced names move out of the reduction: sums stay in the
// registers of their lanes while all lanes run the reduction's loops and fill its copies.
//
//     [block m by 64, loop k by 16, lane m by 4, loop k by 1, register m by 1]    as written
//     [block m by 64, lane m by 4, loop k by 16, loop k by 1, register m by 1]    bound
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ANALYSIS_SCHEDULEDLOOPS_H
#define HEDDLE_ANALYSIS_SCHEDULEDLOOPS_H

#include "lib/analysis/VectorLanes.h"

namespace heddle::nest {

/// The variable that counts lanes.
inline constexpr const char *laneName = "lane$";
/// The variable of loop `number`. Names sort in the order of creation, so that sums start with the
/// terms that change least often.
std::string loopVariable(unsigned number);

using Replacement = std::map<std::string, Expr, std::less<>>;
/// Names that one loop iterates over; their merged index is row-major.
using MergedNames = std::vector<std::string>;

struct Walk {
  MergedNames names;
  int64_t tile = 1; ///< maximum number of points of the names that the loop covers
  int64_t step = 1;
  bool reduced = false;
  bool thread = false; ///< its steps are distributed over chunks
  bool lane = false;   ///< bound: each step is run by its own lane of the block
  int64_t below = 1;   ///< if bound: the lanes that run one step, which differ in inner loops
  int64_t unroll = 1;
  bool innermost =
      false; ///< the last sequential loop over the names: its step is the register tile's size
  std::string variable;
  std::vector<unsigned> stages; ///< copies inside of this loop

  Expr steps; ///< maximum trip count, over size symbols

  /// An upper bound of the trip count for all values of the symbols.
  int64_t count() const { return (tile + step - 1) / step; }
};

struct ScheduledLoops {
  std::vector<Walk> loops;
  size_t outer = 0;       ///< loops[outer..] are over reduced names and carry accumulators
  std::vector<Walk> tile; ///< register loops
  MergedNames laneNames;
  int64_t lanes = 0; ///< width of the vector; 0: none
  bool lanesReduced = false;
  MatrixUnitAttr unit;                 ///< computes the tile; null: none
  std::string pair;                    ///< variable of the unrolled loop over its points
  std::map<MergedNames, Expr> sizes;   ///< of merged names
  std::map<MergedNames, int64_t> most; ///< upper bounds of `sizes` for all values of symbols
  SizeExprs nameSizes;
  std::vector<unsigned> firstStages; ///< copies before all loops

  /// The number of lanes to which loops are bound; 1: none.
  int64_t boundLanes() const;
  /// True if a loop over the names is bound.
  bool isBound(const MergedNames &names) const;

  /// The names of the loop over the points that the unit multiplies.
  const MergedNames &pairNames() const {
    return llvm::find_if(tile, [&](const Walk &walk) { return walk.variable == pair; })->names;
  }
  /// Binds merged names to parts of its merged index.
  void bind(const MergedNames &names, const Expr &index, const Ranges &ranges,
            Replacement &bindings) const;
};

/// `bits`: bits of the widest element that the nest computes with; `use`: the unit that it may use;
/// `nextVariable`: the number of the next loop variable; `bindLanes`: binds warps and lanes.
ScheduledLoops scheduledLoops(nd::DimsAttr produced, nd::DimsAttr reduced, const Schedule &schedule,
                              unsigned bits, MachineAttr machine, unsigned &nextVariable,
                              const UnitUse &use = {}, bool bindLanes = false);

} // namespace heddle::nest

#endif // HEDDLE_ANALYSIS_SCHEDULEDLOOPS_H
