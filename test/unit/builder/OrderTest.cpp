//===- OrderTest.cpp - functions of the order of elements -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values and gradients are those of PyTorch 2.15 in float64 (logcumsumexp, cummax, cummin, median,
// quantile, searchsorted, scatter_reduce), except where it gives NaN and docs/functions.md a
// number.
//
//===----------------------------------------------------------------------===//

#include "heddle/heddle.h"
#include "test/unit/builder/Tensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace heddle;
using namespace heddle::test;

namespace {
constexpr double inf = std::numeric_limits<double>::infinity(),
                 nan = std::numeric_limits<double>::quiet_NaN();
const Name row("row"), column("column"), k("k"), batch("batch");

Tensor wide(const std::vector<double> &values, const std::vector<Extent> &extents) {
  return Tensor::of<double>(std::span<const double>(values), extents);
}
Tensor line(const std::vector<double> &values, const Name &name = row) {
  return wide(values, {{name, int64_t(values.size())}});
}
/// Five lines: numbers with ties, impossible events, infinities, NaN, and far apart numbers.
Tensor lines() {
  return wide({0.5, -1.25, 2, 2,   -3, -inf, -inf, 1,    0.5,     -inf, -inf, 800,   799,
               inf, 1,     1, nan, 5,  nan,  2,    -745, -2000.0, -inf, -700, -1e300},
              {{batch, 5}, {row, 5}});
}
void expectValues(const Tensor &got, const Names &order, const std::vector<double> &wanted) {
  std::vector<double> values = got.cast(ElementType::F64).to<double>(order);
  ASSERT_EQ(values.size(), wanted.size()) << got.type();
  for (size_t i = 0; i < values.size(); ++i)
    if (std::isnan(wanted[i]))
      EXPECT_TRUE(std::isnan(values[i])) << i << ": " << values[i];
    else if (std::isinf(wanted[i])) // whose tolerance would be infinite
      EXPECT_EQ(values[i], wanted[i]) << i;
    else
      EXPECT_NEAR(values[i], wanted[i], 1e-12 * (1 + std::fabs(wanted[i]))) << i;
}
void expectRefused(const std::function<void()> &call, const std::string &part) {
  std::string message = messageOf(call);
  EXPECT_NE(message.find(part), std::string::npos) << message;
  EXPECT_NE(message.find("OrderTest.cpp:"), std::string::npos) << message;
}
Tensor weights() { return line({0.3, -0.7, 1.1, 0.4, 0.9}); }

TEST(Order, LogarithmsOfPrefixSums) {
  Tensor x = lines();
  expectValues(logCumSumExp(x, row), {batch, row},
               {0.5,
                0.6602241504380872,
                2.2326219831020326,
                2.816207099161014,
                2.8191815534325886,
                -inf,
                -inf,
                1,
                1.4740769841801067,
                1.4740769841801067,
                -inf,
                800,
                800.3132616875182,
                inf,
                inf,
                1,
                nan,
                nan,
                nan,
                nan,
                -745,
                -745,
                -745,
                -700,
                -700});
  Tensor slopes =
      grad([](Tensor x) { return sum(logCumSumExp(x, row) * weights(), {batch, row}); }, x);
  // -inf gets no gradient (PyTorch: NaN). Gradients after inf and NaN are not compared.
  expectValues(slopes.slice(batch, 0, 2), {batch, row},
               {0.026112698266717582, -0.04759447648319441, 1.445253566035251, 0.5735551807125199,
                0.002673031468705731, 0, 0, 1.9091971305624111, 0.49080286943758905, 0});
  expectValues(slopes.at(batch, 4), {row}, {0.7, 0, 0, 1.3, 0});
}

TEST(Order, RunningExtrema) {
  auto [most, when] = cumulativeMax(lines(), row);
  expectValues(most, {batch, row},
               {0.5, 0.5, 2, 2,   2,   -inf, -inf, 1,    1,    1,    -inf, 800, 800,
                inf, inf, 1, nan, nan, nan,  nan,  -745, -745, -745, -700, -700});
  expectValues(when, {batch, row},
               {0, 0, 2, 3, 3, 0, 1, 2, 2, 2, 0, 1, 1, 3, 3, 0, 1, 1, 3, 3, 0, 0, 0, 3, 3});
  auto [least, then] = cumulativeMin(lines(), row);
  expectValues(least, {batch, row},
               {0.5,  -1.25, -1.25, -1.25, -3,  -inf, -inf, -inf,   -inf,  -inf, -inf, -inf, -inf,
                -inf, -inf,  1,     nan,   nan, nan,  nan,  -745.0, -2000, -inf, -inf, -inf});
  expectValues(then, {batch, row},
               {0, 1, 1, 1, 4, 0, 1, 1, 1, 4, 0, 0, 0, 0, 0, 0, 1, 1, 3, 3, 0, 1, 2, 2, 2});
  Tensor slopes =
      grad([](Tensor x) { return sum(cumulativeMax(x, row).values * weights(), {batch, row}); },
           lines());
  expectValues(slopes, {batch, row}, {-0.4, 0, 1.1, 1.3, 0, 0.3, -0.7, 2.4, 0, 0, 0.3, 0.4, 0,
                                      1.3,  0, 0.3, 0.4, 0, 1.3, 0,    0.7, 0, 0, 1.3, 0});
  Tensor whole = Tensor::of<int8_t>({-128, -128, 3, 127, -5}, {{row, 5}});
  expectValues(cumulativeMax(whole, row).values, {row}, {-128, -128, 3, 127, 127});
  expectValues(cumulativeMin(whole, row).indices, {row}, {0, 1, 1, 1, 1});
  EXPECT_EQ(cumulativeMax(zeros({{row, 0}, {k, 3}}), row).values.count(), 0u);
}

TEST(Order, Quantiles) {
  Tensor part = line({0, 0.125, 0.3, 0.5, 0.7, 1}, k), x = lines();
  struct Case {
    Between between;
    std::vector<double> wanted;
  };
  // Between two equal infinities, and at one, PyTorch interpolates to NaN.
  const Case cases[] = {
      {Between::Linear,
       {-3,  -2.125, -0.9, 0.5, 1.7, 2,   -inf, -inf, -inf, -inf, -inf, 1,      -inf,  -inf, 160.6,
        799, 799.8,  inf,  nan, nan, nan, nan,  nan,  nan,  -inf, -inf, -8e299, -2000, -996, -700}},
      {Between::Lower,
       {-3,  -3,  -1.25, 0.5, 0.5, 2,   -inf, -inf, -inf, -inf, -inf, 1,      -inf,  -inf,  1,
        799, 799, inf,   nan, nan, nan, nan,  nan,  nan,  -inf, -inf, -1e300, -2000, -2000, -700}},
      {Between::Higher,
       {-3,  -1.25, 0.5, 0.5, 2,   2,   -inf, -inf, -inf, -inf, 0.5,    1,     -inf,  1,    799,
        799, 800,   inf, nan, nan, nan, nan,  nan,  nan,  -inf, -1e300, -2000, -2000, -745, -700}},
      {Between::Nearest,
       {-3,  -3,  -1.25, 0.5, 2,   2,   -inf, -inf, -inf, -inf, 0.5,  1,      -inf,  -inf, 1,
        799, 800, inf,   nan, nan, nan, nan,  nan,  nan,  -inf, -inf, -1e300, -2000, -745, -700}},
      {Between::Midpoint, {-3,   -2.125, -0.375, 0.5,  1.25, 2,    -inf,   -inf,  -inf,    -inf,
                           -inf, 1,      -inf,   -inf, 400,  799,  799.5,  inf,   nan,     nan,
                           nan,  nan,    nan,    nan,  -inf, -inf, -5e299, -2000, -1372.5, -700}}};
  for (const Case &each : cases)
    expectValues(quantile(x, row, part, each.between), {batch, k}, each.wanted);
  expectValues(median(x, row), {batch}, {0.5, -inf, 799, nan, -2000});

  // An even number; gradients, also to equal elements.
  Tensor six = line({3, 1, 4, 1, 5, 9}), parts = line({0.1, 0.5, 0.77}, k);
  expectValues(quantile(six, row, parts), {k}, {1, 3.5, 4.85});
  expectValues(median(six, row), {}, {3});
  Tensor slopes =
      grad([&](Tensor x) { return sum(quantile(x, row, parts) * line({1, 2, 3}, k), k); }, six);
  expectValues(slopes, {row}, {1, 0.5, 1.45, 0.5, 2.55, 0});
  expectValues(quantile(line({1, 2, nan}), row, 0.5), {}, {nan});
  expectValues(quantile(six, row, line({nan, 1}, k)), {k}, {nan, 9});
}

TEST(Order, QuantilesOfOtherTypesAndNames) {
  Tensor whole = Tensor::of<int32_t>({3, 1, 4, 1, 5, 9}, {{row, 2}, {column, 3}});
  expectValues(median(whole, column), {row}, {3, 5});
  expectValues(median(whole, {row, column}), {}, {3});
  expectValues(quantile(whole, column, 0.25, Between::Nearest), {row}, {1, 1});
  expectRefused([&] { (void)quantile(whole, column, 0.25); }, "Between::Lower");
  expectRefused([&] { (void)quantile(line({1}), row, 1.5); }, "1.5");
  expectRefused([&] { (void)median(zeros({{row, 0}}), row); },
                "at least one element for a quantile");
  expectRefused([&] { (void)median(line({1}), {}); }, "at least one name");
  // Interpolated in f32, and rounded once: 1 + 2^-7 * 0.75 in bf16.
  Tensor narrow = line({1, 1.0078125}).cast(ElementType::BF16);
  expectValues(quantile(narrow, row, 0.75), {}, {1.0078125});
  expectValues(quantile(line({65504, 65504}).cast(ElementType::F16), row, 0.5), {}, {65504});
}

TEST(Order, Searches) {
  Tensor edges = line({-inf, 0, 1, 1, 2.5, inf}, k);
  Tensor x = line({-inf, -1, 0, 1, 1.5, 2.5, 3, inf});
  expectValues(searchSorted(edges, k, x), {row}, {0, 1, 1, 2, 4, 4, 5, 5});
  expectValues(searchSorted(edges, k, x, Side::Right), {row}, {1, 1, 2, 4, 4, 5, 5, 6});
  // NaN is the largest number, as in `sort`.
  Tensor last = line({1, nan, nan}, k), values = line({0, 1, 7, nan});
  expectValues(searchSorted(last, k, values), {row}, {0, 0, 1, 1});
  expectValues(searchSorted(last, k, values, Side::Right), {row}, {0, 1, 1, 3});
  expectValues(searchSorted(zeros({{k, 0}}, ElementType::F64), k, values), {row}, {0, 0, 0, 0});
  // Each line its own edges; a name of the values may be that of the edges.
  Tensor each = wide({0, 10, 20, 1, 2, 3}, {{batch, 2}, {row, 3}});
  expectValues(searchSorted(each, row, line({2.5, 15, 30, -1})), {batch, row},
               {1, 2, 3, 0, 2, 3, 3, 0});
  expectRefused([&] { (void)searchSorted(edges, k, x.cast(ElementType::F32)); }, "f32");
}

TEST(Order, SearchesInAnyNumberOfEdges) {
  std::mt19937 random(5);
  auto search = jit([](Tensor edges, Tensor x) { return searchSorted(edges, k, x, Side::Right); },
                    {.symbolic = {k, row}});
  for (int64_t count : {1, 2, 3, 7, 8, 9, 100}) {
    std::vector<int32_t> edges(size_t(count), 0), values(50);
    for (int32_t &edge : edges)
      edge = int32_t(random() % 40);
    for (int32_t &value : values)
      value = int32_t(random() % 50) - 5;
    std::sort(edges.begin(), edges.end());
    Tensor sorted = Tensor::of<int32_t>(std::span<const int32_t>(edges), {{k, count}});
    Tensor x = Tensor::of<int32_t>(std::span<const int32_t>(values), {{row, 50}});
    std::vector<double> wanted;
    for (int32_t value : values)
      wanted.push_back(double(std::upper_bound(edges.begin(), edges.end(), value) - edges.begin()));
    expectValues(search(sorted, x), {row}, wanted);
    expectValues(searchSorted(sorted, k, x, Side::Right), {row}, wanted);
  }
}

TEST(Order, ScattersWithAndWithoutTheOldValue) {
  struct Case {
    Scattered kind;
    bool withOld;
    std::vector<double> wanted, ofOld, ofUpdates;
  };
  const Case cases[] = {
      {Scattered::Sum, false, {-3, -2, 4.5, 7}, {0, 2, 0, 4}, {1, 3, 1, 3, 3}},
      {Scattered::Sum, true, {7, -2, 7.5, 7}, {1, 2, 3, 4}, {1, 3, 1, 3, 3}},
      {Scattered::Product, false, {-4, -2, 2, 7}, {0, 2, 0, 4}, {-4, 3, 1, 3, 12}},
      {Scattered::Product, true, {-40, -2, 6, 7}, {-4, 2, 6, 4}, {-40, 9, 10, 9, 36}},
      {Scattered::Max, false, {1, -2, 2, 7}, {0, 2, 0, 4}, {1, 1.5, 0, 1.5, 0}},
      {Scattered::Max, true, {10, -2, 3, 7}, {1, 2, 3, 4}, {0, 0, 0, 0, 0}},
      {Scattered::Min, false, {-4, -2, 0.5, 7}, {0, 2, 0, 4}, {0, 0, 1, 0, 3}},
      {Scattered::Min, true, {-4, -2, 0.5, 7}, {0, 2, 0, 4}, {0, 0, 1, 0, 3}},
      {Scattered::Mean, false, {-1.5, -2, 1.5, 7}, {0, 2, 0, 4}, {0.5, 1, 0.5, 1, 1}},
      {Scattered::Mean,
       true,
       {7.0 / 3, -2, 1.875, 7},
       {1.0 / 3, 2, 0.75, 4},
       {1.0 / 3, 0.75, 1.0 / 3, 0.75, 0.75}}};
  Tensor index = Tensor::of<int32_t>({0, 2, 0, 2, 2}, {{row, 5}});
  struct Operands {
    Tensor old, updates;
    HEDDLE_FIELDS(old, updates)
  };
  Operands operands{line({10, -2, 3, 7}, k), line({1, 2, -4, 2, 0.5})};
  for (const Case &each : cases) {
    auto result = [&](const Operands &x) {
      return scatterInto(x.old, {{k, index}}, x.updates, each.kind, each.withOld);
    };
    expectValues(result(operands), {k}, each.wanted);
    Operands slopes =
        grad([&](Operands x) { return sum(result(x) * line({1, 2, 3, 4}, k), k); }, operands);
    expectValues(slopes.old, {k}, each.ofOld);
    expectValues(slopes.updates, {row}, each.ofUpdates);
  }
}

TEST(Order, ScattersOfOtherTypes) {
  Tensor index = Tensor::of<int32_t>({0, 0, 2, 9, -1}, {{row, 5}});
  Tensor whole = Tensor::of<int8_t>({-128, -100, 127, 5, 6}, {{row, 5}});
  Tensor old = Tensor::of<int8_t>({0, 1, 2}, {{k, 3}});
  expectValues(scatterInto(old, {{k, index}}, whole, Scattered::Max), {k}, {-100, 1, 127});
  expectValues(scatterInto(old, {{k, index}}, whole, Scattered::Min), {k}, {-128, 1, 127});
  expectRefused([&] { (void)scatterInto(old, {{k, index}}, whole, Scattered::Mean); }, "i8");
  // The mean of 4096 ones in f16, whose sum and count are out of its exact integers.
  Tensor all = constant(1, ElementType::F16, {{row, 4096}});
  Tensor zero = constant(0, ElementType::I64, {{row, 4096}});
  expectValues(scatterInto(zeros({{k, 1}}, ElementType::F16), {{k, zero}}, all, Scattered::Mean),
               {k}, {1});
}
} // namespace
