//===- Turned.cpp - tiles that are transposed in registers ----------------===//
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

/// Transposes a square block of `rows`.
static void transpose(OpBuilder &b, Location loc, MutableArrayRef<Value> rows) {
  int64_t lanes = int64_t(rows.size());
  for (int64_t half = lanes / 2; half >= 1; half /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      low.push_back(lane & half ? lanes + lane - half : lane);
      high.push_back(lane & half ? lanes + lane : lane + half);
    }
    for (int64_t i = 0; i < lanes; ++i)
      if (!(i & half)) {
        Value x = rows[i], y = rows[i + half];
        rows[i] = vector::ShuffleOp::create(b, loc, x, y, low);
        rows[i + half] = vector::ShuffleOp::create(b, loc, x, y, high);
      }
  }
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
