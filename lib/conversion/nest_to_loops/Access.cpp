//===- Access.cpp - addresses, loads and stores ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Emitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// Emits `expr` by `leaf` (names) and the arithmetic ops, on scalars or vectors alike.
static Value emitWith(OpBuilder &b, Location loc, const Expr &expr, const Ranges &ranges,
                      llvm::function_ref<Value(const std::string &)> leaf,
                      llvm::function_ref<Value(int64_t)> number) {
  using Kind = Expr::Atom::Kind;
  auto atomValue = [&](const Expr::Atom &atom) -> Value {
    if (atom.kind == Kind::Name)
      return leaf(atom.name);
    if (atom.kind == Kind::Min || atom.kind == Kind::Max) {
      Value x = emitWith(b, loc, atom.operands[0], ranges, leaf, number);
      Value y = emitWith(b, loc, atom.operands[1], ranges, leaf, number);
      return atom.kind == Kind::Min ? Value(arith::MinSIOp::create(b, loc, x, y))
                                    : Value(arith::MaxSIOp::create(b, loc, x, y));
    }
    // Truncating division rounds down once the operand is shifted to be non-negative.
    Expr operand = atom.operands[0];
    auto bounds = operand.bounds(ranges);
    int64_t shift = 0;
    bool nonNegative = bounds.has_value();
    if (bounds && bounds->low < 0)
      shift = (-bounds->low + atom.divisor - 1) / atom.divisor;
    Value x = emitWith(b, loc, operand + Expr(shift * atom.divisor), ranges, leaf, number);
    Value d = number(atom.divisor);
    if (!nonNegative) {
      Value remainder = arith::RemSIOp::create(b, loc, x, d);
      Value zero = number(0);
      Value negative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, remainder, zero);
      Value wrapped = arith::AddIOp::create(b, loc, remainder, d);
      Value mod = arith::SelectOp::create(b, loc, negative, wrapped, remainder);
      if (atom.kind == Kind::Mod)
        return mod;
      return arith::DivSIOp::create(b, loc, arith::SubIOp::create(b, loc, x, mod), d);
    }
    if (atom.kind == Kind::Mod)
      return arith::RemUIOp::create(b, loc, x, d);
    Value quotient = arith::DivUIOp::create(b, loc, x, d);
    return shift ? Value(arith::SubIOp::create(b, loc, quotient, number(shift))) : quotient;
  };
  Value sum;
  for (const Expr::Term &term : expr.terms()) {
    Value product;
    for (const Expr::AtomRef &atom : term.factors) {
      Value factor = atomValue(*atom);
      product = product ? Value(arith::MulIOp::create(b, loc, product, factor)) : factor;
    }
    if (term.coefficient != 1)
      product = arith::MulIOp::create(b, loc, product, number(term.coefficient));
    sum = sum ? Value(arith::AddIOp::create(b, loc, sum, product)) : product;
  }
  if (!sum)
    return number(expr.offset());
  return expr.offset() ? Value(arith::AddIOp::create(b, loc, sum, number(expr.offset()))) : sum;
}

Value Emitter::emit(const Expr &expr) {
  return emitWith(
      b, loc, expr, ranges, [&](const std::string &name) { return vars.find(name)->second; },
      [&](int64_t value) { return constant(value); });
}

Value Emitter::emitLanes(const Expr &expr, int64_t lanes) {
  auto type = VectorType::get({lanes}, b.getI64Type());
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, b.getI64IntegerAttr(value)));
  };
  return emitWith(
      b, loc, expr, ranges,
      [&](const std::string &name) -> Value {
        if (name == laneName) {
          SmallVector<int64_t> counts = llvm::to_vector(llvm::seq<int64_t>(0, lanes));
          return arith::ConstantOp::create(b, loc, DenseIntElementsAttr::get(type, ArrayRef<int64_t>(counts)));
        }
        return splat(vars.find(name)->second, lanes);
      },
      number);
}

Expr Emitter::resolve(const Expr &expr, const Point &point) const {
  return expr.substitute(bindings).substitute(point.values).simplify(ranges);
}

//===----------------------------------------------------------------------===//
// Elements in memory
//===----------------------------------------------------------------------===//

/// The type of an element in memory: i1 takes a byte, bf16 and f16 are moved as integers.
static Type storedType(Type element) {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  if (element.isBF16())
    return IntegerType::get(element.getContext(), 16);
  return nd::signless(element);
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

Value Emitter::fromStored(Value value, Type element) {
  if (element.isInteger(1))
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, same(b, loc, value, b.getI8Type(), 0));
  if (element.isBF16()) {
    Type i32 = b.getI32Type();
    Value wide = arith::ExtUIOp::create(b, loc, like(value, i32), value);
    Value bits = arith::ShLIOp::create(b, loc, wide, same(b, loc, value, i32, 16));
    return arith::BitcastOp::create(b, loc, like(value, b.getF32Type()), bits);
  }
  if (element.isF16())
    return arith::ExtFOp::create(b, loc, like(value, b.getF32Type()), value);
  return value;
}

Value Emitter::toStored(Value value, Type element) {
  if (element.isInteger(1))
    return arith::ExtUIOp::create(b, loc, like(value, b.getI8Type()), value);
  if (element.isBF16()) {
    // Round to nearest even by adding half of the last kept place; NaN stays NaN.
    Type i32 = b.getI32Type();
    auto number = [&](int64_t n) { return same(b, loc, value, i32, n); };
    Value bits = arith::BitcastOp::create(b, loc, like(value, i32), value);
    Value last = arith::AndIOp::create(b, loc, arith::ShRUIOp::create(b, loc, bits, number(16)), number(1));
    Value rounded = arith::AddIOp::create(b, loc, arith::AddIOp::create(b, loc, bits, number(0x7fff)), last);
    Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
    Value quiet = arith::OrIOp::create(b, loc, bits, number(0x400000));
    rounded = arith::SelectOp::create(b, loc, isNan, quiet, rounded);
    Value high = arith::ShRUIOp::create(b, loc, rounded, number(16));
    return arith::TruncIOp::create(b, loc, like(value, b.getI16Type()), high);
  }
  if (element.isF16())
    return arith::TruncFOp::create(b, loc, like(value, b.getF16Type()), value);
  return value;
}

Value Emitter::pointer(Value base, Value offset, Type element) {
  return LLVM::GEPOp::create(b, loc, base.getType(), storedType(element), base, ArrayRef<LLVM::GEPArg>{offset});
}

static unsigned bytesOf(Type element) { return std::max(1u, element.getIntOrFloatBitWidth() / 8); }

Value Emitter::loadScalar(Value base, Value offset, Type element) {
  Value value =
      LLVM::LoadOp::create(b, loc, storedType(element), pointer(base, offset, element), bytesOf(element));
  return fromStored(value, element);
}

void Emitter::storeScalar(Value base, Value offset, Type element, Value value) {
  LLVM::StoreOp::create(b, loc, toStored(value, element), pointer(base, offset, element), bytesOf(element));
}

static Value laneMask(OpBuilder &b, Location loc, int64_t lanes, int64_t active) {
  SmallVector<bool> bits;
  for (int64_t i = 0; i < lanes; ++i)
    bits.push_back(i < active);
  auto type = VectorType::get({lanes}, b.getI1Type());
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef<bool>(bits)));
}

/// The expression at lane `lane`.
static Expr atLane(const Expr &expr, int64_t lane, const Ranges &ranges) {
  return expr.substitute(std::map<std::string, Expr, std::less<>>{{laneName, Expr(lane)}}).simplify(ranges);
}

Value Emitter::loadVector(Value base, const Expr &offset, Type element, const Point &point, Value mask,
                          Value otherwise) {
  int64_t lanes = point.lanes;
  Type stored = storedType(element);
  auto vectorType = VectorType::get({lanes}, stored);
  if (offset.isLinearIn(laneName) && offset.coefficient(laneName) == 1) {
    Value start = pointer(base, emit(atLane(offset, 0, ranges)), element);
    Value value;
    if (mask || point.active < lanes) {
      Value all = point.active < lanes ? laneMask(b, loc, lanes, point.active) : Value();
      if (mask)
        all = all ? Value(arith::AndIOp::create(b, loc, all, mask)) : mask;
      Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(vectorType));
      value = LLVM::MaskedLoadOp::create(b, loc, vectorType, start, all, zero, bytesOf(element));
    } else {
      value = LLVM::LoadOp::create(b, loc, vectorType, start, bytesOf(element));
    }
    value = fromStored(value, element);
    return mask ? Value(arith::SelectOp::create(b, loc, mask, value, otherwise)) : value;
  }
  // Lanes that lie apart: one by one. A masked one reads element 0, which its value then replaces.
  Value value = arith::ConstantOp::create(b, loc, b.getZeroAttr(VectorType::get({lanes}, computeType(element))));
  for (int64_t lane = 0; lane < point.active; ++lane) {
    Value place = emit(atLane(offset, lane, ranges));
    if (mask) {
      Value inside = vector::ExtractOp::create(b, loc, mask, ArrayRef<int64_t>{lane});
      place = arith::SelectOp::create(b, loc, inside, place, constant(0));
    }
    value = vector::InsertOp::create(b, loc, loadScalar(base, place, element), value, ArrayRef<int64_t>{lane});
  }
  return mask ? Value(arith::SelectOp::create(b, loc, mask, value, otherwise)) : value;
}

//===----------------------------------------------------------------------===//
// Reads and results of nests
//===----------------------------------------------------------------------===//

Expr Emitter::address(const Memory &target, MapAttr map, const Point &point, const nd::NdTensorType &type) const {
  std::map<std::string, Expr, std::less<>> places = target.fixed;
  for (const nd::Dim &dim : type.getDims()) {
    Expr place = map ? *map.lookup(dim.name.getValue()) : Expr::name(dim.name.str());
    // A computed coordinate is clamped.
    bool gathered = llvm::any_of(place.names(), [](const std::string &name) { return name[0] == '@'; });
    place = resolve(place, point);
    if (gathered)
      place = Expr::min(Expr::max(place, Expr(0)), Expr(*dim.size().constant() - 1)).simplify(ranges);
    places[dim.name.str()] = place;
  }
  // Simplified factor by factor: the ranges of sums are tighter there than in the whole address.
  Sizes sizes = target.type.sizes();
  std::vector<int64_t> extents = target.layout.extents(sizes);
  std::vector<Expr> indices = target.layout.indices(sizes);
  Expr offset;
  for (size_t i = 0; i < extents.size(); ++i)
    offset = offset * Expr(extents[i]) + indices[i].substitute(places).simplify(ranges);
  return offset.simplify(ranges);
}

FailureOr<Emitter::ReadResult> Emitter::read(Value tensor, MapAttr map, GuardAttr guard, ArrayRef<Value> earlier,
                                             const Point &point, LoadCache &cache) {
  auto found = memory.find(tensor);
  assert(found != memory.end() && "a tensor without a place");
  const Memory &source = found->second;
  auto type = tensorTypeOf(tensor);
  Type element = type.getElementType();

  // Values of earlier reads that maps and guards use become variables for the time of this read.
  SmallVector<std::string> bound;
  int64_t lanesOfIndex = 0;
  for (const MapEntry &entry : map.getEntries())
    for (const std::string &name : entry.expr().names())
      if (name[0] == '@' && !llvm::is_contained(bound, name)) {
        Value index = earlier[std::stoul(name.substr(1))];
        if (isa<VectorType>(index.getType()))
          lanesOfIndex = point.lanes;
        bound.push_back(name);
      }
  if (!bound.empty() && lanesOfIndex) {
    // One scalar read for each lane.
    Value value = arith::ConstantOp::create(b, loc, b.getZeroAttr(VectorType::get({point.lanes}, computeType(element))));
    for (int64_t lane = 0; lane < point.active; ++lane) {
      SmallVector<Value> scalars;
      for (Value each : earlier)
        scalars.push_back(each && isa<VectorType>(each.getType())
                              ? Value(vector::ExtractOp::create(b, loc, each, ArrayRef<int64_t>{lane}))
                              : each);
      Point single = point;
      single.lanes = 0;
      single.active = 1;
      for (auto &[name, expr] : single.values)
        expr = atLane(expr, lane, ranges);
      single.values[laneName] = Expr(lane);
      LoadCache none;
      auto one = read(tensor, map, GuardAttr::get(guard.getContext(), {}, TypedAttr()), scalars, single, none);
      if (failed(one))
        return failure();
      value = vector::InsertOp::create(b, loc, one->value, value, ArrayRef<int64_t>{lane});
    }
    if (!guard.isTrivial())
      return emitError(loc, "expected no guard on a gathered read"), failure();
    return ReadResult{value, {}};
  }
  for (const std::string &name : bound) {
    Value index = earlier[std::stoul(name.substr(1))];
    if (!index.getType().isInteger(64))
      index = tensorTypeOf(tensor) && index.getType().getIntOrFloatBitWidth() < 64
                  ? Value(arith::ExtSIOp::create(b, loc, b.getI64Type(), index))
                  : index;
    vars[name] = index;
  }

  Expr offset = address(source, map, point, type);
  // Conditions that remain after simplification.
  SmallVector<std::pair<Expr, bool>> conditions;
  bool never = false;
  for (const Condition &condition : guard.getConditions()) {
    Expr expr = resolve(condition.expr(), point);
    auto bounds = expr.bounds(ranges);
    if (bounds && (condition.equality ? bounds->low == 0 && bounds->high == 0 : bounds->low >= 0))
      continue;
    if (bounds && (condition.equality ? bounds->low > 0 || bounds->high < 0 : bounds->high < 0))
      never = true;
    conditions.emplace_back(expr, condition.equality);
  }
  std::string key = offset.str() + "|" + std::to_string(point.lanes) + "," + std::to_string(point.active);
  for (const auto &[expr, equality] : conditions)
    key += "|" + expr.str() + (equality ? "=" : ">");
  bool cacheable = bound.empty();
  if (cacheable)
    if (auto known = cache.find({tensor.getAsOpaquePointer(), key}); known != cache.end())
      return known->second;

  ReadResult result;
  Value otherwise = guard.getOtherwise() ? constantOf(guard.getOtherwise()) : Value();
  bool onLanes = point.lanes && offset.mentions(laneName);
  for (const auto &[expr, equality] : conditions)
    onLanes |= point.lanes && expr.mentions(laneName);
  Value mask;
  for (const auto &[expr, equality] : conditions) {
    bool lanewise = expr.mentions(laneName);
    Value value = lanewise ? emitLanes(expr, point.lanes) : emit(expr);
    Value zero = lanewise ? same(b, loc, value, b.getI64Type(), 0) : constant(0);
    Value holds = arith::CmpIOp::create(
        b, loc, equality ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sge, value, zero);
    if (onLanes && !lanewise)
      holds = splat(holds, point.lanes);
    mask = mask ? Value(arith::AndIOp::create(b, loc, mask, holds)) : holds;
  }
  Type compute = computeType(element);
  if (!otherwise)
    otherwise = arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(compute)));
  if (never) {
    result.value = otherwise;
    if (guard.excludes())
      result.included = arith::ConstantIntOp::create(b, loc, 0, 1);
  } else if (onLanes) {
    Value base = source.base;
    if (offset.mentions(laneName)) {
      result.value = loadVector(base, offset, element, point, mask, splat(otherwise, point.lanes));
    } else {
      // The same element for every lane, some of which do not want it: a place that is outside is never read.
      Value any = vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, mask);
      Value place = arith::SelectOp::create(b, loc, any, emit(offset), constant(0));
      Value value = splat(loadScalar(base, place, element), point.lanes);
      result.value = arith::SelectOp::create(b, loc, mask, value, splat(otherwise, point.lanes));
    }
    if (mask && guard.excludes())
      result.included = mask;
  } else {
    Value place = emit(offset);
    if (mask)
      place = arith::SelectOp::create(b, loc, mask, place, constant(0));
    Value value = loadScalar(source.base, place, element);
    result.value = mask ? Value(arith::SelectOp::create(b, loc, mask, value, otherwise)) : value;
    if (mask && guard.excludes())
      result.included = mask;
  }
  for (const std::string &name : bound)
    vars.erase(name);
  if (cacheable)
    cache[{tensor.getAsOpaquePointer(), key}] = result;
  return result;
}

void Emitter::store(const Memory &target, Value value, const Point &point) {
  Type element = target.type.getElementType();
  nd::NdTensorType type = target.type;
  if (!target.fixed.empty()) {
    SmallVector<nd::Dim> dims;
    for (const nd::Dim &dim : type.getDims())
      if (!target.fixed.count(dim.name.str()))
        dims.push_back(dim);
    type = type.withDims(dims);
  }
  Expr offset = address(target, nullptr, point, type);
  if (!point.lanes || !offset.mentions(laneName)) {
    if (isa<VectorType>(value.getType()))
      value = vector::ExtractOp::create(b, loc, value, ArrayRef<int64_t>{0});
    storeScalar(target.base, emit(offset), element, value);
    return;
  }
  value = splat(value, point.lanes);
  if (offset.isLinearIn(laneName) && offset.coefficient(laneName) == 1) {
    Value start = pointer(target.base, emit(atLane(offset, 0, ranges)), element);
    Value stored = toStored(value, element);
    if (point.active < point.lanes)
      LLVM::MaskedStoreOp::create(b, loc, stored, start, laneMask(b, loc, point.lanes, point.active),
                                  bytesOf(element));
    else
      LLVM::StoreOp::create(b, loc, stored, start, bytesOf(element));
    return;
  }
  for (int64_t lane = 0; lane < point.active; ++lane)
    storeScalar(target.base, emit(atLane(offset, lane, ranges)), element,
                vector::ExtractOp::create(b, loc, value, ArrayRef<int64_t>{lane}));
}
