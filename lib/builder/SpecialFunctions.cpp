//===- SpecialFunctions.cpp - functions as scalar expressions -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/builder/SpecialFunctions.h"
#include "lib/builder/Scalar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <numbers>

using namespace heddle;
using namespace mlir;

Value heddle::detail::emitComposition(OpBuilder &builder, Location loc, Composition function,
                                      ValueRange operands) {
  using Node = Scalar::Node;
  Type type = operands[0].getType();
  Scalars arguments;
  for (size_t i = 0; i < operands.size(); ++i)
    arguments.push_back(Scalar(std::make_shared<const Node>(
        Node{.kind = Node::Kind::Argument, .here = Here::current(), .position = i})));
  ScalarEmitter emitter{builder, loc, [&](const Node &node) { return operands[node.position]; },
                        [&](const Node &) { return type; }};
  return emitter.emit(function(arguments, type.isF64()).node, type);
}

/// `x` to the power of `n`, by squaring. Bits of a negative exponent count as those of an exponent
/// that is larger by 2^width, for which the powers of 1 and -1 are the same; all other bases give
/// 0, the quotient 1 / x^-n rounded towards zero.
Value heddle::detail::integerPower(OpBuilder &b, Location loc, Value x, Value n, bool isUnsigned) {
  using namespace arith;
  auto number = [&](APInt value) -> Value {
    return ConstantOp::create(b, loc, b.getIntegerAttr(x.getType(), value));
  };
  unsigned width = x.getType().getIntOrFloatBitWidth();
  if (width == 1)
    return nullptr;
  Value zero = number(APInt(width, 0)), one = number(APInt(width, 1)), power = one, square = x;
  for (unsigned bit = 0; bit < width; ++bit) {
    if (bit > 0)
      square = b.createOrFold<MulIOp>(loc, square, square);
    Value own = b.createOrFold<AndIOp>(loc, n, number(APInt::getOneBitSet(width, bit)));
    Value isSet = b.createOrFold<CmpIOp>(loc, CmpIPredicate::ne, own, zero);
    Value product = b.createOrFold<MulIOp>(loc, square, power);
    power = b.createOrFold<SelectOp>(loc, isSet, product, power);
  }
  if (isUnsigned)
    return power;
  Value isNegative = b.createOrFold<CmpIOp>(loc, CmpIPredicate::slt, n, zero);
  Value next = b.createOrFold<AddIOp>(loc, x, one); // at most 2 for -1, 0 and 1
  Value isOther = b.createOrFold<CmpIOp>(loc, CmpIPredicate::ugt, next, number(APInt(width, 2)));
  Value isLost = b.createOrFold<AndIOp>(loc, isNegative, isOther);
  return b.createOrFold<SelectOp>(loc, isLost, zero, power);
}

/// c[0] + z * (c[1] + z * ...).
static Scalar polynomial(const Scalar &z, ArrayRef<double> c) {
  Scalar sum = c.back();
  for (double each : llvm::reverse(c.drop_back()))
    sum = sum * z + each;
  return sum;
}

/// The sides are scaled by a constant power of two, so that the squares neither overflow nor
/// underflow. The root of zero is not taken, because its slope there is infinite.
Scalar heddle::detail::hypotenuse(const Scalars &x, bool isDouble) {
  Scalar larger = maximum(abs(x[0]), abs(x[1]));
  Scalar isLarge = larger > (isDouble ? 0x1p500 : 0x1p60),
         isSmall = larger < (isDouble ? 0x1p-450 : 0x1p-50);
  double power = isDouble ? 0x1p600 : 0x1p100;
  Scalar scale = select(isLarge, 1 / power, select(isSmall, power, 1.0)),
         back = select(isLarge, power, select(isSmall, 1 / power, 1.0));
  Scalar isInfinite = logicalOr(isInf(x[0]), isInf(x[1]));
  auto side = [&](const Scalar &length) { return select(isInfinite, 1.0, length) * scale; };
  Scalar squares = square(side(x[0])) + square(side(x[1])), isZero = equal(squares, 0.0);
  Scalar root = sqrt(select(isZero, 1.0, squares)) * back;
  return select(isInfinite, INFINITY, select(isZero, 0.0, root));
}

/// True for negative numbers and -0.
static Scalar isBelow(const Scalar &x) { return select(equal(x, 0.0), 1.0 / x < 0.0, x < 0.0); }

Scalar heddle::detail::withSignOf(const Scalars &x, bool) {
  return select(logicalXor(isBelow(x[0]), isBelow(x[1])), -x[0], x[0]);
}

//===----------------------------------------------------------------------===//
// Inverse error function
//===----------------------------------------------------------------------===//

/// erfinv(x) / x as a polynomial in x^2, for |x| <= 0.7.
static const double nearErfinv[] = {
    0.886226925452758,    0.23201366653466213,  0.12755617530353336,  0.08655212946282363,
    0.06495960523292446,  0.05173171317152396,  0.04282685655659256,  0.036624259867770195,
    0.029837738474981557, 0.044159187488793356, -0.08248935748913244, 0.5715978254999688,
    -2.1432006090295954,  6.5924153444905755,   -15.248553469135906,  26.659111654351005,
    -33.877638287065025,  29.78042148778823,    -16.21529773938445,   4.204213998121545};
/// erfinv(x) / r with r = sqrt(-log(1 - x)), as a polynomial in (r - 2) / (r + 2), for x from 0.7
/// to the last f64 below 1. (The variable is that of Giles: Approximating the erfinv function,
/// 2012.)
static const double tailErfinv[] = {
    0.8340941580292482,     0.4309177302835981,    -0.4237632183630684,  0.20193905748455246,
    0.006724927247945531,   -0.12811413060079233,  0.13776537352699694,  -0.07264412110051027,
    -0.013667023951633758,  0.07119889407170817,   -0.0779888899481172,  0.0409979558374942,
    0.01131926674759366,    -0.04861606432029177,  0.05316307358224513,  -0.027500656944993245,
    -0.010185253100275085,  0.0358296835586054,    -0.03497153443802599, 0.015560553345232193,
    -0.0002990390275508014, -0.0017742107711160434};

Scalar heddle::detail::erfInverse(const Scalars &operands, bool) {
  Scalar x = operands[0], size = abs(x);
  Scalar isNear = size <= 0.7, isOne = equal(size, 1.0), isEither = logicalOr(isNear, isOne);
  Scalar small = select(isNear, x, 0.0), near = small * polynomial(square(small), nearErfinv);
  Scalar r = sqrt(-log(1.0 - select(isEither, 0.5, size)));
  Scalar tail = r * polynomial((r - 2.0) / (r + 2.0), tailErfinv);
  // Infinite, and with an infinite slope.
  Scalar end = x / (1.0 - select(isOne, size, 0.0));
  return select(isNear, near, select(isOne, end, select(x < 0.0, -tail, tail)));
}

//===----------------------------------------------------------------------===//
// Gamma function
//===----------------------------------------------------------------------===//

/// lgamma(2 + z) / (z (z + 1)) for -1 <= z <= 1. The divisor has the zeros of the function.
static const double middleGamma[] = {
    0.42278433509846713,     -0.10031730167435392,    0.03296500062115691,
    -0.012384192193371805,   0.004998641164627129,    -0.0021081308339216706,
    0.0009153769240386907,   -0.0004057073983775151,  0.0001825526153982638,
    -8.309511477709561e-05,  3.816907658276081e-05,   -1.7661767658452517e-05,
    8.221234475942905e-06,   -3.846858091533014e-06,  1.8113906873056685e-06,
    -8.54560908975883e-07,   3.958940459367468e-07,   -1.878442644643758e-07,
    1.042041826608264e-07,   -4.9827532071170234e-08, 5.910565853507869e-09,
    -2.7296358592514825e-09, 1.6194359237484174e-08,  -7.842557720538356e-09,
    -4.312495770350818e-09,  2.0986002157033107e-09,  1.5746606982777302e-09,
    -7.639292345836201e-10};
/// digamma(2 + z) / (z + 2 - zero), likewise.
static const double middleDigamma[] = {
    0.7853075386041053,      -0.2607389546830014,     0.10899991701762841,
    -0.04955103291766767,    0.023447309597562315,    -0.011338432553553088,
    0.005552254176163854,    -0.002739572878878444,   0.001358142115660262,
    -0.0006753134172771423,  0.00033643307392409804,  -0.00016781485745549608,
    8.377541533754836e-05,   -4.1847758637407615e-05, 2.090944279433702e-05,
    -1.043615113408139e-05,  5.216485445131201e-06,   -2.6450069563210817e-06,
    1.322327646207658e-06,   -5.878282013270488e-07,  2.938946209899294e-07,
    -2.5162239592946485e-07, 1.258090299216334e-07,   4.46741085718643e-08,
    -2.2337287908168016e-08, -6.628736705562654e-08,  3.314365249205256e-08,
    2.0501183895194647e-08,  -1.0250592958849892e-08, -5.4669888399440215e-09,
    2.7334936115473567e-09};
/// The zero less 1 as the sum of two f64.
static constexpr double zeroOfDigamma = 0x1.d8b618d5af8fep-2, zeroLow = -0x1.1e563779a1f5bp-56;
/// B(2k) / (2k) of the Bernoulli numbers, the coefficients of the asymptotic series of digamma.
static const double bernoulli[] = {1.0 / 12,        -1.0 / 120,      1.0 / 252, -1.0 / 240,
                                   1.0 / 132,       -691.0 / 32760,  1.0 / 12,  -3617.0 / 8160,
                                   43867.0 / 14364, -174611.0 / 6600};

namespace {
/// How lgamma or digamma, f below, is computed at x. Operands of what is not chosen are harmless.
struct GammaArgument {
  /// f(x) of a negative x follows from f(1 - x) = f(place) and the sine and cosine of pi * turn.
  /// For all other x, place is x.
  Scalar isNegative, place, turn;
  /// If isLarge, an asymptotic series at `large` gives f(place). If isLow, place is below 1, and
  /// f(place + 1) = f(2 + z) gives it.
  Scalar isLarge, large, isLow;
  /// Else f(2 + z) with |z| <= 1 gives it, and the recurrence of f leads from z + 2 to place: by
  /// the product of the places between for lgamma, by the sum of their inverses for digamma.
  Scalar product = 1.0, inverses = 0.0, z;

  explicit GammaArgument(const Scalar &x)
      : isNegative(x < 0.0), place(select(isNegative, 1.0 - x, x)),
        turn(select(isNegative, x - roundEven(x), 0.25)), isLarge(place >= double(first)),
        large(select(isLarge, place, double(first))), isLow(logicalAnd(x >= 0.0, x < 1.0)), z(0.0) {
    Scalar rest = select(isLarge, 2.5, place);
    for (int i = 3; i < first; ++i) {
      Scalar goesOn = rest >= 3.0, less = rest - 1.0, factor = select(goesOn, less, 1.0);
      product = product * factor;
      inverses = inverses + select(goesOn, 1.0 / factor, 0.0);
      rest = select(goesOn, less, rest);
    }
    z = select(isLow, place - 1.0, rest - 2.0);
  }
  /// z + 1, exact.
  Scalar above() const { return select(isLow, place, z + 1.0); }
  /// sum of c[k] / large^(2k + 1).
  Scalar series(ArrayRef<double> c) const {
    Scalar inverse = 1.0 / large;
    return inverse * polynomial(square(inverse), c);
  }

private:
  static constexpr int first = 8; ///< from here on ten terms of the series have all digits of f64
};
} // namespace

Scalar heddle::detail::logGamma(const Scalars &operands, bool) {
  Scalar isInfinite = isInf(operands[0]);
  GammaArgument at(select(isInfinite, 1.0, operands[0]));
  // Stirling's series.
  std::vector<double> stirling;
  for (auto [k, coefficient] : llvm::enumerate(bernoulli))
    stirling.push_back(coefficient / double(2 * k + 1));
  constexpr double constant = 0.41893853320467274; // log(2 pi) / 2 - 1 / 2
  Scalar far = (at.large - 0.5) * (log(at.large) - 1.0) + (at.series(stirling) + constant);
  Scalar middle = at.above() * at.z * polynomial(at.z, middleGamma);
  Scalar step = log(select(at.isLow, at.place, at.product));
  Scalar value = select(at.isLarge, far, select(at.isLow, middle - step, middle + step));
  // sin(pi turn) / pi is turn itself where pi times it might lose digits below normal numbers.
  Scalar turn = abs(at.turn), sine = sin(turn * std::numbers::pi) * (1 / std::numbers::pi);
  // At a pole, 1 - x may be so large that f(1 - x) is infinite too.
  Scalar reflected =
      -log(select(turn < 0x1p-29, turn, sine)) - select(equal(turn, 0.0), 0.0, value);
  value = select(at.isNegative, reflected, value);
  return select(isInfinite, square(operands[0]), value);
}

Scalar heddle::detail::gammaSlope(const Scalars &operands, bool isDouble) {
  GammaArgument at(operands[0]);
  Scalar half = 0.5 / at.large;
  Scalar far = log(at.large) - (half + at.series(bernoulli) / at.large);
  double zero = isDouble ? zeroOfDigamma : double(float(zeroOfDigamma));
  Scalar middle =
      ((at.above() - zero) - (zeroOfDigamma - zero + zeroLow)) * polynomial(at.z, middleDigamma);
  // The pole at zero has the sign of zero; those at negative integers have none.
  Scalar low = middle - 1.0 / select(at.isLow, at.place, 1.0);
  Scalar value = select(at.isLarge, far, select(at.isLow, low, middle + at.inverses));
  // Of the angle to the next multiple of a quarter turn, so that the cotangent is precise at its
  // zeros.
  Scalar turn = abs(at.turn), isSteep = turn <= 0.25, isPole = equal(turn, 0.0);
  Scalar angle = select(isSteep, turn, 0.5 - turn) * std::numbers::pi;
  Scalar sine = sin(angle), cosine = cos(angle);
  Scalar cotangent =
      select(isSteep, cosine, sine) / select(isPole, NAN, select(isSteep, sine, cosine));
  cotangent = select(at.turn < 0.0, -cotangent, cotangent);
  return select(at.isNegative, value - std::numbers::pi * cotangent, value);
}
