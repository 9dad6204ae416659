//===- NdBuildScalar.cpp - scalar code and conversions --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

bool nd::isSignedElement(Type element) {
  return element.isSignlessInteger() && !element.isInteger(1);
}

Type nd::accumulatorType(Type element) {
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
    return Float32Type::get(element.getContext());
  return signless(element);
}

TypedAttr nd::numberAttr(Type type, double value) {
  if (isa<FloatType>(type))
    return FloatAttr::get(type, value);
  // Convert through 64 bits, so that -1 has all bits set in every width.
  unsigned width = type.getIntOrFloatBitWidth();
  return IntegerAttr::get(type,
                          APInt(64, uint64_t(int64_t(value)), /*isSigned=*/true).trunc(width));
}

Value nd::buildNumber(OpBuilder &builder, Location loc, Type type, double value) {
  return arith::ConstantOp::create(builder, loc, numberAttr(type, value));
}

Value nd::convertScalar(OpBuilder &b, Location loc, Value value, Type from, Type to) {
  Type target = signless(to);
  if (from == to || (value.getType() == target && !isa<FloatType>(target)))
    return value;
  auto fromFloat = dyn_cast<FloatType>(from), toFloat = dyn_cast<FloatType>(to);
  unsigned fromWidth = from.getIntOrFloatBitWidth(), toWidth = to.getIntOrFloatBitWidth();
  if (to.isInteger(1)) {
    if (isNarrowFloat(from)) // round before the comparison
      value = arith::ExtFOp::create(b, loc, b.getF32Type(), value);
    Value zero = buildNumber(b, loc, value.getType(), 0);
    if (fromFloat)
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, value, zero);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, zero);
  }
  if (fromFloat && toFloat) {
    if (fromWidth < toWidth)
      return arith::ExtFOp::create(b, loc, target, value);
    if (fromWidth == toWidth) // f16 and bf16, or of 8 bits
      value = arith::ExtFOp::create(b, loc, b.getF32Type(), value);
    return arith::TruncFOp::create(b, loc, target, value);
  }
  bool isSigned = isSignedElement(from);
  if (toFloat)
    return isSigned ? Value(arith::SIToFPOp::create(b, loc, target, value))
                    : Value(arith::UIToFPOp::create(b, loc, target, value));
  if (fromFloat)
    return isSignedElement(to) ? Value(arith::FPToSIOp::create(b, loc, target, value))
                               : Value(arith::FPToUIOp::create(b, loc, target, value));
  if (fromWidth > toWidth)
    return arith::TruncIOp::create(b, loc, target, value);
  return isSigned ? Value(arith::ExtSIOp::create(b, loc, target, value))
                  : Value(arith::ExtUIOp::create(b, loc, target, value));
}

Value nd::buildUnrounded(OpBuilder &builder, Location loc, Type type, double value) {
  if (!isNarrowFloat(type) || !std::isfinite(value))
    return buildNumber(builder, loc, type, value);
  bool isInexact;
  llvm::APFloat rounded(value);
  rounded.convert(cast<FloatType>(type).getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                  &isInexact);
  if (!isInexact)
    return buildNumber(builder, loc, type, value);
  return convertFloat(builder, loc, buildNumber(builder, loc, builder.getF32Type(), value), type);
}

Value nd::convertFloat(OpBuilder &builder, Location loc, Value value, Type type) {
  if (!isa<FloatType>(type))
    return value;
  Value result = convertScalar(builder, loc, value, value.getType(), type);
  for (Value made = result; made != value; made = made.getDefiningOp()->getOperand(0))
    keepPrecision(made.getDefiningOp());
  return result;
}

SmallVector<Value> nd::inlineBlock(OpBuilder &builder, Block &block, IRMapping &mapping,
                                   SmallVectorImpl<Operation *> *clones) {
  for (Operation &op : block.without_terminator()) {
    Operation *clone = builder.clone(op, mapping);
    if (clones)
      clones->push_back(clone);
  }
  return llvm::map_to_vector(block.getTerminator()->getOperands(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

SmallVector<Value> nd::inlineBlock(OpBuilder &builder, Block &block, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  return inlineBlock(builder, block, mapping);
}
