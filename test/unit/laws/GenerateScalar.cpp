//===- GenerateScalar.cpp - random scalar code ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/GenerateScalar.h"

#include "dialects/nd/NdBuild.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace heddle;
using namespace heddle::laws;
using namespace mlir;

Type laws::drawElement(Dice &dice, MLIRContext *context, bool smooth) {
  Builder b(context);
  if (smooth)
    return b.getF64Type();
  int64_t draw = dice.below(100);
  if (draw < 40)
    return b.getF32Type();
  if (draw < 49)
    return b.getF64Type();
  if (draw < 56)
    return b.getBF16Type();
  if (draw < 60)
    return b.getF16Type();
  if (draw < 64)
    return b.getType<Float8E4M3FNType>();
  if (draw < 67)
    return b.getType<Float8E5M2Type>();
  if (draw < 71)
    return b.getI1Type();
  if (draw < 83)
    return b.getIntegerType(dice.pick({8, 16, 32, 32, 64, 64}));
  return IntegerType::get(context, dice.pick({8, 8, 16, 32, 64}), IntegerType::Unsigned);
}

namespace {
/// Ops on scalars of one element type.
class Code {
public:
  Code(Dice &dice, OpBuilder &b, Location loc, Type element, bool smooth)
      : dice(dice), b(b), loc(loc), element(element), type(nd::signless(element)), smooth(smooth) {}

  SmallVector<Value> values;

  Value number(double value) { return nd::buildNumber(b, loc, type, value); }
  Value any() { return dice.pick(values); }
  Value recent() { return dice.chance(60) ? values.back() : any(); }
  void step() {
    values.push_back(isa<FloatType>(type)   ? floatStep()
                     : element.isInteger(1) ? boolStep()
                                            : integerStep());
  }
  Value floatStep();
  Value unary(Value x);
  Value integerStep();
  Value boolStep();
  Value condition(Value x, Value y);
  Value tamed(Value x, double low, double high) {
    return arith::MinimumFOp::create(b, loc, arith::MaximumFOp::create(b, loc, x, number(low)),
                                     number(high));
  }

private:
  Dice &dice;
  OpBuilder &b;
  Location loc;
  Type element, type;
  bool smooth;

  Value onePlusSquare(Value x) {
    return arith::AddFOp::create(b, loc, number(1), arith::MulFOp::create(b, loc, x, x));
  }
};
} // namespace

Value Code::unary(Value x) {
  switch (dice.below(smooth ? 24 : 28)) {
  case 0:
    return arith::NegFOp::create(b, loc, x);
  case 1:
    return math::TanhOp::create(b, loc, x);
  case 2:
    return math::SinOp::create(b, loc, x);
  case 3:
    return math::CosOp::create(b, loc, x);
  case 4:
    return math::ExpOp::create(b, loc, math::TanhOp::create(b, loc, x));
  case 5:
    return math::SqrtOp::create(b, loc, onePlusSquare(x));
  case 6:
    return math::RsqrtOp::create(b, loc, onePlusSquare(x));
  case 7:
    return math::LogOp::create(b, loc, onePlusSquare(x));
  case 8:
    return math::ErfOp::create(b, loc, x);
  case 9:
    return math::Exp2Op::create(b, loc, tamed(x, -3, 3));
  case 10:
    return math::AbsFOp::create(b, loc, x);
  case 11:
    return arith::MaximumFOp::create(b, loc, x, number(0)); // relu
  case 12:
    return math::PowFOp::create(b, loc, onePlusSquare(x), number(dice.pick({0.5, 2.0, -1.0, 1.5})));
  case 13:
    return math::Log1pOp::create(b, loc, math::AbsFOp::create(b, loc, x));
  case 14:
    return math::ExpM1Op::create(b, loc, math::TanhOp::create(b, loc, x));
  case 15:
    return math::Log2Op::create(b, loc, onePlusSquare(x));
  case 16:
    return math::AtanOp::create(b, loc, x);
  case 17:
    return math::SinhOp::create(b, loc, math::TanhOp::create(b, loc, x));
  case 18:
    return math::CoshOp::create(b, loc, math::TanhOp::create(b, loc, x));
  case 19:
    return math::AsinhOp::create(b, loc, x);
  case 20:
    return math::AcoshOp::create(b, loc, onePlusSquare(onePlusSquare(x)));
  case 21:
    return math::AtanhOp::create(
        b, loc, arith::MulFOp::create(b, loc, math::TanhOp::create(b, loc, x), number(0.5)));
  case 22:
    return math::Log10Op::create(b, loc, onePlusSquare(x));
  case 23:
    return math::ErfcOp::create(b, loc, x);
  case 24:
    return math::FloorOp::create(b, loc, x);
  case 25:
    return math::RoundEvenOp::create(b, loc, x);
  case 26:
    return math::TruncOp::create(b, loc, x);
  default:
    return math::CeilOp::create(b, loc, x);
  }
}

Value Code::condition(Value x, Value y) {
  if (isa<FloatType>(type))
    return arith::CmpFOp::create(
        b, loc,
        dice.pick({arith::CmpFPredicate::OLT, arith::CmpFPredicate::OGE, arith::CmpFPredicate::UGT,
                   // No comparison that would give a single point a slope of its own.
                   smooth ? arith::CmpFPredicate::OLE : arith::CmpFPredicate::ONE}),
        x, y);
  bool isSigned = nd::isSignedElement(element);
  return arith::CmpIOp::create(
      b, loc,
      dice.pick({isSigned ? arith::CmpIPredicate::slt : arith::CmpIPredicate::ult,
                 isSigned ? arith::CmpIPredicate::sge : arith::CmpIPredicate::uge,
                 arith::CmpIPredicate::eq, arith::CmpIPredicate::ne}),
      x, y);
}

Value Code::floatStep() {
  Value x = recent(), y = dice.chance(75) ? any() : number(double(dice.between(-8, 8)) / 4);
  Type other = type.isBF16() || type.isF64() ? Type(b.getF32Type()) : Type(b.getBF16Type());
  switch (dice.below(16)) {
  case 0:
  case 1:
    return arith::AddFOp::create(b, loc, x, y);
  case 2:
    return arith::SubFOp::create(b, loc, x, y);
  case 3:
  case 4:
  case 5:
    return arith::MulFOp::create(b, loc, x, y);
  case 6:
    return arith::DivFOp::create(b, loc, x, onePlusSquare(y));
  case 7:
    return dice.chance(50) ? Value(arith::MaximumFOp::create(b, loc, x, y))
                           : Value(arith::MinimumFOp::create(b, loc, x, y));
  case 8:
    return arith::SelectOp::create(b, loc, condition(x, y), x, any());
  case 9:
    return math::FmaOp::create(b, loc, x, y, any());
  case 10:
    return dice.chance(50) ? Value(arith::MaxNumFOp::create(b, loc, x, y))
                           : Value(arith::MinNumFOp::create(b, loc, x, y));
  case 11:
    if (dice.chance(25))
      return arith::RemFOp::create(b, loc, x, onePlusSquare(y));
    return unary(x);
  case 12:
    if (dice.chance(25))
      return math::PowFOp::create(b, loc, onePlusSquare(x), tamed(y, -3, 3));
    return unary(x);
  case 13:
    if (!smooth && dice.chance(40)) { // casts round, conversions need not
      if (dice.chance(30))
        return nd::convertFloat(b, loc, nd::convertFloat(b, loc, x, other), type);
      return nd::convertScalar(b, loc, nd::convertScalar(b, loc, x, type, other), other, type);
    }
    [[fallthrough]];
  default:
    return unary(x);
  }
}

Value Code::integerStep() {
  Value x = recent(), y = dice.chance(75) ? any() : number(double(dice.between(0, 7)));
  unsigned width = type.getIntOrFloatBitWidth();
  bool isSigned = nd::isSignedElement(element);
  switch (dice.below(isSigned ? 14 : 13)) {
  case 0:
  case 1:
    return arith::AddIOp::create(b, loc, x, y);
  case 13:
    return math::AbsIOp::create(b, loc, x);
  case 2:
    return arith::SubIOp::create(b, loc, x, y);
  case 3:
  case 4:
    return arith::MulIOp::create(b, loc, x, y);
  case 5:
    return arith::AndIOp::create(b, loc, x, y);
  case 6:
    return arith::XOrIOp::create(b, loc, x, y);
  case 7:
    return isSigned ? Value(arith::MaxSIOp::create(b, loc, x, y))
                    : Value(arith::MaxUIOp::create(b, loc, x, y));
  case 8:
    return isSigned ? Value(arith::MinSIOp::create(b, loc, x, y))
                    : Value(arith::MinUIOp::create(b, loc, x, y));
  case 9:
    return arith::SelectOp::create(b, loc, condition(x, y), x, any());
  case 10: {
    Value by = number(double(dice.between(1, 7)));
    return isSigned ? Value(arith::DivSIOp::create(b, loc, x, by))
                    : Value(arith::DivUIOp::create(b, loc, x, by));
  }
  case 11: {
    Value by = number(double(dice.between(0, int64_t(width) - 1)));
    return dice.chance(50) ? Value(arith::ShLIOp::create(b, loc, x, by))
           : isSigned      ? Value(arith::ShRSIOp::create(b, loc, x, by))
                           : Value(arith::ShRUIOp::create(b, loc, x, by));
  }
  default:
    return isSigned ? Value(arith::RemSIOp::create(b, loc, x, number(5)))
                    : Value(arith::RemUIOp::create(b, loc, x, number(5)));
  }
}

Value Code::boolStep() {
  Value x = recent(), y = any();
  switch (dice.below(4)) {
  case 0:
    return arith::AndIOp::create(b, loc, x, y);
  case 1:
    return arith::OrIOp::create(b, loc, x, y);
  case 2:
    return arith::XOrIOp::create(b, loc, x, y);
  default:
    return arith::SelectOp::create(b, loc, x, y, number(1));
  }
}

Value laws::drawScalarCode(Dice &dice, OpBuilder &b, Location loc, ValueRange scalars,
                           ArrayRef<Type> from, Type to, bool smooth) {
  // The code computes in the type of an argument, or of the result.
  Type element = dice.chance(30) || from.empty() || smooth ? to : dice.pick(from);
  bool anyFloat = isa<FloatType>(to) || llvm::any_of(from, llvm::IsaPred<FloatType>);
  if (anyFloat && !isa<FloatType>(element) && dice.chance(60))
    element = b.getF32Type();
  Code code(dice, b, loc, element, smooth);
  for (auto [value, type] : llvm::zip_equal(scalars, from)) {
    Value x = value;
    if (isa<FloatType>(type) && isa<IntegerType>(element) && !element.isInteger(1)) {
      Code own(dice, b, loc, type, smooth);
      x = own.tamed(x, element.isUnsignedInteger() ? 0 : -100, 100);
    }
    code.values.push_back(nd::convertScalar(b, loc, x, type, element));
  }
  if (code.values.empty())
    code.values.push_back(code.number(double(dice.between(-4, 4)) / 2));
  // All arguments affect the result.
  for (size_t i = 1; i < scalars.size(); ++i) {
    Value x = code.values[i - 1], y = code.values[i];
    if (isa<FloatType>(element))
      code.values.push_back(dice.chance(60) ? Value(arith::MulFOp::create(b, loc, x, y))
                                            : Value(arith::AddFOp::create(b, loc, x, y)));
    else
      code.values.push_back(dice.chance(60) ? Value(arith::XOrIOp::create(b, loc, x, y))
                                            : Value(arith::AddIOp::create(b, loc, x, y)));
  }
  for (int64_t i = dice.pick({0, 0, 1, 1, 1, 2, 2, 3, 5}); i > 0; --i)
    code.step();
  Value result = code.values.back();
  if (isa<FloatType>(element) && isa<IntegerType>(to) && !to.isInteger(1))
    result = code.tamed(result, to.isUnsignedInteger() ? 0 : -100, 100);
  else if (isa<FloatType>(element) && dice.chance(25))
    result = math::TanhOp::create(b, loc, result);
  return nd::convertScalar(b, loc, result, element, to);
}

Value laws::drawCondition(Dice &dice, OpBuilder &b, Location loc, ValueRange scalars,
                          ArrayRef<Type> from, bool smooth) {
  size_t i = size_t(dice.below(int64_t(scalars.size())));
  if (from[i].isInteger(1))
    return scalars[i];
  Code code(dice, b, loc, from[i], smooth);
  Value other = code.number(double(dice.between(-3, 3)) / (isa<FloatType>(from[i]) ? 2 : 1));
  for (auto [scalar, type] : llvm::zip_equal(scalars, from))
    if (type == from[i] && scalar != scalars[i] && dice.chance(50))
      other = scalar;
  return code.condition(scalars[i], other);
}

Value laws::combineScalars(OpBuilder &b, Location loc, nd::CombinerKind kind, bool isSigned,
                           Value x, Value y) {
  Region region;
  nd::buildCombiner(b, loc, region, kind, x.getType(), nd::YieldOp::getOperationName(), isSigned);
  return nd::inlineBlock(b, region.front(), {x, y})[0];
}
