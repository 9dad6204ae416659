//===- Prefetch.cpp - prefetches of a nest.compute ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduction prefetches what its tile needs later: the results or spilled accumulators, which are
// read or written when the sums are known; the next box of a staged copy, or of an operand beyond
// the second cache that is read without a copy; and panels that exceed the first cache. A burst of
// prefetches would delay loads whose data is needed immediately, so the steps of an outer loop of
// the reduction prefetch one share each:
//
//     for k0 in 0..16 {             the sharing loop: share k0 of 16
//       prefetch rows 2 k0, 2 k0 + 1 of the tile's 32 rows of vectors
//       for k in 0..64 { the tile's products; panels `stepsAhead` steps ahead } }
//
// The number of a row determines the values of all unrolled variables except those of the lanes,
// so a share needs no more code than one row.
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Compute.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// The minimum trip count of a reduction for prefetching its results at the start: about as long as
/// loading a cache line from memory.
static constexpr int64_t leastStepsToPrefetch = 32;
/// The number of steps of the reduction's outer loops over which prefetches are distributed, and
/// the minimum trip count of the loops inside of each.
static constexpr int64_t enoughShares = 16, leastStepsInShare = 8;

/// The distance, in steps of the reduction, at which panels that exceed the first cache are
/// prefetched.
static constexpr int64_t stepsAhead = 8;

int64_t ComputeEmitter::reductionSteps(size_t from) const {
  int64_t steps = 1;
  for (const Walk &walk : ArrayRef<Walk>(scheduled.loops).drop_front(from))
    steps = std::min<int64_t>(steps * std::min<int64_t>(walk.count(), 4096), 1 << 30);
  return steps;
}

std::optional<size_t> ComputeEmitter::sharingLoop() const {
  std::optional<size_t> found;
  for (size_t loop = scheduled.outer; loop + 1 < scheduled.loops.size(); ++loop) {
    // Numbering the steps needs constant trip counts, except that of the outermost loop.
    if ((loop > scheduled.outer && !scheduled.loops[loop].steps.isConstant()) ||
        reductionSteps(loop + 1) < leastStepsInShare)
      break;
    found = loop;
    if (reductionSteps(scheduled.outer) / reductionSteps(loop + 1) >= enoughShares)
      break;
  }
  return found;
}

void ComputeEmitter::fetchShare(std::optional<size_t> loop) {
  Share share;
  for (size_t i = scheduled.outer; loop && i <= *loop; ++i) {
    const Walk &walk = scheduled.loops[i];
    share.number = share.number * Expr(walk.count()) +
                   (e.vars.count(walk.variable) ? Expr::name(walk.variable) : Expr(0));
    share.count = std::min<int64_t>(share.count * std::min<int64_t>(walk.count(), 4096), 4096);
  }
  if (inResult || !resting.empty() || reductionSteps(scheduled.outer) >= leastStepsToPrefetch)
    fetchResults(share);
  fetchAhead(share);
}

void ComputeEmitter::fetchResults(const Share &share) {
  LoopWalker::Saved saved = loops.bindTile();
  Section section;
  auto fetch = [&](Point point) {
    // Prefetch the line of the first lane.
    if (point.lanes)
      point.values[laneName] = Expr(0);
    for (const Memory &memory : resting)
      e.prefetch(memory, restingOffset(point).substitute(point.values), section, /*write=*/true);
    for (Value result : resting.empty() ? ValueRange(op.getResults()) : ValueRange())
      e.prefetch(e.memory.find(result)->second, resultOffset(result, point), section,
                 /*write=*/true);
  };
  std::vector<Point> points = resting.empty() ? loops.points(false) : accumulatorPoints();
  // Prefetch by rows of vectors. A row's number determines all variables except those of lanes.
  auto onLanes = [&](const std::string &variable) {
    return llvm::any_of(scheduled.tile, [&](const Walk &walk) {
      return walk.variable == variable && walk.names == scheduled.laneNames;
    });
  };
  auto value = [&](size_t point, const std::string &variable) {
    return points[point].values.find(variable)->second.constant().value_or(0);
  };
  struct Digit {
    int64_t below, count;
  };
  std::map<std::string, Digit> digits;
  size_t wide = 1, rows = 0;
  bool regular = true;
  while (wide < points.size() && llvm::all_of(
                                     points[0].values,
                                     [&](auto &each) {
                                       return onLanes(each.first) ||
                                              value(wide, each.first) == value(0, each.first);
                                     }))
    ++wide;
  rows = points.size() / wide;
  for (const auto &[variable, first] : points[0].values) {
    if (onLanes(variable))
      continue;
    Digit &digit = digits[variable] = {int64_t(rows), 1};
    for (size_t row = 0; row < rows; ++row) {
      if (value(row * wide, variable) == 1)
        digit.below = std::min(digit.below, int64_t(row));
      digit.count = std::max(digit.count, value(row * wide, variable) + 1);
    }
    for (size_t i = 0; i < points.size(); ++i)
      regular &= value(i, variable) == int64_t(i / wide) / digit.below % digit.count;
  }
  if (share.count == 1)
    llvm::for_each(points, fetch);
  int64_t each = (int64_t(rows) + share.count - 1) / share.count;
  for (int64_t i = 0; i < each && share.count > 1 && regular; ++i) {
    std::string row = e.freshVariable();
    Expr wanted = (share.number * Expr(each) + Expr(i)).simplify(e.ranges);
    Value number =
        arith::MinSIOp::create(e.b, e.loc, e.emit(wanted), e.constant(int64_t(rows) - 1));
    e.define(row, number, {0, int64_t(rows) - 1});
    for (size_t vector = 0; vector < wide; ++vector) {
      Point point = points[vector];
      for (const auto &[variable, digit] : digits)
        point.values[variable] = Expr::name(row).floordiv(digit.below).mod(digit.count);
      fetch(point);
    }
    e.forget(row);
  }
  loops.unbind(std::move(saved));
}

void ComputeEmitter::fetchPanels(ArrayRef<Point> produced, ArrayRef<Point> steps,
                                 Section &section) {
  if (scheduled.outer == scheduled.loops.size() || scheduled.lanesReduced || !scheduled.lanes)
    return;
  const std::string &variable = scheduled.loops.back().variable;
  int64_t l1 = e.machine ? e.machine.integer("l1_bytes", 32 << 10) : 32 << 10;
  for (unsigned i = 0; i < operandOf.size(); ++i) {
    MapAttr map = op.readMap(i);
    const Memory &source = e.memory.find(operandOf[i])->second;
    int64_t bytes = std::max(8u, source.type.getElementType().getIntOrFloatBitWidth()) / 8;
    if (isGathered(map))
      continue;
    // The lines of the vectors of one step, and their stride to the next step.
    std::set<Expr> lines;
    int64_t stride = 0;
    for (const Point &step : steps)
      for (Point point : produced) {
        point.values.insert(step.values.begin(), step.values.end());
        Replacement coordinates;
        for (const MapEntry &entry : map.getEntries())
          coordinates[entry.name.str()] = e.resolve(entry.expr(), point);
        Expr offset = e.address(source, coordinates);
        if (!offset.isLinearIn(laneName) || offset.coefficient(laneName) != 1 ||
            !offset.isLinearIn(variable))
          continue;
        stride = offset.coefficient(variable);
        lines.insert(offset.substitute(Replacement{{laneName, Expr(0)}}));
      }
    // Prefetch only if several rows use each vector, so that there are free load slots.
    if (stride * bytes < 64 || stride * bytes > 4096 || lines.size() * 4 > produced.size() ||
        int64_t(lines.size()) * scheduled.lanes * bytes * reductionSteps(scheduled.outer) < l1 / 2)
      continue;
    for (const Expr &line : lines)
      e.prefetch(source, line + Expr(stride * stepsAhead), section, /*write=*/false, /*near=*/true);
  }
}

std::optional<Box> ComputeEmitter::boxAhead(unsigned read, const Walk &at) {
  bool isCopied = llvm::any_of(schedule.stages, [&](auto &each) { return each.operand == read; });
  const Memory &source = e.memory.find(operandOf[read])->second;
  int64_t l2 = e.machine ? e.machine.integer("l2_bytes", 1 << 20) : 1 << 20;
  std::optional<int64_t> bytes = bytesOf(source.layout, source.type).constant();
  if (isCopied || isGathered(op.readMap(read)) || (bytes && *bytes <= l2))
    return std::nullopt;
  std::optional<Box> box = findBox(read);
  Sizes sizes = box ? box->sizes() : Sizes();
  bool isApart = box && llvm::any_of(box->origin, [&](const auto &each) {
                   auto extent = sizes.find(each.first);
                   return extent != sizes.end() && each.second.isLinearIn(at.variable) &&
                          std::abs(each.second.coefficient(at.variable)) >= extent->second;
                 });
  return isApart ? box : std::nullopt;
}

SmallVector<std::string, 2> ComputeEmitter::findAhead(const Walk *at) {
  if (!at || at >= scheduled.loops.data() + scheduled.outer || e.lanes || !op.isReduction() ||
      !e.vars.count(at->variable))
    return {};
  SmallVector<std::pair<unsigned, Box>, 2> boxes;
  for (unsigned read = 0; read < operandOf.size(); ++read)
    if (std::optional<Box> box = boxAhead(read, *at))
      boxes.push_back({read, std::move(*box)});
  if (boxes.empty())
    return {};
  // After the last step of the loop, the first one in the next step of the loop around it.
  Expr step = Expr::name(at->variable) + Expr(1);
  Replacement next{{at->variable, step}};
  SmallVector<std::string, 2> variables;
  const Walk *around = at == scheduled.loops.data() ? nullptr : at - 1;
  if (around && !around->thread && e.vars.count(around->variable)) {
    variables = {e.freshVariable(), e.freshVariable()};
    Expr outer = Expr::name(around->variable);
    Value last = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::sge, e.emit(step),
                                       e.constant(at->count()));
    auto define = [&](const std::string &name, Value wrapped, Value otherwise, int64_t most) {
      e.define(name, arith::SelectOp::create(e.b, e.loc, last, wrapped, otherwise), {0, most});
    };
    define(variables[0], e.constant(0), e.emit(step), at->count() - 1);
    define(variables[1], e.emit(outer + Expr(1)), e.emit(outer), around->count());
    next = {{at->variable, Expr::name(variables[0])}, {around->variable, Expr::name(variables[1])}};
  }
  for (auto &[read, box] : boxes) {
    for (auto &[name, start] : box.origin)
      start = start.substitute(next);
    ahead.push_back({e.memory.find(operandOf[read])->second, box.origin, box.sizes(), at, read});
  }
  return variables;
}
