//===- DerivativeTest.cpp - tangents, custom gradients, checkpoints, control flow -===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/heddle.h"
#include "test/unit/builder/Tensors.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace heddle;
using namespace heddle::test;

namespace {
Name row("row"), k("k"), m("m");

struct Pair {
  Tensor w, x;
  HEDDLE_FIELDS(w, x)
};

void expectNear(const Tensor &got, const std::vector<double> &wanted, const Names &order = {row}) {
  auto values = got.to<float>(order);
  ASSERT_EQ(values.size(), wanted.size());
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], wanted[i], 1e-4 * (1 + std::abs(wanted[i]))) << i;
}
Tensor vector(std::vector<float> values) { return tensor(values, {{row, int64_t(values.size())}}); }
// Products with several zero factors have correct derivatives: products of a scatter, and those of
// a kernel within a recurrence.
TEST(Derivative, HigherOnesOfProductsWithZeros) {
  auto slope = [](auto f) {
    return [=](Tensor x) { return grad([&](Tensor x) { return f(x); }, x); };
  };
  auto along = [&](auto f, Tensor v) {
    return [=](Tensor x) { return sum(slope(f)(x) * v, over(row)); };
  };
  Tensor v = vector({1, 10, 100, 1000}), w = vector({3, 0.5, -1, 2});
  auto at = [](Tensor x, int64_t i) { return sum(x.slice(row, i, 1), over(row)); };
  Tensor index = Tensor::of<int32_t>({3, 0, 3, 9}, {{k, 4}});
  auto scattered = [=](Tensor x) {
    return sum(scatter(x, {{row, index}}, x.rename({{row, k}}), Combiner::Multiply), over(row));
  };
  auto written = [=](Tensor x) {
    return at(x, 0) * at(x, 1) + at(x, 1) + at(x, 2) + at(x, 3) * at(x, 0) * at(x, 2);
  };
  auto recurring = [=](Tensor x) {
    auto [last, all] = scan(m, x, zeros({{m, 2}}), [&](Tensor h, Tensor) {
      Tensor product = kernel().product(row).of(heddle::at(h));
      return std::pair(h + product, product);
    });
    return sum(all, over(m));
  };
  auto unrolled = [=](Tensor x) {
    auto product = [&](Tensor h) { return at(h, 0) * at(h, 1) * at(h, 2) * at(h, 3); };
    return product(x) + product(x + product(x));
  };
  auto agree = [&](auto f, auto g, std::vector<float> place) {
    Tensor x = vector(place);
    auto values = [](Tensor t) {
      auto v = t.to<float>({row});
      return std::vector<double>(v.begin(), v.end());
    };
    expectNear(slope(f)(x), values(slope(g)(x)));
    expectNear(slope(along(f, v))(x), values(slope(along(g, v))(x)));
    expectNear(slope(along(along(f, v), w))(x), values(slope(along(along(g, v), w))(x)));
    expectNear(jvp(slope(f), x, v), values(jvp(slope(g), x, v)));
  };
  for (std::vector<float> place :
       {std::vector<float>{0, 2, 0, 3}, {0, 0, 0, 0}, {1, 2, 0, -1}, {2, 3, 5, 7}}) {
    agree(scattered, written, place);
    agree(recurring, unrolled, place);
  }
}

// A tree with integers: their gradient is an empty tensor, in and out of jit. The struct is local
// to a function.
TEST(Derivative, TreesWithIntegers) {
  struct Table {
    Tensor values, index;
    HEDDLE_FIELDS(values, index)
  };
  const Name a("a"), b("b");
  Table table{Tensor::of<float>({1, 2, 3}, {{a, 3}}), Tensor::of<int32_t>({2, 2}, {{b, 2}})};
  auto loss = [&](Table t) {
    Tensor read = t.values.gather(a, t.index);
    return sum(read * read, over(b));
  };
  auto slope = [&](Table t) { return grad(loss, t); };
  for (const Table &gradient : {slope(table), jit(slope)(table)}) {
    EXPECT_EQ(gradient.values.to<float>({a}), (std::vector<float>{0, 0, 12}));
    EXPECT_TRUE(gradient.index.empty());
  }
  auto total = jit([&](Table gradient) { return sum(gradient.values, over(a)); });
  EXPECT_EQ(total(slope(table)).item(), 12);
}

} // namespace

TEST(Jvp, GivesValueAndTangentOfATree) {
  Pair at{vector({1, 2, 3}), vector({4, 5, 6})}, by{vector({1, 0, 2}), vector({0, 1, 0})};
  auto product = [](Pair p) { return p.w * p.w * p.x; };
  auto [value, tangent] = valueAndJvp(product, at, by);
  expectNear(value, {4, 20, 54});
  expectNear(tangent, {8, 4, 72}); // 2 w x dw + w^2 dx
  auto compiled = jit([&](Pair p, Pair d) { return jvp(product, p, d); });
  expectNear(compiled(at, by), {8, 4, 72});
  EXPECT_NE(
      messageOf([&] { jvp(product, at, Pair{vector({1}), vector({1, 2, 3})}); }).find("row: 3"),
      std::string::npos);
}

TEST(Jvp, HessianTimesVectorBothWays) {
  Tensor x = vector({1, 2, 3}), v = vector({1, 0, 2});
  auto loss = [](Tensor x) { return sum(x * x * x, over(row)); };
  auto forwardOverReverse =
      jit([&](Tensor x, Tensor v) { return jvp([&](Tensor x) { return grad(loss, x); }, x, v); });
  auto reverseOverForward =
      jit([&](Tensor x, Tensor v) { return grad([&](Tensor x) { return jvp(loss, x, v); }, x); });
  expectNear(forwardOverReverse(x, v), {6, 0, 36});
  expectNear(reverseOverForward(x, v), {6, 0, 36});
}

TEST(Jvp, LiftedOverDirectionsGivesAJacobian) {
  // d (x_i^2 + x_0) / d x_j, one direction for each j.
  Tensor x = vector({1, 2, 3});
  auto f = [](Tensor x) { return x * x + sum(x.slice(row, 0, 1), over(row)); };
  Tensor directions = tensor({1, 0, 0, 0, 1, 0, 0, 0, 1}, {{m, 3}, {row, 3}});
  auto along = [&](Tensor v) { return jvp(f, x, v); };
  Tensor jacobian = lift(along, over(m))(directions);
  expectNear(jacobian, {3, 1, 1, 0, 4, 0, 0, 0, 6}, {m, row});
}

TEST(WithGradient, StandsForTheDerivative) {
  Tensor scale = vector({2, 2, 2});
  auto clip = withGradient([&](Tensor x) { return minimum(x, 1.0) * scale; },
                           [&](Tensor x, Tensor g) { return g * x * scale; });
  Tensor x = vector({0.5, 3, -1});
  expectNear(clip(x), {1, 2, -2});
  auto loss = [&](Tensor x) { return sum(clip(x), over(row)); };
  expectNear(jit([&](Tensor x) { return grad(loss, x); })(x), {1, 6, -2});
  expectNear(jvp(clip, x, vector({1, 1, 0})), {1, 6, 0});
  // Lifted, and a gradient for each of several arguments.
  auto both = withGradient([](Tensor a, Tensor b) { return a * b; },
                           [](Tensor a, Tensor, Tensor g) { return std::pair(g, g * a); });
  auto lifted = [&](Tensor y) { return sum(lift(both, over(m))(y, x), over(m, row)); };
  Tensor y = tensor({1, 2, 3, 4, 5, 6}, {{m, 2}, {row, 3}});
  expectNear(grad(lifted, y), {1, 1, 1, 1, 1, 1}, {m, row});
  auto wrong =
      withGradient([](Tensor a) { return a; }, [](Tensor, Tensor g) { return sum(g, over(row)); });
  EXPECT_NE(
      messageOf([&] { wrong(x); }).find("expected a gradient of type !nd.tensor<f32, row: 3>"),
      std::string::npos);
}

TEST(Checkpoint, NeedsLessMemoryAndChangesNoValue) {
  constexpr int layers = 8;
  Tensor x = random({{row, 4096}, {k, 16}}, 1);
  std::vector<Tensor> weights;
  for (int i = 0; i < layers; ++i)
    weights.push_back(random({{k, 16}, {m, 16}}, uint64_t(i) + 2));
  auto block = [](Tensor x, Tensor w) {
    Tensor y = x;
    for (int i = 0; i < 4; ++i)
      y = sin(sum(y * w, over(k)).rename({{m, k}}));
    return y;
  };
  auto gradientOf = [&](bool saves) {
    return jit([&, saves](std::vector<Tensor> weights, Tensor x) {
      return grad(
          [&](std::vector<Tensor> weights) {
            Tensor y = x;
            for (const Tensor &w : weights)
              y = saves ? checkpoint(block)(y, w) : block(y, w);
            return sum(y * y, over(row, k));
          },
          weights);
    });
  };
  auto plain = gradientOf(false), saving = gradientOf(true);
  auto wanted = plain(weights, x), got = saving(weights, x);
  for (int i = 0; i < layers; ++i) {
    auto a = wanted[size_t(i)].to<float>({k, m}), b = got[size_t(i)].to<float>({k, m});
    for (size_t j = 0; j < a.size(); ++j)
      ASSERT_NEAR(a[j], b[j], 1e-2 + 1e-3 * std::abs(a[j])) << i << ", " << j;
  }
  EXPECT_LT(2 * saving.statistics().arenaBytes, plain.statistics().arenaBytes);
}

TEST(Control, BranchesTakeOneSide) {
  Tensor x = vector({1, -2, 3});
  auto root = [](Tensor x) { // the untaken side has no derivative
    return sum(
        cond(
            sum(x, over(row)) > 100.0, [&] { return sqrt(x - 50.0); }, [&] { return x * x; }),
        over(row));
  };
  auto both = jit([&](Tensor x) { return valueAndGrad(root, x); });
  auto [value, slope] = both(x);
  EXPECT_NEAR(value.item(), 14, 1e-4);
  expectNear(slope, {2, -4, 6});
  EXPECT_NE(messageOf([&] {
              cond(x > 0.0, [&] { return x; }, [&] { return x; });
            }).find("!nd.tensor<i1>"),
            std::string::npos);
  EXPECT_NE(messageOf([&] {
              cond(sum(x, over(row)) > 0.0, [&] { return x; }, [&] { return sum(x, over(row)); });
            }).find("row: 3"),
            std::string::npos);
}

TEST(Control, LoopsCarryTrees) {
  Tensor x = vector({1, 2, -1});
  // (y, s) <- (y * x, s + i y)
  auto run = [](Tensor x) {
    Pair end = forLoop(4, Pair{x, x * 0.0}, [&](Tensor i, Pair p) {
      return Pair{p.w * x, p.x + p.w * i.cast(ElementType::F32)};
    });
    return sum(end.x, over(row)); // x^2 + 2 x^3 + 3 x^4
  };
  auto [value, slope] = jit([&](Tensor x) { return valueAndGrad(run, x); })(x);
  EXPECT_NEAR(value.item(), 6 + 68 + 2, 1e-3);
  expectNear(slope, {20, 124, -8}); // 2 x + 6 x^2 + 12 x^3
  expectNear(jvp([](Tensor x) { return forLoop(2, x, [&](Tensor, Tensor y) { return y * y; }); }, x,
                 vector({1, 1, 1})),
             {4, 32, -4});
  EXPECT_NE(messageOf([&] {
              forLoop(2, x, [](Tensor, Tensor y) { return sum(y, over(row)); });
            }).find("row: 3"),
            std::string::npos);
}

TEST(Control, BoundedWhileIsDifferentiated) {
  Tensor x = constant(3.0);
  auto power = [](Tensor x) { // the largest power of x below 100
    return whileLoop(
        x, [&](Tensor y) { return y * x < 100.0; }, [&](Tensor y) { return y * x; }, 20);
  };
  auto [value, slope] = jit([&](Tensor x) { return valueAndGrad(power, x); })(x);
  EXPECT_NEAR(value.item(), 81, 1e-3);
  EXPECT_NEAR(slope.item(), 108, 1e-3);
  auto unbounded = [](Tensor x) {
    return whileLoop(x, [&](Tensor y) { return y * x < 100.0; }, [&](Tensor y) { return y * x; });
  };
  EXPECT_NEAR(jit(unbounded)(x).item(), 81, 1e-3);
  EXPECT_NEAR(jvp(unbounded, x, constant(1.0)).item(), 108, 1e-3);
  std::string message = messageOf([&] { grad(unbounded, x).item(); });
  EXPECT_NE(message.find("cannot be differentiated backwards"), std::string::npos);
  EXPECT_NE(message.find("`most`"), std::string::npos);
}

TEST(Control, LoopsCountByValues) {
  Tensor x = constant(2.0);
  auto power = [](Tensor x, Tensor n, int64_t most) {
    return forLoop(n, x, [&](Tensor, Tensor y) { return y * x; }, most);
  };
  auto free = jit([&](Tensor x, Tensor n) { return power(x, n, -1); });
  for (int n : {0, 1, 5})
    EXPECT_NEAR(free(x, constant(n, ElementType::I32)).item(), double(2 << n), 1e-3);
  auto bounded = jit([&](Tensor x, Tensor n) {
    return valueAndGrad([&](Tensor x) { return power(x, n, 4); }, x);
  });
  auto [value, slope] = bounded(x, constant(2, ElementType::I64));
  EXPECT_NEAR(value.item(), 8, 1e-3);
  EXPECT_NEAR(slope.item(), 12, 1e-3);
  EXPECT_NEAR(bounded(x, constant(7, ElementType::I64)).first.item(), 32, 1e-3);
  EXPECT_NE(messageOf([&] { power(x, x, -1); }).find("an integer, got !nd.tensor<f32>"),
            std::string::npos);
}

/// The auxiliary outputs of valueAndGrad are computed once, with the loss, and do not contribute to
/// the gradient.
TEST(Derivative, ValuesBesideTheLossAreComputedOnce) {
  auto step = jit([](Tensor x) {
    auto loss = [](Tensor v) {
      Tensor powers = exp(v);
      return std::pair(sum(powers, over(row)), powers * 3.0);
    };
    auto [value, gradient] = valueAndGrad(loss, x);
    return std::tuple(value.first, value.second, gradient);
  });
  Tensor x = vector({0, 1, -1});
  std::string ir = step.ir(x);
  size_t first = ir.find("math.exp");
  ASSERT_NE(first, std::string::npos) << ir;
  EXPECT_EQ(ir.find("math.exp", first + 1), std::string::npos) << ir;
  auto [loss, beside, gradient] = step(x);
  double e = std::exp(1);
  EXPECT_NEAR(loss.item(), 1 + e + 1 / e, 1e-5);
  expectNear(beside, {3, 3 * e, 3 / e});
  expectNear(gradient, {1, e, 1 / e});
}
