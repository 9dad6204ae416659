//===- SpillAccumulators.cpp - accumulators between steps of a loop -------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If a reduced loop contains a produced one, each step of the outer loop adds a part to every sum.
// Between the steps the sums rest in the results, if these have the accumulators' types and there
// is no `finish`, otherwise in scratch:
//
//     for k0 by 256 {               hasAccumulators: they are placed here
//       for m by 4 {
//         part = sums of a tile over 256 points of k, in registers
//         if k0 > 0 { part = part + loaded }     combined last, when the lines are cached
//         store part } }            or, in the last step, finish
//
// Scratch holds the points of all produced loops inside, row-major over their merged names, those
// of the vector innermost.
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Compute.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

SmallVector<Memory> ComputeEmitter::allocateAccumulators(const Expr &elements, StringRef memory) {
  SmallVector<Memory> memories;
  for (Type type : accumulators) {
    auto tensor =
        nd::NdTensorType::get(op.getContext(), type, nd::DimsAttr::get(op.getContext(), {}));
    int64_t bytes = std::max(8u, type.getIntOrFloatBitWidth()) / 8;
    memories.push_back(
        {e.allocateScratch(elements * Expr(bytes), memory), Layout(), tensor, {}, {}});
  }
  return memories;
}

SmallVector<Memory> ComputeEmitter::allocateOwnAccumulators(const Expr &elements) {
  if (!e.lanes)
    return allocateAccumulators(elements);
  SmallVector<Memory> memories = allocateAccumulators(elements * Expr(e.lanes));
  for (auto [memory, type] : llvm::zip_equal(memories, accumulators)) {
    Expr bytes = elements * Expr(int64_t(std::max(8u, type.getIntOrFloatBitWidth()) / 8));
    Value offset = arith::MulIOp::create(e.b, e.loc, e.lane, e.emit(bytes));
    memory.base = e.target.address(e.b, e.loc, "", memory.base, offset);
  }
  return memories;
}

void ComputeEmitter::placeAccumulators() {
  // Spill to the results if they have the accumulators' types, unless there is a `finish`, whose
  // operands may alias the results.
  inResult = !scheduled.lanesReduced && op.getFinish().empty() &&
             op.getNumResults() == accumulators.size();
  for (auto [result, type] : llvm::zip(op.getResults(), accumulators))
    inResult &= nd::signless(tensorType(result).getElementType()) == type;
  if (inResult)
    return;
  Expr elements = 1;
  for (const auto &[names, size] : scheduled.sizes) {
    if (op.getReduced().contains(names[0]))
      continue;
    restingStart[names] = loops.indexOf(names);
    Expr count = loops.extentOver(names);
    if (scheduled.lanes && names == scheduled.laneNames)
      count = count.ceildiv(scheduled.lanes) * Expr(scheduled.lanes);
    restingExtent[names] = count;
    elements = elements * count;
  }
  if (scheduled.lanes && scheduled.lanesReduced)
    elements = elements * Expr(scheduled.lanes);
  resting = allocateOwnAccumulators(elements);
}

Expr ComputeEmitter::restingOffset(const Point &point) {
  // Row-major over the merged names, the vector's innermost.
  Expr offset;
  auto add = [&](const MergedNames &names) {
    Expr index =
        (loops.indexOf(names) - restingStart[names]).substitute(point.values).simplify(e.ranges);
    offset = offset * restingExtent[names] + index;
  };
  for (const auto &[names, start] : restingStart)
    if (names != scheduled.laneNames)
      add(names);
  if (scheduled.lanes && scheduled.lanesReduced)
    offset = offset * Expr(scheduled.lanes) + Expr::name(laneName);
  else if (scheduled.lanes)
    add(scheduled.laneNames);
  return offset.simplify(e.ranges);
}

Expr ComputeEmitter::resultOffset(Value result, const Point &point) {
  const Memory &target = e.memory.find(result)->second;
  Replacement coordinates;
  for (const nd::Dim &dim : target.type.getDims())
    if (!target.fixed.count(dim.name.str()))
      coordinates[dim.name.str()] = e.resolve(Expr::name(dim.name.str()), point);
  return e.address(target, coordinates);
}

FailureOr<Values> ComputeEmitter::combineAccumulators(ArrayRef<Point> points, ValueRange known,
                                                      ValueRange part) {
  Values totals;
  size_t width = accumulators.size();
  for (auto [i, point] : llvm::enumerate(points)) {
    Values arguments(known.slice(i * width, width));
    arguments.append(part.begin() + i * width, part.begin() + (i + 1) * width);
    Section once;
    FailureOr<Values> combined = e.run(op.getCombine(), arguments, point, once);
    if (failed(combined))
      return failure();
    for (Value value : *combined)
      totals.push_back(e.splat(value, point.lanes));
  }
  return totals;
}

Values ComputeEmitter::loadAccumulators() {
  LoopWalker::Saved saved = loops.bindTile();
  Section section;
  Values values;
  for (const Point &point : accumulatorPoints()) {
    if (inResult) {
      for (Value result : op.getResults())
        values.push_back(e.splat(e.load(e.memory.find(result)->second, resultOffset(result, point),
                                        point, Value(), section),
                                 point.lanes));
      continue;
    }
    Expr offset = restingOffset(point);
    for (const Memory &memory : resting)
      values.push_back(e.load(memory, offset, point, Value(), section));
  }
  loops.unbind(std::move(saved));
  return values;
}

void ComputeEmitter::storeAccumulators(ValueRange totals) {
  LoopWalker::Saved saved = loops.bindTile();
  Section section;
  size_t next = 0;
  for (const Point &point : accumulatorPoints()) {
    if (inResult) {
      for (Value result : op.getResults())
        e.storeResult(e.memory.find(result)->second, totals[next++], point, section);
      continue;
    }
    Expr offset = restingOffset(point);
    for (const Memory &memory : resting)
      e.store(memory, offset, totals[next++], point, Value(), section);
  }
  loops.unbind(std::move(saved));
}
