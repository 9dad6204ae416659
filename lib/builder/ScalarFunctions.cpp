//===- ScalarFunctions.cpp - scalar code by the names of functions --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "lib/builder/Pointwise.h"
#include "lib/builder/SpecialFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"

#include <limits>
#include <numbers>

using namespace heddle;
using namespace heddle::detail;
using namespace mlir;

namespace {
using Unary = Value (*)(OpBuilder &, Location, Value);
using Binary = Value (*)(OpBuilder &, Location, Value, Value);

template <typename Op>
Value make1(OpBuilder &b, Location loc, Value x) {
  return Op::create(b, loc, x);
}
template <typename Op>
Value make2(OpBuilder &b, Location loc, Value x, Value y) {
  return Op::create(b, loc, x, y);
}
template <auto predicate>
Value compare(OpBuilder &b, Location loc, Value x, Value y) {
  using Op = std::conditional_t<std::is_same_v<decltype(predicate), arith::CmpFPredicate>,
                                arith::CmpFOp, arith::CmpIOp>;
  return Op::create(b, loc, predicate, x, y);
}

/// True if the sign bit is set, also that of a zero.
Value isBelow(OpBuilder &b, Location loc, Value x) {
  using namespace arith;
  Value zero = nd::buildNumber(b, loc, x.getType(), 0),
        one = nd::buildNumber(b, loc, x.getType(), 1);
  auto less = compare<CmpFPredicate::OLT>;
  Value isZero = compare<CmpFPredicate::OEQ>(b, loc, x, zero);
  Value ofZero = less(b, loc, DivFOp::create(b, loc, one, x), zero);
  return SelectOp::create(b, loc, isZero, ofZero, less(b, loc, x, zero));
}

/// The angle of (x, y), from the smaller one of the two slopes; `down` and `back` are the signs of
/// y and x. Values that are not selected must not be infinite or NaN: their derivatives times zero
/// would be NaN.
Value angle(OpBuilder &b, Location loc, Value y, Value x, Value down, Value back) {
  using namespace arith;
  Type type = x.getType();
  Value zero = nd::buildNumber(b, loc, type, 0), one = nd::buildNumber(b, loc, type, 1);
  auto choose = [&](Value condition, Value yes, Value no) -> Value {
    return SelectOp::create(b, loc, condition, yes, no);
  };
  auto turn = [&](double angle) { return nd::buildNumber(b, loc, type, angle); };
  Value steep = compare<CmpFPredicate::OLT>(b, loc, math::AbsFOp::create(b, loc, x),
                                            math::AbsFOp::create(b, loc, y));
  Value below = choose(steep, y, x);
  Value atOrigin = compare<CmpFPredicate::OEQ>(b, loc, below, zero);
  // At the origin the angle keeps the sign of y, and is constant.
  Value beside = choose(steep, x, y);
  Value isBoth =
      AndIOp::create(b, loc, atOrigin, compare<CmpFPredicate::OEQ>(b, loc, beside, zero));
  beside = choose(isBoth, choose(down, turn(-0.0), zero), beside);
  Value slope = DivFOp::create(b, loc, beside, choose(atOrigin, one, below));
  Value part = math::AtanOp::create(b, loc, slope);
  constexpr double pi = std::numbers::pi;
  Value opposite = AddFOp::create(b, loc, part, choose(down, turn(-pi), turn(pi)));
  Value upright = SubFOp::create(b, loc, choose(down, turn(-pi / 2), turn(pi / 2)), part);
  return choose(steep, upright, choose(back, opposite, part));
}

Value anyAngle(OpBuilder &b, Location loc, Value y, Value x) {
  using namespace arith;
  Value down = isBelow(b, loc, y), back = isBelow(b, loc, x);
  // Two infinite sides count as equally long.
  auto isInfinite = [&](Value side) {
    return compare<CmpFPredicate::OEQ>(
        b, loc, math::AbsFOp::create(b, loc, side),
        nd::buildNumber(b, loc, x.getType(), std::numeric_limits<double>::infinity()));
  };
  Value isDiagonal = AndIOp::create(b, loc, isInfinite(x), isInfinite(y));
  auto finite = [&](Value side, Value isNegative) -> Value {
    Value one = SelectOp::create(b, loc, isNegative, nd::buildNumber(b, loc, x.getType(), -1),
                                 nd::buildNumber(b, loc, x.getType(), 1));
    return SelectOp::create(b, loc, isDiagonal, one, side);
  };
  return angle(b, loc, finite(y, down), finite(x, back), down, back);
}

/// A function whose constants are not representable in narrow types, so it is computed in f32.
template <auto function, typename... Operands>
Value widely(OpBuilder &b, Location loc, Operands... x) {
  Type type = std::get<0>(std::tuple(x...)).getType();
  if (!nd::isNarrowFloat(type))
    return function(b, loc, x...);
  auto widen = [&](Value each) -> Value {
    return arith::ExtFOp::create(b, loc, b.getF32Type(), each);
  };
  return arith::TruncFOp::create(b, loc, type, function(b, loc, widen(x)...));
}

/// A function that is written as an expression of others, computed in f32 or f64.
template <Composition function, typename... Operands>
Value composed(OpBuilder &b, Location loc, Operands... x) {
  return emitComposition(b, loc, function, {x...});
}
template <Composition function, typename... Operands>
constexpr auto composedOf = widely<composed<function, Operands...>, Operands...>;

/// sqrt(1 - x^2): the other side of a right-angled triangle with the hypotenuse 1.
Value otherSide(OpBuilder &b, Location loc, Value x) {
  Value one = nd::buildNumber(b, loc, x.getType(), 1);
  return math::SqrtOp::create(b, loc,
                              arith::MulFOp::create(b, loc, arith::SubFOp::create(b, loc, one, x),
                                                    arith::AddFOp::create(b, loc, one, x)));
}

Value tangent(OpBuilder &b, Location loc, Value x) {
  return arith::DivFOp::create(b, loc, math::SinOp::create(b, loc, x),
                               math::CosOp::create(b, loc, x));
}
/// The angle whose sine, or cosine, is `x`.
template <bool isSine>
Value arc(OpBuilder &b, Location loc, Value x) {
  Value no = nd::buildNumber(b, loc, b.getI1Type(), 0), other = otherSide(b, loc, x);
  Value negative =
      compare<arith::CmpFPredicate::OLT>(b, loc, x, nd::buildNumber(b, loc, x.getType(), 0));
  return isSine ? angle(b, loc, x, other, negative, no) : angle(b, loc, other, x, no, negative);
}

Value sigmoid(OpBuilder &b, Location loc, Value x) {
  Type type = x.getType();
  Value one = nd::buildNumber(b, loc, type, 1), zero = nd::buildNumber(b, loc, type, 0);
  // Beyond this bound the result is not a normal number, and the exponential overflows: its
  // derivative would be infinity times zero.
  double bound = type.isF64() ? 709 : type.getIntOrFloatBitWidth() == 8 ? 80 : 88;
  Value power = arith::NegFOp::create(b, loc, x), most = nd::buildNumber(b, loc, type, bound);
  Value isZero = compare<arith::CmpFPredicate::OGT>(b, loc, power, most);
  Value e = math::ExpOp::create(b, loc, arith::SelectOp::create(b, loc, isZero, most, power));
  Value value = arith::DivFOp::create(b, loc, one, arith::AddFOp::create(b, loc, one, e));
  return arith::SelectOp::create(b, loc, isZero, zero, value);
}

/// -1, 1, or where `x` is neither below nor above zero, zero or NaN. Constant everywhere: no branch
/// is `x` itself.
template <auto below, auto above>
Value signOf(OpBuilder &b, Location loc, Value x) {
  Type type = x.getType();
  Value zero = nd::buildNumber(b, loc, type, 0), one = nd::buildNumber(b, loc, type, 1);
  Value rest =
      isa<FloatType>(type)
          ? Value(arith::SelectOp::create(
                b, loc, compare<arith::CmpFPredicate::UNO>(b, loc, x, x),
                nd::buildNumber(b, loc, type, std::numeric_limits<double>::quiet_NaN()), zero))
          : zero;
  Value minus = arith::SelectOp::create(b, loc, compare<below>(b, loc, x, zero),
                                        nd::buildNumber(b, loc, type, -1), rest);
  return arith::SelectOp::create(b, loc, compare<above>(b, loc, x, zero), one, minus);
}

Value negated(OpBuilder &b, Location loc, Value x) {
  return arith::SubIOp::create(b, loc, nd::buildNumber(b, loc, x.getType(), 0), x);
}
Value same(OpBuilder &, Location, Value x) { return x; }
} // namespace

namespace {
template <typename Create>
struct Function {
  StringRef name;
  Create create;
};
} // namespace

/// The function of a name; null if there is none.
template <typename Create, size_t count>
static Create functionOf(const Function<Create> (&functions)[count], StringRef name) {
  auto *found = llvm::find_if(functions, [&](const auto &each) { return each.name == name; });
  return found == std::end(functions) ? nullptr : found->create;
}

using F = arith::CmpFPredicate;
using I = arith::CmpIPredicate;

static const Function<Binary> floatBinaries[] = {{"add", make2<arith::AddFOp>},
                                                 {"sub", make2<arith::SubFOp>},
                                                 {"mul", make2<arith::MulFOp>},
                                                 {"div", make2<arith::DivFOp>},
                                                 {"rem", make2<arith::RemFOp>},
                                                 {"max", make2<arith::MaximumFOp>},
                                                 {"min", make2<arith::MinimumFOp>},
                                                 {"pow", make2<math::PowFOp>},
                                                 {"atan2", widely<anyAngle, Value, Value>},
                                                 {"hypot", composedOf<hypotenuse, Value, Value>},
                                                 {"copysign", composedOf<withSignOf, Value, Value>},
                                                 {"lt", compare<F::OLT>},
                                                 {"le", compare<F::OLE>},
                                                 {"eq", compare<F::OEQ>},
                                                 {"ne", compare<F::UNE>}};

static const Function<Unary> floatUnaries[] = {{"neg", make1<arith::NegFOp>},
                                               {"abs", make1<math::AbsFOp>},
                                               {"sign", signOf<F::OLT, F::OGT>},
                                               {"exp", make1<math::ExpOp>},
                                               {"exp2", make1<math::Exp2Op>},
                                               {"expm1", make1<math::ExpM1Op>},
                                               {"log", make1<math::LogOp>},
                                               {"log2", make1<math::Log2Op>},
                                               {"log10", make1<math::Log10Op>},
                                               {"log1p", make1<math::Log1pOp>},
                                               {"sqrt", make1<math::SqrtOp>},
                                               {"rsqrt", make1<math::RsqrtOp>},
                                               {"sinh", make1<math::SinhOp>},
                                               {"cosh", make1<math::CoshOp>},
                                               {"tanh", make1<math::TanhOp>},
                                               {"asinh", make1<math::AsinhOp>},
                                               {"acosh", make1<math::AcoshOp>},
                                               {"atanh", make1<math::AtanhOp>},
                                               {"erf", make1<math::ErfOp>},
                                               {"erfc", make1<math::ErfcOp>},
                                               {"erfinv", composedOf<erfInverse, Value>},
                                               {"lgamma", composedOf<logGamma, Value>},
                                               {"digamma", composedOf<gammaSlope, Value>},
                                               {"sigmoid", sigmoid},
                                               {"sin", make1<math::SinOp>},
                                               {"cos", make1<math::CosOp>},
                                               {"tan", tangent},
                                               {"asin", widely<arc<true>, Value>},
                                               {"acos", widely<arc<false>, Value>},
                                               {"atan", make1<math::AtanOp>},
                                               {"floor", make1<math::FloorOp>},
                                               {"ceil", make1<math::CeilOp>},
                                               {"trunc", make1<math::TruncOp>},
                                               {"roundEven", make1<math::RoundEvenOp>}};

SmallVector<StringRef> heddle::detail::floatFunctions(unsigned operands) {
  auto name = [](const auto &each) { return each.name; };
  return operands == 1   ? llvm::map_to_vector(floatUnaries, name)
         : operands == 2 ? llvm::map_to_vector(floatBinaries, name)
                         : SmallVector<StringRef>();
}

bool heddle::detail::isArithmetic(StringRef op) {
  return llvm::is_contained({"add", "sub", "mul", "div", "pow"}, op);
}

void heddle::detail::requireExponent(double exponent, Type element, Here here) {
  if (isa<FloatType>(element) || !(exponent < 0))
    return;
  std::string text;
  llvm::raw_string_ostream(text) << "expected an exponent of at least 0 for elements of type "
                                 << element << ", got " << llvm::format("%g", exponent);
  fail(here, text + "; convert the base with cast");
}

Value heddle::detail::binary(OpBuilder &b, Location loc, StringRef op, Value x, Value y,
                             bool isUnsigned) {
  using namespace arith;
  Binary create = nullptr;
  if (isa<FloatType>(x.getType()))
    create = functionOf(floatBinaries, op);
  else if (op == "pow")
    return integerPower(b, loc, x, y, isUnsigned);
  else
    create = llvm::StringSwitch<Binary>(op)
                 .Case("add", make2<AddIOp>)
                 .Case("sub", make2<SubIOp>)
                 .Case("mul", make2<MulIOp>)
                 .Case("and", make2<AndIOp>)
                 .Case("or", make2<OrIOp>)
                 .Case("xor", make2<XOrIOp>)
                 .Case("shl", make2<ShLIOp>)
                 .Case("eq", compare<I::eq>)
                 .Case("ne", compare<I::ne>)
                 .Case("div", isUnsigned ? make2<DivUIOp> : make2<DivSIOp>)
                 .Case("rem", isUnsigned ? make2<RemUIOp> : make2<RemSIOp>)
                 .Case("shr", isUnsigned ? make2<ShRUIOp> : make2<ShRSIOp>)
                 .Case("max", isUnsigned ? make2<MaxUIOp> : make2<MaxSIOp>)
                 .Case("min", isUnsigned ? make2<MinUIOp> : make2<MinSIOp>)
                 .Case("lt", isUnsigned ? compare<I::ult> : compare<I::slt>)
                 .Case("le", isUnsigned ? compare<I::ule> : compare<I::sle>)
                 .Default(nullptr);
  return create ? create(b, loc, x, y) : Value();
}

Value heddle::detail::unary(OpBuilder &b, Location loc, StringRef op, Value x, bool isUnsigned) {
  Unary create = nullptr;
  if (isa<FloatType>(x.getType()))
    create = functionOf(floatUnaries, op);
  else
    create = llvm::StringSwitch<Unary>(op)
                 .Case("neg", negated)
                 .Case("not",
                       [](OpBuilder &b, Location loc, Value x) -> Value {
                         return arith::XOrIOp::create(b, loc, x,
                                                      nd::buildNumber(b, loc, x.getType(), -1));
                       })
                 .Case(
                     "abs",
                     isUnsigned ? same : [](OpBuilder &b, Location loc, Value x) -> Value {
                       return arith::MaxSIOp::create(b, loc, x, negated(b, loc, x));
                     })
                 .Case("sign", isUnsigned ? signOf<I::ult, I::ugt> : signOf<I::slt, I::sgt>)
                 .Default(nullptr);
  return create ? create(b, loc, x) : Value();
}
