//===- Loops.h - emits the sequential loops of a plan -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `walk` emits one loop of a plan and calls `inside` once for each copy of the loop's body. If the
// step of the innermost loop over a group does not divide its tile, the loop has a body for whole
// steps and an epilogue for the remainder, so that the register tile is constant in both. Outer
// loops clip their tiles with `min`.
//
//     size 50, [cache m by 28, cache m by 14]     for t in 0..2 { left = min(28, 50 - 28 t)
//                                                   for u in 0..left / 14 { tile of 14 }
//                                                   if left % 14 { tile of 8 } }
//
// Loops that are bound to lanes (Plan.h) take their index from the lane's number (Lanes.cpp).
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
  using Inside = llvm::function_ref<mlir::FailureOr<Values>(mlir::ValueRange)>;

  /// `chunk` null: thread loops are sequential.
  LoopWalker(Emitter &emitter, const Plan &plan, mlir::Value chunk);

  /// Emits loop `position`; `inside` takes and returns the carried values.
  mlir::FailureOr<Values> walk(size_t position, mlir::ValueRange carried, Inside inside);
  /// Like `walk`, but from `low` (if not null) to below `high`. Requires `canClip`.
  mlir::FailureOr<Values> walkClipped(size_t position, mlir::Value low, mlir::Value high,
                                      mlir::ValueRange carried, Inside inside);
  /// Like `walk`, but with a separate loop between adjacent cuts.
  mlir::FailureOr<Values> walkPieces(size_t position, llvm::ArrayRef<int64_t> cuts,
                                     mlir::ValueRange carried, Inside inside);
  /// Emits all loops of the plan and calls `point` for each tile, with its names bound.
  mlir::LogicalResult walkAll(llvm::function_ref<mlir::LogicalResult()> point);
  /// True for a sequential loop with step 1 and a constant trip count.
  bool canClip(size_t position) const;

  /// Adds the unrolled loops to the index of every group and binds iteration names to it, until
  /// `unbind`.
  struct Saved {
    std::map<Group, Expr> index;
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
  /// names. A group's last vector may be partial. May be called before `bindTile`, or between that
  /// and `unbind`.
  std::vector<Point> points(bool reduced) const;
  /// The merged index of a group, over loop variables.
  const Expr &indexOf(const Group &group) const { return index.find(group)->second; }
  /// The maximum number of points of the group in the current tile.
  int64_t extentOf(const Group &group) const { return extent.find(group)->second.most; }
  /// The number of points of the group in the current tile, if it is not constant; else null.
  mlir::Value exactOf(const Group &group) const {
    return clamped.count(group) ? e.emit(leftOf(group)) : extent.find(group)->second.exact;
  }
  /// The maximum over size symbols.
  Expr extentOver(const Group &group) const {
    bool whole = extentOf(group) == plan.most.find(group)->second;
    return whole ? plan.sizes.find(group)->second : Expr(extentOf(group));
  }

  // Lanes.cpp
  /// True for a lane that stores results: not beyond the nest's lanes, nor beyond the size, and the
  /// first of those that share sums. Null: true for all lanes.
  mlir::Value isActive();
  /// Emits `code` for the lanes that store results.
  mlir::LogicalResult onActive(llvm::function_ref<mlir::LogicalResult()> code);
  /// Whether a lane beyond the size may be at the tile; then it repeats the last point.
  bool isClamped() const { return !clamped.empty(); }
  /// The conditions under which a point of the tile exists. Requires `bindTile`.
  llvm::SmallVector<Test> existence(const Point &point) const;
  /// The step that the lane runs of a loop that is bound.
  mlir::Value digitOf(const Walk &walk);
  /// The index and the number of points of the group, of all lanes together.
  std::pair<Expr, int64_t> blockOf(const Group &group) const {
    auto found = outsideLanes.find(group);
    return found == outsideLanes.end() ? std::pair(indexOf(group), extentOf(group)) : found->second;
  }

  /// True in the first (last) iteration of the reduction's loops that keep accumulators in memory.
  mlir::Value isFirst();
  mlir::Value isLast();

private:
  /// The number of points of the group from the index of the current tile on.
  Expr leftOf(const Group &group) const {
    return (plan.sizes.find(group)->second - indexOf(group)).simplify(e.ranges);
  }
  /// The number of points of a group in the current tile.
  struct Extent {
    int64_t most;
    mlir::Value exact; ///< null: `most`
  };
  Emitter &e;
  const Plan &plan;
  mlir::Value chunk, remainder;
  Expr remainingChunks = 1;
  std::map<Group, Expr> index;
  std::map<Group, Extent> extent;
  std::set<std::string> pendingVariables;
  Values firstTests, lastTests;
  std::set<Group> clamped; ///< groups of which lanes may be beyond the size
  std::map<Group, std::pair<Expr, int64_t>> outsideLanes;

  mlir::FailureOr<Values> walkLanes(const Walk &walk, mlir::ValueRange carried, Inside inside);
  mlir::FailureOr<Values> walkReducedLanes(const Walk &walk, mlir::ValueRange carried,
                                           Inside inside);
  mlir::FailureOr<Values> walkAround(const Walk &walk, mlir::ValueRange carried, Inside inside);
  /// Emits step `number` of a loop over the group of bound lanes.
  mlir::FailureOr<Values> walkStep(const Walk &walk, mlir::Value number, mlir::ValueRange carried,
                                   Inside inside);

  mlir::FailureOr<Values> narrowed(const Walk &walk, const Expr &by, Extent tile, mlir::Value first,
                                   mlir::Value last, mlir::ValueRange carried, Inside inside);
  mlir::FailureOr<Values> walkSteps(const Walk &walk, mlir::ValueRange carried, Inside inside);
  mlir::FailureOr<Values> walkThreads(const Walk &walk, Inside inside);
  /// Emits the epilogue, from point `start` on, if its trip count depends on a size symbol.
  mlir::FailureOr<Values> walkRest(const Walk &walk, mlir::Value start, mlir::Value left,
                                   mlir::Value first, mlir::ValueRange carried, Inside inside);
  /// The number of points that remain after whole steps, if it does not depend on symbols.
  std::optional<int64_t> restOf(const Walk &walk) const {
    return plan.sizes.find(walk.group)->second.mod(walk.step).constant();
  }
  mlir::Value truth(bool value);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b);
};

} // namespace heddle::nest

#endif // HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_LOOPS_H
