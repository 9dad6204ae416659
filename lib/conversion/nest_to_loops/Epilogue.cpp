//===- Epilogue.cpp - the results of a tile -------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile has up to about thirty vectors of accumulators. A short `finish`, such as a bias and a
// ReLU, is emitted for each of them while they are in registers. A long one, such as the slope of a
// SiLU after a norm, would need thousands of instructions, which take long to compile and exceed
// the instruction cache. In that case the accumulators are stored, and a loop over the rows of the
// tile finishes one row at a time.
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Compute.h"

#include "lib/analysis/NestAnalysis.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

LogicalResult ComputeEmitter::finishPoint(const Point &point, Values values, Section &section) {
  if (!op.getFinish().empty()) {
    for (unsigned i = 0; i < op.getFinishReads().size(); ++i) {
      auto value =
          e.read(op.getFinishReads(), i, op.finishMap(i), op.finishGuard(i), {}, point, section);
      if (failed(value))
        return failure();
      values.push_back(value->value);
    }
    FailureOr<Values> results = e.run(op.getFinish(), values, point, section);
    if (failed(results))
      return failure();
    values = *results;
  }
  return storePoint(point, values, section);
}

LogicalResult ComputeEmitter::finishTotals(const Point &point, Values totals, Section &section) {
  if (scheduled.lanes && scheduled.lanesReduced && !folded) {
    FailureOr<Values> folded = e.foldLanes(op.getCombine(), totals, scheduled.lanes);
    if (failed(folded))
      return failure();
    totals = *folded;
  }
  return finishPoint(point, totals, section);
}

/// Returns the points of each value of `variable`, or nothing if they differ in more than that.
static std::vector<std::vector<size_t>> rowsOf(const std::string &variable,
                                               ArrayRef<Point> points) {
  std::vector<std::vector<size_t>> rows;
  for (auto [i, point] : llvm::enumerate(points)) {
    size_t row = size_t(point.values.find(variable)->second.constant().value_or(0));
    rows.resize(std::max(rows.size(), row + 1));
    rows[row].push_back(i);
  }
  auto isAlike = [&](const Point &a, const Point &b) {
    Replacement values = a.values;
    values[variable] = b.values.find(variable)->second;
    return values == b.values && a.lanes == b.lanes && a.active == b.active && a.count == b.count;
  };
  for (const std::vector<size_t> &row : rows)
    if (row.size() != rows[0].size() ||
        !llvm::all_of(llvm::zip_equal(rows[0], row), [&](auto pair) {
          return isAlike(points[std::get<0>(pair)], points[std::get<1>(pair)]);
        }))
      return {};
  return rows;
}

std::pair<std::string, std::vector<std::vector<size_t>>>
ComputeEmitter::finishingRows(ArrayRef<Point> points) {
  std::pair<std::string, std::vector<std::vector<size_t>>> best;
  if (finishOf(heddle::costOf(op.getFinish()), double(points.size())) == TileCode::Finish)
    return best;
  for (const Walk &walk : scheduled.tile) {
    if (walk.reduced || (scheduled.lanes && walk.names == scheduled.laneNames))
      continue;
    std::vector<std::vector<size_t>> rows = rowsOf(walk.variable, points);
    if (rows.size() > std::max<size_t>(best.second.size(), 1))
      best = {walk.variable, std::move(rows)};
  }
  return best;
}

LogicalResult ComputeEmitter::finish(ValueRange totals) {
  LoopWalker::Saved saved = loops.bindTile();
  std::vector<Point> points = loops.points(false);
  size_t width = accumulators.size();
  Section section;
  auto [variable, rows] = finishingRows(points);
  LogicalResult result = success();
  if (!rows.empty()) {
    result = finishByRows(variable, rows, points, totals);
  } else {
    auto turnsBefore = std::exchange(e.turns, turnsOfTile(TileCode::Finish));
    for (auto [i, point] : llvm::enumerate(points))
      if (failed(finishTotals(point, Values(totals.slice(i * width, width)), section)))
        return failure();
    e.turns = std::move(turnsBefore);
    assert(section.pending.empty() && "a block lacks rows");
  }
  loops.unbind(std::move(saved));
  return result;
}

LogicalResult ComputeEmitter::finishByRows(const std::string &variable,
                                           ArrayRef<std::vector<size_t>> rows,
                                           ArrayRef<Point> points, ValueRange totals) {
  size_t width = accumulators.size();
  bool onLanes = scheduled.lanes && !(scheduled.lanesReduced && folded);
  int64_t lanes = onLanes ? scheduled.lanes : 1, perRow = int64_t(rows[0].size());
  Expr scratchTop = e.scratchTop;
  SmallVector<Memory> kept = allocateOwnAccumulators(Expr(int64_t(points.size()) * lanes));
  auto whole = [&](Point point) { // accumulators have all lanes
    point.lanes = point.active = onLanes ? scheduled.lanes : 0;
    point.count = {};
    return point;
  };
  auto offset = [&](const Expr &row, size_t column) {
    Expr number = row * Expr(perRow) + Expr(int64_t(column));
    return number * Expr(lanes) + (onLanes ? Expr::name(laneName) : Expr(0));
  };
  Section storing;
  for (auto [row, members] : llvm::enumerate(rows))
    for (auto [column, i] : llvm::enumerate(members))
      for (size_t k = 0; k < width; ++k)
        e.store(kept[k], offset(Expr(int64_t(row)), column), totals[i * width + k],
                whole(points[i]), Value(), storing);
  LogicalResult result = forLoop(e, variable, int64_t(rows.size()), [&]() -> LogicalResult {
    Section section;
    for (auto [column, i] : llvm::enumerate(rows[0])) {
      Point point = points[i];
      point.values.erase(variable);
      Values values;
      for (size_t k = 0; k < width; ++k)
        values.push_back(
            e.load(kept[k], offset(Expr::name(variable), column), whole(point), Value(), section));
      if (failed(finishTotals(point, values, section)))
        return failure();
    }
    return success();
  });
  e.scratchTop = scratchTop;
  return result;
}
