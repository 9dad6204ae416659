//===- ApproximateMath.cpp - functions of f32 as arithmetic ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/ApproximateMath.h"
#include "lib/conversion/nest_to_loops/FloatCode.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

namespace {
//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

/// e^x = 2^whole * (1 + rest).
struct Exponential {
  Value power; ///< its lowest bits are `whole`
  Value rest;
};

/// Adding and subtracting 3 * 2^22 rounds to an integer, which is in the lowest bits of the sum.
constexpr double roundingShift = 0x1.8p23;

/// e^r - 1 for |r| <= ln 2 / 2.
Value smallExponential(FloatCode &a, Value r) {
  Value tail = a.polynomial(r, {0.5, 0.1666657594, 0.04166655331, 0.008363352683, 0.001392640048});
  return a.fma(a.mul(r, r), tail, r);
}

Exponential reduced(FloatCode &a, Value x) {
  Value shifted = a.fma(x, 1.4426950408889634, a.number(x, roundingShift));
  Value whole = a.add(shifted, -roundingShift);
  // ln 2 in two parts; the first has 9 bits, so that its products are exact.
  Value r = a.fma(whole, 2.12194440e-4, a.fma(whole, -0.693359375, x));
  return {a.bits(shifted), smallExponential(a, r)};
}

/// 2^(whole + more).
Value scale(FloatCode &a, const Exponential &e, int64_t more = 0) {
  return a.real(a.addBits(a.left(e.power, 23), (127 + more) << 23));
}

/// 2^whole * (1 + rest). The result must be a normal number.
Value assembled(FloatCode &a, const Exponential &e) {
  return a.real(a.addBits(a.bits(a.add(e.rest, 1)), a.left(e.power, 23)));
}

/// `value` for x within bounds, 0 below, inf above; propagates NaN.
Value within(FloatCode &a, Value x, Value value, double least, double most) {
  Value inside = a.select(a.compare(Is::UGT, x, most), a.add(x, infinite), value);
  return a.select(a.compare(Is::OLT, x, least), 0, inside);
}

constexpr double mostExponent = 0x1.62e42ep6; // the largest x with a finite e^x in f32
} // namespace

Value nest::approximateExp(OpBuilder &b, Location loc, ValueRange x) {
  FloatCode a(b, loc);
  // Below this bound e^x is subnormal.
  return within(a, x[0], assembled(a, reduced(a, x[0])), -0x1.5d589ep6, mostExponent);
}

Value nest::approximateExp2(OpBuilder &b, Location loc, ValueRange x) {
  FloatCode a(b, loc);
  Value shifted = a.add(x[0], roundingShift);
  Value r = a.sub(x[0], a.add(shifted, -roundingShift));
  Exponential e{a.bits(shifted), smallExponential(a, a.mul(r, 0.6931471805599453))};
  return within(a, x[0], assembled(a, e), -126, 0x1.fffffep6);
}

Value nest::approximateExpM1(OpBuilder &b, Location loc, ValueRange x) {
  FloatCode a(b, loc);
  Exponential e = reduced(a, a.atLeast(x[0], -30));
  // 2^whole may overflow where the result does not; half of it does not.
  Value half = scale(a, e, -1);
  Value value = a.mul(a.fma(half, e.rest, a.add(half, -0.5)), 2);
  Value overflow = a.compare(Is::UGT, x[0], mostExponent);
  return a.signLike(a.select(overflow, a.add(x[0], infinite), value), x[0]);
}

Value nest::approximateTanh(OpBuilder &b, Location loc, ValueRange x) {
  FloatCode a(b, loc);
  Value size = a.atMost(a.abs(x[0]), 9.5); // there it is 1
  Exponential e = reduced(a, a.mul(size, 2));
  Value power = scale(a, e), t = a.fma(power, e.rest, a.add(power, -1)); // e^(2x) - 1
  return a.signLike(a.div(t, a.add(t, 2)), x[0]);
}

Value nest::approximateErf(OpBuilder &b, Location loc, ValueRange x) {
  FloatCode a(b, loc);
  Value size = a.abs(x[0]);
  Value near = a.mul(size, a.polynomial(a.mul(size, size),
                                        {1.128379166, -0.3761262667, 0.1128359472, -0.02685421201,
                                         0.005189087423, -0.0008016864287, 7.875875063e-5}));
  // The logarithm of 1 - erf(x) on [1, 3.93], fitted with the weight 1 - erf(x); for larger x,
  // erf(x) is 1.
  Value q = a.polynomial(
      a.add(a.atMost(size, 3.93), -1),
      {1.849605607, 2.638958671, 0.8432252688, 0.04103223671, -0.009034628001, 0.001154174472});
  Value far = a.sub(a.number(q, 1), assembled(a, reduced(a, a.neg(q))));
  return a.signLike(a.select(a.compare(Is::ULT, size, 1), near, far), x[0]);
}

//===----------------------------------------------------------------------===//
// Logarithms
//===----------------------------------------------------------------------===//

namespace {
/// x = 2^whole * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)].
struct Parts {
  Value whole, f;
};

Parts partsOf(FloatCode &a, Value x) {
  // Scales subnormal numbers to normal ones.
  Value isSmall = a.compare(Is::OLT, x, 0x1p-126);
  Value bits = a.bits(a.select(isSmall, a.mul(x, 0x1p24), x));
  constexpr int64_t rootOfHalf = 0x3f3504f3;
  Value whole = a.right(a.addBits(bits, -rootOfHalf), 23);
  Value f = a.add(a.real(a.subBits(bits, a.left(whole, 23))), -1);
  Value number = a.toFloat(whole);
  return {a.select(isSmall, a.add(number, -24), number), f};
}

/// log(1 + f) - f.
Value logarithmTail(FloatCode &a, Value f) {
  Value cubic =
      a.polynomial(f, {0.3333333117, -0.2499999698, 0.2000071719, -0.1666780184, 0.1424900291,
                       -0.1242566068, 0.1168598989, -0.1148020545, 0.06970549027});
  return a.mul(a.mul(f, f), a.fma(f, cubic, a.number(f, -0.5)));
}

/// `value` for finite positive x, and the exact logarithm for all other x.
Value ofPositive(FloatCode &a, Value x, Value value) {
  Value low = a.select(a.compare(Is::OLT, x, 0), notANumber, a.number(x, -infinite));
  value = a.select(a.compare(Is::OLE, x, 0), low, value);
  return a.select(a.compare(Is::UGE, x, infinite), x, value);
}

Value logarithm(FloatCode &a, Value x) {
  auto [whole, f] = partsOf(a, x);
  Value low = a.fma(whole, -2.12194440e-4, logarithmTail(a, f));
  return a.fma(whole, 0.693359375, a.add(f, low));
}
} // namespace

Value nest::approximateLog(OpBuilder &b, Location loc, ValueRange x) {
  FloatCode a(b, loc);
  return ofPositive(a, x[0], logarithm(a, x[0]));
}

Value nest::approximateLog2(OpBuilder &b, Location loc, ValueRange x) {
  FloatCode a(b, loc);
  auto [whole, f] = partsOf(a, x[0]);
  Value natural = a.add(f, logarithmTail(a, f));
  return ofPositive(a, x[0], a.fma(natural, 1.4426950408889634, whole));
}

Value nest::approximateLog10(OpBuilder &b, Location loc, ValueRange x) {
  FloatCode a(b, loc);
  auto [whole, f] = partsOf(a, x[0]);
  Value low = a.mul(a.add(f, logarithmTail(a, f)), 0.4342944819032518);
  // log10(2) in two parts; the first has 11 bits, so that its products are exact.
  low = a.fma(whole, 4.6050389811952137e-6, low);
  return ofPositive(a, x[0], a.fma(whole, 0.301025390625, low));
}

Value nest::approximateLog1p(OpBuilder &b, Location loc, ValueRange x) {
  FloatCode a(b, loc);
  // The rounding error of the sum is added back, times the slope of the logarithm.
  Value sum = a.add(x[0], 1), lost = a.sub(x[0], a.add(sum, -1));
  Value value = ofPositive(a, sum, a.add(logarithm(a, sum), a.div(lost, sum)));
  return a.signLike(value, x[0]);
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

namespace {
/// The binary logarithm of a non-negative number, in f64, with a relative error of 2^-43.
Value wideLog2(FloatCode &a, Value x) {
  auto [whole, f] = partsOf(a, x);
  // log(1 + f) = 2 artanh(f / (2 + f)); f and the exponent are exact.
  Value wide = a.widen(f), s = a.div(wide, a.add(wide, 2));
  Value value = a.fma(
      s,
      a.polynomial(a.mul(s, s), {2.885390081777848, 0.96179669411755415, 0.57707794098534104,
                                 0.41220940584668992, 0.3198988788311698, 0.2830044311712459}),
      a.widen(whole));
  value = a.select(a.compare(Is::OEQ, x, 0), -infinite, value);
  return a.select(a.compare(Is::OEQ, x, infinite), infinite, value);
}

/// 2^x in f64, with a relative error of 2^-34. x is clamped where f32 results are 0 or inf.
Value wideExp2(FloatCode &a, Value x) {
  constexpr double shift = 0x1.8p52;
  Value near = a.atLeast(a.atMost(x, 500), -500), shifted = a.add(near, shift);
  Value p = a.polynomial(a.sub(near, a.add(shifted, -shift)),
                         {0.99999999995923689, 0.69314718055680741, 0.24022651216614132,
                          0.055504109065656997, 0.0096180251982199383, 0.0013333478154201468,
                          0.00015469861921601934, 1.5303802849624281e-5});
  return a.real(a.addBits(a.bits(p), a.left(a.bits(shifted), 52)));
}

/// True if a non-negative float is an integer: rounding does not change it, or it is so large that
/// it has no fraction bits.
Value isInteger(FloatCode &a, Value x) {
  constexpr double firstWhole = 0x1p23;
  Value rounded = a.add(a.add(x, firstWhole), -firstWhole);
  return a.either(a.compare(Is::OGE, x, firstWhole), a.compare(Is::OEQ, rounded, x));
}
} // namespace

Value nest::approximatePower(OpBuilder &b, Location loc, ValueRange operands) {
  FloatCode a(b, loc);
  Value x = operands[0], y = operands[1], size = a.abs(x), exponent = a.abs(y);
  Value t = a.mul(a.widen(y), wideLog2(a, size));
  // 0 * inf: x^0, and 1 to the power of inf.
  t = a.select(a.compare(Is::UNO, t, t), 0, t);
  Value value = a.narrow(wideExp2(a, t));
  Value isWhole = isInteger(a, exponent), isHalfWhole = isInteger(a, a.mul(exponent, 0.5));
  Value evenSign = a.select(isHalfWhole, 1, a.select(isWhole, x, a.number(x, 1)));
  value = a.signLike(value, evenSign);
  Value hasRoot = a.either(isWhole, a.compare(Is::OEQ, size, infinite));
  Value isNegative = a.compare(Is::OLT, x, 0);
  value = a.select(isNegative, a.select(hasRoot, value, a.number(x, notANumber)), value);
  value = a.select(a.compare(Is::UNO, x, y), notANumber, value);
  Value isOne = a.either(a.compare(Is::OEQ, y, 0), a.compare(Is::OEQ, x, 1));
  return a.select(isOne, 1, value);
}

//===----------------------------------------------------------------------===//
// Angles
//===----------------------------------------------------------------------===//

Value nest::isSmallAngle(OpBuilder &b, Location loc, Value x) {
  FloatCode a(b, loc);
  return a.compare(Is::OLE, a.abs(x), 0x1p20);
}

Value nest::approximateSine(OpBuilder &b, Location loc, Value x, int64_t quarters) {
  FloatCode a(b, loc);
  // Subtract the multiple of pi / 2 in f64. pi / 2 is the sum of two constants, the first with 33
  // bits, so that its products are exact. Adding and subtracting 3 * 2^51 rounds to an integer.
  Value wide = a.widen(x);
  constexpr double shift = 0x1.8p52;
  Value turns = a.add(a.add(a.mul(wide, 0x1.45f306dc9c883p-1), shift), -shift);
  Value rest = a.sub(wide, a.mul(turns, 0x1.921fb544p0));
  rest = a.sub(rest, a.mul(turns, 0x1.0b4611a626331p-34));
  Value r = a.narrow(rest), z = a.mul(r, r);
  // Minimax polynomials on [-pi/4, pi/4] (Moshier's Cephes library).
  Value sine =
      a.fma(a.mul(r, z), a.polynomial(z, {-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4}), r);
  Value cosine =
      a.fma(a.mul(z, z),
            a.polynomial(z, {4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5}),
            a.fma(z, -0.5, a.number(z, 1)));
  Value quadrant = a.addBits(a.toInteger(turns), quarters);
  Value value = a.select(a.hasBit(quadrant, 1), cosine, a.signLike(sine, r));
  return a.select(a.hasBit(quadrant, 2), a.neg(value), value);
}

/// atan, reduced by pi / 4 or pi / 2 for larger arguments.
Value nest::approximateAtan(OpBuilder &b, Location loc, ValueRange x) {
  FloatCode a(b, loc);
  Value t = a.abs(x[0]);
  Value steep = a.compare(Is::OGT, t, 2.414213562373095),
        middle = a.compare(Is::OGT, t, 0.4142135623730950); // tan(3 pi / 8), tan(pi / 8)
  auto choose = [&](Value ifSteep, Value ifMiddle, Value ifFlat) {
    return a.select(steep, ifSteep, a.select(middle, ifMiddle, ifFlat));
  };
  auto number = [&](double value) { return a.number(t, value); };
  Value r = a.div(choose(number(-1), a.add(t, -1), t), choose(t, a.add(t, 1), number(1)));
  // Minimax polynomial on [-tan pi/8, tan pi/8] (Moshier's Cephes library).
  Value z = a.mul(r, r);
  Value part = a.fma(
      a.mul(r, z),
      a.polynomial(z, {-3.33329491539e-1, 1.99777106478e-1, -1.38776856032e-1, 8.05374449538e-2}),
      r);
  Value turn = choose(number(1.5707963267948966), number(0.7853981633974483), number(0));
  return a.signLike(a.add(turn, part), x[0]);
}
