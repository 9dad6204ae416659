//===- CompositionsTest.cpp - functions made of operations ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values are compared with plain loops in double or numbers by hand, gradients with central
// differences of the function itself in f64.
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
constexpr double inf = std::numeric_limits<double>::infinity(),
                 nan = std::numeric_limits<double>::quiet_NaN();
const Name row("row"), column("column"), k("k"), j("j"), batch("batch"), tap("tap");
const ElementType floats[] = {ElementType::F64, ElementType::F32, ElementType::F16,
                              ElementType::BF16};

Tensor wide(const std::vector<double> &values, const std::vector<Extent> &extents) {
  return Tensor::of<double>(std::span<const double>(values), extents);
}
Tensor line(const std::vector<double> &values) {
  return wide(values, {{row, int64_t(values.size())}});
}
Names orderOf(const Tensor &tensor) {
  Names order;
  for (const std::string &name : tensor.names())
    order.push_back(Name(name));
  return order;
}
/// In row-major order of the sorted names.
std::vector<double> doublesOf(const Tensor &tensor) {
  return tensor.cast(ElementType::F64).to<double>(orderOf(tensor));
}
void expectValues(const Tensor &got, const std::vector<double> &wanted, double tolerance = 1e-12) {
  std::vector<double> values = doublesOf(got);
  ASSERT_EQ(values.size(), wanted.size()) << got.type();
  for (size_t i = 0; i < values.size(); ++i)
    if (std::isnan(wanted[i]))
      EXPECT_TRUE(std::isnan(values[i])) << i << ": " << values[i];
    else if (std::isinf(wanted[i])) // whose tolerance would be infinite
      EXPECT_EQ(values[i], wanted[i]) << i;
    else
      EXPECT_NEAR(values[i], wanted[i], tolerance * (1 + std::fabs(wanted[i]))) << i;
}
/// The largest relative error of a rounding to this type.
double epsilonOf(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return 1e-12;
  case ElementType::F32:
    return 1e-6;
  case ElementType::F16:
    return 2e-3;
  default:
    return 2e-2;
  }
}
void expectRefused(const std::function<void()> &call, const std::string &part) {
  std::string message = messageOf(call);
  EXPECT_NE(message.find(part), std::string::npos) << message;
  EXPECT_NE(message.find("CompositionsTest.cpp:"), std::string::npos) << message;
}

struct Inputs {
  std::vector<Tensor> all;
  HEDDLE_FIELDS(all)
};
/// Compares the gradient of a weighted sum of function(inputs), f64, with differences, and its
/// tangent with the gradient.
template <typename F>
void expectGradient(F function, const std::vector<Tensor> &inputs, double tolerance = 1e-6) {
  auto loss = [&](Inputs x) {
    Tensor y = function(x.all);
    Tensor weight = randomUniform(key(99), y.extents()).cast(ElementType::F64) + 0.5;
    return sum(y * weight, orderOf(y));
  };
  JitOptions options{.targetCpu = "x86-64", .threads = 1};
  auto forward = jit([&](Inputs x) { return loss(x); }, options);
  auto backward = jit([&](Inputs x) { return grad(loss, x); }, options);
  auto tangent = jit([&](Inputs x, Inputs dx) { return jvp(loss, x, dx); }, options);
  Inputs gradient = backward(Inputs{inputs});
  constexpr double step = 1e-5;
  for (size_t n = 0; n < inputs.size(); ++n) {
    std::vector<double> values = doublesOf(inputs[n]), slopes = doublesOf(gradient.all[n]);
    for (size_t i = 0; i < values.size(); ++i) {
      auto moved = [&](double by) {
        std::vector<double> other = values;
        other[i] += by;
        Inputs at{inputs};
        at.all[n] = wide(other, inputs[n].extents());
        return forward(at).item();
      };
      double slope = (moved(step) - moved(-step)) / (2 * step);
      EXPECT_NEAR(slopes[i], slope, tolerance * (1 + std::fabs(slope))) << n << ", " << i;
    }
    Inputs direction{inputs};
    for (Tensor &each : direction.all)
      each = each * 0.0;
    std::vector<double> ones(values.size(), 1);
    direction.all[n] = wide(ones, inputs[n].extents());
    double along = 0;
    for (double slope : slopes)
      along += slope;
    EXPECT_NEAR(tangent(Inputs{inputs}, direction).item(), along, 1e-9 * (1 + std::fabs(along)));
  }
}

//===----------------------------------------------------------------------===//
// Single names for parameters that are lists
//===----------------------------------------------------------------------===//

TEST(Names, OneOrItsSpellingIsAList) {
  Tensor x = wide({1, 2, 3, 4, 5, 6}, {{row, 2}, {column, 3}});
  for (const Tensor &total :
       {sum(x, row), sum(x, "row"), sum(x, std::string("row")), sum(x, over("row")), sum(x, {row})})
    expectValues(total, {5, 7, 9});
  for (const Tensor &total : {sum(x, {row, column}), sum(x, over("row", column))})
    expectValues(total, {21});
  expectValues(mean(x, "column"), {2, 5});
  expectValues(max(x, column), {3, 6});
  expectValues(argmax(x, "row"), {1, 1, 1});
  expectValues(sum(x, {}), {1, 4, 2, 5, 3, 6});
  EXPECT_EQ(line({1, 2}).to<double>(row), (std::vector<double>{1, 2}));
  EXPECT_THROW((void)sum(x, "no name"), Error);
  expectRefused([&] { (void)sum(x, "k"); }, "'k'");
  static_assert(!std::is_convertible_v<int, Names>, "the number of a dimension is no name");
}

//===----------------------------------------------------------------------===//
// einsum, variance
//===----------------------------------------------------------------------===//

TEST(Einsum, IsAProductSummedOverNames) {
  // y[batch, column] = sum over row, k of a[batch, row] b[row, k] c[k, column] d[batch]
  std::vector<float> a = numbers(6, 1), b = numbers(12, 2), c = numbers(20, 3), d = numbers(2, 4);
  std::vector<double> wanted(10);
  for (size_t n = 0; n < 2; ++n)
    for (size_t r = 0; r < 3; ++r)
      for (size_t l = 0; l < 4; ++l)
        for (size_t o = 0; o < 5; ++o)
          wanted[n * 5 + o] += double(a[n * 3 + r]) * b[r * 4 + l] * c[l * 5 + o] * d[n];
  std::vector<Tensor> operands{tensor(a, {{batch, 2}, {row, 3}}), tensor(b, {{row, 3}, {k, 4}}),
                               tensor(c, {{k, 4}, {column, 5}}), tensor(d, {{batch, 2}})};
  for (ElementType type : floats) {
    std::vector<Tensor> cast;
    for (const Tensor &each : operands)
      cast.push_back(each.cast(type));
    expectValues(einsum(cast, over(row, k)), wanted, 4 * epsilonOf(type));
    std::swap(cast[0], cast[2]);
    std::swap(cast[1], cast[3]);
    expectValues(einsum(cast, over(k, row)), wanted, 4 * epsilonOf(type));
  }
  std::vector<Tensor> exact;
  for (Tensor &each : operands)
    exact.push_back(each.cast(ElementType::F64));
  expectGradient([](const std::vector<Tensor> &x) { return einsum(x, over(row, k)); }, exact);
}

TEST(Einsum, OfIntegersAndOfOneOperand) {
  Tensor a = Tensor::of<int64_t>({1, 2, 3, 4}, {{row, 2}, {k, 2}});
  Tensor b = Tensor::of<int64_t>({5, 6, 7, 8}, {{k, 2}, {column, 2}});
  EXPECT_EQ(einsum({a, b}, "k").to<int64_t>({row, column}), (std::vector<int64_t>{19, 22, 43, 50}));
  EXPECT_EQ(einsum({a}, {row, k}).to<int64_t>({}), (std::vector<int64_t>{10}));
  EXPECT_EQ(einsum({a}, {}).to<int64_t>({row, k}), (std::vector<int64_t>{1, 2, 3, 4}));
  // A name that only one operand has, and one that is kept although two operands have it.
  EXPECT_EQ(einsum({a, b}, column).to<int64_t>({row, k}), (std::vector<int64_t>{11, 30, 33, 60}));
  // Two operands that share names only with the third.
  Tensor u = Tensor::of<int64_t>({1, 2}, {{row, 2}}), v = Tensor::of<int64_t>({1, 3}, {{k, 2}});
  EXPECT_EQ(einsum({u, v, a}, over(row, k)).item(), 1 + 6 + 6 + 24);
}

// The small product comes first in any order of the operands.
TEST(Einsum, TakesTheCheapestPairFirst) {
  Tensor a = random({{row, 10}, {k, 1000}}, 1), b = random({{k, 1000}, {j, 10}}, 2),
         c = random({{j, 10}, {column, 1000}}, 3);
  for (std::vector<Tensor> operands : {std::vector<Tensor>{a, b, c}, {c, b, a}, {b, c, a}}) {
    auto f = jit([](std::vector<Tensor> x) { return einsum(x, over(k, j)); });
    std::string ir = f.ir(operands);
    EXPECT_NE(ir.find("!nd.tensor<f32, j: 10, row: 10>"), std::string::npos) << ir;
    EXPECT_EQ(ir.find("column: 1000, k: 1000"), std::string::npos) << ir;
  }
  // A name that only one operand has is summed over before any product.
  auto g = jit([](Tensor x, Tensor y) { return einsum({x, y}, over(k, j)); });
  EXPECT_EQ(g.ir(a, b.rename({{k, row}}).slice(row, 0, 10)).find("j: 10, k: 1000"),
            std::string::npos);
}

// 2^24 + 1 is not representable in f32.
TEST(Einsum, SumsInTheAccumulator) {
  Tensor x = Tensor::of<float>({16777216, 1, -16777216}, {{row, 3}}), y = x * 0.0 + 1.0;
  EXPECT_EQ(einsum({x, y}, row, ElementType::F64).item(), 1);
  auto f = jit([](Tensor x, Tensor y) { return einsum({x, y}, row, ElementType::F64); });
  EXPECT_NE(f.ir(x, y).find("arith.addf %arg2, %arg3 : f64"), std::string::npos) << f.ir(x, y);
}

TEST(Einsum, RefusesWhatDoesNotHangTogether) {
  Tensor x = line({1, 2}), y = wide({1, 2, 3}, {{column, 3}});
  expectRefused([&] { (void)einsum({x, x}, over(k)); },
                "no operand has the name 'k' that is summed over: !nd.tensor<f64, row: 2>");
  expectRefused([&] { (void)einsum({x, x}, over(row, row)); }, "'row' occurs twice");
  expectRefused([&] { (void)einsum({x, y}, {}); }, "share no name");
  expectRefused([&] { (void)einsum({}, {}); }, "at least one operand");
  expectRefused([&] { (void)einsum({x, x.cast(ElementType::F32)}, row); }, "f64 and f32");
}

TEST(Einsum, OneProgramForEverySize) {
  int traces = 0;
  auto f = jit(
      [&](Tensor x, Tensor down, Tensor up) {
        ++traces;
        return einsum({x, down, up}, over(k, j));
      },
      withSymbolic({batch}));
  Tensor down = random({{k, 7}, {j, 2}}, 1), up = random({{j, 2}, {column, 5}}, 2);
  for (int64_t size : {9, 1, 0, 33}) {
    Tensor x = random({{batch, size}, {k, 7}}, 3);
    expectValues(f(x, down, up), doublesOf(sum(sum(x * down, over(k)) * up, over(j))), 1e-5);
  }
  EXPECT_EQ(traces, 1);
}

TEST(Variance, IsTheMeanSquareOfDistances) {
  Tensor x = wide({1, 2, 4, 9, -3, 0.5}, {{row, 2}, {column, 3}});
  auto expected = [](std::vector<double> v, double correction) {
    double mean = 0, squares = 0;
    for (double each : v)
      mean += each / double(v.size());
    for (double each : v)
      squares += (each - mean) * (each - mean);
    return squares / (double(v.size()) - correction);
  };
  for (ElementType type : floats)
    for (double correction : {0.0, 1.0, 0.5}) {
      expectValues(variance(x.cast(type), column, correction),
                   {expected({1, 2, 4}, correction), expected({9, -3, 0.5}, correction)},
                   4 * epsilonOf(type));
      expectValues(variance(x.cast(type), over(row, column), correction),
                   {expected({1, 2, 4, 9, -3, 0.5}, correction)}, 4 * epsilonOf(type));
    }
  expectValues(variance(line({5}), row), {0});
  expectValues(variance(line({5}), row, 1), {nan});
  // More points than a narrow type can count.
  std::vector<double> many(3000);
  for (size_t i = 0; i < many.size(); ++i)
    many[i] = i % 2 ? 1 : -1;
  expectValues(variance(line(many).cast(ElementType::BF16), row, 1), {1}, 1e-2);
  for (double correction : {0.0, 1.0})
    expectGradient([&](const std::vector<Tensor> &x) { return variance(x[0], column, correction); },
                   {x});
}

TEST(Variance, OneProgramForEverySize) {
  auto f = jit([](Tensor x) { return variance(x, row, 1); }, withSymbolic({row}));
  expectValues(f(line({1, 2, 3})), {1});
  expectValues(f(line({1, 3})), {2});
}

// Windows without their excluded taps: (0, 1), (0, 1, 2), (1, 2).
TEST(Variance, LeavesOutWhatAWindowExcludes) {
  auto local = [](const std::vector<Tensor> &x) {
    Tensor w = x[0].window(row, tap, {.size = 3, .padding = Padding(Same).excluded()});
    return variance(w, tap, 1);
  };
  Tensor x = line({0, 3, 9});
  expectValues(local({x}), {4.5, 21, 18});
  expectGradient(local, {x});
}

//===----------------------------------------------------------------------===//
// Logarithms of sums
//===----------------------------------------------------------------------===//

TEST(LogSumExp, DoesNotOverflow) {
  Tensor x = wide({1, 2, 3, -4, 0, 5}, {{row, 2}, {column, 3}});
  auto of = [](std::vector<double> v) {
    double total = 0;
    for (double each : v)
      total += std::exp(each);
    return std::log(total);
  };
  for (ElementType type : floats) {
    expectValues(logSumExp(x.cast(type), column), {of({1, 2, 3}), of({-4, 0, 5})}, epsilonOf(type));
    expectValues(logSumExp(x.cast(type), over(row, column)), {of({1, 2, 3, -4, 0, 5})},
                 epsilonOf(type));
    expectValues(logSumExp(line({30000, 30000}).cast(type), row), {30000 + std::log(2)},
                 epsilonOf(type));
  }
  expectGradient([](const std::vector<Tensor> &x) { return logSumExp(x[0], column); }, {x});
  expectGradient(
      [](const std::vector<Tensor> &x) { // of the second order
        return grad([](Tensor x) { return sum(square(logSumExp(x, column)), row); }, x[0]);
      },
      {x});
}

TEST(LogSumExp, OfInfinities) {
  Tensor x = wide({-inf, -inf, -inf, 2, -inf, 2, inf, 1, -inf, inf, -inf, nan, 0, nan, 1},
                  {{row, 5}, {column, 3}});
  auto weighted = [](Tensor x) {
    return sum(logSumExp(x, column) * (iota({row, x.size(row)}, ElementType::F64) + 1.0), row);
  };
  for (ElementType type : {ElementType::F64, ElementType::F32, ElementType::BF16}) {
    expectValues(logSumExp(x.cast(type), column), {-inf, 2 + std::log(2), inf, nan, nan},
                 epsilonOf(type));
    // Where all probabilities are 0 the slopes are 0.
    Tensor first = x.slice(row, 0, 2).cast(type);
    auto slope = [&](Tensor y) {
      return grad([&](Tensor y) { return weighted(y.cast(ElementType::F64)); }, y);
    };
    expectValues(slope(first), {0, 1, 0, 0, 0, 1}, epsilonOf(type)); // column by column
    expectValues(jit(slope)(first), {0, 1, 0, 0, 0, 1}, epsilonOf(type));
  }
  auto f = jit([](Tensor x) { return logSumExp(x, row); }, withSymbolic({row}));
  expectValues(f(line({})), {-inf});
  expectValues(f(line({1, 1})), {1 + std::log(2)});
}

TEST(LogAddExp, IsPreciseFarApart) {
  std::vector<double> a{0, 1, -3, 700, 0, -50, 2, 1e6}, b{0, -1, 5, 701, -40, 0, 2, -1e6}, wanted;
  for (size_t i = 0; i < a.size(); ++i)
    wanted.push_back(std::max(a[i], b[i]) + std::log1p(std::exp(-std::fabs(a[i] - b[i]))));
  std::vector<double> got = doublesOf(logAddExp(line(a), line(b)));
  for (size_t i = 0; i < a.size(); ++i) // relative error, also for 4e-18
    EXPECT_NEAR(got[i], wanted[i], 1e-15 * std::fabs(wanted[i])) << i;
  wanted.back() = 60000;
  a.back() = 60000, b.back() = -60000;
  for (ElementType type : floats)
    expectValues(logAddExp(line(a).cast(type), line(b).cast(type)), wanted, epsilonOf(type));
  expectGradient([](const std::vector<Tensor> &x) { return logAddExp(x[0], x[1]); },
                 {line({0, 1, -3, 2}), line({0, -1, 5, 2})});
  // By names, and with a number.
  Tensor table = logAddExp(line({0, 1}).broadcast({{column, 2}}), wide({1, 2}, {{column, 2}}));
  expectValues(table, {std::log(1 + M_E), std::log(2 * M_E), std::log(1 + M_E * M_E),
                       std::log(M_E + M_E * M_E)});
  expectValues(logAddExp(line({0, 3}), 0.0), {std::log(2), std::log(1 + std::exp(3))});
}

TEST(LogAddExp, OfInfinities) {
  Tensor a = line({-inf, -inf, 1, inf, inf, inf, nan, 0, -inf}),
         b = line({-inf, 1, -inf, inf, 1, -inf, 0, nan, nan});
  expectValues(logAddExp(a, b), {-inf, 1, 1, inf, inf, inf, nan, nan, nan});
  struct Both {
    Tensor a, b;
    HEDDLE_FIELDS(a, b)
  };
  Both first{a.slice(row, 0, 6), b.slice(row, 0, 6)};
  Both slope = grad([](Both x) { return sum(logAddExp(x.a, x.b), row); }, first);
  expectValues(slope.a, {0, 0, 1, 0, 1, 1});
  expectValues(slope.b, {0, 1, 0, 0, 0, 0});
}

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

TEST(OneHot, IsOneWhereTheIndexSays) {
  Tensor index = Tensor::of<int32_t>({2, 0, 3, -1}, {{batch, 4}});
  Tensor hot = oneHot(index, {column, 3});
  EXPECT_EQ(hot.elementType(), ElementType::F32);
  expectValues(hot, {0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}); // batch: 4, column: 3
  expectValues(oneHot(index.cast(ElementType::UI8), {column, 3}, ElementType::I1),
               {0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0});
  expectValues(oneHot(Tensor::of<int64_t>({1}, {}), {column, 3}, ElementType::F64), {0, 1, 0});
  expectRefused([&] { (void)oneHot(line({1}), {column, 3}); }, "expected integers as the index");
  expectRefused([&] { (void)oneHot(index, {batch, 3}); }, "has the name 'batch' already");
  // A product with the table selects a row; symbolic sizes are allowed.
  auto look = jit(
      [](Tensor table, Tensor index) {
        return einsum({oneHot(index, {row, table.size(row)}, table.elementType()), table}, row);
      },
      withSymbolic({row}));
  expectValues(look(line({5, 6, 7, 8}), index), {7, 5, 8, 0});
  expectValues(look(line({5, 6, 7}), index), {7, 5, 0, 0});
  expectGradient(
      [&](const std::vector<Tensor> &x) {
        return sum(oneHot(index, {row, 4}, ElementType::F64) * x[0], row);
      },
      {line({5, 6, 7, 8})});
}

TEST(Roll, ComesInAtTheOtherEnd) {
  Tensor x = line({0, 1, 2, 3, 4});
  for (int64_t shift : {0, 2, -2, 5, 7, -8, 12}) {
    std::vector<double> wanted(5);
    for (int64_t i = 0; i < 5; ++i)
      wanted[size_t(((i + shift) % 5 + 5) % 5)] = double(i);
    expectValues(roll(x, row, shift), wanted);
    expectValues(roll(x.cast(ElementType::I32), row, shift), wanted);
    Tensor computed = Tensor::of<int64_t>({shift}, {});
    expectValues(roll(x, row, computed), wanted);
    auto any = jit([&](Tensor x) { return roll(x, row, shift); }, withSymbolic({row}));
    expectValues(any(x), wanted);
    expectValues(any(line({7})), {7});
    expectValues(any(line({})), {});
    expectGradient([&](const std::vector<Tensor> &x) { return roll(x[0], row, shift); }, {x});
  }
  // A shift for each batch.
  Tensor y = wide({0, 1, 2, 10, 11, 12}, {{batch, 2}, {row, 3}});
  Tensor each = Tensor::of<int32_t>({1, -1}, {{batch, 2}});
  expectValues(roll(y, row, each), {2, 0, 1, 11, 12, 10});
  expectValues(roll(x, row, Tensor::of<int64_t>({INT64_MIN + 2}, {})), // -6 mod 5
               {1, 2, 3, 4, 0});
  expectGradient([&](const std::vector<Tensor> &y) { return roll(y[0], row, each); }, {y});
  expectRefused([&] { (void)roll(x, row, x.cast(ElementType::I32)); }, "has that name itself");
  expectRefused([&] { (void)roll(x, row, line({1, 2})); }, "expected integers");
  expectRefused([&] { (void)roll(x, column, 1); }, "column");
}

TEST(At, FixesACoordinate) {
  Tensor x = wide({1, 2, 3, 4, 5, 6}, {{row, 2}, {column, 3}});
  expectValues(x.at(column, 1), {2, 5});
  expectValues(x.at(column, -1), {3, 6});
  expectValues(x.at(column, -3), {1, 4});
  expectValues(x.at(row, 1).at(column, 0), {4});
  expectValues(x.at(column, x.size(column) - 2), {2, 5});
  expectValues(x.at(column, Tensor::of<int32_t>({2, 0}, {{row, 2}})), {3, 4}); // zipped
  expectValues(x.at(column, Tensor::of<int64_t>({0, 9, -9}, {{k, 3}})), {1, 4, 3, 6, 1, 4});
  expectRefused([&] { (void)x.at(column, 3); },
                "coordinate 3 of 'column' is out of bounds: expected -3 to 2");
  expectRefused([&] { (void)x.at(column, -4); }, "coordinate -4 of 'column'");
  expectRefused([&] { (void)x.at(k, 0); }, "'k'");
  expectRefused([&] { (void)line({}).at(row, 0); },
                "coordinate 0 of 'row' is out of bounds: expected none");
  expectGradient([](const std::vector<Tensor> &x) { return x[0].at(column, -2); }, {x});
  expectGradient(
      [](const std::vector<Tensor> &x) {
        return x[0].at(column, Tensor::of<int64_t>({1, 1}, {{k, 2}}));
      },
      {x});
}

TEST(At, WhereSizesAreNoNumbers) {
  auto last = jit([](Tensor x) { return x.at(row, -1); }, withSymbolic({row}));
  expectValues(last(line({1, 2, 3})), {3});
  expectValues(last(line({7})), {7});
  EXPECT_THROW((void)last(line({})), Error);
  auto third = jit([](Tensor x) { return x.at(row, 2); }, withSymbolic({row}));
  expectValues(third(line({1, 2, 3})), {3});
  EXPECT_THROW((void)third(line({1, 2})), Error);
  auto middle = jit([](Tensor x) { return x.at(row, x.size(row) / 2); }, withSymbolic({row}));
  expectValues(middle(line({1, 2, 3})), {2});
}

TEST(LeakyRelu, KeepsASlopeBelowZero) {
  for (ElementType type : floats)
    expectValues(leakyRelu(line({-2, 0, 3, -inf, inf, nan}).cast(type), 0.25),
                 {-0.5, 0, 3, -inf, inf, nan}, epsilonOf(type));
  expectValues(leakyRelu(line({-2})), {-0.02});
  expectValues(leakyRelu(line({-2, 3}), 2), {-4, 3}); // also where the slope is steeper
  expectGradient([](const std::vector<Tensor> &x) { return leakyRelu(x[0], 0.2); },
                 {line({-2, 3, -0.1, 0.1})});
  expectValues(grad([](Tensor x) { return sum(leakyRelu(x, 0.25), row); }, line({0, -0.0})),
               {0.25, 0.25});
}

TEST(Division, InPlace) {
  Tensor x = line({6, 8});
  x /= 2;
  x /= line({3, 1});
  expectValues(x, {1, 4});
  Tensor n = Tensor::of<int32_t>({7, -7}, {{row, 2}});
  n /= 2;
  EXPECT_EQ(n.to<int32_t>({row}), (std::vector<int32_t>{3, -3}));
  expectGradient(
      [](const std::vector<Tensor> &x) {
        Tensor y = x[0];
        y /= x[1];
        return y;
      },
      {line({1, 2}), line({3, -4})});
}

} // namespace
