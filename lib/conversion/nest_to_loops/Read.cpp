//===- Read.cpp - reads of a nest by map and guard ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `Emitter::read` emits one read of a nest at a point:
//
//     %table[row: read(0), column: column + 1] if column + 1 < 64 else 0.0
//
// `bindReads` makes the value of an earlier read a variable, and `clamped` keeps such a coordinate
// within its tensor. Conditions that are not known to hold become a mask, and a select of the
// replacement value. If the lanes of the vector are apart in memory, it may be a row of a square
// that is loaded as vectors along another loop (Transpose.cpp); if all lanes read one element, that
// is loaded once. Equal reads of a section are emitted once.
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Emitter.h"
#include "lib/conversion/nest_to_loops/FloatCode.h"

#include "mlir/IR/TypeUtilities.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

Expr Emitter::bindReads(const Expr &expr, ValueRange tensors, ArrayRef<Value> earlier,
                        Section &section) {
  Replacement replacement;
  for (const std::string &name : expr.names()) {
    auto index = readIndex(name);
    if (!index)
      continue;
    Value value = earlier[*index];
    std::string &variable = section.gathered[{value.getAsOpaquePointer(), ""}];
    if (variable.empty()) {
      variable = freshVariable();
      unsigned width = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
      // i1 is zero-extended: true as a coordinate is 1.
      bool isUnsigned =
          width == 1 || tensorType(tensors[*index]).getElementType().isUnsignedInteger();
      if (width < 64) {
        Type wide = FloatCode(b, loc).with(value, b.getI64Type());
        value = isUnsigned ? Value(arith::ExtUIOp::create(b, loc, wide, value))
                           : Value(arith::ExtSIOp::create(b, loc, wide, value));
        int64_t half = int64_t(1) << (width - 1);
        ranges[variable] = isUnsigned ? Range{0, 2 * half - 1} : Range{-half, half - 1};
      }
      vars[variable] = value;
    }
    replacement[name] = Expr::name(variable);
  }
  return replacement.empty() ? expr : expr.substitute(replacement);
}

/// Clamps a coordinate that was read from a tensor to [0, size).
Expr Emitter::clamped(const Expr &coordinate, nd::SizeAttr size, int64_t lanes, Section &section) {
  Expr last = size.getExpr() - Expr(1);
  std::string key = coordinate.str() + "<" + last.str() + "," + std::to_string(lanes);
  std::string &variable = section.gathered[{nullptr, key}];
  if (variable.empty()) {
    variable = freshVariable();
    Value at = onLanes(coordinate) ? emitLanes(coordinate, lanes) : emit(coordinate);
    Type element = getElementTypeOrSelf(at.getType());
    FloatCode a(b, loc);
    at = arith::MaxSIOp::create(b, loc, at, a.integer(at, 0));
    Value limit = last.isConstant() ? a.integer(at, *last.constant()) : emit(last);
    if (!last.isConstant() && element.getIntOrFloatBitWidth() < 64)
      limit = arith::TruncIOp::create(b, loc, element, limit);
    if (isa<VectorType>(at.getType()))
      limit = splat(limit, lanes);
    at = arith::MinSIOp::create(b, loc, at, limit);
    define(variable, at, {0, std::max<int64_t>(size.most() - 1, 0)});
  }
  return Expr::name(variable);
}

/// Loads the elements of a read, as a vector or a scalar, in the form that the unit expects.
Value Emitter::fetch(const Memory &source, const Expr &offset, ArrayRef<Expr> others,
                     const Point &point, Value mask, Section &section) {
  return unit ? unit->load(*this, source, offset, others, point, mask, section)
              : load(source, offset, point, mask, section);
}

/// Like `fetch`, for an element that is equal for all lanes. If no lane is active, the offset may
/// be out of bounds, and element 0 is loaded instead.
Value Emitter::fetchScalar(const Memory &source, const Expr &offset, ArrayRef<Expr> others,
                           Point point, Value mask, Section &section) {
  point.lanes = 0;
  if (!mask)
    return fetch(source, offset, others, point, Value(), section);
  Value any = anyLane(mask);
  auto chosen = [&](const Expr &expr) {
    std::string variable = freshVariable();
    vars[variable] = arith::SelectOp::create(b, loc, any, emit(expr), constant(0));
    if (auto bounds = expr.bounds(ranges))
      ranges[variable] = *bounds;
    return Expr::name(variable);
  };
  Expr start = chosen(offset);
  SmallVector<Expr> beside;
  for (const Expr &other : others) {
    Expr step = (other - offset).simplify(ranges);
    beside.push_back(step.isConstant() ? start + step : chosen(other));
  }
  return fetch(source, start, beside, point, Value(), section);
}

FailureOr<Section::Read> Emitter::read(ValueRange tensors, unsigned index, MapAttr map,
                                       GuardAttr guard, ArrayRef<Value> earlier, const Point &point,
                                       Section &section) {
  Value tensor = tensors[index];
  auto found = memory.find(tensor);
  assert(found != memory.end() && "a tensor without memory");
  const Memory &source = found->second;
  int64_t lanes = point.lanes;

  Replacement coordinates;
  for (const MapEntry &entry : map.getEntries()) {
    Expr coordinate = resolve(bindReads(entry.expr(), tensors, earlier, section), point);
    if (isGathered(entry.expr()))
      coordinate =
          clamped(coordinate, tensorType(tensor).size(entry.name.getValue()), lanes, section);
    coordinates[entry.name.str()] = coordinate;
  }
  // The offset at another point, which has the same gathered coordinates.
  auto offsetAt = [&](const Point &at) {
    Replacement moved = coordinates;
    for (const MapEntry &entry : map.getEntries())
      if (!isGathered(entry.expr()))
        moved[entry.name.str()] = resolve(entry.expr(), at);
    return address(source, moved);
  };
  Expr offset = address(source, coordinates);
  SmallVector<Expr> others;
  for (const Point &other : unit ? unit->others(point) : std::vector<Point>())
    others.push_back(offsetAt(other));

  // The conditions that are not known to hold.
  SmallVector<Test> tests;
  bool never = false;
  for (const Condition &condition : guard.getConditions()) {
    Test test{resolve(bindReads(condition.expr(), tensors, earlier, section), point),
              condition.equality};
    if (isKnown(test))
      continue;
    never |= test.decide(ranges).has_value();
    tests.push_back(test);
  }
  std::string key = offset.str() + "|" + std::to_string(lanes) + "," + std::to_string(point.active);
  for (const Test &test : tests)
    key += "|" + test.expr.str() + (test.equality ? "=" : ">");
  if (guard.getOtherwise())
    key += "|" + std::to_string(hash_value(Attribute(guard.getOtherwise())));
  auto [known, isNew] = section.reads.try_emplace({tensor.getAsOpaquePointer(), key});
  if (!isNew)
    return known->second;

  Section::Read result;
  Type compute = unit ? unit->laneType(b) : computeType(source.type.getElementType());
  Value otherwise;
  if (!guard.getOtherwise())
    otherwise = arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(compute)));
  else if (otherwise = constantOf(guard.getOtherwise()); unit)
    otherwise = unit->fill(*this, otherwise);
  Value mask;
  if (never) {
    result.value = otherwise;
    if (guard.excludes())
      result.included = arith::ConstantIntOp::create(b, loc, 0, 1);
  } else {
    for (const Test &test : tests)
      mask = both(mask, holds(test, lanes));
    bool isGatheredMap = isGathered(map), isOnLanes = lanes && onLanes(offset);
    if (isOnLanes && !isGatheredMap && !isContiguous(source, offset))
      if (std::optional<Square> square = squareAround(source, point, offsetAt, section);
          square && isTurned(square->along.active, /*isWrite=*/false) &&
          holdsInSquare(guard, *square, point))
        result.value = loadTurned(source, *square, section);
    if (!result.value)
      result.value = isOnLanes ? fetch(source, offset, others, point, mask, section)
                               : fetchScalar(source, offset, others, point, mask, section);
  }
  if (mask) {
    bool onVector = isa<VectorType>(mask.getType()) || isa<VectorType>(result.value.getType());
    int64_t width = onVector ? lanes : 0;
    result.value = arith::SelectOp::create(b, loc, splat(mask, width), splat(result.value, width),
                                           splat(otherwise, width));
    if (guard.excludes())
      result.included = mask;
  }
  section.reads[{tensor.getAsOpaquePointer(), key}] = result;
  return result;
}
