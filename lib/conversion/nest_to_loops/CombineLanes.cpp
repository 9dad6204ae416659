//===- CombineLanes.cpp - the parts of sums that lanes share --------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each lane has a part of a sum. Neighbours are combined first:
//
//     lane k by 1 of 6     0+1 2+3 4+5     then 01+23     then 0123+45
//
// Lanes of one warp get each other's parts by shuffles, if the target has them. Other parts go
// through shared memory, `partsTogether` at a time, with a barrier after each round:
//
//     256 lanes, warps of 32     5 shuffles; 1 round, in which a lane combines 8 parts
//     256 lanes, no warps        3 rounds, of 8, 8 and 4 parts
//
// The tree depends on the numbers of lanes and terms alone, so that all targets give the same bits.
// Lanes without terms are left out: a combiner may be wrong for two neutral values.
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Compute.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;
using arith::CmpIPredicate;

/// A power of two: the parts that one lane combines between two barriers.
static constexpr int64_t partsTogether = 8;

namespace heddle::nest {

class LaneCombiner {
public:
  LaneCombiner(ComputeEmitter &nest, std::vector<Point> points, Values parts)
      : nest(nest), e(nest.e), scheduled(nest.scheduled), points(std::move(points)),
        parts(std::move(parts)), isBound(nest.loops.isBoundLane()) {}

  FailureOr<Values> run() {
    int64_t top = e.sharedTop;
    Expr scratchTop = e.scratchTop;
    e.define(lane, e.lane, {0, e.lanes - 1});
    for (const Walk &each : llvm::reverse(scheduled.loops)) {
      if (!each.lane || !each.reduced || each.count() <= 1)
        continue;
      walk = &each;
      count = each.count();
      digit = nest.loops.digitOf(each);
      // Only the first lanes have terms if there are few.
      used = Expr::min(scheduled.sizes.find(each.names)->second.ceildiv(each.step), Expr(count));
      if (failed(combine()))
        return failure();
    }
    e.forget(lane);
    e.sharedTop = top;
    e.scratchTop = scratchTop;
    return parts;
  }

private:
  ComputeEmitter &nest;
  Emitter &e;
  const ScheduledLoops &scheduled;
  std::vector<Point> points;
  Values parts; ///< of this lane: for each point, those of all accumulators
  Value isBound;
  std::string lane = e.freshVariable();
  SmallVector<Memory> memories; ///< of all lanes' parts; empty: not needed yet

  const Walk *walk = nullptr; ///< whose steps are combined
  int64_t count = 0;
  Value digit;
  Expr used;

  Value test(CmpIPredicate predicate, Value a, const Expr &b) {
    return arith::CmpIOp::create(e.b, e.loc, predicate, a, e.emit(b));
  }

  LogicalResult combine() {
    int64_t apart = 1;
    for (; apart < count && canShuffle(apart); apart *= 2)
      if (failed(shuffle(apart)))
        return failure();
    if (apart >= count)
      return success();
    if (memories.empty())
      allocate();
    storeAll(parts);
    e.barrier("shared");
    for (; apart < count; apart *= partsTogether)
      if (failed(passThroughMemory(apart)))
        return failure();
    return success();
  }

  /// The condition that the lane is the first of `lanes` neighbours.
  Value isFirstOf(int64_t lanes) {
    Value place = digit;
    if (lanes < count)
      place = arith::RemUIOp::create(e.b, e.loc, digit, e.constant(lanes));
    return e.both(isBound, test(CmpIPredicate::eq, place, Expr(0)));
  }
  /// Whether all of each `lanes` neighbours have terms.
  bool allHaveTerms(int64_t lanes) {
    return used == Expr(count) && (lanes >= count || count % lanes == 0);
  }

  //===--------------------------------------------------------------------===//
  // Shuffles
  //===--------------------------------------------------------------------===//

  /// Whether lanes that are `apart` steps apart are in one warp, and differ in one bit.
  bool canShuffle(int64_t apart) {
    int64_t warp = e.target.shuffleLanes(), lanes = 2 * apart * walk->below;
    bool isAligned = count % (2 * apart) == 0 || walk->below * count >= scheduled.boundLanes();
    return warp >= lanes && warp % lanes == 0 && isAligned;
  }

  Value shuffle(Value value, int64_t distance) {
    auto vector = dyn_cast<VectorType>(value.getType());
    if (!vector)
      return e.target.shuffle(e.b, e.loc, value, distance);
    Values elements;
    for (int64_t i = 0; i < vector.getNumElements(); ++i)
      elements.push_back(e.target.shuffle(
          e.b, e.loc, vector::ExtractOp::create(e.b, e.loc, value, ArrayRef<int64_t>{i}),
          distance));
    return vector::FromElementsOp::create(e.b, e.loc, vector, elements);
  }

  LogicalResult shuffle(int64_t apart) {
    Values theirs;
    for (Value part : parts) // by all lanes of the warp
      theirs.push_back(shuffle(part, apart * walk->below));
    auto add = [&](ValueRange mine) { return nest.combineAccumulators(points, mine, theirs); };
    // If all lanes have terms, each may combine: what other lanes than the first get is not used.
    FailureOr<Values> sums;
    if (allHaveTerms(2 * apart) && !isBound && count % (2 * apart) == 0) {
      sums = add(parts);
    } else {
      Value hasTerms = test(CmpIPredicate::slt, digit, (used - Expr(apart)).simplify(e.ranges));
      sums = branch(e, e.both(isFirstOf(2 * apart), hasTerms), parts, add);
    }
    if (failed(sums))
      return failure();
    parts = *sums;
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Shared memory
  //===--------------------------------------------------------------------===//

  int64_t wide() const { return scheduled.lanes && !scheduled.lanesReduced ? scheduled.lanes : 1; }

  void allocate() {
    int64_t slots = int64_t(points.size()) * e.lanes * wide(), bytes = 0;
    for (Type type : nest.accumulators)
      bytes += llvm::alignTo(slots * std::max(8u, type.getIntOrFloatBitWidth()) / 8, 64);
    memories = nest.allocateAccumulators(Expr(slots), e.memoryFor(Expr(bytes), /*share=*/1));
  }
  Expr offset(size_t point, int64_t distance) {
    Expr slot = Expr(int64_t(point) * e.lanes + distance) + Expr::name(lane);
    return slot * Expr(wide()) + (wide() > 1 ? Expr::name(laneName) : Expr(0));
  }
  void storeAll(ValueRange values) {
    Section section;
    size_t width = memories.size();
    for (auto [i, point] : llvm::enumerate(points))
      for (size_t k = 0; k < width; ++k)
        e.store(memories[k], offset(i, 0), values[i * width + k], point, Value(), section);
  }
  Values load(int64_t distance) {
    Section section;
    Values values;
    for (auto [i, point] : llvm::enumerate(points))
      for (const Memory &memory : memories)
        values.push_back(e.load(memory, offset(i, distance), point, Value(), section));
    return values;
  }

  /// The sum of the parts of `lanes` lanes, of which the first one is `first` parts away.
  FailureOr<Values> sumOf(ValueRange mine, int64_t apart, int64_t first, int64_t lanes) {
    if (lanes == 1)
      return first == 0 ? Values(mine) : load(first * apart * walk->below);
    int64_t half = first + lanes / 2;
    FailureOr<Values> left = sumOf(mine, apart, first, lanes / 2);
    if (failed(left) || half * apart >= count)
      return left;
    auto add = [&](ValueRange sum) -> FailureOr<Values> {
      FailureOr<Values> right = sumOf(mine, apart, half, lanes / 2);
      return failed(right) ? right : nest.combineAccumulators(points, sum, *right);
    };
    if (allHaveTerms(apart * partsTogether))
      return add(*left);
    Expr last = (used - Expr(half * apart)).simplify(e.ranges);
    return branch(e, test(CmpIPredicate::slt, digit, last), *left, add);
  }

  LogicalResult passThroughMemory(int64_t apart) {
    int64_t lanes = apart * partsTogether;
    auto sums = branch(e, isFirstOf(lanes), parts, [&](ValueRange mine) {
      FailureOr<Values> sum = sumOf(mine, apart, 0, partsTogether);
      if (succeeded(sum) && lanes < count)
        storeAll(*sum);
      return sum;
    });
    if (failed(sums))
      return failure();
    parts = *sums;
    e.barrier("shared"); // until all have read, and the next round's parts are there
    return success();
  }
};

} // namespace heddle::nest

bool ComputeEmitter::lanesShareSums() const {
  return llvm::any_of(scheduled.loops, [](const Walk &walk) {
    return walk.lane && walk.reduced && walk.count() > 1;
  });
}

FailureOr<Values> ComputeEmitter::combineLanes(ValueRange totals) {
  std::vector<Point> points = loops.points(false);
  size_t width = accumulators.size();
  Values parts;
  for (auto [i, point] : llvm::enumerate(points)) {
    point.active = point.lanes; // sums have all lanes of the vector
    point.count = {};
    Values own(totals.slice(i * width, width));
    if (scheduled.lanes && scheduled.lanesReduced) {
      FailureOr<Values> folded = e.foldLanes(op.getCombine(), own, scheduled.lanes);
      if (failed(folded))
        return failure();
      own = *folded;
    }
    parts.append(own);
  }
  return LaneCombiner(*this, std::move(points), std::move(parts)).run();
}
