//===- Compute.cpp - tiles and reductions of a nest.compute ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Compute.h"

#include "lib/analysis/VectorLanes.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// The maximum number of accumulators with which a reduction along lanes is split into independent
/// chains. With one chain, each addition waits for the previous one.
static constexpr size_t mostChained = 8;

ComputeEmitter::ComputeEmitter(Emitter &emitter, ComputeOp op, const Schedule &schedule,
                               const ScheduledLoops &scheduled, Value chunk)
    : e(emitter), op(op), schedule(schedule), scheduled(scheduled),
      loops(emitter, scheduled, chunk) {
  for (Attribute value : op.getNeutral())
    accumulators.push_back(e.computeType(cast<TypedAttr>(value).getType()));
  operandOf.assign(op.getReads().begin(), op.getReads().end());
  for (unsigned i = 0; i < operandOf.size(); ++i)
    guards.push_back(op.readGuard(i));
  findSkippable();
  if (e.lanes)
    barriersInside = unsigned(schedule.stages.size()) + lanesShareSums();
}

LogicalResult ComputeEmitter::emit() {
  if (e.lanes && scheduled.boundLanes() > e.lanes) // the lanes of the nest that reads a copy
    return op.emitOpError() << "expected a copy of at most " << e.lanes
                            << " lanes, which the block has, got " << scheduled.boundLanes();
  auto all = [&](ValueRange) {
    return enter(scheduled.firstStages, nullptr, {},
                 [&](ValueRange) { return noValues(outerLoop(0)); });
  };
  Value isBound = barriersInside ? Value() : loops.isBoundLane();
  return success(succeeded(isBound ? branch(e, isBound, {}, all, nullptr) : all({})));
}

FailureOr<Values> ComputeEmitter::enter(ArrayRef<unsigned> stages, const Walk *at,
                                        ValueRange carried, Next next) {
  SmallVector<Value> savedOperands = operandOf;
  SmallVector<GuardAttr> savedGuards = guards;
  Expr scratchTop = e.scratchTop;
  int64_t sharedTop = e.sharedTop;
  size_t fetched = ahead.size(), copied = nextCopies.size();
  std::set<StringRef> filled, all;
  for (unsigned number : stages) {
    const Stage &stage = schedule.stages[number];
    size_t before = nextCopies.size();
    if (failed(emitStage(stage, at, operandOf[stage.operand] == savedOperands[stage.operand])))
      return failure();
    all.insert(stage.level);
    if (nextCopies.size() == before)
      filled.insert(stage.level);
  }
  SmallVector<std::string, 2> variables = findAhead(at);
  auto wait = [&](const std::set<StringRef> &memories) {
    for (StringRef memory : memories)
      e.barrier(memory);
  };
  auto ofNext = MutableArrayRef(nextCopies).drop_front(copied);
  if (!ofNext.empty()) { // until all lanes have filled the first buffers
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPoint(e.b.getBlock()->getParentOp());
    e.barrier("shared");
  }
  for (auto &copy : ofNext)
    if (failed(loadNext(*copy)))
      return failure();
  wait(filled); // until all lanes have filled their parts
  barriersInside -= e.lanes ? unsigned(stages.size()) : 0;
  FailureOr<Values> result = barriersInside ? next(carried) : decideGuards(carried, next);
  barriersInside += e.lanes ? unsigned(stages.size()) : 0;
  for (auto &copy : ofNext)
    if (failed(result) || failed(storeNext(*copy)))
      return failure();
  wait(all); // until all lanes have read the copy, before the next step overwrites it
  nextCopies.resize(copied);
  operandOf = savedOperands;
  guards = savedGuards;
  ahead.erase(ahead.begin() + fetched, ahead.end());
  for (const std::string &variable : variables)
    e.forget(variable);
  e.scratchTop = scratchTop;
  e.sharedTop = sharedTop;
  return result;
}

LogicalResult ComputeEmitter::outerLoop(size_t position) {
  if (position == scheduled.outer)
    return tile();
  const Walk &walk = scheduled.loops[position];
  bool hasAccumulators = walk.reduced && resting.empty() && !inResult;
  Expr scratchTop = e.scratchTop;
  if (hasAccumulators)
    placeAccumulators();
  auto result = loops.walk(position, {}, [&](ValueRange) {
    return enter(walk.stages, &walk, {},
                 [&](ValueRange) { return noValues(outerLoop(position + 1)); });
  });
  if (hasAccumulators) {
    resting.clear();
    inResult = false;
    e.scratchTop = scratchTop;
  }
  return success(succeeded(result));
}

FailureOr<Values> ComputeEmitter::reductionLoop(size_t position, ValueRange carried) {
  if (nothingToDo())
    return Values(carried);
  if (position == scheduled.loops.size())
    return reductionBody(carried);
  auto inside = [&](ValueRange values) {
    if (position == sharingLoop())
      fetchShare(position);
    return enter(scheduled.loops[position].stages, &scheduled.loops[position], values,
                 [&](ValueRange inner) { return reductionLoop(position + 1, inner); });
  };
  Clip clip = barriersInside ? Clip() : clipOf(position);
  if (clip.facts.empty()) {
    std::vector<int64_t> cuts = cutsOf(position);
    return cuts.empty() ? loops.walk(position, carried, inside)
                        : loops.walkPieces(position, cuts, carried, inside);
  }
  std::set<Test> facts = e.facts;
  e.facts.insert(clip.facts.begin(), clip.facts.end());
  FailureOr<Values> result = loops.walkClipped(position, clip.low, clip.high, carried, inside);
  e.facts = std::move(facts);
  return result;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

Values ComputeEmitter::neutral(int64_t lanes) {
  Values values;
  for (Attribute value : op.getNeutral())
    values.push_back(e.splat(e.constantOf(cast<TypedAttr>(value)), lanes));
  return values;
}

std::vector<Point> ComputeEmitter::accumulatorPoints() {
  std::vector<Point> points = loops.points(false);
  if (scheduled.lanes && scheduled.lanesReduced)
    for (Point &point : points)
      point.lanes = point.active = scheduled.lanes;
  return points;
}

LogicalResult ComputeEmitter::tile() {
  if (!op.isReduction())
    return loops.onActive([&] { return plainTile(); });
  bool rests = inResult || !resting.empty();
  if (!sharingLoop())
    fetchShare(std::nullopt);
  std::vector<Point> points = accumulatorPoints();
  chains = 1;
  if (scheduled.lanesReduced)
    for (const Walk &walk : scheduled.tile)
      if (walk.reduced)
        chains *= size_t(walk.count());
  if (points.size() * accumulators.size() * chains > mostChained)
    chains = 1;
  Values start;
  for (size_t chain = 0; chain < chains; ++chain)
    for (const Point &point : points)
      start.append(neutral(point.lanes));
  bool lanesShare = lanesShareSums();
  barriersInside -= lanesShare;
  FailureOr<Values> totals = reductionLoop(scheduled.outer, start);
  barriersInside += lanesShare;
  if (failed(totals))
    return failure();
  size_t width = points.size() * accumulators.size();
  Values all = *totals;
  totals->truncate(width);
  for (size_t chain = 1; chain < chains && succeeded(totals); ++chain)
    totals = combineAccumulators(points, *totals, ValueRange(all).slice(chain * width, width));
  if (succeeded(totals) && lanesShare)
    totals = combineLanes(*totals);
  if (failed(totals))
    return failure();
  if (!rests) {
    folded = lanesShare;
    LogicalResult done = loops.onActive([&] { return finish(*totals); });
    folded = false;
    return done;
  }
  // Combine with the spilled accumulators at the end of a step, when their lines are cached.
  totals = branch(
      e, loops.isFirst(), *totals,
      [&](ValueRange part) -> FailureOr<Values> { return Values(part); },
      [&](ValueRange part) -> FailureOr<Values> {
        return combineAccumulators(points, loadAccumulators(), part);
      });
  if (failed(totals))
    return failure();
  if (inResult && op.getFinish().empty()) {
    storeAccumulators(*totals);
    return success();
  }
  auto done = branch(
      e, loops.isLast(), {}, [&](ValueRange) { return noValues(finish(*totals)); },
      [&](ValueRange) -> FailureOr<Values> {
        storeAccumulators(*totals);
        return Values();
      });
  return success(succeeded(done));
}

SmallVector<Emitter::Turn, 2> ComputeEmitter::turnsOfTile(TileCode code) const {
  SmallVector<Emitter::Turn, 2> turns;
  if (!scheduled.lanes || scheduled.lanesReduced)
    return turns;
  for (const Walk &walk : scheduled.tile) {
    auto isAlike = [&](const Walk &other) { return other.names == walk.names; };
    TileLoop loop{.isReduced = walk.reduced,
                  .isOfLanes = walk.names == scheduled.laneNames,
                  .isAlone = llvm::count_if(scheduled.tile, isAlike) == 1,
                  .points = walk.tile,
                  .step = walk.step};
    if (turnsAlong(code, loop))
      turns.push_back({walk.variable, loops.extentOf(walk.names)});
  }
  return turns;
}

LogicalResult ComputeEmitter::plainTile() {
  LoopWalker::Saved saved = loops.bindTile();
  std::vector<Point> points = loops.points(false);
  Section section, finishing;
  auto turnsBefore = std::exchange(e.turns, turnsOfTile(TileCode::Points));
  // A transposed block is loaded whole, so all of its points must be in bounds.
  for (unsigned read = 0; read < operandOf.size(); ++read)
    if (llvm::any_of(points, [&](const Point &point) { return fails(read, point); }))
      e.turns.clear();
  // Read everything before writing anything, because a result may alias an operand.
  std::vector<Values> values;
  for (const Point &point : points) {
    Value included;
    FailureOr<Values> elements = body(point, section, included);
    if (failed(elements))
      return failure();
    values.push_back(*elements);
  }
  for (auto [point, value] : llvm::zip_equal(points, values))
    if (failed(finishPoint(point, value, finishing)))
      return failure();
  e.turns = std::move(turnsBefore);
  assert(finishing.pending.empty() && "a block lacks rows");
  loops.unbind(std::move(saved));
  return success();
}

FailureOr<Values> ComputeEmitter::body(const Point &point, Section &section, Value &included) {
  Values values;
  for (unsigned i = 0; i < operandOf.size(); ++i) {
    GuardAttr guard = guards[i];
    if (fails(i, point)) {
      if (skippable[i] || guard.excludes())
        return Values();
      Value otherwise = e.constantOf(guard.getOtherwise());
      values.push_back(e.unit ? e.unit->fill(e, otherwise) : otherwise);
      continue;
    }
    auto value = e.read(operandOf, i, op.readMap(i), guard, values, point, section);
    if (failed(value))
      return failure();
    values.push_back(value->value);
    included = e.both(included, value->included);
  }
  if (e.unit) // the unit multiplies and adds
    return values;
  return e.run(op.getBody(), values, point, section);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

FailureOr<Values> ComputeEmitter::accumulate(ValueRange totals, ValueRange elements,
                                             const Point &point) {
  if (e.unit)
    return Values{e.unit->multiply(e, totals[0], elements[0], elements[1], point.lanes)};
  Values arguments(totals);
  for (auto [k, element] : llvm::enumerate(elements))
    arguments.push_back(e.convert(element, accumulators[k]));
  Section once;
  FailureOr<Values> combined = e.run(op.getCombine(), arguments, point, once);
  if (succeeded(combined))
    for (Value &value : *combined)
      value = e.splat(value, point.lanes);
  return combined;
}

FailureOr<Values> ComputeEmitter::reductionBody(ValueRange carried) {
  LoopWalker::Saved saved = loops.bindTile();
  std::vector<Point> produced = accumulatorPoints(), steps = loops.points(true);
  std::unique_ptr<Unit> unit = makeUnit();
  if ((e.unit = unit.get()))
    unit->visit(steps);
  Values totals(carried);
  size_t width = accumulators.size();
  Section section;
  for (auto [s, step] : llvm::enumerate(steps))
    for (auto [p, accumulated] : llvm::enumerate(produced)) {
      size_t i = s % chains * produced.size() + p;
      Point point = accumulated;
      for (const auto &[name, value] : step.values)
        point.values[name] = value;
      Value included;
      if (scheduled.lanes && scheduled.lanesReduced) {
        point.active = step.active;
        point.count = step.count;
        if (point.isPartial())
          included = e.laneMask(point);
      }
      FailureOr<Values> elements = body(point, section, included);
      if (failed(elements))
        return failure();
      if (elements->empty())
        continue;
      FailureOr<Values> combined =
          accumulate(ArrayRef<Value>(totals).slice(i * width, width), *elements, point);
      if (failed(combined))
        return failure();
      for (size_t k = 0; k < width; ++k) {
        Value next = (*combined)[k], &total = totals[i * width + k];
        if (included)
          next = arith::SelectOp::create(
              e.b, e.loc,
              isa<VectorType>(next.getType()) ? e.splat(included, point.lanes) : included, next,
              total);
        total = next;
      }
    }
  fetchPanels(produced, steps, section);
  e.unit = nullptr;
  loops.unbind(std::move(saved));
  return totals;
}

LogicalResult Emitter::emitCompute(ComputeOp op, const Schedule &schedule, Value chunk) {
  if (isEmpty(op.getProduced()))
    return success();
  // Nothing to reduce: compute every result from neutral values, tile by tile.
  Schedule produced;
  bool nothing = isEmpty(op.getReduced());
  if (nothing)
    for (const Loop &loop : schedule.loops)
      if (op.getProduced().contains(loop.names[0]))
        produced.loops.push_back(loop);
  const Schedule &chosen = nothing ? produced : schedule;
  ScheduledLoops made =
      loopsOf(op.getProduced(), op.getReduced(), chosen, laneBits(op), unitOf(op, machine));
  return ComputeEmitter(*this, op, chosen, made, chunk).emit();
}
