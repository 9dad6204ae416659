//===- ScalarTest.cpp - numbers with error bounds -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A bound must hold for every execution that is allowed: computed in the type, in a wider type, or
// in another order. The property tests draw operands with errors, perturb them within these,
// compute in float and in double, and check that the result is within the bound.
//
//===----------------------------------------------------------------------===//

#include "lib/interp/Fold.h"
#include "lib/interp/TensorValue.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace heddle::interp;
using namespace mlir;

namespace {
struct ScalarTest : testing::Test {
  MLIRContext context;
  Builder builder{&context};
  FloatType f16 = builder.getF16Type(), bf16 = builder.getBF16Type(), f32 = builder.getF32Type(),
            f64 = builder.getF64Type();
  Arithmetic arithmetic;
  std::mt19937_64 random{7};

  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  }
  /// An f32 of any magnitude that leaves room for products.
  double any() { return float(std::ldexp(uniform(-1, 1), int(uniform(-20, 20)))); }
  Scalar inexact(double value, double error) {
    Scalar scalar = exactly(value);
    scalar.error = error;
    scalar.origin = error != 0 ? arithmetic.freshOrigin() : 0;
    return scalar;
  }
  /// Within the bound, or undecided.
  static bool covers(const Scalar &scalar, double value) {
    return scalar.undecided || std::fabs(scalar.value - value) <= scalar.error;
  }
};
} // namespace

TEST_F(ScalarTest, SubnormalFactorsMayBeZero) {
  // Dot products of bf16 flush them to zero; products of f32 do not.
  double small = std::ldexp(1.0, -130), large = std::ldexp(1.0, 120);
  EXPECT_TRUE(covers(arithmetic.mul(bf16, exactly(small), exactly(large)), 0));
  EXPECT_TRUE(covers(
      arithmetic.mul(f32, arithmetic.convert(exactly(small), bf16, f32), exactly(large)), 0));
  EXPECT_FALSE(covers(arithmetic.mul(f32, exactly(small), exactly(large)), 0));
  EXPECT_FALSE(covers(arithmetic.mul(bf16, exactly(8 * small * 2), exactly(large)), 0));
}

TEST_F(ScalarTest, IntegersKeepTheirWidth) {
  EXPECT_EQ(integer(0x1ff, 8).bits, 0xffu);
  EXPECT_EQ(signedValue(integer(0xff, 8), 8), -1);
  EXPECT_EQ(signedValue(integer(~0ull, 64), 64), -1);
  EXPECT_EQ(coordinate(integer(0xff, 8), builder.getIntegerType(8)), -1);
  EXPECT_EQ(coordinate(integer(0xff, 8), builder.getIntegerType(8, false)), 255);
  EXPECT_EQ(coordinate(integer(1, 1), builder.getI1Type()), 1);
}

TEST_F(ScalarTest, FormatsAreTheirs) {
  EXPECT_EQ(roundTo(f32, 1 + 0x1p-24), 1); // a tie goes to even
  EXPECT_EQ(roundTo(f32, 1 + 3 * 0x1p-24), 1 + 0x1p-22);
  EXPECT_EQ(roundTo(bf16, 1 + 0x1p-8), 1);
  EXPECT_EQ(roundTo(f16, 65519), 65504);
  EXPECT_TRUE(std::isinf(roundTo(f16, 65520)));
  EXPECT_EQ(roundTo(f16, 0x1p-25), 0);
  EXPECT_EQ(roundTo(f64, 0.1), 0.1);
  EXPECT_EQ(largestFinite(f16), 65504);
  EXPECT_GE(unitRoundoff(f32), 0x1p-24);
  EXPECT_LT(unitRoundoff(f32), 0x1.01p-24);
}

TEST_F(ScalarTest, ExactResultsHaveNoError) {
  EXPECT_EQ(arithmetic.add(f32, exactly(1), exactly(2)).error, 0);
  EXPECT_EQ(arithmetic.mul(f32, exactly(3), exactly(0.5)).error, 0);
  EXPECT_EQ(arithmetic.div(f32, exactly(1), exactly(4)).error, 0);
  EXPECT_GT(arithmetic.div(f32, exactly(1), exactly(3)).error, 0);
  EXPECT_GT(arithmetic.add(f32, exactly(1), exactly(0x1p-30)).error, 0);
  EXPECT_GT(arithmetic.add(bf16, exactly(256), exactly(1)).error, 0);
  EXPECT_EQ(arithmetic.add(f32, exactly(256), exactly(1)).error, 0);
}

TEST_F(ScalarTest, BoundsCoverEveryExecution) {
  for (int i = 0; i < 20000; ++i) {
    double x = any(), y = any(), dx = i % 3 ? std::fabs(x) * 1e-6 : 0,
           dy = i % 5 ? std::fabs(y) * 1e-5 : 0;
    Scalar a = inexact(x, dx), b = inexact(y, dy);
    double u = x + uniform(-1, 1) * dx, v = y + uniform(-1, 1) * dy;
    auto fu = float(u), fv = float(v);
    bool asFloats = std::fabs(fu - x) <= dx && std::fabs(fv - y) <= dy;
    auto check = [&](const char *what, const Scalar &scalar, double wide, float narrow) {
      EXPECT_TRUE(covers(scalar, wide)) << what << " " << u << " " << v;
      if (asFloats)
        EXPECT_TRUE(covers(scalar, narrow)) << what << " " << fu << " " << fv;
    };
    check("add", arithmetic.add(f32, a, b), u + v, fu + fv);
    check("sub", arithmetic.sub(f32, a, b), u - v, fu - fv);
    check("mul", arithmetic.mul(f32, a, b), u * v, fu * fv);
    if (y != 0)
      check("div", arithmetic.div(f32, a, b), u / v, fu / fv);
    check("max", arithmetic.extremum(a, b, true, false), std::fmax(u, v), std::fmax(fu, fv));
    check("min", arithmetic.extremum(a, b, false, false), std::fmin(u, v), std::fmin(fu, fv));
    check("abs", arithmetic.abs(a), std::fabs(u), std::fabs(fu));
    check("sin", arithmetic.gentle(f32, std::sin, a), std::sin(u), std::sin(fu));
    if (std::fabs(x) < 80)
      check("exp", arithmetic.monotone(f32, std::exp, a), std::exp(u), std::exp(fu));
    if (x - dx > 0)
      check("log", arithmetic.monotone(f32, std::log, a), std::log(u), std::log(fu));
    check("narrow", arithmetic.convert(a, f32, bf16), u, float(roundTo(bf16, fu)));
  }
}

TEST_F(ScalarTest, CastsRoundTheirOperand) {
  // Neither the op's excess precision nor its rounding affects the result of a cast.
  int64_t open = 0, all = 0;
  for (int i = 0; i < 20000; ++i, ++all) {
    FloatType type = i % 2 ? bf16 : f16;
    double x = roundTo(type, uniform(-4, 4)), y = roundTo(type, uniform(-4, 4));
    for (auto [made, exact] : {std::pair(arithmetic.add(type, exactly(x), exactly(y)), x + y),
                               {arithmetic.mul(type, exactly(x), exactly(y)), x * y}}) {
      double narrow = roundTo(type, exact);
      EXPECT_TRUE(covers(made, narrow) && covers(made, exact));
      Scalar cast = arithmetic.cast(made, type, f32);
      EXPECT_TRUE(covers(cast, narrow)) << x << " " << y;
      open += cast.error != 0 && std::fabs(narrow) > 0x1p-14;
      // If it is narrowed back at once, the cast may be folded; in a sum, it is one number.
      Scalar back = arithmetic.cast(cast, f32, type);
      EXPECT_TRUE(covers(back, exact) && covers(back, narrow));
      if (cast.error == 0)
        EXPECT_EQ(arithmetic.cast(back, type, f32).error, 0);
      if (exact != narrow && cast.error == 0)
        EXPECT_FALSE(covers(cast, exact)) << x << " " << y;
      // A conversion of accumulators keeps the bound.
      EXPECT_TRUE(covers(arithmetic.convert(made, type, f32), exact));
    }
  }
  EXPECT_LT(open, all / 100); // by a tie only
}

TEST_F(ScalarTest, ARemainderJumpsWhereTheDivisorIsOpen) {
  // 4 modulo 4.06 or 4: 4 or 0.
  EXPECT_TRUE(arithmetic.rem(f32, exactly(-4), inexact(4.0625, 0.9)).undecided);
  EXPECT_FALSE(arithmetic.rem(f32, exactly(-3), inexact(4.0625, 0.9)).undecided);
  EXPECT_FALSE(arithmetic.rem(f32, exactly(-4), exactly(4.0625)).undecided);
}

TEST_F(ScalarTest, AValueIsItself) {
  Scalar a = inexact(1, 0.25), b = inexact(1, 0.25);
  EXPECT_FALSE(Arithmetic::tooClose(a, a));
  EXPECT_TRUE(Arithmetic::tooClose(a, b));
  EXPECT_GT(arithmetic.sub(f32, a, b).error, 0);
  EXPECT_FALSE(Arithmetic::tooClose(inexact(1, 0.25), inexact(2, 0.25)));
}

TEST_F(ScalarTest, AValueLessItselfMayKeepWhatOneOfThemHasLost) {
  for (int i = 0; i < 1000; ++i) {
    auto x = float(any());
    Scalar square = arithmetic.mul(f32, exactly(x), exactly(x));
    Scalar difference = arithmetic.sub(f32, square, square);
    EXPECT_EQ(difference.value, 0);
    EXPECT_TRUE(covers(difference, std::fma(x, x, -(x * x)))) << x;
    EXPECT_FALSE(covers(difference, x * x * 0x1p-20)) << x;
  }
  // The difference of equal exact values has no error.
  EXPECT_EQ(arithmetic.sub(f32, exactly(3), exactly(3)).error, 0);
}

TEST_F(ScalarTest, WhatCancelsIsHeldBesideItsTerms) {
  Scalar square = arithmetic.mul(f32, exactly(1.1), exactly(1.1));
  Scalar zero = arithmetic.sub(f32, square, square);
  FloatSum sum;
  for (const Scalar &term : {square, exactly(3), arithmetic.neg(square), exactly(-3)})
    sum.add(term);
  for (const auto &[scalar, scale] : {std::pair(zero, 1.21),
                                      {arithmetic.mul(f32, zero, exactly(-2)), 2.42},
                                      {arithmetic.mul(f32, zero, zero), 1.4641},
                                      {arithmetic.fma(f32, zero, zero, zero), 1.4641},
                                      {arithmetic.div(f32, zero, exactly(-4)), 0.3025},
                                      {arithmetic.convert(zero, f32, f16), 1.21},
                                      {arithmetic.cast(zero, f32, f16), 1.21},
                                      {sum.result(f32, arithmetic), 3.0}}) {
    EXPECT_LT(std::fabs(scalar.value), 1e-6);
    EXPECT_NEAR(scalar.scale(), scale, 1e-12);
    EXPECT_FALSE(isUncertain(scalar, f32));
  }
  // A fault of a thousandth would not show.
  EXPECT_TRUE(isUncertain(arithmetic.sub(f32, inexact(1, 1e-2), inexact(1, 1e-2)), f32));
  // What is not linear in the terms begins anew.
  EXPECT_EQ(arithmetic.div(f32, zero, square).scale(), 0);
  EXPECT_TRUE(isUncertain(arithmetic.div(f32, zero, square), f32));
  EXPECT_EQ(arithmetic.monotone(f32, std::exp, zero).scale(), 1);
  EXPECT_EQ(arithmetic.mul(f32, exactly(INFINITY), zero).terms, 0);
}

TEST_F(ScalarTest, WhatHangsOnAnOpenComparisonIsUndecided) {
  Scalar open = integer(1, 1);
  open.undecided = true;
  // Far apart: either may be chosen.
  EXPECT_TRUE(arithmetic.choose(open, exactly(0), exactly(5), true).undecided);
  EXPECT_TRUE(arithmetic.choose(open, integer(0, 8), integer(5, 8), false).undecided);
  // About the same, as in relu at 0: the bound covers both.
  Scalar almost = inexact(1e-8, 1e-8);
  Scalar either = arithmetic.choose(open, almost, exactly(0), true);
  EXPECT_FALSE(either.undecided);
  EXPECT_TRUE(covers(either, 0));
  EXPECT_TRUE(covers(either, 2e-8));
  // Equal choices are decided.
  EXPECT_FALSE(arithmetic.choose(open, integer(5, 8), integer(5, 8), false).undecided);
  EXPECT_FALSE(arithmetic.choose(open, exactly(5), exactly(5), true).undecided);
  EXPECT_FALSE(arithmetic.choose(integer(1, 1), exactly(0), exactly(5), true).undecided);
}

TEST_F(ScalarTest, RoundingToIntegersMayJump) {
  EXPECT_FALSE(arithmetic.integral(std::floor, exactly(2.5)).undecided);
  EXPECT_FALSE(arithmetic.integral(std::floor, inexact(2.5, 0.1)).undecided);
  EXPECT_TRUE(arithmetic.integral(std::floor, inexact(2.05, 0.1)).undecided);
}

TEST_F(ScalarTest, OverflowIsKnownOnlyWhereNothingElseIsAllowed) {
  Scalar large = exactly(3e38);
  EXPECT_TRUE(std::isinf(arithmetic.add(f32, large, large).value));
  EXPECT_FALSE(arithmetic.add(f32, large, large).undecided);
  // A narrow type may be kept wider, where it does not overflow.
  EXPECT_TRUE(arithmetic.add(f16, exactly(65504), exactly(65504)).undecided);
}

TEST_F(ScalarTest, SpecialValues) {
  Scalar nan = exactly(NAN), one = exactly(1);
  EXPECT_TRUE(std::isnan(arithmetic.extremum(nan, one, true, false).value));
  EXPECT_EQ(arithmetic.extremum(nan, one, true, true).value, 1);
  EXPECT_FALSE(std::signbit(arithmetic.extremum(exactly(-0.0), exactly(0.0), true, false).value));
  EXPECT_TRUE(std::signbit(arithmetic.extremum(exactly(0.0), exactly(-0.0), false, false).value));
  EXPECT_TRUE(std::isnan(arithmetic.sub(f32, exactly(INFINITY), exactly(INFINITY)).value));
}

TEST_F(ScalarTest, ABoundOutsideOfTheTypeLeavesTheValue) {
  for (auto [scalar, value] : {std::pair(arithmetic.monotone(f32, std::exp, inexact(0, 200)), 1.0),
                               {arithmetic.add(f32, inexact(3, 3e38), inexact(1, 3e38)), 4.0},
                               {arithmetic.mul(f32, inexact(3, 1e30), inexact(5, 1e30)), 15.0},
                               {arithmetic.add(f32, inexact(3, INFINITY), exactly(1)), 4.0},
                               {arithmetic.mul(f16, inexact(30000, 300), exactly(2)), 60000.0},
                               {arithmetic.mul(f16, inexact(30000, 6000), exactly(2)), 60000.0}}) {
    EXPECT_EQ(scalar.value, value);
    EXPECT_EQ(scalar.undecided, value != 60000 || scalar.error == 0);
    EXPECT_TRUE(std::isfinite(scalar.error));
  }
  // The value itself overflows.
  EXPECT_TRUE(std::isinf(arithmetic.add(f32, inexact(3e38, 1e30), inexact(3e38, 1e30)).value));
  EXPECT_TRUE(arithmetic.add(f32, inexact(3e38, 3e38), inexact(3e38, 1e30)).undecided);
}

TEST_F(ScalarTest, PerturbedExecutionsStayWithinTheBounds) {
  int64_t apart = 0;
  for (int i = 0; i < 20000; ++i) {
    Arithmetic one(uint64_t(i), 1);
    double x = any(), y = any();
    // Each op reads an inexact value twice.
    auto run = [&](Arithmetic &a) {
      Scalar p = a.mul(f32, exactly(x), exactly(y)), q = a.div(f32, exactly(x), p);
      Scalar r = a.fma(f32, p, q, a.sub(f32, p, exactly(x)));
      return std::array{
          a.sub(f32, p, p), a.add(f32, p, r), a.monotone(f32, std::tanh, r),
          a.cast(a.add(f16, exactly(0.1), a.forceTo(f16, exactly(1 / (1 + x * x)))), f16, f32)};
    };
    for (auto [bounded, perturbed] : llvm::zip_equal(run(arithmetic), run(one))) {
      EXPECT_EQ(perturbed.error, 0);
      EXPECT_FALSE(perturbed.undecided);
      EXPECT_TRUE(covers(bounded, perturbed.value)) << x << " " << y << " " << bounded.value;
    }
    Scalar p = one.mul(f32, exactly(x), exactly(y));
    apart += one.sub(f32, p, p).value != 0;
  }
  EXPECT_GT(apart, 19000); // a value may be computed for each of its uses
  Arithmetic one(1, 1);
  EXPECT_EQ(one.sub(f32, exactly(0.5), exactly(0.5)).value, 0);
  EXPECT_EQ(one.mul(f32, exactly(3), exactly(5)).value, 15);
}

TEST_F(ScalarTest, WhatAMaskAddsToTheLowestNumberStaysFinite) {
  double lowest = -largestFinite(f32);
  double low = roundTo(f32, -1e30); // the logarithm of 0 in a CTC loss
  Arithmetic one(1, 4);
  for (double x : {2.5, -2.5, low, -low}) { // all below half of the last place of the lowest number
    Scalar masked = arithmetic.add(f32, exactly(lowest), exactly(x));
    EXPECT_FALSE(masked.undecided);
    EXPECT_TRUE(covers(masked, lowest));
    Scalar again = one.add(f32, one.add(f32, exactly(lowest), exactly(x)), exactly(x));
    EXPECT_EQ(one.sub(f32, again, exactly(lowest)).value, 0);
  }
  for (double x : {2.5, -2.5})
    EXPECT_EQ(one.sub(f32, one.add(f32, exactly(low), exactly(x)), exactly(low)).value, 0);
  EXPECT_EQ(one.add(f32, exactly(lowest), exactly(lowest)).value, -INFINITY);
}
