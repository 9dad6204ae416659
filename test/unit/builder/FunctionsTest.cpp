//===- FunctionsTest.cpp - scalar functions against the C++ library -------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/heddle.h"
#include "test/unit/builder/Tensors.h"
#include "test/unit/support/io/Files.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace heddle;
using namespace heddle::test;

namespace {
constexpr double infinite = std::numeric_limits<double>::infinity(),
                 nan = std::numeric_limits<double>::quiet_NaN();
const Name point("point");

Tensor doubles(const std::vector<double> &values) {
  return Tensor::of<double>(values, {{point, int64_t(values.size())}});
}

struct Function {
  const char *name;
  Tensor (*tensor)(Operand);
  double (*library)(double);
  double low = -infinite, high = infinite; ///< bounds of the arguments
};
void PrintTo(const Function &each, std::ostream *os) { *os << each.name; }

class Functions : public testing::TestWithParam<Function> {};

// Values to within a few units of the last place, derivatives against differences.
TEST_P(Functions, AreThoseOfTheLibrary) {
  const Function &f = GetParam();
  std::vector<double> points, smooth;
  for (double x : {0.0, -0.0, 1e-9, 0.1, 0.2679, 0.3, 0.5, 0.77, 0.99, 1.0, 1.0001, 1.5, 2.4, 2.5,
                   7.3, 40.0, 1e4})
    for (double each : {x, -x})
      if (each >= f.low && each <= f.high) {
        points.push_back(each);
        if (std::fabs(each) != 1 && each != 0 && std::fabs(each) < 8 &&
            std::fabs(2 * each - std::round(2 * each)) > 1e-3)
          smooth.push_back(each);
      }
  for (double x : {infinite, -infinite, nan})
    if (x >= f.low && x <= f.high)
      points.push_back(x);
  std::vector<double> wide = f.tensor(doubles(points)).to<double>({point});
  std::vector<float> narrow = f.tensor(doubles(points).cast(ElementType::F32)).to<float>({point});
  for (size_t i = 0; i < points.size(); ++i) {
    double wanted = f.library(points[i]), single = f.library(double(float(points[i])));
    if (std::isnan(wanted)) {
      EXPECT_TRUE(std::isnan(wide[i]) && std::isnan(narrow[i])) << "at " << points[i];
      continue;
    }
    EXPECT_TRUE(wide[i] == wanted || std::fabs(wide[i] - wanted) <= 8 * 2.3e-16 * std::fabs(wanted))
        << "at " << points[i] << ": " << wide[i] << ", expected " << wanted;
    EXPECT_TRUE(narrow[i] == float(single) ||
                std::fabs(narrow[i] - single) <= 8 * 1.2e-7 * std::fabs(single))
        << "f32 at " << points[i] << ": " << narrow[i] << ", expected " << single;
  }
  std::vector<double> slopes =
      grad([&](Tensor x) { return sum(f.tensor(x), over(point)); }, doubles(smooth))
          .to<double>({point});
  for (size_t i = 0; i < smooth.size(); ++i) {
    double x = smooth[i], h = 1e-5, slope = (f.library(x + h) - f.library(x - h)) / (2 * h);
    EXPECT_NEAR(slopes[i], slope, 1e-5 * std::max(1.0, std::fabs(slope))) << "slope at " << x;
  }
}

double signOf(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
double clamped(double x) { return std::fmin(std::fmax(x, -0.6), 2); }
INSTANTIATE_TEST_SUITE_P(
    , Functions,
    testing::Values(
        Function{"exp2", exp2, std::exp2, -60, 60}, Function{"expm1", expm1, std::expm1, -60, 60},
        Function{"log2", log2, std::log2, 1e-10}, Function{"tan", tan, std::tan, -8, 8},
        Function{"asin", asin, std::asin, -1, 1}, Function{"acos", acos, std::acos, -1, 1},
        Function{"atan", atan, std::atan}, Function{"sign", sign, signOf},
        Function{"ceil", ceil, std::ceil}, Function{"trunc", trunc, std::trunc},
        Function{"square", square, [](double x) { return x * x; }, -1e5, 1e5},
        Function{"clamp", [](Operand x) { return clamp(x, -0.6, 2.0); }, clamped, -infinite}),
    [](const auto &info) { return std::string(info.param.name); });

TEST(Angle, IsRightInEveryQuadrantAndOnTheAxes) {
  std::vector<double> up, right;
  for (double y : {-3.0, -1.0, -1e-3, 0.0, 1e-3, 1.0, 2.5})
    for (double x : {-2.0, -1.0, -1e-3, 0.0, 1e-3, 1.0, 4.0}) {
      up.push_back(y);
      right.push_back(x);
    }
  Tensor y = doubles(up), x = doubles(right);
  std::vector<double> angles = atan2(y, x).to<double>({point});
  auto [dy, dx] =
      grad([](std::pair<Tensor, Tensor> p) { return sum(atan2(p.first, p.second), over(point)); },
           std::pair(y, x));
  std::vector<double> gy = dy.to<double>({point}), gx = dx.to<double>({point});
  for (size_t i = 0; i < up.size(); ++i) {
    double square = up[i] * up[i] + right[i] * right[i];
    EXPECT_NEAR(angles[i], std::atan2(up[i], right[i]), 1e-15) << up[i] << ", " << right[i];
    ASSERT_FALSE(std::isnan(gy[i]) || std::isnan(gx[i])) << up[i] << ", " << right[i];
    if (square > 0) {
      EXPECT_NEAR(gy[i], right[i] / square, 1e-12 / square) << up[i] << ", " << right[i];
      EXPECT_NEAR(gx[i], -up[i] / square, 1e-12 / square) << up[i] << ", " << right[i];
    }
  }
}

// Powers that are roots, which differ from the square root at -0 and minus infinity.
TEST(Powers, OfAHalf) {
  const std::vector<double> bases{-infinite, -4, -0.0, 0, 0.25, 4, infinite, nan};
  for (double exponent : {0.5, -0.5})
    for (ElementType type : {ElementType::F32, ElementType::F64}) {
      auto power = [&](Tensor x) { return pow(x, exponent); };
      Tensor x = doubles(bases).cast(type);
      for (const Tensor &result : {power(x), jit(power)(x)}) {
        std::vector<double> got = result.cast(ElementType::F64).to<double>({point});
        for (size_t i = 0; i < bases.size(); ++i) {
          double wanted = std::pow(bases[i], exponent);
          EXPECT_TRUE(std::isnan(wanted) ? std::isnan(got[i]) : got[i] == wanted)
              << bases[i] << "^" << exponent << " is " << got[i];
          EXPECT_TRUE(std::isnan(wanted) || std::signbit(got[i]) == std::signbit(wanted))
              << bases[i] << "^" << exponent << " is " << got[i];
        }
      }
    }
}

TEST(Integers, HaveRemaindersBitsAndShifts) {
  const std::vector<int32_t> values{7, -7, 0, 2147483647, -2147483647 - 1};
  Tensor x = Tensor::of<int32_t>(values, {{point, 5}});
  auto is = [](Tensor got, std::vector<int32_t> wanted) {
    EXPECT_EQ(got.to<int32_t>({point}), wanted);
  };
  is(x % 4, {3, -3, 0, 3, 0});
  is(x % 0, {0, 0, 0, 0, 0});
  is(logicalXor(x, 5), {2, -4, 5, 2147483642, -2147483643});
  is(shiftLeft(x, 1), {14, -14, 0, -2, 0});
  is(shiftRight(x, 1), {3, -4, 0, 1073741823, -1073741824});
  is(shiftLeft(x, 32), {0, 0, 0, 0, 0});
  is(shiftRight(x, 32), {0, 0, 0, 0, 0});
  is(shiftLeft(x, -1), {0, 0, 0, 0, 0});
  is(shiftRight(x, -1), {0, 0, 0, 0, 0});
  is(sign(x), {1, -1, 0, 1, -1});
  is(clamp(x, -5, 6), {6, -5, 0, 6, -5});
  Tensor bits = Tensor::of<uint32_t>({0xF0000000u, 9u}, {{point, 2}});
  EXPECT_EQ(shiftRight(bits, 28).to<uint32_t>({point}), (std::vector<uint32_t>{15, 0}));
  EXPECT_EQ((bits % 7).to<uint32_t>({point}), (std::vector<uint32_t>{0xF0000000u % 7, 2}));
  EXPECT_EQ(sign(bits).to<uint32_t>({point}), (std::vector<uint32_t>{1, 1}));
  EXPECT_EQ(isNan(doubles({1, nan, infinite})).cast(ElementType::I32).to<int32_t>({point}),
            (std::vector<int32_t>{0, 1, 0}));
  expectHas(messageOf([&] { shiftLeft(doubles({1}), 2.0); }),
            {"not defined for elements of type f64; convert with cast", "FunctionsTest.cpp"});
}

/// The integer of `width` bits nearest to `x` rounded towards zero, in two's complement; 0 for NaN.
int64_t nearestInteger(double x, int width, bool isSigned) {
  double most = std::ldexp(1.0, isSigned ? width - 1 : width);
  uint64_t ones = ~uint64_t(0) >> (64 - width);
  if (std::isnan(x) || (!isSigned && x <= 0))
    return 0;
  if (x >= most)
    return int64_t(isSigned ? ones >> 1 : ones);
  if (x < -most)
    return -int64_t(ones >> 1) - 1;
  return isSigned ? int64_t(x) : int64_t(uint64_t(x));
}

// 25 values, so that some are converted in vector lanes and some one by one.
TEST(Casts, OfFloatsSaturate) {
  const std::vector<double> values{nan,     infinite, -infinite, 0,     -0.0,   0.9,     -0.9,
                                   1.5,     -1.5,     127.9,     128,   -128.9, -129,    255.5,
                                   256,     32767,    -32769,    65504, 0x1p31, -0x1p31, 0x1p32,
                                   -0x1p32, 0x1p63,   -0x1p63,   1e30};
  struct Integer {
    ElementType type;
    int width;
    bool isSigned;
  };
  const std::vector<Integer> integers{{ElementType::I8, 8, true},   {ElementType::UI8, 8, false},
                                      {ElementType::I16, 16, true}, {ElementType::UI16, 16, false},
                                      {ElementType::I32, 32, true}, {ElementType::UI32, 32, false},
                                      {ElementType::I64, 64, true}, {ElementType::UI64, 64, false}};
  for (const char *cpu : {"native", "x86-64", "haswell"})
    for (ElementType from :
         {ElementType::F64, ElementType::F32, ElementType::BF16, ElementType::F16}) {
      auto convert = jit(
          [&](Tensor x) {
            std::vector<Tensor> results;
            for (const Integer &each : integers)
              results.push_back(x.cast(each.type).cast(ElementType::I64));
            return results;
          },
          JitOptions{.targetCpu = cpu});
      Tensor x = doubles(values).cast(from);
      std::vector<double> rounded = x.cast(ElementType::F64).to<double>({point});
      std::vector<Tensor> results = convert(x);
      for (size_t k = 0; k < integers.size(); ++k) {
        std::vector<int64_t> wanted;
        for (double value : rounded)
          wanted.push_back(nearestInteger(value, integers[k].width, integers[k].isSigned));
        EXPECT_EQ(results[k].to<int64_t>({point}), wanted)
            << spelling(from) << " to " << spelling(integers[k].type) << " on " << cpu;
      }
    }
}
} // namespace
