//===- Transpose.cpp - tiles that are transposed in registers -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes may lie apart in a tensor that is contiguous along another loop of the tile:
//
//     lanes m: 16, unrolled loop n: 16, %c in [m, n]
//
//     the vectors of the tile are columns of 16 x 16 elements of %c, whose rows are contiguous: 16
//     rows are loaded and transposed; or columns are transposed when all are known, and stored
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Emitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

namespace {
using Order = SmallVector<int64_t>; ///< lanes of two vectors, which are numbered as one

/// A step of a transpose: rows whose numbers differ by `apart` are shuffled in two ways.
struct Step {
  int64_t apart;
  Order low, high;
};
} // namespace

/// Takes `run` lanes from each of two vectors in turn, from the low or the high half of each block.
static Order zip(int64_t lanes, int64_t block, int64_t run, bool isHigh) {
  Order order;
  for (int64_t begin = isHigh ? block / 2 : 0; begin < lanes; begin += block)
    for (int64_t at = begin; at < begin + block / 2; at += run)
      for (int64_t source : {at, lanes + at})
        for (int64_t lane = 0; lane < run; ++lane)
          order.push_back(source + lane);
  return order;
}

/// Takes the runs of `run` lanes with even or odd numbers of one vector, then of another.
static Order unzip(int64_t lanes, int64_t run, bool isHigh) {
  Order order;
  for (int64_t begin = isHigh ? run : 0; begin < 2 * lanes; begin += 2 * run)
    for (int64_t lane = 0; lane < run; ++lane)
      order.push_back(begin + lane);
  return order;
}

/// The steps that transpose a square block. CPUs have one instruction for each shuffle, which needs
/// no vector of lane numbers: within blocks of 16 bytes zip, of whole blocks unzip. Halves of
/// vectors are taken first, so that fewest shuffles are left if some columns are not used.
static SmallVector<Step> stepsOfTranspose(int64_t lanes, unsigned bits) {
  int64_t block = std::min<int64_t>(lanes, 128 / std::max(8u, bits));
  SmallVector<Step> steps;
  for (int64_t apart = block, run = lanes / 2; apart < lanes; apart *= 2, run = block)
    steps.push_back({apart, unzip(lanes, run, false), unzip(lanes, run, true)});
  for (int64_t apart = 1; apart < block; apart *= 2)
    steps.push_back({apart, zip(lanes, block, apart, false), zip(lanes, block, apart, true)});
  return steps;
}

/// Transposes a square block of `rows`.
static void transpose(OpBuilder &b, Location loc, MutableArrayRef<Value> rows) {
  int64_t lanes = int64_t(rows.size());
  auto type = cast<VectorType>(rows[0].getType());
  SmallVector<Value> values(rows);
  SmallVector<Order> columns(lanes, llvm::to_vector(llvm::seq<int64_t>(lanes)));
  auto shuffled = [&](const Order &x, const Order &y, const Order &order) {
    return llvm::map_to_vector(
        order, [&](int64_t lane) { return lane < lanes ? x[lane] : y[lane - lanes]; });
  };
  for (const Step &step : stepsOfTranspose(lanes, type.getElementTypeBitWidth()))
    for (int64_t low = 0; low < lanes; ++low) {
      if (low & step.apart)
        continue;
      int64_t high = low | step.apart;
      Value x = values[low], y = values[high];
      values[low] = vector::ShuffleOp::create(b, loc, x, y, step.low);
      values[high] = vector::ShuffleOp::create(b, loc, x, y, step.high);
      Order first = columns[low], second = columns[high];
      columns[low] = shuffled(first, second, step.low);
      columns[high] = shuffled(first, second, step.high);
    }
  for (int64_t i = 0; i < lanes; ++i) // all lanes of a vector are now of one column
    rows[columns[i][0]] = values[i];
}

std::optional<Emitter::Square> Emitter::squareAround(const Memory &memory, const Point &point,
                                                     function_ref<Expr(const Point &)> offsetAt,
                                                     Section &section) const {
  int64_t lanes = point.lanes;
  if (point.count || memory.layout.swizzle.bits || !llvm::isPowerOf2_64(lanes))
    return std::nullopt;
  for (const Turn &turn : turns) {
    auto at = point.values.find(turn.variable);
    if (at == point.values.end())
      continue;
    Point loop = point;
    loop.values.erase(turn.variable);
    Expr offset = offsetAt(loop);
    if (!offset.isLinearIn(turn.variable) || offset.coefficient(turn.variable) != memory.step() ||
        llvm::any_of(offset.names(), [&](const std::string &name) {
          return name != laneName && onLanes(Expr::name(name));
        }))
      continue;
    int64_t number = *at->second.constant();
    Square square{turn, number / lanes * lanes, number % lanes, {}, {}, ""};
    square.along.lanes = lanes;
    square.along.active = std::min(lanes, turn.count - square.first);
    square.key =
        offset.str() + "#" + std::to_string(square.first) + "," + std::to_string(point.active);
    auto [starts, isNew] =
        section.starts.try_emplace({memory.base.getAsOpaquePointer(), square.key});
    Expr index = Expr(square.first) + Expr::name(laneName);
    for (int64_t lane = 0; isNew && lane < point.active; ++lane) {
      Expr start = offset.substitute(Replacement{{laneName, Expr(lane)}});
      starts->second.push_back(
          start.substitute(Replacement{{turn.variable, index}}).simplify(ranges));
    }
    square.starts = starts->second;
    if (llvm::all_of(square.starts, [&](const Expr &start) { return isContiguous(memory, start); }))
      return square;
  }
  return std::nullopt;
}

Value Emitter::loadTurned(const Memory &source, const Square &square, Section &section) {
  SmallVector<Value> &rows = section.blocks[{source.base.getAsOpaquePointer(), square.key}];
  if (rows.empty()) {
    for (const Expr &start : square.starts)
      rows.push_back(load(source, start, square.along, Value(), section));
    rows.resize(size_t(square.along.lanes),
                arith::ConstantOp::create(b, loc, b.getZeroAttr(rows[0].getType())));
    transpose(b, loc, rows);
  }
  return rows[size_t(square.row)];
}

void Emitter::storeTurned(const Memory &target, const Square &square, Value value,
                          Section &section) {
  auto found = section.pending.try_emplace({target.base.getAsOpaquePointer(), square.key}).first;
  SmallVector<Value> &rows = found->second;
  value = splat(value, square.along.lanes);
  rows.resize(size_t(square.along.lanes));
  rows[size_t(square.row)] = value;
  if (llvm::count_if(rows, [](Value row) { return bool(row); }) < square.along.active)
    return;
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(value.getType()));
  for (Value &row : rows)
    row = row ? row : zero;
  transpose(b, loc, rows);
  for (auto [start, row] : llvm::zip(square.starts, rows))
    store(target, start, row, square.along, Value(), section);
  section.pending.erase(found);
}

bool Emitter::holdsInSquare(GuardAttr guard, const Square &square, Point point) const {
  for (int64_t row = 0; row < square.along.active; ++row) {
    point.values[square.turn.variable] = Expr(square.first + row);
    for (const Condition &condition : guard.getConditions())
      if (!isKnown({resolve(condition.expr(), point), condition.equality}))
        return false;
  }
  return true;
}
