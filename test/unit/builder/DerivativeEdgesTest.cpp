//===- DerivativeEdgesTest.cpp - derivatives at corners -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Derivatives of powers at zero, of remainders with respect to the divisor, at ties, kinks and NaN,
// and of lifted branches, in forward and reverse mode. Expected values are computed by hand; they
// are PyTorch's, except where docs/functions.md states others. Also mixed derivatives of powers.
//
//===----------------------------------------------------------------------===//

#include "heddle/heddle.h"

#include "gtest/gtest.h"

#include <array>
#include <cmath>
#include <functional>

using namespace heddle;

namespace {
Name row("row");
constexpr double inf = INFINITY, nan = NAN;

using Numbers = std::vector<double>;
using Function = std::function<Tensor(Tensor, Tensor)>;

Tensor vector(const Numbers &values) {
  return Tensor::of<double>(values, {{row, int64_t(values.size())}});
}

Tensor ones(const Tensor &like) { return zeros({{row, like.size(row)}}, ElementType::F64) + 1.0; }

/// The slope of a function of one vector, element by element.
template <typename F>
Tensor slope(const F &f, const Tensor &at, bool forward) {
  if (forward)
    return jvp([&](Tensor x) { return f(x); }, at, ones(at));
  return grad([&](Tensor x) { return sum(f(x), over(row)); }, at);
}

/// The slopes of a function of two vectors.
struct Slopes {
  Tensor x, y, xx, xy, yy;
  HEDDLE_FIELDS(x, y, xx, xy, yy)
};

Slopes slopesOf(const Function &f, const Numbers &x, const Numbers &y, bool forward) {
  return jit([&](Tensor x, Tensor y) {
    auto alongX = [&](Tensor x, Tensor y) {
      return slope([&](Tensor z) { return f(z, y); }, x, forward);
    };
    auto alongY = [&](Tensor x, Tensor y) {
      return slope([&](Tensor z) { return f(x, z); }, y, forward);
    };
    return Slopes{alongX(x, y), alongY(x, y),
                  slope([&](Tensor z) { return alongX(z, y); }, x, forward),
                  slope([&](Tensor z) { return alongX(x, z); }, y, forward),
                  slope([&](Tensor z) { return alongY(x, z); }, y, forward)};
  })(vector(x), vector(y));
}

/// Of each of some functions of one vector: its values, slopes and second slopes.
struct Curve {
  std::string name;
  std::function<Tensor(Tensor)> function;
  Numbers x;
};
std::vector<std::array<Tensor, 3>> slopesOf(const std::vector<Curve> &curves, bool forward) {
  std::vector<Tensor> places;
  for (const Curve &curve : curves)
    places.push_back(vector(curve.x));
  return jit([&](std::vector<Tensor> x) {
    std::vector<std::array<Tensor, 3>> results;
    for (size_t i = 0; i < curves.size(); ++i) {
      const auto &f = curves[i].function;
      auto first = [&](Tensor z) { return slope(f, z, forward); };
      results.push_back({f(x[i]), first(x[i]), slope(first, x[i], forward)});
    }
    return results;
  })(places);
}

void expectSame(const Tensor &got, const Numbers &wanted, const std::string &what, bool forward) {
  Numbers values = got.to<double>({row});
  ASSERT_EQ(values.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    bool same = std::isnan(wanted[i]) ? std::isnan(values[i])
                : std::isinf(wanted[i])
                    ? values[i] == wanted[i]
                    : std::fabs(values[i] - wanted[i]) <= 1e-12 * (1 + std::fabs(wanted[i]));
    EXPECT_TRUE(same) << what << (forward ? ", forward, " : ", ") << "at " << i << ": " << values[i]
                      << ", expected " << wanted[i];
  }
}

TEST(DerivativeEdges, Powers) {
  double l = std::log(2.0);
  struct Point {
    double x, y, dx, dy, dxx, dxy;
  } points[] = {
      {0, 0, 0, 0, 0, 0},
      {0, 1, 1, 0, 0, 1},
      {0, 2, 0, 0, 2, 0},
      {0, 3, 0, 0, 0, 0},
      {0, 4, 0, 0, 0, 0},
      {0, 0.5, inf, 0, -inf, nan},
      {0, -1, -inf, -inf, inf, inf},
      {2, 0, 0, l, 0, 0.5},
      {2, 3, 12, 8 * l, 12, 4 + 12 * l},
      {2, -1, -0.25, l / 2, 0.25, 0.25 - l / 4},
      {-2, 3, 12, nan, -12, nan},
      {-2, 4, -32, nan, 48, nan},
      {-2, 0, 0, nan, 0, nan},
      {-2, 1, 1, nan, 0, nan},
      {-2, -1, -0.25, nan, -0.25, nan},
      {1, 5, 5, 0, 20, 1},
      {-2, 0.5, nan, nan, nan, nan},
      {1e-100, 0, 0, std::log(1e-100), 0, 1e100},
  };
  Numbers x, y, dx, dy, dxx, dxy;
  for (const Point &p : points) {
    x.push_back(p.x), y.push_back(p.y), dx.push_back(p.dx), dy.push_back(p.dy);
    dxx.push_back(p.dxx), dxy.push_back(p.dxy);
  }
  for (bool forward : {false, true}) {
    Slopes slopes = slopesOf([](Tensor x, Tensor y) { return pow(x, y); }, x, y, forward);
    expectSame(slopes.x, dx, "dx", forward);
    expectSame(slopes.y, dy, "dy", forward);
    expectSame(slopes.xx, dxx, "dxx", forward);
    expectSame(slopes.xy, dxy, "dxy", forward);
  }
}

TEST(DerivativeEdges, PowersOfConstants) {
  Numbers x = {0, -2, 3};
  struct Exponent {
    double y;
    Numbers value, dx, dxx;
  } exponents[] = {{0, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
                   {1, {0, -2, 3}, {1, 1, 1}, {0, 0, 0}},
                   {2, {0, 4, 9}, {0, -4, 6}, {2, 2, 2}},
                   {3, {0, -8, 27}, {0, 12, 27}, {0, -12, 18}},
                   {4, {0, 16, 81}, {0, -32, 108}, {0, 48, 108}},
                   {5, {0, -32, 243}, {0, 80, 405}, {0, -160, 540}},
                   {-1, {inf, -0.5, 1.0 / 3}, {-inf, -0.25, -1.0 / 9}, {inf, -0.25, 2.0 / 27}},
                   {0.5,
                    {0, nan, std::sqrt(3)},
                    {inf, nan, 0.5 / std::sqrt(3)},
                    {-inf, nan, -0.25 / std::sqrt(27)}}};
  std::vector<Curve> curves;
  for (const Exponent &each : exponents)
    curves.push_back(
        {"x^" + std::to_string(each.y), [y = each.y](Tensor x) { return pow(x, y); }, x});
  for (bool forward : {false, true}) {
    auto results = slopesOf(curves, forward);
    for (size_t i = 0; i < curves.size(); ++i) {
      expectSame(results[i][0], exponents[i].value, curves[i].name, forward);
      expectSame(results[i][1], exponents[i].dx, curves[i].name + ", dx", forward);
      expectSame(results[i][2], exponents[i].dxx, curves[i].name + ", dxx", forward);
    }
  }
}

TEST(DerivativeEdges, RemaindersByADivisorThatMoves) {
  // 0.5 is less than five times the double 0.1, so the truncated quotient is 4, though the division
  // rounds to 5.
  Numbers a = {7, -7, 7, -7, 2, 7.5, -0.5, 0.5, 1e9, 5},
          b = {3, 3, -3, -3, 3, 0.625, 4, 0.1, 7, inf};
  Numbers db = {-2, 2, 2, -2, 0, -12, 0, -4, -142857142, 0}, ones(a.size(), 1), zeros(a.size(), 0);
  Function remainder = [](Tensor a, Tensor b) { return a % b; };
  for (bool forward : {false, true}) {
    Slopes slopes = slopesOf(remainder, a, b, forward);
    expectSame(slopes.x, ones, "da", forward);
    expectSame(slopes.y, db, "db", forward);
    for (const Tensor &second : {slopes.xx, slopes.xy, slopes.yy})
      expectSame(second, zeros, "second", forward);
  }
  // Away from its jumps the remainder is linear in the divisor.
  for (size_t i = 0; i < 5; ++i) {
    double h = 1e-3, up = std::fmod(a[i], b[i] + h), down = std::fmod(a[i], b[i] - h);
    EXPECT_NEAR((up - down) / (2 * h), db[i], 1e-9);
  }
}

TEST(DerivativeEdges, TiesAndKinks) {
  Numbers x = {1, 1, 2, nan, 1, nan}, y = {1, 2, 1, 1, nan, nan};
  std::vector<Curve> curves = {
      {"relu", [](Tensor x) { return relu(x); }, {-1, 0, -0.0, 2, nan}},
      {"abs", [](Tensor x) { return abs(x); }, {-1, 0, -0.0, 2, nan}},
      {"sign", [](Tensor x) { return sign(x); }, {-1, 0, 2, nan}},
      {"clamp", [](Tensor x) { return clamp(x, -1.0, 1.0); }, {-2, -1, 0, 1, 2, nan}},
      {"leakyRelu", [](Tensor x) { return leakyRelu(x, 0.25); }, {-1, 0, 2, nan}},
      {"max(0, x)", [](Tensor x) { return maximum(0.0, x); }, {-1, 0, 2, nan}},
      {"floor", [](Tensor x) { return floor(x); }, {-1, 0, 0.5}},
      {"sqrt", [](Tensor x) { return sqrt(x); }, {0, -0.0, 4, -1, nan}},
      {"rsqrt", [](Tensor x) { return rsqrt(x); }, {0, -0.0, 4}},
      {"log", [](Tensor x) { return log(x); }, {0, -0.0, 4}},
      {"asin", [](Tensor x) { return asin(x); }, {0, 0.6, -0.6}},
      {"acos", [](Tensor x) { return acos(x); }, {0, 0.6, -0.6}},
      {"sigmoid", [](Tensor x) { return sigmoid(x); }, {-inf, -1e4, -709.5, 0, 40}}};
  std::vector<Numbers> dx = {{0, 0, 0, 1, 1},
                             {-1, 0, 0, 1, 0},
                             {0, 0, 0, 0},
                             {0, 0, 1, 0, 0, 1},
                             {0.25, 0.25, 1, 0.25},
                             {0, 0, 1, 1},
                             {0, 0, 0},
                             {inf, -inf, 0.25, nan, nan},
                             {-inf, inf, -0.0625},
                             {inf, -inf, 0.25},
                             {1, 1.25, 1.25},
                             {-1, -1.25, -1.25},
                             {0, 0, 0, 0.25, std::exp(-40.0)}};
  for (bool forward : {false, true}) {
    // Of equal operands the second one is selected, and NaN.
    Slopes larger = slopesOf([](Tensor x, Tensor y) { return maximum(x, y); }, x, y, forward);
    expectSame(larger.x, {0, 0, 1, 1, 0, 1}, "max, dx", forward);
    expectSame(larger.y, {1, 1, 0, 0, 1, 0}, "max, dy", forward);
    Slopes smaller = slopesOf([](Tensor x, Tensor y) { return minimum(x, y); }, x, y, forward);
    expectSame(smaller.x, {0, 1, 0, 1, 0, 1}, "min, dx", forward);
    expectSame(smaller.y, {1, 0, 1, 0, 1, 0}, "min, dy", forward);
    auto results = slopesOf(curves, forward);
    for (size_t i = 0; i < curves.size(); ++i)
      expectSame(results[i][1], dx[i], curves[i].name, forward);
    Slopes angles = slopesOf([](Tensor y, Tensor x) { return atan2(y, x); },
                             {0, 1, 3, -3, 0, 0, -0.0, 0, -0.0, inf},
                             {1, 0, 4, -4, -2, 0, 0, -0.0, -0.0, inf}, forward);
    expectSame(angles.x, {1, 0, 0.16, -0.16, -0.5, 0, 0, 0, 0, 0}, "atan2, dy", forward);
    expectSame(angles.y, {0, -1, -0.12, 0.12, 0, 0, 0, 0, 0, 0}, "atan2, dx", forward);
  }
}

TEST(DerivativeEdges, TiesOfReductions) {
  // The first of equal elements, and the first NaN, is selected.
  Numbers ties = {1, 3, 3, 2}, nans = {1, nan, 3, nan};
  auto gradient = [](auto f, const Numbers &x) { return grad(f, vector(x)); };
  auto most = [](Tensor x) { return max(x, row); };
  expectSame(gradient(most, ties), {0, 1, 0, 0}, "max", false);
  expectSame(gradient(most, nans), {0, 1, 0, 0}, "max of NaN", false);
  auto least = [](Tensor x) { return min(-x, row); };
  expectSame(gradient(least, ties), {0, -1, 0, 0}, "min", false);
  auto running = [](Tensor x) { return sum(scan(x, row, Combiner::Max), row); };
  expectSame(gradient(running, ties), {1, 3, 0, 0}, "running maximum", false);
  auto pooled = [](Tensor x) {
    Name tap("tap");
    return sum(max(x.window(row, tap, {.size = 2}), tap), row);
  };
  expectSame(gradient(pooled, ties), {0, 2, 1, 0}, "windows", false);
  // Two windows of tied elements with an excluded border.
  auto padded = [](Tensor x) {
    Name tap("tap");
    return sum(max(x.window(row, tap, {.size = 3, .stride = 2, .padding = Same}), tap), row);
  };
  expectSame(gradient(padded, {3, 3, 3}), {1, 1, 0}, "padded windows", false);
  // A maximum within a combiner with other operations selects the second of equal operands.
  auto logAddExp = [](Tensor x) {
    return reduce({x}, over(row), {-1e9}, [](const Scalars &a, const Scalars &b) {
      return Scalars{maximum(a[0], b[0]) + log1p(exp(-abs(a[0] - b[0])))};
    })[0];
  };
  expectSame(gradient(logAddExp, {1, 1}), {0, 1}, "a combiner that computes", false);
}

/// f for each element alone, by lifting.
template <typename F>
auto each(F f) {
  return [f](Tensor x) { return lift(f, row)(x); };
}

TEST(DerivativeEdges, LiftedBranches) {
  // A side of a branch with an infinite derivative, or NaN, at points that take the other side.
  auto root = [](Tensor x) {
    return cond(x < 1.0, [&] { return 3 * x; }, [&] { return sqrt(x); });
  };
  auto logarithm = [](Tensor x) {
    return cond(x < 2.0, [&] { return square(x); }, [&] { return log(x - 1.0) * rsqrt(x); });
  };
  auto nested = [](Tensor x) {
    return cond(
        x < 1.0,
        [&] { return cond(x < 0.0, [&] { return 1.0 / x; }, [&] { return sqrt(1.0 - x); }); },
        [&] { return sqrt(x - 1.0); });
  };
  auto loop = [](Tensor x) {
    return whileLoop(
        x, [](Tensor y) { return y > 1.5; }, [](Tensor y) { return sqrt(y - 1.0); }, 4);
  };
  double l = std::log(3.0);
  std::vector<Curve> curves = {{"root", each(root), {0, 4, -3}},
                               {"logarithm", each(logarithm), {1, 4, -3}},
                               {"nested", each(nested), {0, -2, 5, 0.75}},
                               {"loop", each(loop), {1, 5, 2.5}}};
  std::vector<Numbers> dx = {{3, 0.25, 3},
                             {2, 1.0 / 6 - l / 16, -6},
                             {-0.5, -0.25, 0.25, -1},
                             {1, 0.125, 0.5 / std::sqrt(1.5)}},
                       dxx = {{0, -1.0 / 32, 0},
                              {2, -1.0 / 18 - 1.0 / 24 + 3 * l / 128, 2},
                              {-0.25, -0.25, -1.0 / 32, -2},
                              {0, -1.0 / 32, -0.25 / std::pow(1.5, 1.5)}};
  for (bool forward : {false, true}) {
    auto results = slopesOf(curves, forward);
    for (size_t i = 0; i < curves.size(); ++i) {
      expectSame(results[i][1], dx[i], curves[i].name + ", dx", forward);
      expectSame(results[i][2], dxx[i], curves[i].name + ", dxx", forward);
    }
  }
}

TEST(DerivativeEdges, LiftedBranchesWithSharedTensors) {
  // A weight that all points share gets no gradient from points whose side does not read it.
  Tensor x = vector({0, 4, -3}), w = constant(5, ElementType::F64);
  auto loss = [&](Tensor x, Tensor w) {
    auto f = [&](Tensor x) {
      return cond(x < 1.0, [&] { return w * x; }, [&] { return sqrt(w - 4.0) * w * sqrt(x); });
    };
    return sum(lift(f, row)(x), row);
  };
  auto byWeight = [&](Tensor w) { return loss(x, w); };
  EXPECT_DOUBLE_EQ(grad(byWeight, w).item(), 0 - 3 + 2 * (1 + 2.5));
  // No point takes the side whose derivative is infinite.
  auto untaken = [&](Tensor w) { return loss(vector({0, -3}), w); };
  EXPECT_DOUBLE_EQ(grad(untaken, constant(4, ElementType::F64)).item(), -3);
  EXPECT_DOUBLE_EQ(jvp(byWeight, w, constant(1, ElementType::F64)).item(), 4);
}

TEST(DerivativeEdges, SelectionsOfUsers) {
  // select does not mask the gradients of its operands, as in PyTorch: zero times infinity is NaN.
  auto plain = [](Tensor x) { return select(x > 0.0, sqrt(x), 0.0); };
  auto guarded = [](Tensor x) { return select(x > 0.0, sqrt(select(x > 0.0, x, 1.0)), 0.0); };
  expectSame(slope(plain, vector({0, 4}), false), {nan, 0.25}, "plain", false);
  expectSame(slope(guarded, vector({0, 4}), false), {0, 0.25}, "guarded", false);
  expectSame(slope(guarded, vector({0, 4}), true), {0, 0.25}, "guarded", true);
}

TEST(DerivativeEdges, NamesOfOneElement) {
  // The gradient of `at` merges no names into one of size 1.
  Name d("d");
  Tensor x = constant(3, ElementType::F64), w = constant(2, ElementType::F64);
  std::vector<std::pair<std::function<Tensor(Tensor)>, double>> functions = {
      {[&](Tensor x) { return x.broadcast({{d, 1}}).at(d, 0) * w; }, 2},
      {[&](Tensor x) { return x.broadcast({{d, 1}}).at(d, 0) * x; }, 6},
      {[&](Tensor x) { return exp(x.broadcast({{d, 1}}).at(d, 0)); }, std::exp(3.0)},
      {[&](Tensor x) { return x.broadcast({{d, 3}}).at(d, 1) * w; }, 2},
      {[&](Tensor x) { return x.broadcast({{d, 1}}).split(d, {}) * w; }, 2},
      {[&](Tensor x) { return x.broadcast({{d, 1}}).pad(d, 1, 0).at(d, 1) * w; }, 2},
      {[&](Tensor x) {
         Tensor one = x.broadcast({{d, 1}});
         return concat({one, one * w}, d).at(d, 1) * w;
       },
       4}};
  for (size_t i = 0; i < functions.size(); ++i) {
    const auto &[f, slope] = functions[i];
    EXPECT_DOUBLE_EQ(grad(f, x).item(), slope) << i;
    EXPECT_DOUBLE_EQ(jvp(f, x, constant(1, ElementType::F64)).item(), slope) << i;
  }
  Tensor v = vector({1, 2}), u = vector({5, 7});
  auto stacked = [&](Tensor v) { return sum(v.broadcast({{d, 1}}).at(d, 0) * u, row); };
  expectSame(grad(stacked, v), {5, 7}, "stacked", false);
  auto scaled = [&](Tensor v) { return sum(v.broadcast({{d, 1}}).at(d, 0) * w, row); };
  expectSame(grad(scaled, v), {2, 2}, "scaled", false);
}
} // namespace
