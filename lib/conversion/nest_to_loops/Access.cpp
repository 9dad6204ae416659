//===- Access.cpp - addresses, loads and stores ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Emitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>
#include <numeric>

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Elements in memory
//===----------------------------------------------------------------------===//

/// The type of an element in memory: i1 takes a byte, narrow floats are loaded and stored as
/// integers.
static Type storedType(Type element) {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  if (nd::isNarrowFloat(element))
    return IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth());
  return nd::signless(element);
}

static unsigned widthOf(Type element) { return std::max(1u, element.getIntOrFloatBitWidth() / 8); }

/// The alignment of scratch in bytes, and the maximum assumed for any memory.
static constexpr int64_t leastAlignment = 64;

/// The alignment in bytes of the element at `offset`: the largest power of two that is known to
/// divide the base and every term. Strides with symbols have no known divisor.
static unsigned alignmentAt(const Memory &memory, const Expr &offset) {
  unsigned unit = widthOf(memory.type.getElementType()) / unsigned(memory.step());
  if (memory.layout.swizzle.bits)
    return unit;
  int64_t apart = offset.offset();
  for (const Expr::Term &term : offset.terms())
    apart = std::gcd(apart, term.coefficient);
  int64_t base = std::min(memory.layout.alignment, leastAlignment);
  return std::max(unit, unsigned(std::gcd(base, apart * unit)));
}

static Type like(Value shape, Type element) {
  auto vector = dyn_cast<VectorType>(shape.getType());
  return vector ? Type(VectorType::get(vector.getShape(), element)) : element;
}

static Value same(OpBuilder &b, Location loc, Value shape, Type element, int64_t value) {
  TypedAttr attr = b.getIntegerAttr(element, value);
  if (auto vector = dyn_cast<VectorType>(shape.getType()))
    attr = DenseElementsAttr::get(VectorType::get(vector.getShape(), element), Attribute(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

/// Converts an f32 to the bits of an 8-bit float, rounded to nearest even. Subnormal results are
/// rounded by adding a number whose last mantissa bit has the same weight.
static Value to8Bits(OpBuilder &b, Location loc, Value value, FloatType element) {
  const llvm::fltSemantics &semantics = element.getFloatSemantics();
  int mantissa = int(llvm::APFloat::semanticsPrecision(semantics)) - 1, cut = 23 - mantissa;
  int lowest = llvm::APFloat::semanticsMinExponent(semantics);
  auto bitsOf = [](const llvm::APFloat &number) {
    return int64_t(number.bitcastToAPInt().getZExtValue());
  };
  // Overflow gives infinity, or NaN if the type has no infinity.
  int64_t beyond = bitsOf(llvm::APFloat::getLargest(semantics)) + 1;
  Type i32 = b.getI32Type();
  auto number = [&](int64_t n) { return same(b, loc, value, i32, n); };
  auto real = [&](double n) {
    return arith::BitcastOp::create(b, loc, value.getType(),
                                    number(bitsOf(llvm::APFloat(float(n)))));
  };
  Value size = math::AbsFOp::create(b, loc, value);
  Value bits = arith::BitcastOp::create(b, loc, like(value, i32), size);
  Value last =
      arith::AndIOp::create(b, loc, arith::ShRUIOp::create(b, loc, bits, number(cut)), number(1));
  Value up = arith::AddIOp::create(b, loc, bits, number((1 << (cut - 1)) - 1));
  Value normal = arith::SubIOp::create(
      b, loc, arith::ShRUIOp::create(b, loc, arith::AddIOp::create(b, loc, up, last), number(cut)),
      number(int64_t(126 + lowest) << mantissa));
  double ruler = std::ldexp(1.0, lowest - mantissa + 23);
  Value sum = arith::AddFOp::create(b, loc, size, real(ruler));
  Value small =
      arith::SubIOp::create(b, loc, arith::BitcastOp::create(b, loc, like(value, i32), sum),
                            number(bitsOf(llvm::APFloat(float(ruler)))));
  Value isSmall =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, size, real(std::ldexp(1.0, lowest)));
  Value made = arith::SelectOp::create(b, loc, isSmall, small, normal);
  made = arith::MinSIOp::create(b, loc, made, number(beyond));
  Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
  made = arith::SelectOp::create(b, loc, isNan, number(0x7f), made);
  Value sign = arith::AndIOp::create(
      b, loc,
      arith::ShRUIOp::create(b, loc, arith::BitcastOp::create(b, loc, like(value, i32), value),
                             number(24)),
      number(0x80));
  return arith::TruncIOp::create(b, loc, like(value, b.getI8Type()),
                                 arith::OrIOp::create(b, loc, made, sign));
}

/// Converts the bits of an 8-bit float to f32 through f16, whose exponent range is at least as
/// large. A multiplication corrects the exponent bias.
static Value from8Bits(OpBuilder &b, Location loc, Value value, FloatType element) {
  const llvm::fltSemantics &semantics = element.getFloatSemantics();
  int mantissa = int(llvm::APFloat::semanticsPrecision(semantics)) - 1;
  int missing = llvm::APFloat::semanticsMinExponent(semantics) + 14;
  Type i16 = b.getI16Type(), f32 = b.getF32Type();
  auto number = [&](int64_t n) { return same(b, loc, value, i16, n); };
  Value wide = arith::ExtUIOp::create(b, loc, like(value, i16), value);
  Value size = arith::AndIOp::create(b, loc, wide, number(0x7f));
  Value sign =
      arith::ShLIOp::create(b, loc, arith::AndIOp::create(b, loc, wide, number(0x80)), number(8));
  Value bits = arith::OrIOp::create(b, loc, sign,
                                    arith::ShLIOp::create(b, loc, size, number(10 - mantissa)));
  Value half = arith::BitcastOp::create(b, loc, like(value, b.getF16Type()), bits);
  Value result = arith::ExtFOp::create(b, loc, like(value, f32), half);
  if (missing == 0)
    return result; // the same exponents, infinity and NaN
  auto real = [&](float n) {
    int64_t pattern = int64_t(llvm::APFloat(n).bitcastToAPInt().getZExtValue());
    return arith::BitcastOp::create(b, loc, result.getType(),
                                    same(b, loc, value, b.getI32Type(), pattern));
  };
  result = arith::MulFOp::create(b, loc, result, real(std::ldexp(1.0f, missing)));
  Value isNan = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, size, number(0x7f));
  return arith::SelectOp::create(b, loc, isNan, real(std::nanf("")), result);
}

Value Emitter::fromStored(Value value, Type element) {
  if (auto real = dyn_cast<FloatType>(element); real && real.getWidth() == 8)
    return from8Bits(b, loc, value, real);
  if (element.isInteger(1))
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value,
                                 same(b, loc, value, b.getI8Type(), 0));
  if (element.isBF16()) {
    Type i32 = b.getI32Type();
    Value wide = arith::ExtUIOp::create(b, loc, like(value, i32), value);
    Value bits = arith::ShLIOp::create(b, loc, wide, same(b, loc, value, i32, 16));
    return arith::BitcastOp::create(b, loc, like(value, b.getF32Type()), bits);
  }
  if (element.isF16()) {
    Value half = arith::BitcastOp::create(b, loc, like(value, b.getF16Type()), value);
    return arith::ExtFOp::create(b, loc, like(value, b.getF32Type()), half);
  }
  return value;
}

/// Rounds an f64 to the precision of f32 by round-to-odd: the last bit is set if the result is
/// inexact. Rounding it again to a narrower type gives the same as rounding the f64 directly, which
/// avoids double rounding.
static Value roundToOdd(OpBuilder &b, Location loc, Value value) {
  Type i64 = b.getI64Type();
  constexpr int64_t below = (int64_t(1) << 29) - 1;
  Value bits = arith::BitcastOp::create(b, loc, like(value, i64), value);
  Value low = arith::AndIOp::create(b, loc, bits, same(b, loc, value, i64, below));
  Value any = arith::AddIOp::create(b, loc, low, same(b, loc, value, i64, below));
  bits = arith::AndIOp::create(b, loc, arith::OrIOp::create(b, loc, bits, any),
                               same(b, loc, value, i64, ~below));
  return arith::BitcastOp::create(b, loc, value.getType(), bits);
}

Value Emitter::rounded(Value value, Type element) {
  return nd::isNarrowFloat(element) ? fromStored(toStored(value, element), element) : value;
}

Value Emitter::toStored(Value value, Type element) {
  if (isa<FloatType>(element)) { // accumulators may be wider
    if (nd::isNarrowFloat(element) && getElementTypeOrSelf(value.getType()).isF64())
      value = roundToOdd(b, loc, value);
    value = convert(value, computeType(element));
  }
  if (auto real = dyn_cast<FloatType>(element); real && real.getWidth() == 8)
    return to8Bits(b, loc, value, real);
  if (element.isInteger(1))
    return arith::ExtUIOp::create(b, loc, like(value, b.getI8Type()), value);
  if (element.isBF16()) {
    // Round to nearest even by adding half of the last kept bit; NaN stays NaN.
    Type i32 = b.getI32Type();
    auto number = [&](int64_t n) { return same(b, loc, value, i32, n); };
    Value bits = arith::BitcastOp::create(b, loc, like(value, i32), value);
    Value last =
        arith::AndIOp::create(b, loc, arith::ShRUIOp::create(b, loc, bits, number(16)), number(1));
    Value rounded =
        arith::AddIOp::create(b, loc, arith::AddIOp::create(b, loc, bits, number(0x7fff)), last);
    Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
    Value quiet = arith::OrIOp::create(b, loc, bits, number(0x400000));
    rounded = arith::SelectOp::create(b, loc, isNan, quiet, rounded);
    Value high = arith::ShRUIOp::create(b, loc, rounded, number(16));
    return arith::TruncIOp::create(b, loc, like(value, b.getI16Type()), high);
  }
  if (element.isF16()) {
    Value half = arith::TruncFOp::create(b, loc, like(value, b.getF16Type()), value);
    return arith::BitcastOp::create(b, loc, like(value, b.getI16Type()), half);
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

Expr Emitter::address(const Memory &target, const Replacement &coordinates) const {
  Replacement position = target.fixed;
  for (const auto &[name, coordinate] : coordinates) {
    auto start = target.origin.find(name);
    position[name] =
        start == target.origin.end() ? coordinate : (coordinate - start->second).simplify(ranges);
  }
  // Simplify factor by factor: factors have tighter ranges than the whole address.
  SizeExprs sizes = target.type.sizeExprs();
  std::vector<Expr> extents = target.layout.extentsOver(sizes);
  std::vector<Expr> indices = target.layout.indicesOver(sizes);
  Expr offset;
  for (size_t i = 0; i < extents.size(); ++i)
    offset = offset * extents[i] + indices[i].substitute(position).simplify(ranges);
  return offset.simplify(ranges);
}

/// The pointer to the element at `offset`, which does not depend on the lane. The constant part is
/// added last, so that the elements of a tile share the rest.
Value Emitter::pointer(const Memory &memory, const Expr &offset, Section &section) {
  Type stored = memory.halves ? b.getI16Type() : storedType(memory.type.getElementType());
  auto type = memory.base.getType();
  const Layout::Swizzle &swizzle = memory.layout.swizzle;
  if (swizzle.bits) {
    Value swizzled = emit(offset);
    Value high = arith::ShRUIOp::create(b, loc, swizzled, constant(swizzle.shift));
    Value mask = constant(((int64_t(1) << swizzle.bits) - 1) << swizzle.base);
    swizzled = arith::XOrIOp::create(b, loc, swizzled, arith::AndIOp::create(b, loc, high, mask));
    return LLVM::GEPOp::create(b, loc, type, stored, memory.base, ArrayRef<LLVM::GEPArg>{swizzled});
  }
  Expr varying = offset - Expr(offset.offset());
  Value start = memory.base;
  if (varying != Expr(0)) {
    Value &known = section.pointers[{memory.base.getAsOpaquePointer(), varying.str()}];
    if (!known)
      known = LLVM::GEPOp::create(b, loc, type, stored, memory.base,
                                  ArrayRef<LLVM::GEPArg>{emit(varying)});
    start = known;
  }
  int64_t rest = offset.offset();
  if (rest == 0)
    return start;
  if (llvm::isInt<LLVM::kGEPConstantBitWidth>(rest))
    return LLVM::GEPOp::create(b, loc, type, stored, start, ArrayRef<LLVM::GEPArg>{int32_t(rest)});
  return LLVM::GEPOp::create(b, loc, type, stored, start, ArrayRef<LLVM::GEPArg>{constant(rest)});
}

/// The expression for lane `lane`.
static Expr atLane(const Expr &expr, int64_t lane, const Ranges &ranges) {
  return expr.substitute(Replacement{{laneName, Expr(lane)}}).simplify(ranges);
}

static Value allLanes(OpBuilder &b, Location loc, int64_t lanes) {
  auto type = VectorType::get({lanes}, b.getI1Type());
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, true));
}

/// The offset of each lane relative to lane 0, as a vector of integers.
Value Emitter::offsets(const Memory &memory, const Expr &offset, int64_t lanes) {
  Value swizzled = emitLanes(offset, lanes);
  const Layout::Swizzle &swizzle = memory.layout.swizzle;
  if (swizzle.bits) {
    Type element = getElementTypeOrSelf(swizzled.getType());
    Value high =
        arith::ShRUIOp::create(b, loc, swizzled, same(b, loc, swizzled, element, swizzle.shift));
    Value mask =
        same(b, loc, swizzled, element, ((int64_t(1) << swizzle.bits) - 1) << swizzle.base);
    swizzled = arith::XOrIOp::create(b, loc, swizzled, arith::AndIOp::create(b, loc, high, mask));
  }
  return swizzled;
}

bool nest::isContiguous(const Memory &memory, const Expr &offset) {
  return !memory.layout.swizzle.bits && offset.isLinearIn(laneName) &&
         offset.coefficient(laneName) == memory.step();
}

/// Returns whether a mask, or a scalar condition, holds in any lane.
Value Emitter::anyLane(Value mask) {
  return isa<VectorType>(mask.getType())
             ? Value(vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, mask))
             : mask;
}

/// Returns true if a guarded access may start a page or more outside of its tensor. CPUs take
/// hundreds of cycles for a masked load from an address that is not mapped, though it does not
/// trap.
static bool mayLeavePages(const Memory &source, const Expr &offset, const Ranges &ranges) {
  constexpr int64_t pageBits = 4096 * 8;
  auto bounds = offset.bounds(ranges);
  if (!bounds || !source.type.isStatic())
    return true;
  int64_t outside =
      std::max(-bounds->low, bounds->high - source.layout.elements(source.type.sizes()));
  return outside * widthOf(source.type.getElementType()) >= pageBits;
}

Value Emitter::load(const Memory &source, const Expr &offset, const Point &point, Value mask,
                    Section &section) {
  Type element = source.type.getElementType(), stored = storedType(element);
  unsigned width = widthOf(element) / unsigned(source.step());
  int64_t lanes = point.lanes;
  if (!lanes || !onLanes(offset)) {
    Value value = LLVM::LoadOp::create(b, loc, stored, pointer(source, offset, section),
                                       alignmentAt(source, offset));
    return fromStored(value, element);
  }
  auto vectorType = VectorType::get({lanes}, stored);
  bool varies = llvm::any_of(offset.names(), [&](const std::string &name) {
    return name != laneName && onLanes(Expr::name(name));
  });
  if (!varies && isContiguous(source, offset)) {
    Expr first = atLane(offset, 0, ranges);
    unsigned align = alignmentAt(source, first);
    Value start = pointer(source, first, section);
    if (mask && mayLeavePages(source, first, ranges))
      start = arith::SelectOp::create(b, loc, anyLane(mask), start, source.base);
    // Inactive lanes need no mask if their addresses are in bounds.
    bool partial = point.isPartial();
    if (partial && !mask && source.type.isStatic()) {
      auto bounds = first.bounds(ranges);
      if (bounds && bounds->low >= 0 &&
          bounds->high + lanes * source.step() <= source.layout.elements(source.type.sizes()))
        partial = false;
    }
    Value all = both(mask, partial ? laneMask(point) : Value());
    if (!all)
      return fromStored(LLVM::LoadOp::create(b, loc, vectorType, start, align), element);
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(vectorType));
    return fromStored(
        LLVM::MaskedLoadOp::create(b, loc, vectorType, start, splat(all, lanes), zero, align),
        element);
  }
  // The lanes are not contiguous.
  if (point.count)
    mask = both(mask, laneMask(point));
  Value active = mask ? splat(mask, lanes) : Value();
  if (point.active < lanes)
    active = both(active, laneMask(point));
  if (target.gathers(lanes, width) || varies || source.layout.swizzle.bits) {
    Expr shared;
    Expr apart = offset;
    if (!source.layout.swizzle.bits) {
      apart = Expr();
      shared = Expr(offset.offset());
      for (const Expr::Term &term : offset.terms()) {
        Expr summand = Expr::ofTerm(term);
        (onLanes(summand) ? apart : shared) = (onLanes(summand) ? apart : shared) + summand;
      }
    }
    Memory plain = source;
    plain.layout.swizzle = {};
    Value start = pointer(plain, shared, section);
    Value laneOffsets = offsets(source, apart, lanes);
    auto pointers = VectorType::get({lanes}, source.base.getType());
    Value addresses =
        LLVM::GEPOp::create(b, loc, pointers, source.halves ? Type(b.getI16Type()) : stored, start,
                            ArrayRef<LLVM::GEPArg>{laneOffsets});
    Value all = active ? active : allLanes(b, loc, lanes);
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(vectorType));
    Value value =
        LLVM::masked_gather::create(b, loc, vectorType, addresses, all, ValueRange{zero}, width);
    return fromStored(value, element);
  }
  // A masked lane reads element 0, which the caller replaces.
  Value value = arith::ConstantOp::create(b, loc, b.getZeroAttr(vectorType));
  for (int64_t lane = 0; lane < point.active; ++lane) {
    Expr laneOffset = atLane(offset, lane, ranges);
    Value from = pointer(source, laneOffset, section);
    if (mask) {
      Value inside = isa<VectorType>(mask.getType())
                         ? Value(vector::ExtractOp::create(b, loc, mask, ArrayRef<int64_t>{lane}))
                         : mask;
      from = LLVM::SelectOp::create(b, loc, inside, from, source.base);
    }
    Value scalar = LLVM::LoadOp::create(b, loc, stored, from, alignmentAt(source, laneOffset));
    value = vector::InsertOp::create(b, loc, scalar, value, ArrayRef<int64_t>{lane});
  }
  return fromStored(value, element);
}

void Emitter::store(const Memory &target, const Expr &offset, Value value, const Point &point,
                    Value mask, Section &section) {
  Type element = target.type.getElementType();
  int64_t lanes = point.lanes;
  if (!lanes || !onLanes(offset)) {
    assert(!mask && "a scalar store is guarded by its caller");
    if (isa<VectorType>(value.getType()))
      value = vector::ExtractOp::create(b, loc, value, ArrayRef<int64_t>{0});
    LLVM::StoreOp::create(b, loc, toStored(value, element), pointer(target, offset, section),
                          alignmentAt(target, offset));
    return;
  }
  value = toStored(splat(value, lanes), element);
  Value active = both(mask, point.isPartial() ? laneMask(point) : Value());
  if (active)
    active = splat(active, lanes);
  bool varies = llvm::any_of(offset.names(), [&](const std::string &name) {
    return name != laneName && onLanes(Expr::name(name));
  });
  if (!varies && isContiguous(target, offset)) {
    Expr first = atLane(offset, 0, ranges);
    unsigned align = alignmentAt(target, first);
    Value start = pointer(target, first, section);
    if (active)
      LLVM::MaskedStoreOp::create(b, loc, value, start, active, align);
    else
      LLVM::StoreOp::create(b, loc, value, start, align);
    return;
  }
  if (!varies && !mask && !point.count && !target.layout.swizzle.bits) {
    for (int64_t lane = 0; lane < point.active; ++lane) {
      Expr laneOffset = atLane(offset, lane, ranges);
      LLVM::StoreOp::create(b, loc,
                            vector::ExtractOp::create(b, loc, value, ArrayRef<int64_t>{lane}),
                            pointer(target, laneOffset, section), alignmentAt(target, laneOffset));
    }
    return;
  }
  Value laneOffsets = offsets(target, offset, lanes);
  auto pointers = VectorType::get({lanes}, target.base.getType());
  Value addresses = LLVM::GEPOp::create(b, loc, pointers, storedType(element), target.base,
                                        ArrayRef<LLVM::GEPArg>{laneOffsets});
  LLVM::masked_scatter::create(b, loc, value, addresses, active ? active : allLanes(b, loc, lanes),
                               widthOf(element));
}

void Emitter::prefetch(const Memory &memory, const Expr &offset, Section &section, bool write,
                       bool near) {
  if (!onLanes(offset))
    this->target.prefetch(b, loc, pointer(memory, offset, section), write, near);
}

void Emitter::storeResult(const Memory &target, Value value, const Point &point, Section &section) {
  auto offsetAt = [&](const Point &at) {
    Replacement coordinates;
    for (const nd::Dim &dim : target.type.getDims())
      if (!target.fixed.count(dim.name.str()))
        coordinates[dim.name.str()] = resolve(Expr::name(dim.name.str()), at);
    return address(target, coordinates);
  };
  Expr offset = offsetAt(point);
  if (point.lanes && onLanes(offset) && !isContiguous(target, offset))
    if (std::optional<Square> square = squareAround(target, point, offsetAt, section);
        square && square->along.active >= leastRows)
      return storeTurned(target, *square, value, section);
  store(target, offset, value, point, Value(), section);
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

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
        Type wide = like(value, b.getI64Type());
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
    at = arith::MaxSIOp::create(b, loc, at, same(b, loc, at, element, 0));
    Value limit = last.isConstant() ? same(b, loc, at, element, *last.constant()) : emit(last);
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
          square && holdsInSquare(guard, *square, point))
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
