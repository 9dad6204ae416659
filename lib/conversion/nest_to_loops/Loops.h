//===- Loops.h - emits sequential loops -------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `walk` emits one loop and calls `inside` once for each copy of the loop's body. If the step of
// the innermost loop over its names does not divide its tile, the loop has a body for whole steps
// and an epilogue for the remainder, so that the register tile is constant in both. Outer loops
// clip their tiles with `min`.
//
//     size 50, [cache m by 28, cache m by 14]     for t in 0..2 { left = min(28, 50 - 28 t)
//                                                   for u in 0..left / 14 { tile of 14 }
//                                                   if left % 14 { tile of 8 } }
//
// Loops that are bound to lanes (ScheduledLoops.h) take their index from the lane's number
// (LoopLanes.cpp).
//
// A thread loop computes its index from the chunk. If the size has symbols, the epilogue processes
// a few points at a time, then single points, or vectors of which the last one is masked.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_LOOPS_H
#define HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_LOOPS_H

#include "lib/conversion/nest_to_loops/Emitter.h"

namespace heddle::nest {

class LoopWalker {
public:
  using Inside = function_ref<FailureOr<Values>(ValueRange)>;

  /// `chunk` null: thread loops are sequential.
  LoopWalker(Emitter &emitter, const ScheduledLoops &scheduled, Value chunk);

  /// Emits loop `position`; `inside` takes and returns the carried values.
  FailureOr<Values> walk(size_t position, ValueRange carried, Inside inside);
  /// Like `walk`, but from `low` (if not null) to below `high`. Requires `canClip`.
  FailureOr<Values> walkClipped(size_t position, Value low, Value high, ValueRange carried,
                                Inside inside);
  /// Like `walk`, but with a separate loop between adjacent cuts.
  FailureOr<Values> walkPieces(size_t position, ArrayRef<int64_t> cuts, ValueRange carried,
                               Inside inside);
  /// Emits all loops and calls `point` for each tile, with its names bound.
  LogicalResult walkAll(function_ref<LogicalResult()> point);
  /// Calls `inside` for each step of a loop with a constant trip count, without a loop or branch.
  LogicalResult walkApart(size_t position, function_ref<LogicalResult()> inside);
  /// True for a sequential loop with step 1 and a constant trip count.
  bool canClip(size_t position) const;

  /// Adds the unrolled loops to the index of all merged names and binds iteration names to it,
  /// until `unbind`.
  struct Saved {
    std::map<MergedNames, Expr> index;
    Replacement bindings;
  };
  /// `clamps`: with indices of points that exist (`isClamped`).
  Saved bindTile(bool clamps = true);
  void unbind(Saved saved);
  /// Like `bindTile`, but also includes the loops that are not entered yet, with their future
  /// variables.
  Saved bindAll(bool clamps = true);
  /// The variables of loops that are not entered yet.
  const std::set<std::string> &pending() const { return pendingVariables; }

  /// The points of the tile: every combination of the unrolled loops over produced (or reduced)
  /// names. The last vector may be partial. May be called before `bindTile`, or between that
  /// and `unbind`.
  std::vector<Point> points(bool reduced) const;
  /// The merged index of the names, over loop variables.
  const Expr &indexOf(const MergedNames &names) const { return index.find(names)->second; }
  /// The maximum number of points of the names in the current tile.
  int64_t extentOf(const MergedNames &names) const { return extent.find(names)->second.most; }
  /// The number of points of the names in the current tile, if it is not constant; else null.
  Value exactOf(const MergedNames &names) const {
    return clamped.count(names) ? e.emit(leftOf(names)) : extent.find(names)->second.exact;
  }
  /// The maximum over size symbols.
  Expr extentOver(const MergedNames &names) const {
    bool whole = extentOf(names) == scheduled.most.find(names)->second;
    return whole ? scheduled.sizes.find(names)->second : Expr(extentOf(names));
  }

  // LoopLanes.cpp
  /// True for a lane that a loop binds: a nest of a group may have fewer lanes than the block.
  /// Null: true for all lanes.
  Value isBoundLane();
  /// True for a lane that stores results: not beyond the nest's lanes, nor beyond the size, and the
  /// first of those that share sums. Null: true for all lanes.
  Value isActive();
  /// Emits `code` for the lanes that store results.
  LogicalResult onActive(function_ref<LogicalResult()> code);
  /// Whether a lane beyond the size may be at the tile; then it repeats the last point.
  bool isClamped() const { return !clamped.empty(); }
  /// The conditions under which a point of the tile exists. Requires `bindTile`.
  SmallVector<Test> existence(const Point &point) const;
  /// The step that the lane runs of a loop that is bound.
  Value digitOf(const Walk &walk);
  /// The index and the number of points of the names, of all lanes together.
  std::pair<Expr, int64_t> blockOf(const MergedNames &names) const {
    auto found = outsideLanes.find(names);
    return found == outsideLanes.end() ? std::pair(indexOf(names), extentOf(names)) : found->second;
  }

  /// True in the first (last) iteration of the reduction's loops that keep accumulators in memory.
  Value isFirst();
  Value isLast();

private:
  /// The number of points of the names from the index of the current tile on.
  Expr leftOf(const MergedNames &names) const {
    return (scheduled.sizes.find(names)->second - indexOf(names)).simplify(e.ranges);
  }
  /// The number of points of the names in the current tile.
  struct Extent {
    int64_t most;
    Value exact; ///< null: `most`
  };
  Emitter &e;
  const ScheduledLoops &scheduled;
  Value chunk, remainder;
  Expr remainingChunks = 1;
  std::map<MergedNames, Expr> index;
  std::map<MergedNames, Extent> extent;
  std::set<std::string> pendingVariables;
  Values firstTests, lastTests;
  std::set<MergedNames> clamped; ///< names of which lanes may be beyond the size
  std::map<MergedNames, std::pair<Expr, int64_t>> outsideLanes;

  FailureOr<Values> walkLanes(const Walk &walk, ValueRange carried, Inside inside);
  FailureOr<Values> walkReducedLanes(const Walk &walk, ValueRange carried, Inside inside);
  FailureOr<Values> walkAround(const Walk &walk, ValueRange carried, Inside inside);
  /// Emits step `number` of a loop that is bound to lanes.
  FailureOr<Values> walkStep(const Walk &walk, Value number, ValueRange carried, Inside inside);

  FailureOr<Values> narrowed(const Walk &walk, const Expr &shift, Extent tile, Value first,
                             Value last, ValueRange carried, Inside inside);
  FailureOr<Values> walkSteps(const Walk &walk, ValueRange carried, Inside inside);
  FailureOr<Values> walkThreads(const Walk &walk, Inside inside);
  /// Emits the epilogue, from point `start` on, if its trip count depends on a size symbol.
  FailureOr<Values> walkRest(const Walk &walk, Value start, Value left, Value first,
                             ValueRange carried, Inside inside);
  /// The number of points that remain after whole steps, if it does not depend on symbols.
  std::optional<int64_t> restOf(const Walk &walk) const {
    return scheduled.sizes.find(walk.names)->second.mod(walk.step).constant();
  }
  Value truth(bool value);
  Value compare(mlir::arith::CmpIPredicate predicate, Value a, Value b);
};

} // namespace heddle::nest

#endif // HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_LOOPS_H
