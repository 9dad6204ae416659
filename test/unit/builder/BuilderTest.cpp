//===- BuilderTest.cpp - whole programs through the builder ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/heddle.h"
#include "runtime/program/Program.h"
#include "test/unit/builder/Tensors.h"
#include "test/unit/support/io/Files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <unistd.h>

using namespace heddle;
using namespace heddle::test;

namespace {
std::string temporary(const std::string &name) {
  return (std::filesystem::temp_directory_path() /
          ("heddle-" + std::to_string(getpid()) + "-" + name))
      .string();
}

struct Parameters {
  Tensor w, v;
  HEDDLE_FIELDS(w, v)
};
struct State {
  Tensor a;
  HEDDLE_FIELDS(a)
};

const Name m("m"), n("n"), k("k"), row("row"), column("column"), channel("channel"), out("out");
} // namespace

class MatrixProduct : public testing::TestWithParam<std::tuple<int, int, int>> {};

TEST_P(MatrixProduct, EqualsTripleLoop) {
  auto [M, N, K] = GetParam();
  auto a = numbers(size_t(M * K), 1), b = numbers(size_t(K * N), 2);
  Tensor c = relu(sum(tensor(a, {{m, M}, {k, K}}) * tensor(b, {{k, K}, {n, N}}), over(k)) - 0.25);
  auto got = c.to<float>({m, n});
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      double want = -0.25;
      for (int x = 0; x < K; ++x)
        want += double(a[size_t(i * K + x)]) * b[size_t(x * N + j)];
      ASSERT_NEAR(got[size_t(i * N + j)], std::max(want, 0.0), 1e-5 * K) << i << ", " << j;
    }
}
INSTANTIATE_TEST_SUITE_P(Sizes, MatrixProduct,
                         testing::Values(std::tuple(1, 1, 1), std::tuple(1, 17, 5),
                                         std::tuple(13, 1, 7), std::tuple(14, 32, 16),
                                         std::tuple(67, 83, 45), std::tuple(31, 130, 3),
                                         std::tuple(5, 4, 0), std::tuple(0, 3, 2)));

TEST(Builder, OrderOfOperandsAndNamesDoesNotMatter) {
  auto a = numbers(35, 3), b = numbers(21, 4);
  Tensor x = tensor(a, {{m, 5}, {k, 7}}), y = tensor(b, {{k, 7}, {n, 3}});
  EXPECT_EQ(sum(x * y, over(k)).to<float>({m, n}), sum(y * x, over(k)).to<float>({m, n}));
}

class Convolution : public testing::TestWithParam<std::tuple<int, int, int, int, int>> {};

TEST_P(Convolution, EqualsDirectLoops) {
  auto [size, window, stride, in, outs] = GetParam();
  Name ky("ky"), kx("kx");
  auto x = numbers(size_t(2 * size * size * in), 5),
       w = numbers(size_t(window * window * in * outs), 6);
  Tensor image = tensor(x, {{n, 2}, {row, size}, {column, size}, {channel, in}});
  Tensor weight = tensor(w, {{ky, window}, {kx, window}, {channel, in}, {out, outs}});
  WindowOptions options{.size = window, .stride = stride, .padding = Same};
  Tensor y = sum(image.window(row, ky, options).window(column, kx, options) * weight,
                 over(ky, kx, channel));
  int O = (size + stride - 1) / stride, total = std::max((O - 1) * stride + window - size, 0),
      low = total / 2;
  auto got = y.to<float>({n, row, column, out});
  for (int b = 0; b < 2; ++b)
    for (int r = 0; r < O; ++r)
      for (int c = 0; c < O; ++c)
        for (int o = 0; o < outs; ++o) {
          double want = 0;
          for (int p = 0; p < window; ++p)
            for (int q = 0; q < window; ++q) {
              int y0 = r * stride + p - low, x0 = c * stride + q - low;
              if (y0 < 0 || x0 < 0 || y0 >= size || x0 >= size)
                continue;
              for (int i = 0; i < in; ++i)
                want += double(x[size_t(((b * size + y0) * size + x0) * in + i)]) *
                        w[size_t(((p * window + q) * in + i) * outs + o)];
            }
          ASSERT_NEAR(got[size_t(((b * O + r) * O + c) * outs + o)], want, 1e-4)
              << b << r << c << o;
        }
}
INSTANTIATE_TEST_SUITE_P(Sizes, Convolution,
                         testing::Values(std::tuple(9, 3, 2, 3, 5), std::tuple(7, 5, 1, 1, 32),
                                         std::tuple(14, 3, 1, 16, 64), std::tuple(11, 4, 3, 2, 1)));

TEST(Builder, PoolingExcludesTheOutside) {
  auto x = numbers(7, 7);
  for (float &value : x)
    value -= 5; // a zero from padding would be the maximum
  Name tap("tap");
  Tensor y =
      max(tensor(x, {{row, 7}})
              .window(row, tap,
                      {.size = 3, .stride = 2, .padding = Padding::explicitly(1, 1).excluded()}),
          over(tap));
  auto got = y.to<float>({row});
  for (int r = 0; r < 4; ++r) {
    float want = -100;
    for (int t = std::max(0, 2 * r - 1); t <= std::min(6, 2 * r + 1); ++t)
      want = std::max(want, x[size_t(t)]);
    EXPECT_EQ(got[size_t(r)], want);
  }
}

TEST(Builder, CapsuleKernelEqualsLoops) {
  Name i("i"), j("j"), ky("ky"), kx("kx"), rk("row_k"), ck("column_k");
  auto p = numbers(2 * 5 * 5 * 3 * 4 * 4, 8), w = numbers(3 * 3 * 3 * 2 * 4 * 4, 9);
  Tensor pose = tensor(p, {{n, 2}, {row, 5}, {column, 5}, {channel, 3}, {i, 4}, {k, 4}});
  Tensor weight = tensor(w, {{rk, 3}, {ck, 3}, {channel, 3}, {out, 2}, {k, 4}, {j, 4}});
  Tensor votes = kernel(row, column, out, i, j)
                     .sum(ky, kx, channel, k)
                     .of(at(pose, {{row, 2 * row + ky}, {column, 2 * column + kx}}) *
                         at(weight, {{rk, ky}, {ck, kx}}));
  EXPECT_EQ(votes.type(), "!nd.tensor<f32, column: 2, i: 4, j: 4, n: 2, out: 2, row: 2>");
  auto got = votes.to<float>({n, row, column, out, i, j});
  size_t at = 0;
  for (int b = 0; b < 2; ++b)
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 2; ++x)
        for (int o = 0; o < 2; ++o)
          for (int a = 0; a < 4; ++a)
            for (int c = 0; c < 4; ++c, ++at) {
              double want = 0;
              for (int s = 0; s < 3; ++s)
                for (int t = 0; t < 3; ++t)
                  for (int h = 0; h < 3; ++h)
                    for (int q = 0; q < 4; ++q)
                      want +=
                          double(p[size_t(
                              ((((b * 5 + 2 * y + s) * 5 + 2 * x + t) * 3 + h) * 4 + a) * 4 + q)]) *
                          w[size_t(((((s * 3 + t) * 3 + h) * 2 + o) * 4 + q) * 4 + c)];
              ASSERT_NEAR(got[at], want, 1e-4);
            }
}

TEST(Builder, GatherZipsSharedNamesAndClamps) {
  Tensor table = Tensor::of<float>({0, 1, 2, 10, 11, 12}, {{m, 2}, {k, 3}});
  Tensor index = Tensor::of<int32_t>({2, 0, 7, 1}, {{m, 2}, {n, 2}});
  EXPECT_EQ(table.gather(k, index).to<float>({m, n}), (std::vector<float>{2, 0, 12, 11}));
}

TEST(Builder, ArgmaxTakesTheSmallestIndexOfATie) {
  Tensor x = Tensor::of<float>({1, 5, 5, 2, 5, 0}, {{m, 2}, {k, 3}});
  EXPECT_EQ(argmax(x, over(k)).to<int64_t>({m}), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(argmax(x, over(m, k)).item(), 1);
  double nan = std::numeric_limits<double>::quiet_NaN();
  Tensor holes = Tensor::of<float>({float(nan), 2, 2, float(nan), 1, float(nan)}, {{m, 6}});
  EXPECT_EQ(argmax(holes, over(m)).item(), 1);
  EXPECT_EQ(argmin(holes, over(m)).item(), 4);
  EXPECT_EQ(argmin(holes.slice(m, 3, 1), over(m)).item(), 0);
}

TEST(Builder, GradientEqualsFiniteDifferences) {
  auto x = numbers(2 * 6 * 6, 10), w = numbers(3 * 3 * 4, 11), v = numbers(4 * 3, 12);
  Tensor image = tensor(x, {{n, 2}, {row, 6}, {column, 6}});
  Name ky("ky"), kx("kx");
  auto loss = [&](Parameters p) {
    Tensor y = sum(image.window(row, ky, {.size = 3, .stride = 2, .padding = Same})
                           .window(column, kx, {.size = 3, .padding = Same}) *
                       p.w,
                   over(ky, kx));
    Tensor z = sum(tanh(y), over(row, column));
    return sum(exp(sum(z * p.v, over(channel)) * 0.1), over(n, out));
  };
  Parameters p{tensor(w, {{ky, 3}, {kx, 3}, {channel, 4}}), tensor(v, {{channel, 4}, {out, 3}})};
  auto both = jit([&](Parameters p) { return valueAndGrad(loss, p); });
  auto [value, gradient] = both(p);
  auto forward = jit([&](Parameters p) { return loss(p); });
  EXPECT_NEAR(value.item(), forward(p).item(), 1e-4);
  auto check = [&](Tensor Parameters::*member, const std::vector<float> &values,
                   const Names &order) {
    auto got = (gradient.*member).to<float>(order);
    std::vector<Extent> extents;
    for (const Name &name : order)
      extents.push_back({name, (p.*member).size(name)});
    for (size_t at = 0; at < values.size(); at += 5) {
      auto moved = [&](float by) {
        auto changed = values;
        changed[at] += by;
        Parameters q = p;
        q.*member = tensor(changed, extents);
        return forward(q).item();
      };
      EXPECT_NEAR(got[at], (moved(1e-2f) - moved(-1e-2f)) / 2e-2, 2e-2 * (1 + std::abs(got[at])))
          << at;
    }
  };
  check(&Parameters::w, w, {ky, kx, channel});
  check(&Parameters::v, v, {channel, out});
}

TEST(Builder, ValuesAreRefusedWithThisPlaceAndTheTensors) {
  Tensor made = zeros({{m, 2}});
  std::string place = "BuilderTest.cpp:" + std::to_string(__LINE__ - 1);
  expectHas(messageOf([&] { made.to<double>({m}); }),
            {"f64", "f32", "cast", "BuilderTest.cpp", place});
  expectHas(messageOf([&] { made.to<float>({n}); }), {"{m: 2}", "[n]", "BuilderTest.cpp", place});
  expectHas(messageOf([&] { made.item(); }), {"one element", "m: 2", "BuilderTest.cpp", place});
  for (auto ask :
       {+[] { Tensor().to<float>({}); }, +[] { Tensor().names(); }, +[] { Tensor().count(); }})
    expectHas(messageOf(ask), {"empty", "BuilderTest.cpp"});
}

TEST(Builder, StateIsUpdatedInPlaceAndOldHandlesArePoisoned) {
  auto step = jit([](State &s, Tensor x) {
    s.a = s.a + x;
    return sum(s.a, over(m));
  });
  State state{Tensor::of<float>({1, 2, 3}, {{m, 3}})};
  Tensor x = Tensor::of<float>({1, 1, 1}, {{m, 3}}), old = state.a;
  EXPECT_EQ(step(state, x).item(), 9);
  EXPECT_EQ(step(state, x).item(), 12);
  EXPECT_EQ(state.a.to<float>({m}), (std::vector<float>{3, 4, 5}));
  expectHas(messageOf([&] { old.to<float>({m}); }), {"donated", "BuilderTest.cpp"});
}

TEST(Builder, RandomBitsDependOnKeyAndOrderAlone) {
  Tensor a = randomUniform(key(7), {{m, 5}, {n, 9}}), b = randomUniform(key(7), {{m, 5}, {n, 9}});
  EXPECT_EQ(a.to<float>({m, n}), (b + 0.0).to<float>({m, n}));
  EXPECT_NE(a.to<float>({m, n}), randomUniform(key(8), {{m, 5}, {n, 9}}).to<float>({m, n}));
  for (float value : a.to<float>({m, n}))
    EXPECT_TRUE(value >= 0 && value < 1);
}

TEST(Builder, RandomNumbersDoNotDependOnHowTheyAreComputed) {
  std::vector<Extent> shape{{m, 300}, {n, 70}};
  auto draw = [&](Tensor seed) { return randomNormal(seed, shape); };
  std::vector<float> once = draw(key(7)).to<float>({m, n});
  for (int threads : {1, 3})
    EXPECT_EQ(jit(draw, JitOptions{.threads = threads})(key(7)).to<float>({m, n}), once);
  // Fused into a reduction, or sliced from a larger tensor.
  auto fused = jit([&](Tensor seed) { return max(draw(seed).slice(m, 17, 1), over(m)); });
  EXPECT_EQ(fused(key(7)).to<float>({n}),
            (std::vector<float>(once.begin() + 17 * 70, once.begin() + 18 * 70)));
  Tensor x = draw(key(7));
  EXPECT_NEAR(mean(x, over(m, n)).item(), 0, 0.03);
  EXPECT_NEAR(mean(x * x, over(m, n)).item(), 1, 0.04);
  EXPECT_NEAR(mean(x * x * x * x, over(m, n)).item(), 3, 0.25);
}

TEST(Builder, RandomIntegersAndPermutations) {
  std::vector<int64_t> dice = randomIntegers(key(3), 1, 7, {{m, 6000}}).to<int64_t>({m});
  for (int64_t face = 1; face <= 6; ++face)
    EXPECT_NEAR(double(std::count(dice.begin(), dice.end(), face)), 1000, 150);
  std::vector<int64_t> order = randomPermutation(key(3), {m, 100}).to<int64_t>({m});
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (int64_t i = 0; i < 100; ++i)
    EXPECT_EQ(order[size_t(i)], i);
  expectHas(messageOf([&] { randomIntegers(key(3), 2, 2, {{m, 6}}); }),
            {"1 to 2^32", "2 to below 2"});
}

TEST(Builder, NarrowTypesAreComputedInF32) {
  auto values = numbers(50, 13);
  Tensor x = tensor(values, {{m, 50}}), narrow = x.cast(ElementType::BF16);
  double want = 0, got = sum(narrow * narrow, over(m)).item();
  for (float value : values)
    want += double(value) * value;
  EXPECT_NEAR(got, want, 0.02 * want);
  EXPECT_EQ(narrow.elementType(), ElementType::BF16);
  Tensor eight = x.cast(ElementType::F8E4M3FN);
  EXPECT_NEAR(sum(eight.cast(ElementType::F32) * eight.cast(ElementType::F32), over(m)).item(),
              want, 0.1 * want);
  EXPECT_EQ(eight.elementType(), ElementType::F8E4M3FN);
}

TEST(Builder, ScansFromBothEnds) {
  Tensor x = Tensor::of<float>({1, 2, 3, 4}, {{m, 4}});
  EXPECT_EQ(cumulativeSum(x, m).to<float>({m}), (std::vector<float>{1, 3, 6, 10}));
  EXPECT_EQ(scan(x, m, Combiner::Multiply, true).to<float>({m}), (std::vector<float>{1, 1, 2, 6}));
  EXPECT_EQ(scan(x, m, Combiner::Add, false, true).to<float>({m}),
            (std::vector<float>{10, 9, 7, 4}));
}

TEST(Builder, GathersAndScattersAlongSeveralNames) {
  Tensor table = Tensor::of<float>({0, 1, 2, 10, 11, 12}, {{m, 2}, {k, 3}});
  Tensor row0 = Tensor::of<int32_t>({1, 0, 1}, {{n, 3}}),
         column0 = Tensor::of<int32_t>({2, 2, 0}, {{n, 3}});
  EXPECT_EQ(table.gather({{m, row0}, {k, column0}}).to<float>({n}),
            (std::vector<float>{12, 2, 10}));
  Tensor updates = Tensor::of<float>({5, 1, 7}, {{n, 3}});
  Tensor most = scatter(table, {{m, row0}, {k, column0}}, updates, Combiner::Max);
  EXPECT_EQ(most.to<float>({m, k}), (std::vector<float>{0, 1, 2, 10, 11, 12}));
  Tensor sums = scatter(table, {{m, row0}, {k, column0}}, updates, Combiner::Add);
  EXPECT_EQ(sums.to<float>({m, k}), (std::vector<float>{0, 1, 3, 17, 11, 17}));
}

TEST(Builder, UnwindowIsTheAdjointOfWindow) {
  WindowOptions options{.size = 3, .stride = 2, .padding = Same};
  Name tap("tap");
  Tensor x = tensor(numbers(7, 20), {{row, 7}});
  Tensor windows = x.window(row, tap, options);
  Tensor y = tensor(numbers(windows.count(), 21), {{row, windows.size(row)}, {tap, 3}});
  double forward = sum(windows * y, over(row, tap)).item();
  double back = sum(x * y.unwindow(row, tap, options, 7), over(row)).item();
  EXPECT_NEAR(forward, back, 1e-5);
}

TEST(Builder, TruthValuesAndBits) {
  Tensor x = iota({m, 4}, ElementType::I32);
  Tensor middle = logicalAnd(x > 0.0, x < 3.0);
  EXPECT_EQ(middle.cast(ElementType::I32).to<int32_t>({m}), (std::vector<int32_t>{0, 1, 1, 0}));
  EXPECT_EQ(logicalNot(middle).cast(ElementType::I32).to<int32_t>({m}),
            (std::vector<int32_t>{1, 0, 0, 1}));
  EXPECT_EQ(logicalOr(x, 4.0).to<int32_t>({m}), (std::vector<int32_t>{4, 5, 6, 7}));
  EXPECT_EQ(logicalNot(x).to<int32_t>({m}), (std::vector<int32_t>{-1, -2, -3, -4}));
}

TEST(Builder, RoundKeepsWhatTheNarrowTypeHolds) {
  Tensor x = Tensor::of<float>({1.0f, 1.0f + 1.0f / 512, 3.14159265f}, {{m, 3}});
  EXPECT_EQ(x.round(ElementType::BF16).to<float>({m}), (std::vector<float>{1, 1, 3.140625f}));
}

TEST(Builder, PrintsTypeAndValuesAndEvaluatesForThat) {
  auto text = [](const Tensor &tensor) {
    std::ostringstream out;
    out << tensor;
    return out.str();
  };
  Tensor a = Tensor::of<float>({1, 2, 3, 4, 5, 6}, {{row, 2}, {column, 3}});
  EXPECT_EQ(text(a * 2.0), "!nd.tensor<f32, column: 3, row: 2> [[2, 8], [4, 10], [6, 12]]");
  EXPECT_EQ(text(Tensor::of<int64_t>({-7}, {})), "!nd.tensor<i64> -7");
  EXPECT_EQ(text(Tensor::of<int64_t>({INT64_MIN, INT64_MAX}, {{m, 2}})),
            "!nd.tensor<i64, m: 2> [-9223372036854775808, 9223372036854775807]");
  EXPECT_EQ(text(Tensor::of<uint64_t>({0, UINT64_MAX}, {{m, 2}})),
            "!nd.tensor<ui64, m: 2> [0, 18446744073709551615]");
  EXPECT_EQ(text(equal(a, 3.0).slice(row, 0, 1)),
            "!nd.tensor<i1, column: 3, row: 1> [[0], [0], [1]]");
  EXPECT_EQ(text(Tensor::of<float>({1.5f, -0.25f}, {{m, 2}}).cast(ElementType::BF16)),
            "!nd.tensor<bf16, m: 2> [1.5, -0.25]");
  EXPECT_EQ(text(Tensor::of<float>({1.6f, -0.25f}, {{m, 2}}).cast(ElementType::F8E5M2)),
            "!nd.tensor<f8E5M2, m: 2> [1.5, -0.25]");
  EXPECT_EQ(text(iota({m, 100})),
            "!nd.tensor<i64, m: 100> [0, 1, 2, 3, 4, 5, ..., 94, 95, 96, 97, 98, 99]");
  EXPECT_EQ(text(Tensor()), "(empty)");
}

// A function may have only state. Arguments that it only reads may be the same tensor; this does
// not change the compiled program.
TEST(Builder, FunctionsWithoutResultAndOfOneTensor) {
  auto count = jit([](Tensor &n) { n = n + 1.0; });
  Tensor n = constant(0);
  count(n);
  count(n);
  EXPECT_EQ(n.item(), 2);
  auto difference = jit([](const Tensor &a, const Tensor &b) { return a - b; });
  Tensor x = constant(5), y = constant(3);
  EXPECT_EQ(difference(x, x).item(), 0);
  EXPECT_EQ(difference(x, y).item(), 2);
}

TEST(Builder, IsTracedOnceForEachSignature) {
  int traces = 0;
  auto twice = jit([&](Tensor x) {
    ++traces;
    return x + x;
  });
  Tensor three = tensor(numbers(3, 22), {{m, 3}}), four = tensor(numbers(4, 22), {{m, 4}});
  twice(three);
  twice(three + 1.0);
  EXPECT_EQ(traces, 1);
  twice(four);
  twice(three.rename({{m, n}}));
  twice(three.cast(ElementType::F64));
  EXPECT_EQ(traces, 4);
  twice(three);
  EXPECT_EQ(traces, 4);
}

TEST(Builder, CapturedTensorsAreHiddenInputs) {
  Tensor captured = tensor({1, 2, 3}, {{m, 3}});
  auto times = jit([&](Tensor x) { return sum(x * captured, over(m)); });
  Tensor x = tensor({1, 1, 1}, {{m, 3}});
  EXPECT_EQ(times(x).item(), 6);
  EXPECT_EQ(times(x * 2.0).item(), 12);
  expectHas(messageOf([&] { times.save(temporary("captured"), x); }),
            {"captures", "m: 3", "argument", "BuilderTest.cpp"});
}

TEST(Builder, ACompiledFunctionInsideOfAnotherIsPartOfIt) {
  auto inner = jit([](Tensor x) { return x * x; });
  auto outer = jit([&](Tensor x) { return sum(inner(x) + 1.0, over(m)); });
  EXPECT_EQ(outer(tensor({1, 2, 3}, {{m, 3}})).item(), 17);
}

TEST(Builder, FreshNamesDifferAndAreNumberedPerFunction) {
  EXPECT_FALSE(fresh("ky") == fresh("ky"));
  auto ir = [&] {
    return jit([](Tensor x) { return max(x.window(row, fresh("ky"), {.size = 2}), over(row)); })
        .ir(zeros({{row, 5}}));
  };
  std::string first = ir();
  expectHas(first, {"ky$1"});
  EXPECT_EQ(first, ir());
}

TEST(Builder, PlacesOfTheSourceReachTheProgram) {
  std::string path = temporary("places");
  auto function = jit([](Tensor x) { return tanh(x) * 2.0; }, {.name = "places"});
  function.save(path, zeros({{m, 1000}}));
  auto program = Program::load(path);
  std::filesystem::remove(path);
  const EntrySpec &entry = program->entry("places");
  ASSERT_FALSE(entry.steps.empty());
  expectHas(entry.steps[0].location, {"BuilderTest.cpp:"});
}

TEST(Builder, ArgumentsAndResultsAreCalledByTheirPaths) {
  auto function = jit(
      [](Parameters p, State &s, Tensor x) {
        s.a = s.a + x;
        return Parameters{p.w + x, p.v};
      },
      {.name = "paths"});
  Tensor one = tensor({1}, {{m, 1}});
  Parameters p{one, one};
  State s{one};
  std::string path = temporary("paths");
  function.save(path, p, s, one);
  auto program = Program::load(path);
  std::filesystem::remove(path);
  const EntrySpec &entry = program->entry("paths");
  std::vector<std::string> arguments, results;
  for (int32_t index : entry.arguments)
    arguments.push_back(entry.values[size_t(index)].name);
  for (int32_t index : entry.results)
    results.push_back(entry.values[size_t(index)].name);
  EXPECT_EQ(arguments, (std::vector<std::string>{"w", "v", "a", "argument2"}));
  EXPECT_EQ(results, (std::vector<std::string>{"w", "v", "a"}));
}

//===----------------------------------------------------------------------===//
// Lifting
//===----------------------------------------------------------------------===//

TEST(Lift, EqualsTheFunctionOnEachSlice) {
  // The function has a local name "n" of its own, and the lifted one is called "n" as well.
  auto function = [](Tensor x, Tensor w) {
    Tensor windows = x.window(row, n, {.size = 3, .padding = Same});
    Tensor y = sum(windows * w.rename({{k, n}}), over(n));
    return tanh(y - max(y, over(row)));
  };
  Tensor x = tensor(numbers(4 * 5, 23), {{n, 4}, {row, 5}}), w = tensor(numbers(3, 24), {{k, 3}});
  auto got = lift(function, over(n))(x, w).to<float>({n, row});
  for (int64_t i = 0; i < 4; ++i) {
    Tensor slice = sum(x.slice(n, i, 1), over(n));
    auto wanted = function(slice, w).to<float>({row});
    for (size_t j = 0; j < 5; ++j)
      EXPECT_NEAR(got[size_t(i) * 5 + j], wanted[j], 1e-6) << i << ", " << j;
  }
}

TEST(Lift, IsDifferentiated) {
  auto function = [](Tensor x) { return sum(x * x * x, over(row)); };
  Tensor x = tensor(numbers(6, 25), {{m, 2}, {row, 3}});
  auto slope = grad([&](Tensor x) { return sum(lift(function, over(m))(x), over(m)); }, x);
  auto values = x.to<float>({m, row}), got = slope.to<float>({m, row});
  for (size_t i = 0; i < 6; ++i)
    EXPECT_NEAR(got[i], 3 * values[i] * values[i], 1e-5);
  // A stopGradient inside the lifted function still stops gradients.
  auto stopping = [](Tensor x) { return sum(stopGradient(x * x) * x, over(row)); };
  slope = grad([&](Tensor x) { return sum(lift(stopping, over(m))(x), over(m)); }, x);
  got = slope.to<float>({m, row});
  for (size_t i = 0; i < 6; ++i)
    EXPECT_NEAR(got[i], values[i] * values[i], 1e-5);
}

TEST(Lift, OverlappingAndUnknownNamesAreErrors) {
  auto makes = [](Tensor x) { return x.broadcast({{n, 2}}); };
  expectHas(messageOf([&] { lift(makes, over(n))(zeros({{m, 3}, {n, 4}})); }),
            {"'n'", "BuilderTest.cpp"});
  expectHas(messageOf([&] { lift(makes, over(k))(zeros({{m, 3}})); }),
            {"no operand has the name 'k'", "m: 3"});
  auto adds = [](Tensor x, Tensor y) { return x + y; };
  expectHas(
      messageOf([&] { lift(adds, over(k))(zeros({{m, 3}, {k, 2}}), zeros({{m, 3}, {k, 5}})); }),
      {"'k'", "2", "5"});
}

//===----------------------------------------------------------------------===//
// Mistakes
//===----------------------------------------------------------------------===//

TEST(BuilderErrors, OneNameWithTwoSizesShowsBothSetsAndPlaces) {
  Tensor a = zeros({{m, 2}, {k, 3}}), b = zeros({{k, 4}, {n, 5}});
  expectHas(messageOf([&] { a *b; }),
            {"'k'", "size 3", "size 4", "{k: 3, m: 2}", "{k: 4, n: 5}", "BuilderTest.cpp"});
}
TEST(BuilderErrors, NoSilentOuterProduct) {
  expectHas(messageOf([&] { zeros({{m, 2}}) * zeros({{n, 3}}); }),
            {"share no name", "{m: 2}", "{n: 3}", "broadcast"});
}
TEST(BuilderErrors, UnknownNameListsTheTensorsNames) {
  expectHas(messageOf([&] { sum(zeros({{m, 2}}), over(n)); }), {"'n'", "{m: 2}"});
  expectHas(messageOf([&] { zeros({{m, 2}}).rename({{n, k}}); }), {"'n'", "{m: 2}"});
}
TEST(BuilderErrors, MixedElementTypes) {
  expectHas(messageOf([&] { zeros({{m, 2}}) + zeros({{m, 2}}, ElementType::I64); }),
            {"f32", "i64", "cast"});
}

/// `message` begins with the source location of `line` and names all of `others`.
static void expectPlaces(const std::string &message, int line, std::vector<int> others) {
  std::string file = "BuilderTest.cpp:";
  EXPECT_LT(message.find(file + std::to_string(line) + ":"), message.find(": ")) << message;
  for (int other : others)
    EXPECT_NE(message.find(file + std::to_string(other) + ")"), std::string::npos)
        << other << " in: " << message;
}

TEST(BuilderErrors, ThePlacesOfTheOperandsAreShown) {
  const int made = __LINE__;
  Tensor a = zeros({{m, 2}, {k, 3}});
  Tensor b = zeros({{k, 4}, {n, 5}});
  Tensor index = zeros({{k, 7}}, ElementType::I64);
  auto adds = [](Tensor x, Tensor y) { return sum(x, over(k)) + sum(y, over(n)); };
  auto lifts = [&] { lift(adds, over(m))(a, zeros({{m, 9}, {n, 2}})); };
  const int failed = __LINE__;
  expectPlaces(messageOf([&] { a + b; }), failed + 1, {made + 1, made + 2});
  expectPlaces(messageOf([&] { sum(a, over(n)); }), failed + 2, {made + 1});
  expectPlaces(messageOf([&] { concat({a, b}, m); }), failed + 3, {made + 1, made + 2});
  expectPlaces(messageOf([&] { a.gather(m, index); }), failed + 4, {made + 1, made + 3});
  expectPlaces(messageOf([&] { b.slice(k, 2, 9); }), failed + 5, {made + 2});
  expectPlaces(messageOf([&] { kernel(n).of(at(a, {{n, n}})); }), failed + 6, {made + 1});
  expectPlaces(messageOf(lifts), made + 5, {made + 1, made + 5});
  auto first = [](Tensor x, Tensor) { return x; };
  expectPlaces(messageOf([&] { lift(first, over(row))(a, b); }), failed + 9, {made + 1, made + 2});
}
TEST(BuilderErrors, ElementTypesThatAFunctionDoesNotKnow) {
  expectHas(messageOf([&] { exp(zeros({{m, 2}}, ElementType::I64)); }),
            {"not defined", "i64", "cast", "BuilderTest.cpp"});
  expectHas(messageOf([&] { logicalAnd(zeros({{m, 2}}), zeros({{m, 2}})); }),
            {"not defined", "f32"});
  expectHas(messageOf([&] { select(zeros({{m, 2}}), zeros({{m, 2}}), 0.0); }), {"condition", "i1"});
  expectHas(messageOf([&] { zeros({{m, 2}}).to<int32_t>({m}); }), {"f32", "i32", "cast"});
  expectHas(messageOf([&] { zeros({{m, 2}}).gather(m, zeros({{k, 1}})); }), {"integer"});
  expectHas(messageOf([&] {
              grad([](Tensor x) { return sum(x, over(m)); }, zeros({{m, 2}}, ElementType::I32));
            }),
            {"float", "i32"});
}
TEST(BuilderErrors, KernelsNameWhatIsUnknown) {
  Tensor x = zeros({{m, 4}});
  expectHas(messageOf([&] { kernel(n).of(at(x, {{k, n}})); }),
            {"unknown name 'k'", "m: 4", "BuilderTest.cpp"});
  expectHas(messageOf([&] { kernel(n, n).of(at(x, {{m, n}})); }),
            {"'n'", "twice", "BuilderTest.cpp"});
  expectHas(messageOf([&] { kernel(n).sum(k).of(at(x, {{m, n}})); }),
            {"'k'", "does not follow", "size()"});
  expectHas(messageOf([&] { kernel(n).sum(k).max(m).of(at(x, {{m, n}})); }), {"one combiner"});
}
TEST(BuilderErrors, HostDataHaveTheRightCountAndOrder) {
  expectHas(messageOf([&] { Tensor::of<float>({1, 2, 3}, {{m, 2}}); }),
            {"expected 2", "got 3", "m: 2"});
  expectHas(messageOf([&] { Tensor::of<float>({1, 2}, {{m, 1}, {m, 2}}); }), {"'m'", "twice"});
  expectHas(messageOf([&] { zeros({{m, 2}, {n, 3}}).to<float>({m}); }),
            {"m", "n", "BuilderTest.cpp"});
  expectHas(messageOf([&] { zeros({{m, -1}}); }), {"'m'", "-1"});
  expectHas(messageOf([&] { Name("2x"); }), {"'2x'"});
}
TEST(BuilderErrors, StateKeepsItsType) {
  auto grow = jit([](State &s) {
    s.a = concat({s.a, s.a}, m);
    return sum(s.a, over(m));
  });
  State state{zeros({{m, 2}})};
  expectHas(messageOf([&] { grow(state); }), {"'a'", "m: 2", "m: 4", "BuilderTest.cpp"});
  EXPECT_EQ(state.a.size(m), 2);
}
TEST(BuilderErrors, ValuesInsideOfATraceHaveNoNumbers) {
  auto peek = jit([](Tensor x) { return x * x.item(); });
  expectHas(messageOf([&] { peek(zeros({})); }), {"being traced", "argument0"});
  Tensor kept;
  auto keep = jit([&](Tensor x) {
    kept = x * 2.0;
    return kept;
  });
  keep(zeros({{m, 2}}));
  expectHas(messageOf([&] { kept.to<float>({m}); }), {"traced"});
  expectHas(messageOf([&] { Tensor() + 1.0; }), {"empty"});
  expectHas(messageOf([&] { sum(Tensor(), over(m)); }), {"empty"});
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

TEST(Files, WhatACallCompiledIsNotCompiledAgain) {
  std::atomic<int> kernels{0};
  JitOptions options{
      .name = "scale", .cache = false, .onProgress = [&](size_t, size_t) { ++kernels; }};
  auto scale = jit([](Tensor x) { return x * 3.0; }, options);
  Tensor x = tensor(numbers(10, 15), {{m, 10}}), longer = tensor(numbers(20, 15), {{m, 20}});
  std::vector<float> expected = scale(x).to<float>({m});
  int ofCall = kernels;
  EXPECT_GT(ofCall, 0);
  std::string path = temporary("again");
  scale.save(path, x);
  EXPECT_EQ(kernels, ofCall);
  std::vector<float> got(10);
  auto program = Program::load(path);
  program->run(program->entry("scale"), {x.data()})[0]->copyTo(got.data(), {"m"});
  EXPECT_EQ(got, expected);
  scale.save(path, longer); // no call had this size
  EXPECT_GT(kernels, ofCall);
}

TEST(Files, ProgramsRunWithoutTheCompiler) {
  std::string path = temporary("program");
  JitOptions options;
  options.name = "scale";
  auto scale = jit([](Tensor x) { return x * 2.0 + 1.0; }, options);
  Tensor x = tensor(numbers(10, 15), {{m, 10}});
  scale.save(path, x);
  auto program = Program::load(path);
  std::vector<std::thread> callers; // one program, several calls at once
  std::vector<std::vector<float>> got(4, std::vector<float>(10));
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&, t] {
      for (int repeat = 0; repeat < 20; ++repeat)
        program->run(program->entry("scale"), {x.data()})[0]->copyTo(got[size_t(t)].data(), {"m"});
    });
  for (std::thread &caller : callers)
    caller.join();
  for (const auto &values : got)
    EXPECT_EQ(values, scale(x).to<float>({m}));
  CallOptions managed;
  managed.managed = true;
  std::vector<float> again(10);
  program->run(program->entry("scale"), {x.data()}, managed)[0]->copyTo(again.data(), {"m"});
  EXPECT_EQ(again, got[0]);
  expectHas(messageOf([&] { program->entry("other"); }), {"'other'", "scale"});
  expectHas(messageOf([&] { program->run(program->entry("scale"), {zeros({{n, 3}}).data()}); }),
            {"m: 10", "n: 3"});
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  expectHas(messageOf([&] { Program::load(path); }), {"truncated"});
  std::ofstream(path) << "something else";
  expectHas(messageOf([&] { Program::load(path); }), {"not a program file"});
  std::filesystem::remove(path);
}

TEST(Jit, ResultsHaveTheTreeOfTheirOwnSignature) {
  auto pieces = jit([](Tensor x) {
    std::vector<Tensor> result;
    for (int64_t i = 0; i < x.size(m); ++i)
      result.push_back(sum(x.slice(m, i, 1), over(m)));
    return result;
  });
  Tensor two = tensor({1, 2}, {{m, 2}}), three = tensor({3, 4, 5}, {{m, 3}});
  EXPECT_EQ(pieces(two).size(), 2u);
  EXPECT_EQ(pieces(three).size(), 3u);
  auto again = pieces(two);
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[1].item(), 2);
}

TEST(Jit, ThreadsTraceAndCallAtOnce) {
  auto inner = jit([](Tensor x) { return x * 2.0; });
  Tensor ones = tensor({1, 1, 1}, {{m, 3}});
  // The value of inner(ones) is needed while outer is being traced.
  auto outer = jit([&](Tensor x) { return x * inner(ones).to<float>({m})[0]; });
  std::vector<std::thread> callers;
  std::vector<double> got(6);
  for (int t = 0; t < 6; ++t)
    callers.emplace_back([&, t] {
      Tensor x = t % 2 ? outer(ones) : inner(ones);
      got[size_t(t)] = sum(x, over(m)).item();
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(got, std::vector<double>(6, 6));
}

TEST(Jit, AFunctionThatFailedIsTriedAgain) {
  bool fail = true;
  auto f = jit([&](Tensor x) {
    if (fail)
      throw std::runtime_error("not yet");
    return x + 1.0;
  });
  Tensor x = tensor({1}, {{m, 1}});
  EXPECT_THROW(f(x), std::runtime_error);
  fail = false;
  EXPECT_EQ(f(x).to<float>({m})[0], 2);
}
