//===- Access.cpp - addresses, loads and stores ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Emitter.h"
#include "lib/conversion/nest_to_loops/FloatCode.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

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

static Value swizzledOffset(OpBuilder &b, Location loc, Value offset,
                            const Layout::Swizzle &swizzle) {
  FloatCode a(b, loc);
  Value mask = a.integer(offset, ((int64_t(1) << swizzle.bits) - 1) << swizzle.base);
  return arith::XOrIOp::create(b, loc, offset, a.both(a.drop(offset, swizzle.shift), mask));
}

/// The pointer to the element at `offset`, which does not depend on the lane. The constant part is
/// added last, so that the elements of a tile share the rest.
Value Emitter::pointer(const Memory &memory, const Expr &offset, Section &section) {
  Type stored = memory.halves ? b.getI16Type() : storedType(memory.type.getElementType());
  auto type = memory.base.getType();
  const Layout::Swizzle &swizzle = memory.layout.swizzle;
  if (swizzle.bits) {
    Value swizzled = swizzledOffset(b, loc, emit(offset), swizzle);
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
  Value linear = emitLanes(offset, lanes);
  const Layout::Swizzle &swizzle = memory.layout.swizzle;
  return swizzle.bits ? swizzledOffset(b, loc, linear, swizzle) : linear;
}

bool nest::isContiguous(const Memory &memory, const Expr &offset) {
  return !memory.layout.swizzle.bits && offset.isLinearIn(laneName) &&
         offset.coefficient(laneName) == memory.step();
}

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
        square && isTurned(square->along.active, /*isWrite=*/true))
      return storeTurned(target, *square, value, section);
  store(target, offset, value, point, Value(), section);
}
