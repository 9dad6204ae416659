//===- LoopLanes.cpp - loops that are bound to lanes ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lanes of a block run the same code: each takes its step of every bound loop from its number,
//
//     [block m by 64, lane m by 4, lane n by 4, ...]      m = 64 * chunk + 4 * (lane / 16) + ...
//                                                         n = 4 * (lane mod 16) + ...
//
// and all of them run the sequential loops, fill copies in shared memory, and wait for each other.
// No branch around a barrier may depend on the lane. If a size is not a multiple of the block's
// step, the last block is emitted apart: there a lane beyond the size repeats the last point (its
// index is clamped), and stores nothing.
//
// Lanes may also share the steps of a reduction. A lane without a step adds nothing, and the parts
// are combined at last (CombineLanes.cpp).
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Compute.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;
using arith::CmpIPredicate;

void Emitter::barrier(StringRef memory) {
  // A target that can bind lanes runs them one after another here.
  if (!memory.empty() && (lanes || !target.mostLanes()))
    target.barrier(b, loc, memory);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Value LoopWalker::digitOf(const Walk &walk) {
  int64_t count = std::max<int64_t>(walk.count(), 1);
  Value digit = e.lane;
  if (walk.below > 1)
    digit = arith::DivUIOp::create(e.b, e.loc, digit, e.constant(walk.below));
  if (walk.below * count < e.lanes)
    digit = arith::RemUIOp::create(e.b, e.loc, digit, e.constant(count));
  return digit;
}

FailureOr<Values> LoopWalker::walkStep(const Walk &walk, Value number, ValueRange carried,
                                       Inside inside) {
  Extent tile = extent[walk.names];
  int64_t full = tile.most / walk.step;
  auto run = [&](ValueRange values, int64_t most, bool clamps) {
    e.define(walk.variable, number, {0, std::max<int64_t>(most - 1, 0)});
    bool isNew = clamps && clamped.insert(walk.names).second;
    FailureOr<Values> result = narrowed(walk, Expr::name(walk.variable) * Expr(walk.step),
                                        {walk.step, Value()}, Value(), Value(), values, inside);
    if (isNew)
      clamped.erase(walk.names);
    e.vars.erase(walk.variable);
    return result;
  };
  if (!tile.exact && tile.most % walk.step == 0)
    return run(carried, full, false);
  if (!tile.exact && full == 0)
    return run(carried, 1, true);
  Value exact = tile.exact ? tile.exact : e.constant(tile.most);
  Value whole = arith::DivUIOp::create(e.b, e.loc, exact, e.constant(walk.step));
  return branch(
      e, compare(CmpIPredicate::slt, number, whole), carried,
      [&](ValueRange values) { return run(values, std::max<int64_t>(full, 1), false); },
      [&](ValueRange values) { return run(values, walk.count(), true); });
}

FailureOr<Values> LoopWalker::walkAround(const Walk &walk, ValueRange carried, Inside inside) {
  Extent tile = extent[walk.names];
  int64_t most = (tile.most + walk.step - 1) / walk.step;
  if (most <= 1 && !tile.exact)
    return walkStep(walk, e.constant(0), carried, inside);
  Value count = e.constant(most);
  if (tile.exact)
    count = arith::CeilDivUIOp::create(e.b, e.loc, tile.exact, e.constant(walk.step));
  return forLoop(e, walk.variable, count, most, carried, [&](ValueRange values) {
    return walkStep(walk, e.vars[walk.variable], values, inside);
  });
}

LogicalResult LoopWalker::walkApart(size_t position, llvm::function_ref<LogicalResult()> inside) {
  const Walk &walk = scheduled.loops[position];
  auto once = [&](ValueRange) { return noValues(inside()); };
  if (walk.lane)
    return success(succeeded(this->walk(position, {}, once)));
  int64_t most = extent[walk.names].most;
  for (int64_t start = 0; start < most; start += walk.step) {
    bool isNew = start + walk.step > most && clamped.insert(walk.names).second;
    auto done = narrowed(walk, Expr(start), {walk.step, Value()}, Value(), Value(), {}, once);
    if (isNew)
      clamped.erase(walk.names);
    if (failed(done))
      return failure();
  }
  return success();
}

FailureOr<Values> LoopWalker::walkLanes(const Walk &walk, ValueRange carried, Inside inside) {
  Extent tile = extent[walk.names];
  assert(!tile.exact && "lanes divide a tile of constant size");
  bool isFirst = outsideLanes.try_emplace(walk.names, index[walk.names], tile.most).second;
  bool isNew = tile.most % walk.step != 0 && clamped.insert(walk.names).second;
  e.define(walk.variable, digitOf(walk), {0, std::max<int64_t>(walk.count() - 1, 0)});
  FailureOr<Values> result = narrowed(walk, Expr::name(walk.variable) * Expr(walk.step),
                                      {walk.step, Value()}, Value(), Value(), carried, inside);
  e.vars.erase(walk.variable);
  if (isNew)
    clamped.erase(walk.names);
  if (isFirst)
    outsideLanes.erase(walk.names);
  return result;
}

FailureOr<Values> LoopWalker::walkReducedLanes(const Walk &walk, ValueRange carried,
                                               Inside inside) {
  Extent tile = extent[walk.names];
  bool isFirst = outsideLanes.try_emplace(walk.names, index[walk.names], tile.most).second;
  Value number = digitOf(walk), step = e.constant(walk.step);
  Expr shift = Expr::name(walk.variable) * Expr(walk.step);
  auto run = [&](ValueRange values, Value exact) {
    e.define(walk.variable, number, {0, std::max<int64_t>(walk.count() - 1, 0)});
    auto result =
        narrowed(walk, shift, {walk.step, exact}, truth(true), truth(true), values, inside);
    e.vars.erase(walk.variable);
    return result;
  };
  // The number of steps may be less than that of lanes, in the last tile.
  bool allWork = !tile.exact && tile.most % walk.step == 0 && tile.most >= walk.tile;
  FailureOr<Values> result;
  if (allWork) {
    result = run(carried, Value());
  } else {
    Value exact = tile.exact ? tile.exact : e.constant(tile.most);
    Value left =
        arith::SubIOp::create(e.b, e.loc, exact, arith::MulIOp::create(e.b, e.loc, number, step));
    auto part = [&](ValueRange values) {
      return branch(
          e, compare(CmpIPredicate::sgt, left, e.constant(0)), values,
          [&](ValueRange rest) { return run(rest, left); }, nullptr);
    };
    result = branch(
        e, compare(CmpIPredicate::sge, left, step), carried,
        [&](ValueRange values) { return run(values, Value()); },
        walk.step > 1 ? llvm::function_ref<FailureOr<Values>(ValueRange)>(part) : nullptr);
  }
  if (isFirst)
    outsideLanes.erase(walk.names);
  return result;
}

//===----------------------------------------------------------------------===//
// Which lanes store
//===----------------------------------------------------------------------===//

Value LoopWalker::isBoundLane() {
  if (scheduled.boundLanes() >= e.lanes)
    return {};
  return compare(CmpIPredicate::ult, e.lane, e.constant(scheduled.boundLanes()));
}

Value LoopWalker::isActive() {
  Values tests;
  if (Value isBound = isBoundLane())
    tests.push_back(isBound);
  for (const Walk &walk : scheduled.loops)
    if (walk.lane && walk.reduced && walk.count() > 1)
      tests.push_back(compare(CmpIPredicate::eq, digitOf(walk), e.constant(0)));
  for (const MergedNames &names : clamped)
    tests.push_back(e.emit(Test{leftOf(names) - Expr(1)}));
  Value all;
  for (Value test : tests)
    all = e.both(all, test);
  return all;
}

LogicalResult LoopWalker::onActive(llvm::function_ref<LogicalResult()> code) {
  Value active = isActive();
  if (!active)
    return code();
  return success(succeeded(branch(e, active, {}, [&](ValueRange) { return noValues(code()); })));
}

SmallVector<Test> LoopWalker::existence(const Point &point) const {
  SmallVector<Test> tests;
  for (const MergedNames &names : clamped) {
    const Expr &size = scheduled.sizes.find(names)->second;
    Expr at = indexOf(names).substitute(point.values);
    tests.push_back({(size - Expr(1) - at).simplify(e.ranges)});
  }
  return tests;
}

LogicalResult ComputeEmitter::storePoint(const Point &point, ValueRange values, Section &section) {
  auto store = [&](const Point &at, ValueRange values, Section &section) {
    for (auto [result, value] : llvm::zip_equal(op.getResults(), values))
      e.storeResult(e.memory.find(result)->second, value, at, section);
  };
  if (!loops.isClamped()) {
    store(point, values, section);
    return success();
  }
  // Each point under a condition of its own.
  for (int64_t lane = 0; lane < std::max<int64_t>(point.active, 1); ++lane) {
    Point single = point;
    Values scalars(values);
    if (point.lanes) {
      single.lanes = single.active = 0;
      single.count = {};
      single.values[laneName] = Expr(lane);
      for (Value &value : scalars)
        if (isa<VectorType>(value.getType()))
          value = vector::ExtractOp::create(e.b, e.loc, value, ArrayRef<int64_t>{lane});
    }
    // The vector may be of a name that has no lanes, and end within the last block.
    Value exists;
    if (point.count)
      exists = arith::CmpIOp::create(e.b, e.loc, CmpIPredicate::slt, e.constant(lane), point.count);
    for (const Test &test : loops.existence(single))
      if (!test.decide(e.ranges).value_or(false))
        exists = e.both(exists, e.emit(test));
    auto one = [&](ValueRange) -> FailureOr<Values> {
      Section own;
      store(single, scalars, own);
      return Values();
    };
    if (failed(exists ? branch(e, exists, {}, one, nullptr) : one({})))
      return failure();
  }
  return success();
}
