//===- Loops.cpp - emits sequential loops ---------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Loops.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;
using arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Structured control flow
//===----------------------------------------------------------------------===//

FailureOr<Values> nest::forLoop(Emitter &e, const std::string &name, Value count, int64_t atMost,
                                ValueRange carried,
                                llvm::function_ref<FailureOr<Values>(ValueRange)> body) {
  return forLoop(e, name, e.constant(0), count, atMost, carried, body);
}

FailureOr<Values> nest::forLoop(Emitter &e, const std::string &name, Value from, Value to,
                                int64_t atMost, ValueRange carried,
                                llvm::function_ref<FailureOr<Values>(ValueRange)> body) {
  auto loop = scf::ForOp::create(e.b, e.loc, from, to, e.constant(1), carried);
  if (auto factor = e.unrollFactors.find(name); factor != e.unrollFactors.end())
    e.unrolled.emplace_back(loop, factor->second);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  e.define(name, loop.getInductionVar(), {0, std::max<int64_t>(atMost - 1, 0)});
  FailureOr<Values> result = body(loop.getRegionIterArgs());
  e.forget(name);
  if (failed(result))
    return failure();
  if (!carried.empty())
    scf::YieldOp::create(e.b, e.loc, *result);
  return Values(loop.getResults());
}

LogicalResult nest::forLoop(Emitter &e, const std::string &name, int64_t count,
                            llvm::function_ref<LogicalResult()> body) {
  return success(succeeded(forLoop(e, name, e.constant(count), count, {},
                                   [&](ValueRange) { return noValues(body()); })));
}

FailureOr<Values> nest::branch(Emitter &e, Value condition, ValueRange carried,
                               llvm::function_ref<FailureOr<Values>(ValueRange)> then,
                               llvm::function_ref<FailureOr<Values>(ValueRange)> otherwise) {
  bool yields = !carried.empty();
  auto op = scf::IfOp::create(e.b, e.loc, carried.getTypes(), condition, yields || otherwise);
  OpBuilder::InsertionGuard guard(e.b);
  auto fill = [&](Block *block,
                  llvm::function_ref<FailureOr<Values>(ValueRange)> body) -> LogicalResult {
    e.b.setInsertionPointToStart(block);
    FailureOr<Values> result = body ? body(carried) : FailureOr<Values>(Values(carried));
    if (failed(result))
      return failure();
    if (yields)
      scf::YieldOp::create(e.b, e.loc, *result);
    return success();
  };
  if (failed(fill(op.thenBlock(), then)) ||
      ((yields || otherwise) && failed(fill(op.elseBlock(), otherwise))))
    return failure();
  return Values(op.getResults());
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

LoopWalker::LoopWalker(Emitter &emitter, const ScheduledLoops &scheduled, Value chunk)
    : e(emitter), scheduled(scheduled), chunk(chunk), remainder(chunk) {
  for (const auto &[names, size] : scheduled.sizes) {
    index[names] = Expr(0);
    extent[names] = {scheduled.most.find(names)->second,
                     size.isConstant() ? Value() : e.emit(size)};
  }
  for (const Walk &walk : scheduled.loops) {
    pendingVariables.insert(walk.variable);
    e.ranges[walk.variable] = {0, std::max<int64_t>(walk.count() - 1, 0)};
    if (walk.unroll > 1)
      e.unrollFactors[walk.variable] = walk.unroll;
    if (walk.thread)
      remainingChunks = remainingChunks * walk.steps;
  }
  for (const Walk &walk : scheduled.tile)
    e.ranges[walk.variable] = {0, std::max<int64_t>(walk.count() - 1, 0)};
  assert((!chunk || remainingChunks == e.chunks) && "chunks follow from the schedule");
}

Value LoopWalker::truth(bool value) { return arith::ConstantIntOp::create(e.b, e.loc, value, 1); }

Value LoopWalker::compare(CmpIPredicate predicate, Value a, Value b) {
  return arith::CmpIOp::create(e.b, e.loc, predicate, a, b);
}

static Value conjunction(Emitter &e, const Values &tests) {
  Value all;
  for (Value test : tests)
    all = all ? Value(arith::AndIOp::create(e.b, e.loc, all, test)) : test;
  return all ? all : Value(arith::ConstantIntOp::create(e.b, e.loc, 1, 1));
}

Value LoopWalker::isFirst() { return conjunction(e, firstTests); }
Value LoopWalker::isLast() { return conjunction(e, lastTests); }

FailureOr<Values> LoopWalker::narrowed(const Walk &walk, const Expr &shift, Extent tile,
                                       Value first, Value last, ValueRange carried, Inside inside) {
  Expr savedIndex = index[walk.names];
  Extent savedExtent = extent[walk.names];
  index[walk.names] = savedIndex + shift;
  extent[walk.names] = tile;
  pendingVariables.erase(walk.variable);
  if (walk.reduced) {
    firstTests.push_back(first ? first : truth(true));
    lastTests.push_back(last ? last : truth(true));
  }
  const Expr &size = scheduled.sizes.find(walk.names)->second;
  bool whole =
      !tile.exact && !size.isConstant() && walk.names.size() == 1 && !clamped.count(walk.names);
  if (whole)
    e.within.push_back((size - Expr(tile.most) - index[walk.names]).simplify(e.ranges));
  FailureOr<Values> result = inside(carried);
  if (whole)
    e.within.pop_back();
  if (walk.reduced) {
    firstTests.pop_back();
    lastTests.pop_back();
  }
  pendingVariables.insert(walk.variable);
  index[walk.names] = savedIndex;
  extent[walk.names] = savedExtent;
  return result;
}

FailureOr<Values> LoopWalker::walk(size_t position, ValueRange carried, Inside inside) {
  const Walk &walk = scheduled.loops[position];
  FailureOr<Values> result = walkSteps(walk, carried, inside);
  // Restore the range of the variable outside of its loop.
  e.ranges[walk.variable] = {0, std::max<int64_t>(walk.count() - 1, 0)};
  return result;
}

LogicalResult LoopWalker::walkAll(llvm::function_ref<LogicalResult()> point) {
  std::function<LogicalResult(size_t)> from = [&](size_t position) -> LogicalResult {
    if (position < scheduled.loops.size())
      return success(
          succeeded(walk(position, {}, [&](ValueRange) { return noValues(from(position + 1)); })));
    Saved saved = bindTile();
    if (failed(point()))
      return failure();
    unbind(std::move(saved));
    return success();
  };
  return from(0);
}

bool LoopWalker::canClip(size_t position) const {
  const Walk &walk = scheduled.loops[position];
  const Extent &tile = extent.find(walk.names)->second;
  return !walk.thread && !walk.lane && walk.step == 1 && walk.innermost && !tile.exact &&
         tile.most > 1;
}

FailureOr<Values> LoopWalker::walkClipped(size_t position, Value low, Value high,
                                          ValueRange carried, Inside inside) {
  const Walk &walk = scheduled.loops[position];
  int64_t most = extent.find(walk.names)->second.most;
  Value from = e.constant(0), to = e.constant(most);
  if (low)
    from = arith::MaxSIOp::create(e.b, e.loc, from, low);
  if (high)
    to = arith::MinSIOp::create(e.b, e.loc, to, high);
  auto result = forLoop(e, walk.variable, from, to, most, carried, [&](ValueRange values) {
    return narrowed(walk, Expr::name(walk.variable), {1, Value()}, Value(), Value(), values,
                    inside);
  });
  e.ranges[walk.variable] = {0, std::max<int64_t>(walk.count() - 1, 0)};
  return result;
}

FailureOr<Values> LoopWalker::walkPieces(size_t position, ArrayRef<int64_t> cuts,
                                         ValueRange carried, Inside inside) {
  const Walk &walk = scheduled.loops[position];
  FailureOr<Values> result = Values(carried);
  for (auto [low, high] : llvm::zip(cuts, cuts.drop_front())) {
    result = forLoop(e, walk.variable, e.constant(low), e.constant(high), high, *result,
                     [&, low = low, high = high](ValueRange values) {
                       e.ranges[walk.variable] = {low, high - 1};
                       return narrowed(walk, Expr::name(walk.variable), {1, Value()}, Value(),
                                       Value(), values, inside);
                     });
    if (failed(result))
      break;
  }
  e.ranges[walk.variable] = {0, std::max<int64_t>(walk.count() - 1, 0)};
  return result;
}

FailureOr<Values> LoopWalker::walkSteps(const Walk &walk, ValueRange carried, Inside inside) {
  if (walk.thread && chunk)
    return walkThreads(walk, inside);
  if (walk.lane)
    return walk.reduced ? walkReducedLanes(walk, carried, inside)
                        : walkLanes(walk, carried, inside);
  if (!walk.reduced && scheduled.isBound(walk.names) && !outsideLanes.count(walk.names))
    return walkAround(walk, carried, inside);
  Extent tile = extent[walk.names];
  int64_t step = walk.step;
  Expr variable = Expr::name(walk.variable);
  Value stepValue = e.constant(step);

  if (!walk.innermost && (tile.exact || tile.most % step)) {
    // Tiles are clipped.
    if (!tile.exact && tile.most <= step)
      return narrowed(walk, Expr(0), tile, Value(), Value(), carried, inside);
    Value exact = tile.exact ? tile.exact : e.constant(tile.most);
    Value count = arith::DivUIOp::create(
        e.b, e.loc, arith::AddIOp::create(e.b, e.loc, exact, e.constant(step - 1)), stepValue);
    // The last step finishes spilled accumulators, so a zero-trip loop runs once.
    if (walk.reduced)
      count = arith::MaxSIOp::create(e.b, e.loc, count, e.constant(1));
    int64_t most = (tile.most + step - 1) / step;
    return forLoop(e, walk.variable, count, most, carried, [&](ValueRange values) {
      Value iv = e.vars[walk.variable];
      Value left = arith::SubIOp::create(e.b, e.loc, exact,
                                         arith::MulIOp::create(e.b, e.loc, iv, stepValue));
      Value inner = arith::MinSIOp::create(e.b, e.loc, left, stepValue);
      Value first = walk.reduced ? compare(CmpIPredicate::eq, iv, e.constant(0)) : Value();
      Value last = walk.reduced ? compare(CmpIPredicate::sle, left, stepValue) : Value();
      return narrowed(walk, variable * Expr(step), {step, inner}, first, last, values, inside);
    });
  }

  if (!tile.exact) {
    int64_t full = tile.most / step, rest = tile.most % step;
    FailureOr<Values> result = Values(carried);
    if (full == 1) {
      result = narrowed(walk, Expr(0), {step, Value()}, Value(), truth(rest == 0), *result, inside);
    } else if (full > 1) {
      result = forLoop(e, walk.variable, e.constant(full), full, *result, [&](ValueRange values) {
        Value iv = e.vars[walk.variable];
        Value first = walk.reduced ? compare(CmpIPredicate::eq, iv, e.constant(0)) : Value();
        Value last = !walk.reduced ? Value()
                     : rest        ? truth(false)
                                   : compare(CmpIPredicate::eq, iv, e.constant(full - 1));
        return narrowed(walk, variable * Expr(step), {step, Value()}, first, last, values, inside);
      });
    }
    if (rest && succeeded(result))
      result = narrowed(walk, Expr(full * step), {rest, Value()}, truth(full == 0), Value(),
                        *result, inside);
    return result;
  }

  // Whole steps, then the epilogue, which has the same size for every tile that needs one.
  std::optional<int64_t> rest = restOf(walk);
  Value full = arith::DivUIOp::create(e.b, e.loc, tile.exact, stepValue);
  Value left = arith::RemUIOp::create(e.b, e.loc, tile.exact, stepValue);
  Value even = compare(CmpIPredicate::eq, left, e.constant(0));
  FailureOr<Values> result =
      forLoop(e, walk.variable, full, tile.most / step, carried, [&](ValueRange values) {
        Value iv = e.vars[walk.variable];
        Value first, last;
        if (walk.reduced) {
          first = compare(CmpIPredicate::eq, iv, e.constant(0));
          Value next = arith::AddIOp::create(e.b, e.loc, iv, e.constant(1));
          last = arith::AndIOp::create(e.b, e.loc, even, compare(CmpIPredicate::eq, next, full));
        }
        return narrowed(walk, variable * Expr(step), {step, Value()}, first, last, values, inside);
      });
  if (failed(result) || rest == 0)
    return result;
  if (!rest)
    return walkRest(walk, arith::MulIOp::create(e.b, e.loc, full, stepValue), left,
                    walk.reduced ? compare(CmpIPredicate::eq, full, e.constant(0)) : Value(),
                    *result, inside);
  return branch(e, compare(CmpIPredicate::ne, left, e.constant(0)), *result,
                [&](ValueRange values) {
                  std::string start = e.freshVariable();
                  e.define(start, full, {0, tile.most / step});
                  Value first = compare(CmpIPredicate::eq, full, e.constant(0));
                  auto done = narrowed(walk, Expr::name(start) * Expr(step), {*rest, Value()},
                                       first, Value(), values, inside);
                  e.forget(start);
                  return done;
                });
}

FailureOr<Values> LoopWalker::walkRest(const Walk &walk, Value start, Value left, Value isFirst,
                                       ValueRange carried, Inside inside) {
  bool onLanes = scheduled.lanes && walk.names == scheduled.laneNames;
  // A few points at a time while enough remain, then the rest.
  SmallVector<int64_t> steps{onLanes ? scheduled.lanes : 1};
  if (int64_t few = (walk.step + 2) / 4; few > 1 && !onLanes && !walk.reduced)
    steps.insert(steps.begin(), few);
  int64_t atMost = walk.step;
  FailureOr<Values> result = Values(carried);
  for (int64_t each : steps) {
    Value eachValue = e.constant(each);
    std::string base = e.freshVariable();
    e.define(base, start, {0, scheduled.most.find(walk.names)->second});
    Value count = arith::DivUIOp::create(
        e.b, e.loc,
        onLanes ? Value(arith::AddIOp::create(e.b, e.loc, left, e.constant(each - 1))) : left,
        eachValue);
    result = forLoop(
        e, walk.variable, count, (atMost + each - 1) / each, *result, [&](ValueRange values) {
          Value iv = e.vars[walk.variable];
          Value remains = arith::SubIOp::create(e.b, e.loc, left,
                                                arith::MulIOp::create(e.b, e.loc, iv, eachValue));
          Value exact =
              onLanes ? Value(arith::MinSIOp::create(e.b, e.loc, remains, eachValue)) : Value();
          Value first, last;
          if (walk.reduced) {
            first = arith::AndIOp::create(e.b, e.loc, isFirst,
                                          compare(CmpIPredicate::eq, iv, e.constant(0)));
            last = compare(CmpIPredicate::sle, remains, eachValue);
          }
          return narrowed(walk, Expr::name(base) + Expr::name(walk.variable) * Expr(each),
                          {each, exact}, first, last, values, inside);
        });
    e.forget(base);
    if (failed(result))
      return result;
    Value done = arith::MulIOp::create(e.b, e.loc, count, eachValue);
    start = arith::AddIOp::create(e.b, e.loc, start, done);
    left = arith::SubIOp::create(e.b, e.loc, left, done);
    atMost = each;
  }
  return result;
}

FailureOr<Values> LoopWalker::walkThreads(const Walk &walk, Inside inside) {
  Extent tile = extent[walk.names];
  int64_t step = walk.step, count = walk.count();
  Value savedRemainder = remainder, number;
  Expr savedChunks = remainingChunks;
  remainingChunks = 1;
  for (const Walk *inner = &walk + 1; inner < scheduled.loops.data() + scheduled.loops.size();
       ++inner)
    if (inner->thread)
      remainingChunks = remainingChunks * inner->steps;
  if (walk.steps == Expr(1)) {
    number = e.constant(0);
  } else if (remainingChunks == Expr(1)) {
    number = remainder;
  } else {
    Value inner = e.emit(remainingChunks);
    number = arith::DivUIOp::create(e.b, e.loc, remainder, inner);
    remainder = arith::RemUIOp::create(e.b, e.loc, remainder, inner);
  }
  Value stepValue = e.constant(step);
  Expr shift = Expr::name(walk.variable) * Expr(step);
  auto run = [&](Extent inner, int64_t most, std::optional<int64_t> at = {}) {
    e.define(walk.variable, number, {0, std::max<int64_t>(most - 1, 0)});
    auto result = narrowed(walk, at ? Expr(*at) : shift, inner, Value(), Value(), {}, inside);
    e.vars.erase(walk.variable);
    return result;
  };
  FailureOr<Values> result;
  int64_t full = tile.most / step;
  std::optional<int64_t> rest = restOf(walk);
  if (scheduled.isBound(walk.names)) {
    result = walkStep(walk, number, {}, inside);
  } else if (!tile.exact && tile.most % step == 0) {
    result = run({step, Value()}, full);
  } else if (!walk.innermost) {
    Value exact = tile.exact ? tile.exact : e.constant(tile.most);
    Value left = arith::SubIOp::create(e.b, e.loc, exact,
                                       arith::MulIOp::create(e.b, e.loc, number, stepValue));
    result = branch(e, compare(CmpIPredicate::sgt, left, e.constant(0)), {}, [&](ValueRange) {
      return run({step, arith::MinSIOp::create(e.b, e.loc, left, stepValue)}, count);
    });
  } else if (full == 0 && !tile.exact) {
    result = run({tile.most, Value()}, 1);
  } else {
    Value exact = tile.exact ? tile.exact : e.constant(tile.most);
    Value whole = arith::DivUIOp::create(e.b, e.loc, exact, stepValue);
    auto tail = [&](ValueRange) {
      Value isTail =
          compare(CmpIPredicate::slt, arith::MulIOp::create(e.b, e.loc, number, stepValue), exact);
      return branch(e, isTail, {}, [&](ValueRange) -> FailureOr<Values> {
        if (!rest) {
          Value start = arith::MulIOp::create(e.b, e.loc, number, stepValue);
          return walkRest(walk, start, arith::SubIOp::create(e.b, e.loc, exact, start), Value(), {},
                          inside);
        }
        return run({*rest, Value()}, full + 1,
                   tile.exact ? std::nullopt : std::optional<int64_t>(full * step));
      });
    };
    result = branch(
        e, compare(CmpIPredicate::slt, number, whole), {},
        [&](ValueRange) { return run({step, Value()}, std::max<int64_t>(full, 1)); },
        rest != 0 ? llvm::function_ref<FailureOr<Values>(ValueRange)>(tail) : nullptr);
  }
  remainder = savedRemainder;
  remainingChunks = savedChunks;
  return result;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

LoopWalker::Saved LoopWalker::bindTile(bool clamps) {
  Saved saved{index, e.bindings};
  e.ranges[laneName] = {0, std::max<int64_t>(scheduled.lanes - 1, 0)};
  for (const Walk &walk : scheduled.tile) {
    e.ranges[walk.variable] = {
        0, std::max<int64_t>((std::min(extentOf(walk.names), walk.tile) - 1) / walk.step, 0)};
    index[walk.names] = index[walk.names] + Expr::name(walk.variable) * Expr(walk.step);
  }
  if (scheduled.lanes)
    index[scheduled.laneNames] = index[scheduled.laneNames] + Expr::name(laneName);
  for (const auto &[names, expr] : index)
    scheduled.bind(names,
                   clamps && clamped.count(names)
                       ? Expr::min(expr, scheduled.sizes.find(names)->second - Expr(1))
                       : expr,
                   e.ranges, e.bindings);
  return saved;
}

LoopWalker::Saved LoopWalker::bindAll(bool clamps) {
  Saved saved{index, e.bindings};
  for (const Walk &walk : scheduled.loops)
    if (pendingVariables.count(walk.variable))
      index[walk.names] = index[walk.names] + Expr::name(walk.variable) * Expr(walk.step);
  bindTile(clamps);
  return saved;
}

void LoopWalker::unbind(Saved saved) {
  index = std::move(saved.index);
  e.bindings = std::move(saved.bindings);
}

static void expand(const ScheduledLoops &scheduled, const Point &point, const MergedNames &names,
                   size_t position, int64_t tile, std::vector<Point> &points) {
  // The next unrolled loop over the names.
  while (position < scheduled.tile.size() && scheduled.tile[position].names != names)
    ++position;
  if (position == scheduled.tile.size()) {
    Point last = point;
    if (scheduled.lanes && scheduled.laneNames == names) {
      last.lanes = scheduled.lanes;
      last.active = std::min(tile, scheduled.lanes);
    }
    points.push_back(last);
    return;
  }
  const Walk &walk = scheduled.tile[position];
  tile = std::min(tile, walk.tile); // an upper bound for loops that are not entered yet
  for (int64_t at = 0; at < tile; at += walk.step) {
    Point next = point;
    next.values[walk.variable] = Expr(at / walk.step);
    expand(scheduled, next, names, position + 1, std::min(walk.step, tile - at), points);
  }
}

std::vector<Point> LoopWalker::points(bool reduced) const {
  std::vector<Point> points(1);
  // In the order of the first unrolled loop of each, the vector's names last.
  std::vector<MergedNames> order;
  for (const Walk &walk : scheduled.tile)
    if (walk.reduced == reduced && !llvm::is_contained(order, walk.names) &&
        walk.names != scheduled.laneNames)
      order.push_back(walk.names);
  if (scheduled.lanes && scheduled.lanesReduced == reduced)
    order.push_back(scheduled.laneNames);
  for (const MergedNames &names : order) {
    std::vector<Point> expanded;
    for (const Point &point : points)
      expand(scheduled, point, names, 0, extentOf(names), expanded);
    if (names == scheduled.laneNames)
      for (Point &point : expanded)
        point.count = extent.find(names)->second.exact;
    points = std::move(expanded);
  }
  return points;
}
