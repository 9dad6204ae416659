//===- PrecisionTest.cpp - rounding of casts ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expected values are rounded here, by counting in units of the last place. Functions are computed
// op by op (each tensor is stored) and compiled as a whole, where all ops fuse.
//
//===----------------------------------------------------------------------===//

#include "heddle/heddle.h"
#include "test/unit/builder/Tensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace heddle;
using namespace heddle::test;

namespace {
const Name m("m"), n("n"), k("k");
using enum ElementType;

/// Bits of the significand, the exponent of the smallest normal number, and the largest number.
struct Format {
  ElementType type;
  int precision, least;
  double largest;
  bool hasInfinity;
};
const Format formats[] = {{BF16, 8, -126, 0x1.fep127, true},
                          {F16, 11, -14, 65504, true},
                          {F8E5M2, 3, -14, 57344, true},
                          {F8E4M3FN, 4, -6, 448, false}};
const Format &formatOf(ElementType type) {
  for (const Format &format : formats)
    if (format.type == type)
      return format;
  throw std::logic_error("expected a narrow type");
}

/// Rounds to the nearest multiple of a unit in the last place, ties to even.
double rounded(double x, const Format &format) {
  if (!std::isfinite(x) || x == 0)
    return std::isinf(x) && !format.hasInfinity ? NAN : x;
  double unit = std::ldexp(1.0, std::max(std::ilogb(x), format.least) - format.precision + 1);
  double result = std::nearbyint(x / unit) * unit;
  if (std::fabs(result) <= format.largest)
    return result;
  return format.hasInfinity ? std::copysign(INFINITY, x) : NAN;
}
double rounded(double x, ElementType type) { return rounded(x, formatOf(type)); }

JitOptions options(std::vector<std::string> words = {}) {
  return {.threads = 1, .cache = false, .fastMath = std::move(words)};
}

void expectValues(const Tensor &got, const std::vector<double> &want, const char *how) {
  std::vector<double> values = got.cast(F64).to<double>({m});
  ASSERT_EQ(values.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::isnan(want[i]))
      EXPECT_TRUE(std::isnan(values[i])) << how << " at " << i << ", got " << values[i];
    else
      EXPECT_EQ(values[i], want[i]) << how << " at " << i;
  }
}

/// The function op by op, and compiled.
template <typename F, typename... Arguments>
void holds(F f, const std::vector<double> &want, const Arguments &...arguments) {
  expectValues(f(arguments...), want, "eager");
  expectValues(jit(f, options())(arguments...), want, "compiled");
}

/// A narrow tensor of `count` ones that is not a constant of the program.
Tensor ones(int64_t count, ElementType type) {
  return tensor(std::vector<float>(size_t(3 * count), 1), {{m, 3}, {n, count}}).cast(type);
}
} // namespace

TEST(Precision, CastsThereAndBackRound) {
  std::vector<float> values = numbers(400, 5);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::ldexp(values[i], int(i % 60) - 30);
  for (float special : {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 65519.0f, 65520.0f, 447.0f, 464.0f,
                        465.0f, 61439.0f, 61440.0f, 0x1p-25f, 0x1.8p-24f, 0x1p-17f, 3e38f, 3.4e38f})
    values.push_back(special);
  Tensor x = tensor(values, {{m, int64_t(values.size())}});
  for (const Format &format : formats) {
    std::vector<double> want, doubled;
    for (float value : values) {
      want.push_back(rounded(value, format));
      doubled.push_back(rounded(2 * rounded(value, format), format));
    }
    SCOPED_TRACE(spelling(format.type));
    holds([&](Tensor x) { return x.cast(format.type).cast(F32); }, want, x);
    holds([&](Tensor x) { return x.cast(format.type).cast(F64); }, want, x);
    holds([&](Tensor x) { return x.round(format.type); }, want, x);
    holds([&](Tensor x) { return kernel(m).of(at(x).cast(format.type).cast(F32)); }, want, x);
    holds(
        [&](Tensor x) {
          Tensor narrow = x.cast(format.type);
          return (narrow + narrow).cast(F32);
        },
        doubled, x);
  }
}

TEST(Precision, ConstantsAreRoundedWhenTheyAreFolded) {
  Tensor x = Tensor::of<float>({1, 2}, {{m, 2}});
  holds(
      [](Tensor x) {
        Tensor c = constant(3.14159265, F32).cast(BF16); // 3.140625; its square is 9.8635...
        return x + (c * c).cast(F32) + (constant(257, BF16) + constant(2, BF16)).cast(F32);
      },
      {1 + 9.875 + 258, 2 + 9.875 + 258}, x);
}

TEST(Precision, ACastRoundsOnce) {
  // Just above the middle of two numbers; f32 would round to the middle.
  Tensor x = Tensor::of<double>({1 + 0x1p-8 + 0x1p-40, 1 + 0x1p-8, 1 + 0x1p-8 - 0x1p-40,
                                 -1 - 0x1p-8 - 0x1p-40, NAN, 1e300, 0x1p-30},
                                {{m, 7}});
  holds([](Tensor x) { return x.cast(BF16).cast(F32); },
        {1 + 0x1p-7, 1, 1, -1 - 0x1p-7, NAN, INFINITY, 0x1p-30}, x);
  holds([](Tensor x) { return x.cast(BF16); },
        {1 + 0x1p-7, 1, 1, -1 - 0x1p-7, NAN, INFINITY, 0x1p-30}, x);
  holds([](Tensor x) { return x.round(F16); },
        {1 + 0x1p-8, 1 + 0x1p-8, 1 + 0x1p-8, -1 - 0x1p-8, NAN, INFINITY, 0}, x);
  Tensor whole = Tensor::of<int32_t>({16842753, 16842752, -16842753, 259, 2147483647}, {{m, 5}});
  holds([](Tensor x) { return x.cast(BF16).cast(F32); },
        {16908288, 16777216, -16908288, 260, 2147483648.0}, whole);
  holds([](Tensor x) { return x.cast(F8E4M3FN).cast(F32); }, {20, NAN},
        Tensor::of<int8_t>({18, 127}, {{m, 2}}).cast(I32) +
            Tensor::of<int32_t>({1, 400}, {{m, 2}}));
}

TEST(Precision, OperandsOfCastsAreRounded) {
  // 257 and 259 are not representable in bf16, nor 2049 in f16.
  for (auto [count, type] :
       {std::pair(257, BF16), {259, BF16}, {2049, F16}, {9, F8E5M2}, {17, F8E4M3FN}}) {
    SCOPED_TRACE(spelling(type));
    Tensor x = ones(count, type);
    double want = rounded(count, type);
    ASSERT_NE(want, count);
    holds([](Tensor x) { return sum(x, over(n)).cast(F32); }, {want, want, want}, x);
    holds([](Tensor x) { return sum(x, over(n)).cast(I32); }, {want, want, want}, x);
    holds([](Tensor x) { return sum(x * x, over(n)).cast(F32) + 0.5; },
          {want + 0.5, want + 0.5, want + 0.5}, x);
    holds([](Tensor x) { return kernel(m).sum(n).of(at(x)).cast(F32); }, {want, want, want}, x);
    // Scans, loops and recurrences carry values with at least the precision of their types.
    holds(
        [&, count = count](Tensor x) {
          return sum(cumulativeSum(x, n).slice(n, count - 1, 1), over(n)).cast(F32);
        },
        {want, want, want}, x);
    holds(
        [](Tensor x) {
          return forLoop(3, sum(x, over(n)), [](Tensor, Tensor y) { return y; }).cast(F32);
        },
        {want, want, want}, x);
  }
  // Another sum uses the rounded one: the two must not merge into one sum over both names.
  Tensor x = tensor(std::vector<float>(3 * 257, 1), {{k, 3}, {n, 257}}).cast(BF16);
  holds([](Tensor x) { return sum(sum(x, over(n)).cast(F32), over(k)).broadcast({{m, 1}}); }, {768},
        x);
}

TEST(Precision, ProductsAreRoundedBeforeTheyAreSummed) {
  // (1 + 2^-7)^2 is 1 + 2^-6 + 2^-14.
  Tensor x = tensor(std::vector<float>(3 * 64, 1 + 0x1p-7f), {{m, 3}, {n, 64}}).cast(BF16);
  double product = 1 + 0x1p-6, exact = product + 0x1p-14;
  holds([](Tensor x) { return sum((x * x).cast(F32), over(n)); },
        {64 * product, 64 * product, 64 * product}, x);
  holds([](Tensor x) { return sum(x.cast(F32) * x.cast(F32), over(n)); },
        {64 * exact, 64 * exact, 64 * exact}, x);
  holds([](Tensor x) { return kernel(m).sum(n).of((at(x) * at(x)).cast(F32)); },
        {64 * product, 64 * product, 64 * product}, x);
  holds(
      [](Tensor x) {
        return group(over(m), [&] { return sum((x * x).cast(F32), over(n)) * 2.0; });
      },
      {128 * product, 128 * product, 128 * product}, x);
}

TEST(Precision, TruthAndNarrowIntegersSeeTheRoundedNumber) {
  Tensor x = Tensor::of<float>({0x1p-12f, 0x1p-13f, 0}, {{m, 3}}).cast(F16);
  holds([](Tensor x) { return (x * x).cast(I1).cast(I32); }, {1, 0, 0},
        x); // 2^-26 is not representable in f16
  Tensor whole = Tensor::of<int32_t>({300, -129, 255}, {{m, 3}});
  holds([](Tensor x) { return x.cast(I8); }, {44, 127, -1}, whole);
  holds([](Tensor x) { return x.cast(UI8); }, {44, 127, 255}, whole);
}

TEST(Precision, GradientsOfCastsAreCasts) {
  std::vector<float> weights = numbers(5, 3);
  Tensor x = tensor(numbers(5, 4), {{m, 5}}), w = tensor(weights, {{m, 5}});
  std::vector<double> want;
  for (float weight : weights)
    want.push_back(rounded(weight, BF16));
  holds(
      [](Tensor x, Tensor w) {
        return grad([&](Tensor x) { return sum(x.cast(BF16).cast(F32) * w, over(m)); }, x);
      },
      want, x, w);
}

TEST(Precision, ExcessPrecisionIsPermittedByName) {
  Tensor x = ones(257, BF16);
  auto function = [](Tensor x) { return sum(x, over(n)).cast(F32); };
  expectValues(jit(function, options({"excess-precision"}))(x), {257, 257, 257}, "permitted");
  Tensor y = Tensor::of<float>({1 + 0x1p-12f, 3.14159265f}, {{m, 2}});
  expectValues(
      jit([](Tensor y) { return y.cast(BF16).cast(F32); }, options({"excess-precision"}))(y),
      {1 + 0x1p-12f, 3.14159265f}, "permitted");
}
