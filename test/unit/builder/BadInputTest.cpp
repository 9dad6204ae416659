//===- BadInputTest.cpp - errors of the builder ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensors.h"

#include "heddle/heddle.h"
#include "test/unit/Refused.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>

using namespace heddle;
using heddle::test::refused;

static const Name row("row"), column("column"), n("n");
using Tensors = std::vector<Tensor>;

static Tensor matrix() { return randomUniform(key(1), {{row, 4}, {column, 6}}); }
static Tensor ints() { return iota({n, 3}); }

TEST(BadInput, NumbersThatIntegersCannotHold) {
  refused([] { ints() + 0.5; }, {"expected a number that is one of i64, got 0.5"});
  refused([] { ints() * NAN; }, {"got nan"});
  refused([] { (void)(ints() < 1e300); }, {"got 1e+300"});
  refused([] { Tensor::of<uint8_t>({1}, {{n, 1}}) + -1.0; }, {"one of ui8, got -1"});
  refused([] { select(ints() < 1.0, ints(), 1.5); }, {"one of i64, got 1.5"});
  refused([] { constant(128, ElementType::I8); }, {"one of i8, got 128"});
  refused([] { ints().pad(n, 1, 1, INFINITY); }, {"one of i64, got inf"});
  refused([] { ints().window(n, row, {.size = 3, .padding = Padding::explicitly(1, 1, 0.5)}); },
          {"one of i64, got 0.5"});
  refused([] { fold(key(1), 0.5); }, {"got 0.5"});
  EXPECT_EQ((constant(-128, ElementType::I8) + 0.0).item(), -128);
  EXPECT_EQ((Tensor::of<uint8_t>({1}, {{n, 1}}) + 254.0).to<uint8_t>({n})[0], 255);
}

TEST(BadInput, SizesBeyondAllBounds) {
  refused([] { Tensor::of<float>({1}, {{row, int64_t(1) << 40}, {column, int64_t(1) << 40}}); },
          {"expected at most 2^60 elements, got more at 'column'"});
  refused([] { randomPermutation(key(1), {n, -3}); }, {"at least 0 for 'n', got -3"});
  refused([] { topK(matrix(), row, -1); }, {"at least 0 elements of 'row', got -1"});
  refused([] { topK(matrix(), row, 5); }, {"at most the size of 'row', 4, got 5"});
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // sanitizers abort
  refused([] { (zeros({{row, int64_t(1) << 45}}) + 1.0).data(); },
          {"out of memory: 140737488355328 bytes", "'result0'"});
#endif
}

TEST(BadInput, EmptyTensors) {
  refused([] { Tensor().item(); }, {"this tensor is empty"});
  refused([] { Tensor().size(row); }, {"this tensor is empty"});
  refused([] { Tensor() + matrix(); }, {"this tensor is empty"});
  refused([] { select(matrix() > 0.0, matrix(), Tensor()); }, {"this tensor is empty"});
  refused([] { jit([](Tensor) { return Tensor(); })(matrix()); }, {"this tensor is empty"});
}

TEST(BadInput, PlacesAreThoseOfTheUser) {
  // A formal has the type of the tensor that it was created for.
  refused(
      [] { forLoop(3, Tensors{matrix()}, [](Tensor, Tensors s) { return Tensors{s[0], s[0]}; }); },
      {"to give a state of type none, got !nd.tensor<f32, column: 6, row: 4>", "(from ",
       "BadInputTest.cpp:"});
  refused(
      [] {
        jit([](Tensor x) {
          std::ostringstream out;
          out << x;
          return x;
        })(matrix());
      },
      {"this value depends on 'argument0'"});
  refused([] { matrix().round(ElementType::I32); },
          {"no wider than 'f32', got 'i32'; operand 0 is of type"});
  refused([] { jit([](Tensor x) { return x + 1.0; }, {.targetCpu = "bdver4"})(matrix()); },
          {"needs what this CPU lacks"});
  try { // a requirement with the source location of the call
    jit([](Tensor x) { return x; }, {.symbolic = {row.between(9, 10)}})(matrix());
    ADD_FAILURE() << "expected an error";
  } catch (const Error &error) {
    std::string what = error.what();
    EXPECT_EQ(what.find("BadInputTest.cpp:"), what.rfind("BadInputTest.cpp:")) << what;
  }
  refused([] { select(matrix(), matrix(), matrix()); },
          {"expected a condition of element type i1, got !nd.tensor<f32, column: 6, row: 4>"});
}

TEST(BadInput, ElementsThatAreQuantized) {
  refused([] { packInt4(matrix(), row); }, {"elements of type i8, got !nd.tensor<f32"});
  refused([] { unpackInt4(ints(), n); }, {"elements of type ui8, got !nd.tensor<i64"});
  refused([] { quantize(matrix(), Names{n}); }, {"'n'", "column: 6, row: 4"});
}

TEST(BadInput, OneVariableTwice) {
  auto swap = jit([](Tensor &a, Tensor &b) { std::swap(a, b); });
  Tensor x = constant(1), y = constant(2), copy = x;
  refused([&] { swap(x, x); }, {"'argument0' and 'argument1' are one variable"});
  auto add = jit([](Tensor &a, const Tensor &b) { a = a + b; });
  add(x, x); // arguments that are only read may be equal
  EXPECT_EQ(x.item(), 2);
  swap(x, y);
  EXPECT_EQ(x.item(), 2);
  swap(copy, y);
  EXPECT_EQ(y.item(), 1);
  // A variable still holds a formal of a loop that has been traced.
  refused(
      [] {
        Tensor kept;
        forLoop(2, constant(1), [&](Tensor, Tensor s) { return kept = s; });
        kept.item();
      },
      {"this value depends on an argument of a function"});
}

TEST(BadInput, CountsOfTensors) {
  refused([] { forLoop(3, Tensors(), [](Tensor, Tensors s) { return s; }); },
          {"expected a loop or a branch to return at least one tensor, got none"});
  refused(
      [] {
        jvp([](Tensors v) { return v[0] * v[1]; }, Tensors{matrix(), matrix()}, Tensors{matrix()});
      },
      {"expected a tangent of type !nd.tensor<f32, column: 6, row: 4>", "for '1', got none"});
  refused([] { jvp([](Tensor v) { return v * v; }, matrix(), sum(matrix(), over(row))); },
          {"expected a tangent of type", "got !nd.tensor<f32, column: 6>"});
}

namespace {
/// An invalid call, and its line in this file.
struct Misuse {
  unsigned line;
  std::function<void()> call;
};
} // namespace
// clang-format off
#define MISUSE(...) {__LINE__, [] { (void)(__VA_ARGS__); }}
static const Tensor nothing;
static const Misuse misuses[] = {
    MISUSE(Name("")),
    MISUSE(fresh("-")),
    MISUSE(row.between(-1, 2)),
    MISUSE(SymbolicSize(row).multipleOf(-1)),
    MISUSE(Expr(row).floordiv(0)),
    MISUSE(Expr(row).ceildiv(0)),
    MISUSE(Expr(row).mod(-3)),
    MISUSE(nothing.elementType()),
    MISUSE(nothing.names()),
    MISUSE(nothing.has(row)),
    MISUSE(nothing.sizes()),
    MISUSE(nothing.extents()),
    MISUSE(nothing.type()),
    MISUSE(nothing.count()),
    MISUSE(nothing.data()),
    MISUSE(matrix().size(n)),
    MISUSE(matrix().item()),
    MISUSE(matrix().to<float>({row})),
    MISUSE(matrix().to<int32_t>({row, column})),
    MISUSE(Tensor::of<float>({1, 2}, {{row, 3}})),
    MISUSE(Tensor::of<float>({1}, {{row, 1}, {row, 1}})),
    MISUSE(Tensor::of<float>({}, {{row, -1}})),
    MISUSE(matrix().window(n, row, {.size = 2})),
    MISUSE(matrix().window(row, column, {.size = 2})),
    MISUSE(matrix().unwindow(row, n, {.size = 2}, 4)),
    MISUSE(matrix().rename({{n, row}})),
    MISUSE(matrix().rename({{row, column}})),
    MISUSE(matrix().broadcast({{row, 3}})),
    MISUSE(matrix().slice(row, 3, 2)),
    MISUSE(matrix().slice(n, 0, 1)),
    MISUSE(matrix().slice(row, matrix(), 2)),
    MISUSE(matrix().update(row, constant(0, ElementType::I64), ints())),
    MISUSE(matrix().reverse(n)),
    MISUSE(matrix().pad(n, 1, 1)),
    MISUSE(matrix().pad(row, -1, 0)),
    MISUSE(matrix().pad(row, 9, 0, PadMode::Wrap)),
    MISUSE(matrix().split(row, {{n, 3}})),
    MISUSE(matrix().merge({row, n}, column)),
    MISUSE(matrix().round(ElementType::F64)),
    MISUSE(matrix().gather(row, matrix())),
    MISUSE(matrix().gather(n, ints())),
    MISUSE(nothing.cast(ElementType::F32)),
    MISUSE(matrix() + ints()),
    MISUSE(matrix() * ints().cast(ElementType::F32)),
    MISUSE(Operand(1.0) + Operand(2.0)),
    MISUSE(pow(ints() > 0.0, 2.0)),
    MISUSE(select(matrix(), 1.0, 2.0)),
    MISUSE(select(matrix() > 0.0, ints(), matrix())),
    MISUSE(atan2(ints(), 1.0)),
    MISUSE(exp(ints())),
    MISUSE(logicalNot(matrix())),
    MISUSE(shiftLeft(matrix(), 1.0)),
    MISUSE(sum(matrix(), over(n))),
    MISUSE(sum(matrix(), over(row, row))),
    MISUSE(sum(matrix(), over(row), ElementType::BF16)),
    MISUSE(product(ints(), over(n), ElementType::F64)),
    MISUSE(max(nothing, over(row))),
    MISUSE(mean(ints(), over(n))),
    MISUSE(mean(matrix(), over(n))),
    MISUSE(countOf(matrix(), over(n))),
    MISUSE(argmax(matrix(), over(n))),
    MISUSE(reduce({matrix()}, over(row), {}, [](auto &a, auto &) { return a; })),
    MISUSE(reduce({matrix()}, over(row), {0}, [](auto &, auto &) { return Scalars{}; })),
    MISUSE(scan(matrix(), n, Combiner::Add)),
    MISUSE(cumulativeSum(matrix(), n)),
    MISUSE(sort(matrix(), n)),
    MISUSE(topK(matrix(), row, 9)),
    MISUSE(argsort(nothing, row)),
    MISUSE(sortTogether({}, row)),
    MISUSE(sortTogether({matrix(), ints()}, row)),
    MISUSE(concat({}, row)),
    MISUSE(concat({matrix(), ints()}, row)),
    MISUSE(scatter(matrix(), {{n, ints()}}, matrix(), Combiner::Add)),
    MISUSE(scatterUnique(matrix(), {{row, ints()}}, matrix())),
    MISUSE(scatterAdd(ints(), n, matrix(), ints())),
    MISUSE(constant(0.5, ElementType::I8)),
    MISUSE(zeros({{n, -1}})),
    MISUSE(iota({n, -1})),
    MISUSE(randomBits(matrix(), {{n, 2}})),
    MISUSE(randomUniform(key(1), {{n, 2}, {n, 2}})),
    MISUSE(randomNormal(matrix(), {{n, 2}})),
    MISUSE(randomIntegers(key(1), 3, 3, {{n, 2}})),
    MISUSE(fold(matrix(), 1.0)),
    MISUSE(stopGradient(nothing)),
    MISUSE(at(matrix(), {{n, 0}})),
    MISUSE(at(matrix(), {{row, 0}, {row, 1}})),
    MISUSE(kernel(n).of(at(matrix()))),
    MISUSE(kernel(row, row).of(at(matrix()))),
    MISUSE(kernel(row).reduce("mean", over(column))),
    MISUSE(kernel(row).sum(column).max(column)),
    MISUSE(kernel(row, column).size(row, -1)),
    MISUSE(kernel(row).sum(column).where(at(matrix())).of(at(matrix()))),
    MISUSE(kernel(row).of(at(matrix()) + at(ints()))),
    MISUSE(group(Names{}, [] { return 0; })),
    MISUSE(jit([](Tensor x) { return x; }, {.fastMath = {"careless"}})),
    MISUSE(jit([](Tensor x) { return x; }, {.plugins = {"/none.so"}})),
    MISUSE(jit([](Tensor x) { return x; }, {.kept = {1}})),
    MISUSE(jit([](Tensor x) { return x; }, {.symbolic = {row.is(n)}})),
    MISUSE(jit([](Tensor x) { return x; })(nothing)),
    MISUSE(grad([](Tensor x) { return x; }, matrix())),
    MISUSE(valueAndGrad([](Tensor x) { return x.cast(ElementType::I32); }, matrix())),
    MISUSE(jvp([](Tensor x) { return x; }, matrix(), nothing)),
    MISUSE(withGradient([](Tensor x) { return x; }, [](Tensor, Tensor) { return ints(); })(matrix())),
    MISUSE(checkpoint([](Tensor x) { return x; })(nothing)),
    MISUSE(cond(matrix() > 0.0, [] { return ints(); }, [] { return ints(); })),
    MISUSE(cond(constant(1) > 0.0, [] { return ints(); }, [] { return matrix(); })),
    MISUSE(forLoop(2, ints(), [](Tensor, Tensor) { return matrix(); })),
    MISUSE(forLoop(matrix(), ints(), [](Tensor, Tensor x) { return x; })),
    MISUSE(whileLoop(ints(), [](Tensor x) { return x; }, [](Tensor x) { return x; })),
    MISUSE(scan(n, constant(0), matrix(), [](Tensor h, Tensor) { return std::pair(h, h); })),
    MISUSE(lift([](Tensor x) { return x; }, over(n))(matrix())),
    MISUSE(quantize(ints())),
    MISUSE(quantize(matrix(), Names{}, 9)),
    MISUSE(fakeQuantize(ints(), constant(1))),
    MISUSE(packInt4(ints().cast(ElementType::I8), n)),
    MISUSE(unpackInt4(matrix(), row)),
};
#undef MISUSE
// clang-format on

TEST(BadInput, EveryMessageSaysWhereTheCallIs) {
  for (const Misuse &misuse : misuses) {
    std::string place = "BadInputTest.cpp:" + std::to_string(misuse.line) + ":", message;
    try {
      misuse.call();
      ADD_FAILURE() << "expected an Error at " << place;
      continue;
    } catch (const Error &error) {
      message = error.what();
    }
    EXPECT_LT(message.find(place), message.find(": ")) << place << " " << message;
    // The location occurs once; the message has the actual value, and unknown or duplicate names.
    EXPECT_EQ(message.find(place), message.rfind(place)) << message;
    bool isClear = message.find("got ") != std::string::npos ||
                   message.find("this tensor is empty") != std::string::npos ||
                   message.find("share no name: {") != std::string::npos ||
                   message.find("not defined for elements of type ") != std::string::npos ||
                   message.find('\'') != std::string::npos;
    EXPECT_TRUE(isClear) << message;
  }
}

TEST(BadInput, NamesAndSizes) {
  static_assert(!std::is_constructible_v<bool, Tensor> && !std::is_constructible_v<bool, Scalar>);
  refused([] { Name("a b"); }, {"expected the name of a dimension", "got 'a b'"});
  refused([] { fresh("2"); }, {"got '2$"});
  refused([] { n.between(3, 2); }, {"expected sizes of 'n' from 0", "got 3 to 2"});
  refused([] { n.multipleOf(0); }, {"multiples of 1 to", "got 0"});
  refused([] { matrix().size(row) / 0; }, {"a positive number, got 4 by 0"});
}

TEST(BadInput, WindowsAndStrides) {
  const Name tap("tap");
  auto windowed = [&](WindowOptions options) {
    return [=] { matrix().window(row, tap, options); };
  };
  refused(windowed({.size = 0}), {"at least 1, got 0, 1 and 1"});
  refused(windowed({.size = 2, .stride = 0}), {"at least 1, got 2, 0 and 1"});
  refused(windowed({.size = 2, .stride = 0, .padding = Same}), {"at least 1, got 2, 0 and 1"});
  refused(windowed({.size = 2, .dilation = -1}), {"at least 1, got 2, 1 and -1"});
  refused([&] { matrix().unwindow(row, tap, {.size = 2, .stride = 0}, 4); }, {"got 2, 0 and 1"});
  refused([&] { matrix().window(row, tap, {.size = 2}).unwindow(row, tap, {.size = 2}, -3); },
          {"expected a size of 0 to 2^60 for 'row', got -3"});
  refused([&] { matrix() + 1e50; }, {"expected a number that f32 has, got 1e+50"});
  refused([&] { matrix().cast(ElementType::F16) * 1e6; }, {"a number that f16 has, got 1e+06"});
  refused(windowed({.size = 5}), {"at most 4 elements of 'row' of !nd.tensor<f32", "got 5"});
  refused(windowed({.size = 3, .dilation = 3, .padding = Padding::explicitly(1, 1)}),
          {"at most 6 elements of 'row'", "got 7"});
  EXPECT_EQ(matrix().window(row, tap, {.size = 5, .padding = Same}).size(row), 4);
  EXPECT_EQ(zeros({{row, 0}}).window(row, tap, {.size = 1}).size(row), 0);
  refused([] { matrix().slice(row, 0, 2, 0); }, {"a stride of 'row' other than 0, got 0"});
}

TEST(BadInput, KernelsWithoutAPlace) {
  const Name tap("tap");
  auto sums = [&](int64_t taps) {
    return kernel(n).sum(tap).size(tap, taps).of(at(matrix(), {{row, 2 * n + tap}}));
  };
  EXPECT_EQ(sums(4).size(n), 1);
  refused([&] { sums(5); },
          {"an index 'n' at which '2 * n + tap' lies within 'row' of", "got none"});
  EXPECT_EQ(kernel(n).of(at(zeros({{row, 0}}), {{row, n + 0}})).size(n), 0);
}

TEST(BadInput, IntegersHaveNoMeansAndNoGradients) {
  refused([] { mean(ints(), over(n)); }, {"floats to take the mean of, got !nd.tensor<i64, n: 3>"});
  auto loss = [](Tensor x) { return sum(x.cast(ElementType::F32), over(n)); };
  refused([&] { grad(loss, ints()); },
          {"a tensor of floats to differentiate by, got !nd.tensor<i64, n: 3>", "with cast"});
  refused([&] { jvp(loss, ints(), ints()); }, {"a tensor of floats to differentiate by"});
  // Empty tensors in a tree stay empty.
  auto both = [&](Tensors v) { return loss(v[0]) * sum(v[1], over(row, column)); };
  Tensors gradients = grad(both, Tensors{ints(), matrix()});
  EXPECT_TRUE(gradients[0].empty());
  EXPECT_EQ(gradients[1].to<float>({row, column}), std::vector<float>(24, 3));
}

TEST(BadInput, SymbolicNamesOfNoArgument) {
  auto f = jit([](Tensor x) { return x; }, {.symbolic = {row, n.multipleOf(2)}});
  refused([&] { f(matrix()); }, {"has the name 'n' (JitOptions::symbolic), got {column: 6, row: "});
  // It may stand for what another is.
  auto g = jit([](Tensor x) { return x; }, {.symbolic = {n, row.is(n), column.is(n + 2)}});
  EXPECT_EQ(g(matrix()).size(row), 4);
}

TEST(BadInput, NeutralElements) {
  auto add = [](const Scalars &a, const Scalars &b) { return Scalars{a[0] + b[0]}; };
  auto subtract = [](const Scalars &a, const Scalars &b) { return Scalars{a[0] - b[0]}; };
  std::string expected = "expected a neutral element, which combined with a value gives that value";
  refused([&] { reduce({matrix()}, over(row), {1}, add); }, {expected, "got 1.000000e+00: "});
  refused([&] { reduce({matrix()}, over(row), {0}, subtract); }, {expected});
  refused([&] { scan({matrix()}, row, {1}, add); }, {expected});
  // Neutral only from the left; neutral for only one of two sums.
  auto last = [](const Scalars &, const Scalars &b) { return Scalars{b[0]}; };
  auto both = [](const Scalars &a, const Scalars &b) { return Scalars{a[0] + b[0], a[1] + b[1]}; };
  refused([&] { reduce({matrix()}, over(row), {0}, last); }, {expected, "got 0.000000e+00: "});
  refused([&] { reduce({matrix(), matrix()}, over(row), {0, 1}, both); },
          {expected, "got 1.000000e+00: "});
  refused(
      [] {
        kernel(row)
            .reduce(over(column), 0, [](Scalar a, Scalar b) { return a * b; })
            .of(at(matrix()));
      },
      {expected, "got 0.000000e+00: "});
  EXPECT_EQ(scan({matrix()}, row, {0}, add)[0].size(row), 4);
}

TEST(BadInput, ValuesThatWereGivenUp) {
  auto add = jit([](Tensor &x) { x = x + 1.0; });
  Tensor x = Tensor::of<float>({1, 2}, {{n, 2}}), old = x;
  add(x);
  std::ostringstream out;
  std::initializer_list<std::string> parts = {"was donated to the call at ", "in place"};
  refused([&] { old.item(); }, parts);
  refused([&] { out << old; }, parts);
  refused([&] { (void)(old + 1.0); }, parts);
  refused([&] { grad([](Tensor y) { return sum(y, over(n)); }, old); }, parts);
  refused([&] { jvp([](Tensor y) { return y; }, old, old); }, parts);
  refused([&] { forLoop(2, old, [](Tensor, Tensor y) { return y; }); }, parts);
  refused([&] { checkpoint([](Tensor y) { return y; })(old); }, parts);
  refused([&] { lift([](Tensor y) { return y; }, over(n))(old); }, parts);
  refused([&] { jit([](Tensor y) { return y; })(old); }, parts);
}

TEST(BadInput, OptionsOfFunctions) {
  auto same = [](Tensor x) { return x; };
  refused([&] { jit(same, {.threads = -5}); }, {"expected 0 to 1024 threads", "got -5"});
  refused([&] { jit(same, {.threads = 100000}); }, {"got 100000"});
  refused([&] { jit(same, {.name = ""}); }, {"as the name of a function", "got ''"});
  refused([&] { jit(same, {.name = "a\nb"}); }, {"expected printable characters"});
  EXPECT_EQ(jit(same, {.name = "any other name"})(constant(3)).item(), 3);
}

TEST(BadInput, FunctionsThatCallThemselves) {
  static std::function<Tensor(Tensor)> again;
  auto endless = jit([](Tensor x) { return again(x) * 2.0; }, {.name = "endless"});
  again = [=](Tensor x) { return endless(x); };
  refused([&] { endless(matrix()); },
          {"'endless' calls itself", "forLoop and whileLoop end when they run"});
  again = nullptr;
  // A loop that ends while it is traced is legal.
  int left = 3;
  std::function<Tensor(Tensor)> inner;
  auto power = jit([&](Tensor x) { return --left > 0 ? inner(x) * 2.0 : x; });
  inner = [&](Tensor x) { return power(x); };
  EXPECT_EQ(power(constant(1)).item(), 4);
}

TEST(BadInput, DivisorsOfExpressions) {
  refused([] { Expr::name("n").floordiv(0); }, {"expected a positive divisor, got 0"});
  refused([] { Expr::name("n").mod(-2); }, {"expected a positive divisor, got -2"});
}
