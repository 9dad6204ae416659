//===- Compute.h - emitting one nest.compute --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `ComputeEmitter` emits scheduled loops from the outermost inwards. In each loop it stages
// operands, and tests guards as soon as all variables in them are defined. In the register tile
// every point has accumulators, which the reduction's loops carry as SSA values:
//
//     for row, column tile:                         scheduled.loops[.. outer]
//       28 vectors = neutral
//       for ky:
//         if 0 <= row + ky - 1 < 56:                tested here: otherwise nothing is added
//           for kx:
//             if all 14 columns are inside: for channel { 28 times vector += scalar * vector }
//             else if the first is outside: for channel { 26 times ... }
//             else:                         for channel { 26 times ... }
//       finish, store
//
// If a reduced loop contains a produced one, the accumulators are spilled to the result, or to
// scratch, between its steps.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_COMPUTE_H
#define HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_COMPUTE_H

#include "lib/analysis/StagedCopy.h"
#include "lib/conversion/nest_to_loops/Loops.h"

namespace heddle::nest {

class ComputeEmitter {
public:
  ComputeEmitter(Emitter &emitter, ComputeOp op, const Schedule &schedule,
                 const ScheduledLoops &scheduled, Value chunk);
  LogicalResult emit();

private:
  using Next = function_ref<FailureOr<Values>(ValueRange)>;

  Emitter &e;
  ComputeOp op;
  const Schedule &schedule;
  const ScheduledLoops &scheduled;
  LoopWalker loops;
  SmallVector<Type> accumulators; ///< types
  size_t chains = 1;              ///< independent sets of accumulators, for interleaved steps

  // Compute.cpp
  LogicalResult outerLoop(size_t position);
  FailureOr<Values> reductionLoop(size_t position, ValueRange carried);
  /// Emits the stages and tested guards inside of a loop, then the next loop.
  FailureOr<Values> enter(ArrayRef<unsigned> stages, const Walk *at, ValueRange carried, Next next);
  LogicalResult tile();
  LogicalResult plainTile();
  /// The loops of the tile along which tensors may be transposed in registers.
  SmallVector<Emitter::Turn, 2> turnsOfTile(TileCode code) const;
  FailureOr<Values> reductionBody(ValueRange carried);
  /// Combines the accumulators with the body's elements at a point.
  FailureOr<Values> accumulate(ValueRange totals, ValueRange elements, const Point &point);
  /// The body's elements at a point; empty if the point is known to contribute nothing. `included`
  /// is null if it always contributes.
  FailureOr<Values> body(const Point &point, Section &section, Value &included);
  Values neutral(int64_t lanes);
  /// The points of the tile that have accumulators.
  std::vector<Point> accumulatorPoints();

  // Epilogue.cpp
  LogicalResult finish(ValueRange totals);
  LogicalResult finishTotals(const Point &point, Values totals, Section &section);
  LogicalResult finishPoint(const Point &point, Values values, Section &section);
  /// If `finish` is emitted as a loop over an unrolled loop of the tile: that loop's variable, and
  /// the points of each of its values; otherwise no rows.
  std::pair<std::string, std::vector<std::vector<size_t>>> finishingRows(ArrayRef<Point> points);
  LogicalResult finishByRows(const std::string &variable, ArrayRef<std::vector<size_t>> rows,
                             ArrayRef<Point> points, ValueRange totals);

  // LoopLanes.cpp
  /// Stores a point's results, if the point exists.
  LogicalResult storePoint(const Point &point, ValueRange values, Section &section);

  // CombineLanes.cpp
  friend class LaneCombiner;
  /// True if the lanes of a block have parts of the same sums.
  bool lanesShareSums() const;
  /// Combines the parts of all lanes; the first lane of a sum gets it. Vectors are folded.
  FailureOr<Values> combineLanes(ValueRange totals);
  bool folded = false; ///< the lanes of vectors are added to each other already
  /// The number of places inside of the current one at which lanes wait for each other. Code around
  /// them may not depend on the lane.
  unsigned barriersInside = 0;

  // SpillAccumulators.cpp
  bool inResult = false; ///< spilled to the results themselves
  SmallVector<Memory> resting;
  std::map<MergedNames, Expr> restingStart;
  std::map<MergedNames, Expr> restingExtent;
  /// Memory for this many elements of each accumulator.
  SmallVector<Memory> allocateAccumulators(const Expr &elements, StringRef memory = "");
  /// As above, scratch of each lane of its own.
  SmallVector<Memory> allocateOwnAccumulators(const Expr &elements);
  void placeAccumulators();
  Expr restingOffset(const Point &point);
  Expr resultOffset(Value result, const Point &point);
  Values loadAccumulators();
  FailureOr<Values> combineAccumulators(ArrayRef<Point> points, ValueRange known, ValueRange part);
  void storeAccumulators(ValueRange totals);

  // Prefetch.cpp
  /// The trip count of the loops that carry the accumulators, from loop `from` inwards.
  int64_t reductionSteps(size_t from) const;
  /// One of `count` equal parts of a tile's prefetches from distant memory. They are distributed
  /// evenly over the tile, because a burst would delay loads whose data is needed immediately.
  struct Share {
    Expr number;
    int64_t count = 1;
  };
  /// The loop of the reduction whose steps prefetch one share each; none: all at the start.
  std::optional<size_t> sharingLoop() const;
  void fetchShare(std::optional<size_t> loop);
  void fetchResults(const Share &share);
  /// Prefetches the vectors that a later step of the reduction reads.
  void fetchPanels(ArrayRef<Point> produced, ArrayRef<Point> steps, Section &section);

  // Guards.cpp, GuardPatterns.cpp
  SmallVector<bool> skippable; ///< a read whose failing guard makes the point contribute nothing
  std::set<std::pair<unsigned, std::string>> decided; ///< (read, condition)
  std::set<std::pair<unsigned, std::string>> failing; ///< (read, values of a point)
  void findSkippable();
  FailureOr<Values> decideGuards(ValueRange carried, Next next);
  bool fails(unsigned read, const Point &point);
  /// The range of a reduction's loop in which its guards hold: bounds (null: unbounded), and the
  /// conditions that hold inside.
  struct Clip {
    Value low, high;
    std::set<Test> facts;
  };
  Clip clipOf(size_t position);
  /// The points, including the ends, at which to split a reduction's loop so that each condition on
  /// its variable alone is constant in every piece; empty: no split.
  std::vector<int64_t> cutsOf(size_t position);
  /// The estimated number of instructions that compute the points once.
  int64_t costOf(ArrayRef<Point> points);
  /// The points of the tile, including the unrolled steps of the reduction.
  std::vector<Point> allPoints() const;
  static std::string valuesOf(const Point &point);
  /// With more patterns, the code only distinguishes "all hold" from the rest.
  static constexpr size_t mostPatterns = 10;
  /// The maximum number of conditions to evaluate when searching for patterns.
  static constexpr int64_t mostEvaluations = 60000;
  /// True if no point of the tile contributes.
  bool nothingToDo();

  // Stage.cpp
  /// `isFirst`: no other stage at the loop copies the same operand.
  LogicalResult emitStage(const Stage &stage, const Walk *at, bool isFirst);
  /// The part that the remaining loops read; none if it is not a box.
  std::optional<Box> findBox(unsigned read);
  /// The nest that copies a box; its result has no memory yet.
  StagedCopy makeCopy(const Stage &stage, const Box &box);
  /// Describes the result of a copy as the nest reads it.
  Value readCopy(StagedCopy &copy, const Box &box);
  FailureOr<Value> emitCopy(const Stage &stage, const Box &box);
  /// The next box of a stage or a read, which is prefetched while the current one is used.
  struct Ahead {
    Memory source;
    Replacement origin;
    Sizes extents;
    const Walk *at;
    std::optional<unsigned> read; ///< that reads the box itself; none: a copy does
  };
  std::vector<Ahead> ahead;
  /// Adds the boxes that the step after the current one of an outer loop reads without a copy, if
  /// none of them overlaps the current one. Returns the variables that it defines.
  SmallVector<std::string, 2> findAhead(const Walk *at);
  /// The box of an operand that exceeds the second cache, if the next step of the loop reads none
  /// of its elements.
  std::optional<Box> boxAhead(unsigned read, const Walk &at);
  void fetchAhead(const Share &share);

  // StageAhead.cpp
  /// The copy of a stage's next box, into the other one of two buffers.
  struct NextCopy {
    Schedule schedule;
    ScheduledLoops scheduled;
    std::unique_ptr<ComputeEmitter> copy;
    Value exists;  ///< i1: the loop has another step
    Values loaded; ///< the elements, in registers; empty: they are stored as soon as loaded
    int64_t registers = 0;
  };
  std::vector<std::unique_ptr<NextCopy>> nextCopies;
  /// Returns the emitted loop if stages at `at` can fill their buffers in turns, else null.
  mlir::scf::ForOp loopOfTurns(const Walk *at);
  /// Emits the copy of the first box before the loop, and prepares that of the next box.
  FailureOr<Value> emitFirstCopy(const Stage &stage, const Box &box, const Walk &at,
                                 mlir::scf::ForOp loop);
  LogicalResult loadNext(NextCopy &next);
  LogicalResult storeNext(NextCopy &next);
  /// The registers that hold the elements of a copy between its loads and its stores; none if they
  /// are too many, or if its loops are not unrolled.
  std::optional<int64_t> heldRegisters();
  /// Walks all tiles of a copy without a loop or branch around them.
  LogicalResult eachTile(size_t position, function_ref<LogicalResult()> tile);
  FailureOr<Values> loadTile();
  Values zerosOfTile();
  SmallVector<Value> operandOf;  ///< by read: the tensor or copy that it reads now
  SmallVector<GuardAttr> guards; ///< by read: the remaining guard
  friend struct GuardSplitter;

  // Bf16Pairs.cpp
  /// The unit that computes the tile; null: plain vectors.
  std::unique_ptr<Unit> makeUnit() const;
};

} // namespace heddle::nest

#endif // HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_COMPUTE_H
