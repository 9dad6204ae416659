//===- KernelLoopsTest.cpp - kernels against loops ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each kernel is compared with loops, evaluated op by op, compiled for its sizes and for any size;
// its gradient with differences, and forward mode with the gradient.
//
//===----------------------------------------------------------------------===//

#include "Tensors.h"

#include "heddle/heddle.h"

#include <cmath>
#include <gtest/gtest.h>
#include <set>

using namespace heddle;
using namespace heddle::test;

namespace {

const Name row("row"), column("column"), tap("tap"), band("band"), point("point"), y("y"), x("x");
const Name bin("bin"), item("item"), step("step"), state("state"), from("from"), beam("beam");
const Name word("word"), choice("choice"), i("i"), j("j");

void expectNear(const Tensor &got, const std::vector<double> &expected, double within = 1e-4) {
  std::vector<double> values = got.cast(ElementType::F64).to<double>(got.names());
  ASSERT_EQ(values.size(), expected.size());
  for (size_t k = 0; k < values.size(); ++k)
    ASSERT_NEAR(values[k], expected[k], within * (1 + std::abs(expected[k]))) << k;
}

Tensor whole(const Tensor &tensor) { return tensor.names().empty() ? tensor : sum(tensor); }

/// Of every name that the arguments have.
template <typename... T>
JitOptions forAnySize(const T &...arguments) {
  std::set<std::string> spellings;
  for (const Names &names : {arguments.names()...})
    spellings.insert(names.begin(), names.end());
  Names names;
  for (const std::string &spelling : spellings)
    names.push_back(Name(spelling));
  return withSymbolic(names);
}

/// Checks the values of `f`, in the order of their sorted names.
template <typename F, typename... T>
void hold(F f, const std::vector<double> &expected, const T &...arguments) {
  expectNear(f(arguments...), expected);
  JitOptions options{.targetCpu = "x86-64", .threads = 1, .cache = false};
  expectNear(jit(f, options)(arguments...), expected);
  expectNear(jit(f, forAnySize(arguments...))(arguments...), expected);
}

/// Checks the gradient of the sum of squares of `f` by its first argument.
template <typename F, typename... T>
void holdGradient(F f, const Tensor &first, const T &...others) {
  auto loss = [&](Tensor x) {
    Tensor value = f(x, others...);
    return whole(value * value);
  };
  Tensor gradient = grad(loss, first), direction = random(first.extents(), 99);
  double slope = whole(gradient * direction).item(), h = 1e-3;
  auto at = [&](double h) { return loss(first + direction * h).item(); };
  EXPECT_NEAR(slope, (at(h) - at(-h)) / (2 * h), 2e-2 * (1 + std::abs(slope)));
  EXPECT_NEAR(jvp(loss, first, direction).item(), slope, 1e-3 * (1 + std::abs(slope)));
  Tensor compiled = jit([&](Tensor x) { return grad(loss, x); }, forAnySize(first))(first);
  std::vector<float> values = valuesOf(gradient);
  expectNear(compiled, {values.begin(), values.end()}, 1e-3);
}

Tensor places(const Extent &extent, int32_t below, uint64_t seed) {
  std::vector<int32_t> values;
  for (float number : numbers(size_t(extent.size), seed, 0))
    values.push_back(int32_t(number * float(below)));
  return Tensor::of<int32_t>(std::span<const int32_t>(values), {extent});
}

// Tap k reads k (k + 1) / 2 further on: a dilation that is computed from coordinates.
TEST(KernelLoops, ConvolutionWithAGrowingDilation) {
  Tensor a = random({{row, 23}}, 1), w = random({{tap, 4}}, 2);
  auto f = [](Tensor a, Tensor w) {
    Scalar k = Scalar(tap).cast(ElementType::I64);
    return kernel(point)
        .size(point, a.size(row) - 6)
        .sum(tap)
        .of(at(a, {{row, Scalar(point) + k * (k + 1) / 2}}) * at(w));
  };
  std::vector<float> av = valuesOf(a), wv = valuesOf(w);
  std::vector<double> expected(17);
  for (size_t n = 0; n < 17; ++n)
    for (size_t k = 0; k < 4; ++k)
      expected[n] += double(av[n + k * (k + 1) / 2]) * wv[k];
  hold(f, expected, a, w);
  holdGradient(f, a, w);
  holdGradient([&](Tensor w, Tensor a) { return f(a, w); }, w, a);
}

// A banded matrix in band storage, as a condition on coordinates, and as one on scalars.
TEST(KernelLoops, BandedProduct) {
  Tensor full = random({{column, 13}, {row, 13}}, 1), v = random({{column, 13}}, 2);
  auto byPlace = [](Tensor full, Tensor v) {
    return kernel(row)
        .sum(column)
        .where(row - column + 2)
        .where(column - row + 2)
        .of(at(full) * at(v));
  };
  auto byScalar = [](Tensor full, Tensor v) {
    return kernel(row)
        .sum(column)
        .where(logicalAnd(Scalar(row) <= column + 2, Scalar(column) <= row + 2))
        .of(at(full) * at(v));
  };
  std::vector<float> m = valuesOf(full), u = valuesOf(v);
  std::vector<double> expected(13);
  for (int r = 0; r < 13; ++r)
    for (int c = std::max(0, r - 2); c <= std::min(12, r + 2); ++c)
      expected[size_t(r)] += double(m[size_t(c * 13 + r)]) * u[size_t(c)];
  hold(byPlace, expected, full, v);
  hold(byScalar, expected, full, v);
  holdGradient(byPlace, full, v);
  holdGradient(byScalar, full, v);

  Tensor bands = random({{band, 5}, {row, 13}}, 3);
  auto stored = [](Tensor bands, Tensor v) {
    return kernel(row).sum(band).of(at(bands) * atOr(v, {{column, row + band - 2}}, 0));
  };
  std::vector<float> b = valuesOf(bands);
  expected.assign(13, 0);
  for (int r = 0; r < 13; ++r)
    for (int k = 0; k < 5; ++k)
      if (int c = r + k - 2; c >= 0 && c < 13)
        expected[size_t(r)] += double(b[size_t(k * 13 + r)]) * u[size_t(c)];
  hold(stored, expected, bands, v);
  holdGradient(stored, bands, v);
}

Tensor sampled(Tensor image, Tensor py, Tensor px) {
  Scalar fy = floor(at(py)), fx = floor(at(px)), wy = at(py) - fy, wx = at(px) - fx;
  Scalar iy = fy.cast(ElementType::I32), ix = fx.cast(ElementType::I32);
  auto pixel = [&](int dy, int dx) { return at(image, {{y, iy + dy}, {x, ix + dx}}); };
  return kernel(point).of((pixel(0, 0) * (1 - wx) + pixel(0, 1) * wx) * (1 - wy) +
                          (pixel(1, 0) * (1 - wx) + pixel(1, 1) * wx) * wy);
}

TEST(KernelLoops, BilinearSampling) {
  Tensor image = random({{x, 9}, {y, 7}}, 1);
  Tensor py = random({{point, 11}}, 2) * 2.2 + 3.0, px = random({{point, 11}}, 3) * 3.2 + 4.0;
  std::vector<float> im = valuesOf(image), v = valuesOf(py), h = valuesOf(px);
  std::vector<double> expected;
  for (size_t n = 0; n < 11; ++n) {
    double fy = std::floor(v[n]), fx = std::floor(h[n]), wy = v[n] - fy, wx = h[n] - fx;
    auto pixel = [&](int dy, int dx) {
      return double(im[(size_t(fx) + size_t(dx)) * 7 + size_t(fy) + size_t(dy)]);
    };
    expected.push_back((pixel(0, 0) * (1 - wx) + pixel(0, 1) * wx) * (1 - wy) +
                       (pixel(1, 0) * (1 - wx) + pixel(1, 1) * wx) * wy);
  }
  hold(sampled, expected, image, py, px);
  holdGradient(sampled, image, py, px);
  holdGradient([](Tensor py, Tensor image, Tensor px) { return sampled(image, py, px); }, py, image,
               px);
}

TEST(KernelLoops, SegmentSumsAndHistogram) {
  Tensor values = random({{item, 29}}, 1), segment = places({item, 29}, 6, 2);
  auto sums = [](Tensor values, Tensor segment) {
    return kernel(bin).size(bin, 6).sum(item).where(equal(at(segment), bin)).of(at(values));
  };
  auto histogram = [](Tensor segment) {
    return kernel(bin).size(bin, 6).sum(item).of(equal(at(segment), bin).cast(ElementType::I32));
  };
  std::vector<double> expected(6), counts(6);
  std::vector<float> v = valuesOf(values);
  std::vector<int32_t> s = segment.to<int32_t>({item});
  for (size_t n = 0; n < s.size(); ++n) {
    expected[size_t(s[n])] += v[n];
    counts[size_t(s[n])] += 1;
  }
  hold(sums, expected, values, segment);
  hold(histogram, counts, segment);
  holdGradient(sums, values, segment);
}

// The most probable path of states, followed backwards by pointers: two results, a combiner that
// carries indices, two recurrences.
TEST(KernelLoops, Viterbi) {
  const size_t steps = 8, states = 5;
  Tensor emitted = random({{state, 5}, {step, 8}}, 1), moves = random({{from, 5}, {state, 5}}, 2);
  auto path = [](Tensor emitted, Tensor moves) {
    Tensor first = emitted.slice(step, 0, 1).split(step, {});
    Tensor rest = emitted.slice(step, 1, emitted.size(step) - 1);
    auto [last, back] = scan(step, first, rest, [&](Tensor score, Tensor now) {
      auto best =
          kernel(state)
              .reduce(over(from), {-INFINITY, 0},
                      [](const Scalars &a, const Scalars &b) -> Scalars {
                        Scalar better =
                            logicalOr(a[0] < b[0], logicalAnd(equal(a[0], b[0]), b[1] < a[1]));
                        return {select(better, b[0], a[0]), select(better, b[1], a[1])};
                      })
              .of(at(score, {{state, from}}) + at(moves), Scalar(from).cast(ElementType::I64));
      return std::pair(best[0] + now, best[1]);
    });
    auto [begin, way] = scan(
        step, argmax(last, over(state)), back,
        [](Tensor at, Tensor back) { return std::pair(back.gather(state, at), at); }, true);
    return concat({begin.broadcast({{step, 1}}), way}, step);
  };
  std::vector<float> e = valuesOf(emitted), m = valuesOf(moves);
  std::vector<double> score(states);
  std::vector<std::vector<size_t>> back;
  for (size_t s = 0; s < states; ++s)
    score[s] = e[s * steps];
  for (size_t t = 1; t < steps; ++t) {
    std::vector<double> next(states);
    back.emplace_back(states);
    for (size_t s = 0; s < states; ++s) {
      size_t best = 0;
      for (size_t f = 1; f < states; ++f)
        if (score[f] + m[f * states + s] > score[best] + m[best * states + s])
          best = f;
      next[s] = score[best] + m[best * states + s] + e[s * steps + t];
      back.back()[s] = best;
    }
    score = next;
  }
  std::vector<double> expected(steps);
  size_t at = size_t(std::max_element(score.begin(), score.end()) - score.begin());
  for (size_t t = steps; t-- > 0;) {
    expected[t] = double(at);
    if (t > 0)
      at = back[t - 1][at];
  }
  hold(path, expected, emitted, moves);

  auto best = [](Tensor emitted, Tensor moves) {
    Tensor first = emitted.slice(step, 0, 1).split(step, {});
    Tensor rest = emitted.slice(step, 1, emitted.size(step) - 1);
    Tensor last = scan(step, first, rest, [&](Tensor score, Tensor now) {
                    Tensor next = kernel(state).max(from).of(heddle::at(score, {{state, from}}) +
                                                             heddle::at(moves)) +
                                  now;
                    return std::pair(next, next);
                  }).first;
    return max(last, over(state));
  };
  hold(best, {*std::max_element(score.begin(), score.end())}, emitted, moves);
  holdGradient(best, emitted, moves);
}

// Rows one after the other; within a row a scan.
TEST(KernelLoops, EditDistance) {
  Tensor a = places({i, 7}, 3, 1), b = places({j, 9}, 3, 2);
  auto distance = [](Tensor a, Tensor b) {
    Size size = b.size(j) + 1;
    Tensor place = iota({j, size}, ElementType::I32);
    Tensor last = scan(i, place, a, [&](Tensor above, Tensor letter) {
                    Tensor best = kernel(j).size(j, size).of(minimum(
                        at(above) + 1, atOr(above, {{j, j - 1}}, 1000) +
                                           select(equal(atOr(b, {{j, j - 1}}, -1), at(letter)),
                                                  Scalar(0).cast(ElementType::I32), 1)));
                    Tensor row = scan(best - place, j, Combiner::Min) + place;
                    return std::pair(row, row);
                  }).first;
    return last.slice(j, b.size(j), 1).split(j, {});
  };
  std::vector<int32_t> s = a.to<int32_t>({i}), t = b.to<int32_t>({j});
  std::vector<int> above(t.size() + 1);
  for (size_t c = 0; c <= t.size(); ++c)
    above[c] = int(c);
  for (size_t r = 0; r < s.size(); ++r) {
    std::vector<int> now{int(r) + 1};
    for (size_t c = 0; c < t.size(); ++c)
      now.push_back(std::min({now[c] + 1, above[c + 1] + 1, above[c] + (s[r] != t[c])}));
    above = now;
  }
  hold(distance, {double(above.back())}, a, b);
}

TEST(KernelLoops, BeamStep) {
  Tensor score = random({{beam, 3}}, 1), likely = random({{beam, 3}, {word, 10}}, 2);
  auto next = [](Tensor score, Tensor likely) {
    Sorted best = topK((likely + score).merge({beam, word}, choice), choice, 3);
    auto parts = kernel(choice).of(at(best.values), at(best.indices) / 10,
                                   at(best.indices) - at(best.indices) / 10 * 10);
    return parts[0] + (parts[1] * 100.0 + parts[2] * 10.0).cast(ElementType::F32);
  };
  std::vector<float> s = valuesOf(score), l = valuesOf(likely);
  std::vector<std::pair<double, int>> all;
  for (int k = 0; k < 30; ++k)
    all.push_back({-double(float(l[size_t(k)] + s[size_t(k / 10)])), k});
  std::sort(all.begin(), all.end());
  std::vector<double> expected;
  for (int k = 0; k < 3; ++k)
    expected.push_back(-all[size_t(k)].first + all[size_t(k)].second / 10 * 100 +
                       all[size_t(k)].second % 10 * 10);
  hold(next, expected, score, likely);
  holdGradient(next, score, likely);
}

// A condition excludes points even if reads have a replacement value, and even if the kernel reads
// nothing.
TEST(KernelLoops, ConditionsLeaveOut) {
  Tensor v = random({{column, 4}}, 1);
  auto largest = [](Tensor v) {
    return kernel(row).size(row, 3).max(tap).size(tap, 3).where(row - tap).of(
        atOr(v, {{column, row + tap}}, -9));
  };
  std::vector<float> u = valuesOf(v);
  hold(largest, {u[0], std::max(u[1], u[2]), std::max({u[2], u[3], -9.f})}, v);
  EXPECT_EQ(kernel(row)
                .size(row, 3)
                .sum(tap)
                .size(tap, 3)
                .where(row - tap)
                .of(Scalar(tap))
                .to<float>({row}),
            (std::vector<float>{0, 1, 3}));
}

// Reads of a kernel are in bounds for any size of a call.
TEST(KernelLoops, ReadsStayInside) {
  auto f = jit([](Tensor v) { return kernel(row).size(row, 4).of(at(v, {{column, row + 1}})); },
               withSymbolic(Names{column}));
  Tensor v = random({{column, 5}}, 1);
  std::vector<float> u = valuesOf(v);
  expectNear(f(v), {u[1], u[2], u[3], u[4]});
  try {
    f(random({{column, 4}}, 1));
    FAIL() << "expected an Error";
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("at least 5 for the size of 'column'"),
              std::string::npos)
        << error.what();
  }
}

} // namespace
