//===- KernelTest.cpp - scalar code: kernels, combiners, recurrences ------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/heddle.h"
#include "heddle/nn/Layers.h"
#include "test/unit/builder/Tensors.h"
#include "test/unit/support/io/Files.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace heddle;
using namespace heddle::test;
using Floats = std::vector<float>;
using Indices = std::vector<int64_t>;

static const Name row("row"), column("column"), k("k"), node("node"), edge("edge"), time_("time");

/// The largest difference, relative to the largest of `wanted`.
static float difference(const Tensor &got, const Tensor &wanted) {
  Floats a = valuesOf(got), b = valuesOf(wanted);
  EXPECT_EQ(got.type(), wanted.type());
  float worst = 0, scale = 1e-30f;
  for (size_t i = 0; i < b.size(); ++i) {
    worst = std::isnan(a[i] - b[i]) ? INFINITY : std::max(worst, std::abs(a[i] - b[i]));
    scale = std::max(scale, std::abs(b[i]));
  }
  return worst / scale;
}
/// Expects two functions of a tensor to have equal values and gradients, op by op and compiled.
template <typename F, typename G>
static void expectSame(F &&got, G &&wanted, const Tensor &x) {
  auto loss = [](auto &f) {
    return [&f](Tensor x) {
      Tensor y = f(x);
      Names all;
      for (const std::string &name : y.names())
        all.push_back(Name(name));
      return all.empty() ? y * y : sum(y * y, all);
    };
  };
  EXPECT_LT(difference(got(x), wanted(x)), 1e-5f);
  EXPECT_LT(difference(jit(std::function<Tensor(Tensor)>(got))(x), wanted(x)), 1e-5f);
  EXPECT_LT(difference(grad(loss(got), x), grad(loss(wanted), x)), 1e-4f);
}

TEST(Kernel, GivesSeveralResults) {
  Tensor x = random({{row, 5}, {column, 7}}, 1);
  auto [total, squares] = kernel(row).sum(column).of(at(x), at(x) * at(x));
  EXPECT_LT(difference(total, sum(x, over(column))), 1e-6f);
  EXPECT_LT(difference(squares, sum(x * x, over(column))), 1e-6f);
  auto [low, count] = kernel(row).min(column).of(at(x), Scalar(column).cast(ElementType::I32));
  EXPECT_LT(difference(low, min(x, over(column))), 1e-6f);
  EXPECT_EQ(count.type(), "!nd.tensor<i32, row: 5>");
  expectSame(
      [](Tensor x) {
        auto [s, q] = kernel(row).sum(column).of(at(x), at(x) * at(x));
        return s * q;
      },
      [](Tensor x) { return sum(x, over(column)) * sum(x * x, over(column)); }, x);
}

TEST(Kernel, AnyCombiner) {
  Tensor x = Tensor::of<float>({1, 3, 3, 2, 2, 1}, {{row, 2}, {column, 3}});
  auto [most, times] =
      kernel(row)
          .reduce(over(column), {-INFINITY, 0},
                  [](const Scalars &a, const Scalars &b) {
                    return Scalars{maximum(a[0], b[0]),
                                   select(a[0] < b[0], 0, a[1]) + select(b[0] < a[0], 0, b[1])};
                  })
          .of(at(x), 1);
  EXPECT_EQ(most.to<float>({row}), (Floats{3, 2}));
  EXPECT_EQ(times.to<float>({row}), (Floats{2, 2}));
  Tensor y = kernel(row)
                 .reduce(over(column), 0, [](Scalar a, Scalar b) { return a + b + a * b; })
                 .of(at(x));
  EXPECT_LT(difference(y, product(x + 1.0, over(column)) - 1.0), 1e-6f);
  expectSame(
      [](Tensor x) {
        return reduce({x, x * 0.0 + 1.0}, over(column), {-INFINITY, 0},
                      [](const Scalars &a, const Scalars &b) {
                        Scalar most = maximum(a[0], b[0]);
                        return Scalars{most, a[1] * exp(a[0] - most) + b[1] * exp(b[0] - most)};
                      })[1];
      },
      [](Tensor x) { return sum(exp(x - max(x, over(column))), over(column)); },
      random({{row, 4}, {column, 33}}, 2));
}

TEST(Kernel, AccumulatesInTheTypeAskedFor) {
  // In f32, 2^25 + 1 rounds to 2^25.
  std::vector<float> values(1000, 1);
  values[0] = 33554432;
  Tensor x = tensor(values, {{row, 1000}});
  float exact = 33555431.0f;
  for (Tensor y :
       {sum(x, over(row), ElementType::F64),
        kernel().sum(row).accumulate(ElementType::F64).of(at(x)),
        mean(x, over(row), ElementType::F64) * 1000.0,
        sum(scan(x, row, Combiner::Add, false, false, ElementType::F64).slice(row, 999, 1),
            over(row)),
        jit([](Tensor x) { return sum(x, over(row), ElementType::F64); })(x)}) {
    EXPECT_EQ(y.elementType(), ElementType::F32);
    EXPECT_NEAR(y.item(), exact, 4);
  }
  Tensor gradient = grad([](Tensor x) { return sum(x * x, over(row), ElementType::F64); }, x);
  EXPECT_EQ(gradient.to<float>({row})[1], 2);
  EXPECT_EQ(sum(x.cast(ElementType::BF16), over(row)).elementType(), ElementType::BF16);
  for (auto mistake :
       {+[](Tensor x) { return sum(x, over(row), ElementType::BF16); },
        +[](Tensor x) { return sum(x, over(row), ElementType::I64); },
        +[](Tensor x) { return kernel().sum(row).accumulate(ElementType::F16).of(at(x)); }})
    expectHas(messageOf([&] { mistake(x); }), {"f32", "wider", "KernelTest.cpp"});
}

TEST(Kernel, LeavesOutPointsByTheirValues) {
  Tensor x = random({{row, 6}, {column, 9}}, 3);
  auto positive = [](Tensor x) { return kernel(row).sum(column).where(at(x) > 0.0).of(at(x)); };
  expectSame(positive, [](Tensor x) { return sum(relu(x), over(column)); }, x);
  // With a read that has a replacement value, and without any read.
  Tensor shifted = kernel(row)
                       .max(column)
                       .size(column, 9)
                       .where(column - 4)
                       .of(atOr(x, {{column, column + 1}}, 7));
  Tensor late = x.slice(column, 5, 4).pad(column, 0, 1, 7);
  EXPECT_LT(difference(shifted, max(late, over(column))), 1e-6f);
  Tensor counts = kernel(row)
                      .sum(column)
                      .where(row - column)
                      .size(row, 4)
                      .size(column, 9)
                      .of(Scalar(column).cast(ElementType::I64));
  EXPECT_EQ(counts.to<int64_t>({row}), (Indices{0, 1, 3, 6}));
}

TEST(Kernel, ReadsAtPlacesThatAreValues) {
  Tensor x = Tensor::of<float>({1, 10, 100, 1000}, {{node, 4}});
  Tensor from = Tensor::of<int32_t>({3, 0, 2}, {{edge, 3}});
  EXPECT_EQ(kernel(edge).of(at(x, {{node, at(from)}})).to<float>({edge}), (Floats{1000, 1, 100}));
  // An index that is affine in loaded values: one nest. Clamped, or with a replacement value.
  Tensor next = kernel(edge).of(at(x, {{node, at(from) + 1}}));
  EXPECT_EQ(next.to<float>({edge}), (Floats{1000, 10, 1000}));
  Tensor outside = kernel(edge).of(atOr(x, {{node, 2 * at(from) - edge}}, -1));
  EXPECT_EQ(outside.to<float>({edge}), (Floats{-1, -1, 100}));
  // Not affine, and through two tensors.
  Tensor squared = kernel(edge).of(at(x, {{node, at(from) * at(from) / 3}}));
  EXPECT_EQ(squared.to<float>({edge}), (Floats{1000, 1, 10}));
  Tensor table = Tensor::of<float>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {{node, 10}});
  Tensor products = kernel(row, k).size(row, 3).size(k, 2).of(at(table, {{node, Scalar(row) * k}}));
  EXPECT_EQ(products.to<float>({row, k}), (Floats{0, 0, 0, 1, 0, 2}));
  Tensor twice = kernel(edge).of(at(x, {{node, at(from, {{edge, at(from) - 1}})}}));
  EXPECT_EQ(twice.to<float>({edge}), (Floats{100, 1000, 1}));
}

/// Sampling between pixels: the coordinate is computed from a tensor of floats.
static Tensor sampled(Tensor image, Tensor place) {
  Scalar p = at(place), low = floor(p), part = p - low, at0 = low.cast(ElementType::I64);
  return kernel(k).of(at(image, {{column, at0}}) * (1.0 - part) +
                      at(image, {{column, at0 + 1}}) * part);
}

TEST(Kernel, SamplesAtFloatingPlacesAndDifferentiates) {
  Tensor image = Tensor::of<float>({0, 1, 4, 9, 16}, {{column, 5}});
  Tensor place = Tensor::of<float>({0.5, 2.25, 3, 4}, {{k, 4}});
  EXPECT_EQ(sampled(image, place).to<float>({k}), (Floats{0.5, 5.25, 9, 16}));
  Tensor slope = grad([&](Tensor p) { return sum(sampled(image, p), over(k)); }, place);
  EXPECT_EQ(slope.to<float>({k}), (Floats{1, 5, 7, 0}));
  Tensor back = grad([&](Tensor i) { return sum(sampled(i, place), over(k)); }, image);
  EXPECT_EQ(back.to<float>({column}), (Floats{0.5, 0.5, 0.75, 1.25, 1}));
}

TEST(Kernel, KnowsTheFunctionsOfTensors) {
  Tensor x = random({{row, 50}}, 5), y = random({{row, 50}}, 6), positive = x * x + 0.1;
  auto same = [](Tensor got, Tensor wanted) { EXPECT_LT(difference(got, wanted), 1e-6f); };
  Scalar a = at(x), b = at(y), p = at(positive);
  for (auto [got, wanted] :
       std::vector<std::pair<Scalar, Tensor>>{{exp(a), exp(x)},
                                              {log(p), log(positive)},
                                              {log1p(p), log1p(positive)},
                                              {sqrt(p), sqrt(positive)},
                                              {rsqrt(p), rsqrt(positive)},
                                              {tanh(a), tanh(x)},
                                              {erf(a), erf(x)},
                                              {sin(a), sin(x)},
                                              {cos(a), cos(x)},
                                              {abs(a), abs(x)},
                                              {-a, -x},
                                              {floor(3.0 * a), floor(3.0 * x)},
                                              {ceil(3.0 * a), ceil(3.0 * x)},
                                              {trunc(3.0 * a), trunc(3.0 * x)},
                                              {roundEven(4.0 * a), roundEven(4.0 * x)},
                                              {exp2(a), exp2(x)},
                                              {expm1(a), expm1(x)},
                                              {log2(p), log2(positive)},
                                              {tan(a), tan(x)},
                                              {asin(0.9 * a), asin(0.9 * x)},
                                              {acos(0.9 * a), acos(0.9 * x)},
                                              {atan(a), atan(x)},
                                              {atan2(a, b), atan2(x, y)},
                                              {sign(a), sign(x)},
                                              {square(a), square(x)},
                                              {clamp(a, -0.3, 0.4), clamp(x, -0.3, 0.4)},
                                              {a % p, x % positive},
                                              {sigmoid(a), sigmoid(x)},
                                              {relu(a), relu(x)},
                                              {pow(p, b), pow(positive, y)},
                                              {select(a <= b, a, b), minimum(x, y)},
                                              {select(logicalNot(a >= b), b, a), maximum(x, y)},
                                              {a / p, x / positive}})
    same(kernel(row).of(got), wanted);
  Tensor bits = kernel(row).size(row, 4).of(logicalOr(Scalar(row).cast(ElementType::I32), 4));
  EXPECT_EQ(bits.to<int32_t>({row}), (std::vector<int32_t>{4, 5, 6, 7}));
  Scalar i = Scalar(row).cast(ElementType::I32);
  Tensor more = kernel(row).size(row, 4).of(logicalXor(shiftLeft(i, 4), shiftRight(i, 1)) + i % 3);
  EXPECT_EQ(more.to<int32_t>({row}), (std::vector<int32_t>{0, 17, 35, 49}));
  Tensor triangle =
      kernel(row, column).size(row, 2).size(column, 3).of(select(Scalar(column) <= row, 1.0, 0.0));
  EXPECT_EQ(triangle.to<float>({row, column}), (Floats{1, 0, 0, 1, 1, 0}));
  Scalar doubled(row); // each scalar is an operand of the next one twice
  for (int i = 0; i < 60; ++i)
    doubled = doubled + doubled;
  Tensor powers = kernel(row).size(row, 3).of(doubled);
  EXPECT_EQ(powers.to<float>({row}), (Floats{0, std::ldexp(1.0f, 60), std::ldexp(1.0f, 61)}));
  Tensor ones = kernel(row).size(row, 2).of(select(doubled <= doubled, 1.0, 0.0));
  EXPECT_EQ(ones.to<float>({row}), (Floats{1, 1}));
  Tensor first = kernel(row).size(row, 1).of(at(x, {{row, doubled}}));
  EXPECT_EQ(first.to<float>({row}), Floats{x.to<float>({row})[0]});
  Scalar chosen(row); // an integer in conditions, a float otherwise
  for (int i = 0; i < 60; ++i)
    chosen = select(chosen <= chosen, chosen, chosen);
  EXPECT_EQ(kernel(row).size(row, 3).of(chosen).to<float>({row}), (Floats{0, 1, 2}));
  Tensor wave = kernel(row).size(row, 3).of((2 * row + 1).mod(3));
  EXPECT_EQ(wave.to<float>({row}), (Floats{1, 0, 2}));
}

TEST(Kernel, SizesMayBeSymbols) {
  auto f = jit(
      [](Tensor x) {
        return kernel(row, k).size(k, x.size(column)).sum(column).where(at(x) > 0.0).of(at(x));
      },
      withSymbolic({column}));
  for (int64_t n : {1, 5, 33}) {
    Tensor x = random({{row, 3}, {column, n}}, 7);
    EXPECT_LT(difference(f(x), sum(relu(x), over(column)).broadcast({{k, n}})), 1e-5f);
  }
}

/// Expects `mistake` to throw an Error with a location in this file and with all `parts`.
template <typename F>
static void says(F &&mistake, std::initializer_list<std::string> parts) {
  std::string message = messageOf(mistake);
  expectHas(message, parts);
  expectHas(message, {"KernelTest.cpp"});
}

TEST(Kernel, MistakesAreNamed) {
  Tensor x = random({{row, 4}, {column, 3}}, 8);
  says([&] { kernel(row, column).where(row - 1).of(at(x)); }, {"reduces nothing", "select"});
  says([&] { kernel(row).sum(column).where(at(x)).of(at(x)); }, {"condition", "i1"});
  says([&] { kernel(k).size(k, -3).of(Scalar(k)); }, {"'k'", "negative", "-3"});
  says([&] { kernel(row).all({}); }, {"body"});
  says([&] { kernel(row).sum(column).of(at(x, {{row, at(x)}})); },
       {"integer index", "f32", "cast"});
  says([&] { kernel(row).sum(column).of(at(x) + at(x.cast(ElementType::F64))); },
       {"add", "f32 and f64", "cast"});
  says([&] { kernel(row).sum(column).of(logicalNot(at(x))); }, {"not", "f32"});
  auto pair = [](const Scalars &a, const Scalars &b) { return Scalars{a[0] + b[0], a[1] + b[1]}; };
  says([&] { kernel(row).reduce(over(column), {0, 0}, pair).of(at(x)); },
       {"expected 2 results", "got 1"});
  says([&] { reduce({x}, over(column), {0, 0}, pair); }, {"1 tensors", "got 2"});
  says([&] { reduce({x}, over(column), {0}, [&](auto &, auto &) { return Scalars{at(x)}; }); },
       {"its own arguments"});
  says(
      [&] {
        kernel(row)
            .reduce(over(column), 0, [](Scalar a, Scalar b) { return a + b * row; })
            .of(at(x));
      },
      {"its own arguments"});
  says(
      [&] {
        reduce({x}, over(column), {0}, [](auto &a, auto &b) { return Scalars{a[0] < b[0]}; });
      },
      {"f32", "i1", "cast"});
  says(
      [&] {
        reduce({x.cast(ElementType::I32)}, over(column), {0.5}, [](auto &a, auto &) { return a; });
      },
      {"0.5", "i32"});
}

TEST(Scan, AnyCombinerInOrder) {
  auto recurrence = [](Tensor x) { // h[t] = a[t] h[t-1] + b[t]
    Tensor a = x.slice(row, 0, 1), b = x.slice(row, 1, 1);
    return scan({sum(a, over(row)), sum(b, over(row))}, time_, {1, 0},
                [](const Scalars &l, const Scalars &r) {
                  return Scalars{l[0] * r[0], l[1] * r[0] + r[1]};
                })[1];
  };
  auto unrolled = [](Tensor x) {
    std::vector<Tensor> all;
    Tensor h = zeros({});
    for (int t = 0; t < 7; ++t) {
      Tensor a = sum(x.slice(time_, t, 1).slice(row, 0, 1), over(row, time_));
      Tensor b = sum(x.slice(time_, t, 1).slice(row, 1, 1), over(row, time_));
      h = a * h + b;
      all.push_back(h.broadcast({{time_, 1}}));
    }
    return concat(all, time_);
  };
  expectSame(recurrence, unrolled, random({{row, 2}, {time_, 7}}, 9));
}

TEST(Scan, CarriesAStateOfTensors) {
  Tensor w = random({{row, 3}, {k, 3}}, 10), start = random({{row, 3}}, 11);
  auto step = [&](Tensor h, Tensor x) { return tanh(sum(h.rename({{row, k}}) * w, over(k)) + x); };
  for (bool reverse : {false, true})
    expectSame(
        [&](Tensor x) {
          auto [last, all] = scan(
              time_, start, x,
              [&](Tensor h, Tensor xt) {
                Tensor next = step(h, xt);
                return std::pair(next, next * xt);
              },
              reverse);
          return all + last;
        },
        [&](Tensor x) {
          Tensor h = start;
          std::vector<Tensor> all;
          for (int i = 0; i < 5; ++i) {
            Tensor xt = sum(x.slice(time_, reverse ? 4 - i : i, 1), over(time_));
            h = step(h, xt);
            all.push_back((h * xt).broadcast({{time_, 1}}));
          }
          if (reverse)
            std::reverse(all.begin(), all.end());
          return concat(all, time_) + h;
        },
        random({{row, 3}, {time_, 5}}, 12));
}

TEST(Scan, MayBeLiftedAndHaveAnySize) {
  auto running = [](Tensor x) { // a leaky average, and a kernel in the body
    return scan(time_, zeros({}), x,
                [](Tensor h, Tensor xt) {
                  Tensor next = kernel().of(0.5 * at(h) + 0.5 * at(xt));
                  return std::pair(next, next);
                })
        .second;
  };
  Tensor x = random({{row, 4}, {time_, 6}}, 13);
  Tensor lifted = lift(running, over(row))(x);
  for (int i = 0; i < 4; ++i)
    EXPECT_LT(difference(sum(lifted.slice(row, i, 1), over(row)),
                         running(sum(x.slice(row, i, 1), over(row)))),
              1e-6f);
  auto f = jit([&](Tensor x) { return running(x); }, withSymbolic({time_}));
  for (int64_t n : {0, 1, 9}) {
    Tensor x = random({{time_, n}}, 14);
    EXPECT_LT(difference(f(x), running(x)), 1e-6f);
  }
}

TEST(Scan, MistakesAreNamed) {
  Tensor x = random({{row, 3}, {time_, 5}}, 15), h = random({{row, 3}}, 16);
  auto body = [](Tensor h, Tensor x) { return std::pair(h + x, x); };
  says([&] { scan(k, h, x, body); }, {"'k'", "time: 5"});
  says(
      [&] {
        scan(time_, h.cast(ElementType::F64), x, [](Tensor, Tensor x) { return std::pair(x, x); });
      },
      {"state", "f64", "f32"});
  says([&] { scan(time_, h, x, [&](Tensor h, Tensor) { return std::pair(h, x); }); }, {"'time'"});
}
