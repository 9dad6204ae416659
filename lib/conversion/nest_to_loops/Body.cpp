//===- Body.cpp - scalar regions on scalars and vectors -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Emitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

Type Emitter::computeType(Type type) const {
  type = nd::signless(type);
  if (nd::isNarrowFloat(type))
    return b.getF32Type();
  if (type.isIndex())
    return b.getI64Type();
  return type;
}

Value Emitter::splat(Value value, int64_t lanes) {
  if (!lanes || isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, value.getType()), value);
}

Value Emitter::laneMask(const Point &point) {
  int64_t lanes = point.lanes, active = point.active;
  if (point.count) {
    // Lane indices fit in 32 bits.
    auto type = VectorType::get({lanes}, b.getI32Type());
    auto numbers = llvm::to_vector(llvm::seq<int32_t>(0, int32_t(lanes)));
    Value number =
        arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers)));
    Value count = arith::TruncIOp::create(b, loc, b.getI32Type(), point.count);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, number, splat(count, lanes));
  }
  SmallVector<bool> bits;
  for (int64_t i = 0; i < lanes; ++i)
    bits.push_back(i < active);
  auto type = VectorType::get({lanes}, b.getI1Type());
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef<bool>(bits)));
}

Value Emitter::both(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  for (Value *value : {&x, &y})
    for (Value other : {x, y})
      if (auto vector = dyn_cast<VectorType>(other.getType()))
        *value = splat(*value, vector.getNumElements());
  return arith::AndIOp::create(b, loc, x, y);
}

Value Emitter::convert(Value value, Type type) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == type)
    return value;
  auto vector = dyn_cast<VectorType>(value.getType());
  Type target = vector ? Type(VectorType::get(vector.getShape(), type)) : type;
  if (from.getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, loc, target, value);
  return arith::TruncFOp::create(b, loc, target, value);
}

Value Emitter::constantOf(TypedAttr value) {
  Type type = computeType(value.getType());
  if (auto real = dyn_cast<FloatAttr>(value)) {
    APFloat number = real.getValue();
    bool inexact;
    number.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &inexact);
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, number));
  }
  APInt number = cast<IntegerAttr>(value).getValue();
  return arith::ConstantOp::create(
      b, loc, b.getIntegerAttr(type, number.sextOrTrunc(type.getIntOrFloatBitWidth())));
}

/// The condition under which a division or a shift is undefined (division by zero, overflow, too
/// many bits); null if there is none. Replaces the divisor by 1 in that case, since machines trap.
static Value withoutResult(OpBuilder &b, Operation *op, MutableArrayRef<Value> operands) {
  bool isSigned = isa<arith::DivSIOp, arith::RemSIOp>(op);
  bool divides = isSigned || isa<arith::DivUIOp, arith::RemUIOp>(op);
  if (!divides && !isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
    return {};
  Location loc = op->getLoc();
  Type type = operands[1].getType();
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (APInt known; matchPattern(op->getOperand(1), m_ConstantInt(&known)) &&
                   (divides ? !known.isZero() && !(isSigned && known.isAllOnes())
                            : known.ult(op->getOperand(1).getType().isIndex() ? 64 : width)))
    return {};
  auto number = [&](const APInt &value) -> Value {
    TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(type), value);
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, ArrayRef<Attribute>(attr));
    return arith::ConstantOp::create(b, loc, attr);
  };
  auto compare = [&](arith::CmpIPredicate how, Value x, const APInt &y) -> Value {
    return arith::CmpIOp::create(b, loc, how, x, number(y));
  };
  if (!divides)
    return compare(arith::CmpIPredicate::uge, operands[1], APInt(width, width, false, true));
  Value none = compare(arith::CmpIPredicate::eq, operands[1], APInt::getZero(width));
  if (isSigned) {
    Value least = compare(arith::CmpIPredicate::eq, operands[0], APInt::getSignedMinValue(width));
    Value back = compare(arith::CmpIPredicate::eq, operands[1], APInt::getAllOnes(width));
    none = arith::OrIOp::create(b, loc, none, arith::AndIOp::create(b, loc, least, back));
  }
  operands[1] = arith::SelectOp::create(b, loc, none, number(APInt(width, 1)), operands[1]);
  return none;
}

/// True for an argument that is read from memory.
static bool isLoaded(BlockArgument argument) {
  Region *region = argument.getOwner()->getParent();
  if (auto compute = dyn_cast<ComputeOp>(region->getParentOp()))
    return region == &compute.getBody() ||
           (region == &compute.getFinish() &&
            argument.getArgNumber() >= compute.getBody().front().getTerminator()->getNumOperands());
  auto update = dyn_cast<UpdateOp>(region->getParentOp());
  return update && region == &update.getBody();
}

/// True if the result of `op` is representable in its narrow type. Computed values have more bits
/// until a cast rounds them. `rounded`: the values known to be representable.
static bool isRounded(Operation &op, const llvm::DenseSet<Value> &rounded) {
  if (isa<arith::NegFOp, math::AbsFOp, arith::SelectOp, arith::MaximumFOp, arith::MinimumFOp,
          arith::MaxNumFOp, arith::MinNumFOp>(op) ||
      (isa<arith::ExtFOp>(op) && nd::keepsPrecision(&op)))
    return llvm::all_of(op.getOperands(), [&](Value operand) {
      return !nd::isNarrowFloat(operand.getType()) || rounded.contains(operand);
    });
  return isa<arith::ConstantOp, arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp>(
             op) &&
         !nd::keepsPrecision(&op);
}

/// True if the only use of a narrowing cast is a store in its type, which rounds.
static bool isOnlyStored(arith::TruncFOp op) {
  auto compute = dyn_cast<ComputeOp>(op->getParentOp());
  bool isLast = compute && (op->getParentRegion() == &compute.getFinish() ||
                            (compute.getFinish().empty() && !compute.isReduction()));
  return isLast && !op.getIn().getType().isF64() &&
         llvm::all_of(op->getUses(), [&](OpOperand &use) {
           return isa<YieldOp>(use.getOwner()) &&
                  tensorType(compute.getResult(use.getOperandNumber())).getElementType() ==
                      op.getType();
         });
}

/// Creates the op of a region on values of compute types. Null if the compute types make it a no-op
/// on operand 0.
static FailureOr<Value> makeOp(Emitter &emitter, Operation *op, ArrayRef<Value> operands,
                               int64_t lanes) {
  OpBuilder &b = emitter.b;
  Location loc = op->getLoc();
  Type named = op->getResult(0).getType(), element = emitter.computeType(named);
  if (auto cast = dyn_cast<arith::TruncFOp>(op);
      cast && nd::isNarrowFloat(named) && !nd::keepsPrecision(op) && !isOnlyStored(cast))
    return emitter.rounded(operands[0], named);
  unsigned digits = 0; // of an integer that is converted to a narrow float
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op) && nd::isNarrowFloat(named))
    digits = getElementTypeOrSelf(operands[0].getType()).getIntOrFloatBitWidth();
  if (digits > llvm::APFloat::semanticsPrecision(llvm::APFloat::IEEEsingle()))
    element = b.getF64Type(); // so that it is rounded only once
  Type result = lanes ? Type(VectorType::get({lanes}, element)) : element;
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    Type from = getElementTypeOrSelf(operands[0].getType());
    if (from == element)
      return operands[0];
    // Index values are i64 here, so that a cast of one is an extension or a truncation.
    if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
      if (from.getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth())
        return Value(arith::TruncIOp::create(b, loc, result, operands[0]));
      return isa<arith::IndexCastOp>(op)
                 ? Value(arith::ExtSIOp::create(b, loc, result, operands[0]))
                 : Value(arith::ExtUIOp::create(b, loc, result, operands[0]));
    }
  }
  if (isa<arith::BitcastOp>(op)) {
    Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
    if (nd::isNarrowFloat(from) || nd::isNarrowFloat(to))
      return LogicalResult(op->emitOpError() << "is not supported between " << from << " and " << to
                                             << " in compiled code");
  }
  SmallVector<Value> given(operands);
  Value none = withoutResult(b, op, given);
  OperationState state(loc, op->getName());
  state.addOperands(given);
  state.addTypes(result);
  if (Attribute properties = op->getPropertiesAsAttribute())
    state.propertiesAttr = properties;
  state.addAttributes(op->getDiscardableAttrDictionary().getValue());
  Operation *made = b.create(state);
  if (auto fast = dyn_cast<arith::ArithFastMathInterface>(made);
      fast && isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op))
    made->setAttr(fast.getFastMathAttrName(),
                  arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::contract));
  if (digits > 1)
    return emitter.rounded(made->getResult(0), named);
  if (!none)
    return made->getResult(0);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(result));
  return Value(arith::SelectOp::create(b, loc, none, zero, made->getResult(0)));
}

FailureOr<Values> Emitter::run(Region &region, ValueRange arguments, const Point &point,
                               Section &section) {
  Block &block = region.front();
  llvm::DenseMap<Value, Value> values;
  llvm::DenseSet<Value> alreadyRounded;
  for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments)) {
    values[argument] = value;
    if (isLoaded(argument))
      alreadyRounded.insert(argument);
  }
  for (Operation &op : block.without_terminator()) {
    if (isRounded(op, alreadyRounded))
      alreadyRounded.insert(op.getResult(0));
    if (auto index = dyn_cast<IndexOp>(op)) {
      Expr coordinate = resolve(Expr::name(index.getName().str()), point);
      // Coordinates are cached by their text.
      Value &known = section.pointers[{nullptr, coordinate.str()}];
      if (!known && point.lanes && onLanes(coordinate)) {
        known = emitLanes(coordinate, point.lanes);
        if (!getElementTypeOrSelf(known.getType()).isInteger(64))
          known =
              arith::ExtSIOp::create(b, loc, VectorType::get({point.lanes}, b.getI64Type()), known);
      } else if (!known) {
        known = emit(coordinate);
      }
      values[index.getResult()] = known;
      continue;
    }
    if (auto literal = dyn_cast<arith::ConstantOp>(op)) {
      Value &known = section.ops[{&op, {}}];
      if (!known)
        known = constantOf(literal.getValue());
      values[literal.getResult()] = known;
      continue;
    }
    SmallVector<Value> operands;
    bool anyVector = false;
    for (Value operand : op.getOperands()) {
      operands.push_back(values.lookup(operand));
      anyVector |= isa<VectorType>(operands.back().getType());
    }
    std::vector<const void *> identity;
    for (Value operand : operands)
      identity.push_back(operand.getAsOpaquePointer());
    Value &known = section.ops[{&op, identity}];
    if (!known) {
      if (isa<arith::ExtFOp, arith::TruncFOp, arith::FPToSIOp, arith::FPToUIOp>(op) &&
          !nd::keepsPrecision(&op) && !alreadyRounded.contains(op.getOperand(0)))
        operands[0] = rounded(operands[0], op.getOperand(0).getType());
      if (anyVector)
        for (Value &operand : operands)
          operand = splat(operand, point.lanes);
      auto made = makeOp(*this, &op, operands, anyVector ? point.lanes : 0);
      if (failed(made))
        return failure();
      known = *made;
    }
    values[op.getResult(0)] = known;
  }
  SmallVector<Value> results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(values.lookup(value));
  return results;
}

FailureOr<Values> Emitter::foldLanes(Region &combine, ValueRange vectors, int64_t lanes) {
  SmallVector<Value> halves(vectors);
  Point point;
  // Combine the halves of the vector until one lane remains. The order depends only on the width.
  for (int64_t width = lanes; width > 1; width /= 2) {
    SmallVector<Value> arguments;
    SmallVector<int64_t> low = llvm::to_vector(llvm::seq<int64_t>(0, width / 2)),
                         high = llvm::to_vector(llvm::seq<int64_t>(width / 2, width));
    for (const auto &mask : {low, high})
      for (Value value : halves)
        arguments.push_back(vector::ShuffleOp::create(b, loc, value, value, mask));
    Section section;
    point.lanes = width / 2;
    auto combined = run(combine, arguments, point, section);
    if (failed(combined))
      return failure();
    halves = *combined;
  }
  for (Value &value : halves)
    value = vector::ExtractOp::create(b, loc, value, ArrayRef<int64_t>{0});
  return halves;
}
