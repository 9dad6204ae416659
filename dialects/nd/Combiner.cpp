//===- Combiner.cpp - named combiners -------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/Combiner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace heddle::nd {

static constexpr std::pair<CombinerKind, StringLiteral> spellings[] = {
    {CombinerKind::Add, "add"}, {CombinerKind::Mul, "mul"}, {CombinerKind::Max, "max"},
    {CombinerKind::Min, "min"}, {CombinerKind::And, "and"}, {CombinerKind::Or, "or"},
    {CombinerKind::Xor, "xor"}};

StringRef spelling(CombinerKind kind) {
  for (auto [each, text] : spellings)
    if (each == kind)
      return text;
  return "general";
}

std::optional<CombinerKind> parseCombinerKind(StringRef text) {
  for (auto [kind, each] : spellings)
    if (each == text)
      return kind;
  return std::nullopt;
}

CombinerKind combinerKind(Region &region, bool *isSigned) {
  if (isSigned)
    *isSigned = true;
  if (region.empty() || region.front().getNumArguments() != 2)
    return CombinerKind::General;
  Block &block = region.front();
  if (llvm::range_size(block) != 2)
    return CombinerKind::General;
  Operation &op = block.front();
  Operation *end = block.getTerminator();
  bool both =
      op.getNumOperands() == 2 && op.getNumResults() == 1 &&
      ((op.getOperand(0) == block.getArgument(0) && op.getOperand(1) == block.getArgument(1)) ||
       (op.getOperand(0) == block.getArgument(1) && op.getOperand(1) == block.getArgument(0)));
  if (!both || end->getNumOperands() != 1 || end->getOperand(0) != op.getResult(0))
    return CombinerKind::General;
  if (isa<arith::AddFOp, arith::AddIOp>(op))
    return CombinerKind::Add;
  if (isa<arith::MulFOp, arith::MulIOp>(op))
    return CombinerKind::Mul;
  if (isa<arith::MaximumFOp, arith::MaxSIOp>(op))
    return CombinerKind::Max;
  if (isa<arith::MinimumFOp, arith::MinSIOp>(op))
    return CombinerKind::Min;
  if (isa<arith::MaxUIOp, arith::MinUIOp>(op)) {
    if (isSigned)
      *isSigned = false;
    return isa<arith::MaxUIOp>(op) ? CombinerKind::Max : CombinerKind::Min;
  }
  if (isa<arith::AndIOp>(op))
    return CombinerKind::And;
  if (isa<arith::OrIOp>(op))
    return CombinerKind::Or;
  if (isa<arith::XOrIOp>(op))
    return CombinerKind::Xor;
  return CombinerKind::General;
}

TypedAttr neutralElement(CombinerKind kind, Type type, bool isSigned) {
  if (auto real = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = real.getFloatSemantics();
    auto extreme = [&](bool negative) {
      return FloatAttr::get(type, APFloat::semanticsHasInf(semantics)
                                      ? APFloat::getInf(semantics, negative)
                                      : APFloat::getLargest(semantics, negative));
    };
    switch (kind) {
    case CombinerKind::Add:
      return FloatAttr::get(type, 0.0);
    case CombinerKind::Mul:
      return FloatAttr::get(type, 1.0);
    case CombinerKind::Max:
      return extreme(/*negative=*/true);
    case CombinerKind::Min:
      return extreme(/*negative=*/false);
    default:
      return {};
    }
  }
  unsigned width = cast<IntegerType>(type).getWidth();
  auto of = [&](const APInt &value) { return IntegerAttr::get(type, value); };
  switch (kind) {
  case CombinerKind::Add:
  case CombinerKind::Or:
  case CombinerKind::Xor:
    return of(APInt::getZero(width));
  case CombinerKind::Mul:
    return of(APInt(width, 1));
  case CombinerKind::And:
    return of(APInt::getAllOnes(width));
  case CombinerKind::Max:
    return of(isSigned ? APInt::getSignedMinValue(width) : APInt::getMinValue(width));
  case CombinerKind::Min:
    return of(isSigned ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width));
  case CombinerKind::General:
    return {};
  }
  return {};
}

static Value combine(OpBuilder &builder, Location loc, CombinerKind kind, Value a, Value b,
                     bool isSigned) {
  bool real = isa<FloatType>(a.getType());
  switch (kind) {
  case CombinerKind::Add:
    return real ? Value(arith::AddFOp::create(builder, loc, a, b))
                : arith::AddIOp::create(builder, loc, a, b);
  case CombinerKind::Mul:
    return real ? Value(arith::MulFOp::create(builder, loc, a, b))
                : arith::MulIOp::create(builder, loc, a, b);
  case CombinerKind::Max:
    if (real)
      return arith::MaximumFOp::create(builder, loc, a, b);
    return isSigned ? Value(arith::MaxSIOp::create(builder, loc, a, b))
                    : arith::MaxUIOp::create(builder, loc, a, b);
  case CombinerKind::Min:
    if (real)
      return arith::MinimumFOp::create(builder, loc, a, b);
    return isSigned ? Value(arith::MinSIOp::create(builder, loc, a, b))
                    : arith::MinUIOp::create(builder, loc, a, b);
  case CombinerKind::And:
    return arith::AndIOp::create(builder, loc, a, b);
  case CombinerKind::Or:
    return arith::OrIOp::create(builder, loc, a, b);
  case CombinerKind::Xor:
    return arith::XOrIOp::create(builder, loc, a, b);
  case CombinerKind::General:
    break;
  }
  return {};
}

TypedAttr buildCombiner(OpBuilder &builder, Location loc, Region &region, CombinerKind kind,
                        Type type, StringRef yieldName, bool isSigned) {
  assert(kind != CombinerKind::General && "expected a combiner that has a name");
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&region);
  Value a = block->addArgument(type, loc), b = block->addArgument(type, loc);
  Value result = combine(builder, loc, kind, a, b, isSigned);
  OperationState state(loc, yieldName);
  state.addOperands(result);
  builder.create(state);
  return neutralElement(kind, type, isSigned);
}

} // namespace heddle::nd
