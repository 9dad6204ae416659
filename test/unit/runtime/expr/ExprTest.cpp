//===- ExprTest.cpp - canonical expressions -------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/Random.h"

#include "heddle/Expr.h"

using namespace heddle;

namespace heddle {
static void PrintTo(const Expr &expr, std::ostream *stream) { *stream << expr.str(); }
} // namespace heddle

/// The same expression rebuilt from its atoms.
static Expr rebuilt(const Expr &expr) { return expr.substitute(ExprMap()); }

static Expr n(const char *name) { return Expr::name(name); }

TEST(Expr, SumsAreCanonical) {
  Expr r = n("row"), k = n("ky");
  EXPECT_EQ(2 * r + k - r, k + r);
  EXPECT_EQ((r + k) * (r - k), r * r - k * k);
  EXPECT_EQ((2 * r + k - 1).str(), "ky + 2 * row - 1");
  EXPECT_TRUE((r - r).isConstant());
  EXPECT_EQ((r * k).hash(), (k * r).hash());
}

TEST(Expr, DivisionsPullOutMultiples) {
  Expr a = n("a"), b = n("b");
  EXPECT_EQ((4 * a + 6).floordiv(2), 2 * a + 3);
  EXPECT_EQ((16 * a + b).floordiv(16), a + b.floordiv(16));
  EXPECT_EQ((16 * a + b).mod(16), b.mod(16));
  EXPECT_EQ(a.floordiv(4).floordiv(8), a.floordiv(32));
  EXPECT_EQ(a.mod(1), Expr(0));
  EXPECT_EQ(a.mod(64).mod(16), a.mod(16));
  EXPECT_EQ((4 * a.mod(4) + b).mod(16), (4 * a + b).mod(16));
  EXPECT_EQ(a.mod(64).floordiv(16), a.floordiv(16).mod(4));
  EXPECT_EQ(a.mod(16).floordiv(16), Expr(0));
  EXPECT_EQ((6 * a + 4).floordiv(4), 1 + (3 * a).floordiv(2));
}

TEST(Expr, DivisionsAndRemaindersRecombine) {
  Expr a = n("a"), b = n("b");
  EXPECT_EQ(16 * a.floordiv(16) + a.mod(16), a);
  EXPECT_EQ(48 * a.floordiv(16) + 3 * a.mod(16) + b, 3 * a + b);
  EXPECT_EQ(64 * a.floordiv(64) + 16 * a.floordiv(16).mod(4) + a.mod(16), a);
  EXPECT_EQ(16 * b * a.floordiv(16) + b * a.mod(16), a * b);
  EXPECT_EQ(16 * (a + 5).floordiv(16) + (a + 5).mod(16), a + 5);
}

TEST(Expr, RangesDecide) {
  Ranges ranges = {{"r", {0, 7}}, {"l", {0, 15}}, {"i", {0, 3}}, {"j", {0, 3}}, {"b", {0, 3}}};
  Expr r = n("r"), l = n("l"), i = n("i"), j = n("j"), b = n("b"), a = n("a");
  EXPECT_EQ((16 * r + l).floordiv(16).simplify(ranges), r);
  EXPECT_EQ((16 * r + l).mod(16).simplify(ranges), l);
  EXPECT_EQ((16 * r + 4 * i + j).mod(16).simplify(ranges), 4 * i + j);
  EXPECT_EQ((4 * a + b).floordiv(16).simplify(ranges), a.floordiv(4));
  EXPECT_EQ((4 * a + b).mod(16).simplify(ranges), 4 * a.mod(4) + b);
  EXPECT_EQ((15 - l).floordiv(16).simplify(ranges), Expr(0));
  EXPECT_EQ((15 - l).mod(16).simplify(ranges), 15 - l);
  EXPECT_EQ(Expr::min(r, l + 8).simplify(ranges), r);
  EXPECT_EQ(Expr::max(Expr(0), r - 8).simplify(ranges), Expr(0));
  EXPECT_EQ((r + 8).floordiv(8).simplify(ranges), Expr(1));
}

TEST(Expr, BoundsSeeThroughPulledOutMultiples) {
  Ranges ranges = {{"row", {0, 9}}, {"ky", {0, 2}}};
  EXPECT_EQ((n("row") - n("ky")).floordiv(2).bounds(ranges), (Range{-1, 4}));
  EXPECT_EQ(n("unknown").bounds(ranges), std::nullopt);
  EXPECT_EQ(n("unknown").mod(8).bounds(ranges), (Range{0, 7}));
}

TEST(Expr, BoundsDoNotOverflow) {
  Ranges ranges = {{"a", {0, int64_t(1) << 60}}};
  EXPECT_EQ((n("a") * n("a")).bounds(ranges), std::nullopt);
  EXPECT_EQ((100 * n("a")).bounds(ranges), std::nullopt);
}

TEST(Expr, TextIsRefusedWithAReason) {
  std::string error;
  for (const char *text : {"", "a +", "(a", "a floordiv 0", "a mod -3", "min(a)", "1 2", "a b",
                           "2a", "read(x)", "-"}) {
    error.clear();
    EXPECT_FALSE(Expr::parse(text, &error)) << text;
    EXPECT_NE(error.find("expected"), std::string::npos) << text << ": " << error;
  }
  EXPECT_FALSE(Expr::parse(std::string(100000, '('), &error));
  EXPECT_FALSE(Expr::parse(std::string(100000, '-') + "a", &error));
  EXPECT_FALSE(Expr::parse("99999999999999999999", &error));
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

static Expr numbered(const char *name, int i) { return n((name + std::to_string(i)).c_str()); }

/// (a0 + b0) * ... with `count` factors.
static Expr productOfSums(int count) {
  Expr product(1);
  for (int i = 0; i < count; ++i)
    product = product * (numbered("a", i) + numbered("b", i));
  return product;
}

// Coordinates of merged names, taken apart from the index of a lane and put together again.
TEST(Expr, MergedNamesRecombine) {
  Expr lane = 16 * n("vector") + n("lane"), address(0);
  const int64_t sizes[] = {7, 3, 3, 5, 3};
  int64_t below = 1;
  for (size_t i = std::size(sizes); i-- > 0; below *= sizes[i])
    address = address + lane.floordiv(below).mod(sizes[i]) * Expr(below);
  EXPECT_EQ(address.simplify({{"vector", {0, 58}}, {"lane", {0, 15}}}), lane);

  Expr nested = (3 * n("x") - 2 + n("y").floordiv(4)).floordiv(5);
  EXPECT_EQ(nested.str(), "(12 * x + y + 12) floordiv 20 - 1");
  for (int64_t x = -7; x <= 7; ++x)
    for (int64_t y = -25; y <= 25; ++y)
      EXPECT_EQ(nested.evaluate(
                    [&](const std::string &name) { return std::optional(name == "x" ? x : y); }),
                int64_t(std::floor((double(3 * x - 2) + std::floor(double(y) / 4)) / 5)))
          << x << " " << y;
}

TEST(ExprLimits, AreHeldByEachOperation) {
  EXPECT_EQ(productOfSums(9).terms().size(), 512u);
  EXPECT_TRUE(productOfSums(16).isTooLarge());
  EXPECT_TRUE(productOfSums(60).isTooLarge()); // 2^60 terms

  Expr sum(0), power = n("x"), chain = n("x"), doubled = n("x");
  for (size_t i = 0; i < Expr::mostTerms; ++i)
    sum = sum + numbered("a", int(i));
  EXPECT_EQ(sum.terms().size(), Expr::mostTerms);
  EXPECT_TRUE((sum + n("b")).isTooLarge());
  EXPECT_FALSE((sum - n("a3") + n("b")).isTooLarge());
  EXPECT_TRUE((sum * sum).isTooLarge());
  for (size_t factors = 1; factors < Expr::mostFactors; factors *= 2)
    power = power * power;
  EXPECT_FALSE(power.isTooLarge());
  EXPECT_TRUE((power * n("x")).isTooLarge());
  for (size_t i = 0; i < Expr::mostNested; ++i) {
    EXPECT_FALSE(chain.isTooLarge()) << i;
    chain = (2 * chain + numbered("a", int(i))).floordiv(3);
  }
  EXPECT_FALSE(chain.isTooLarge());
  EXPECT_TRUE((chain + n("b")).mod(3).isTooLarge());
  EXPECT_TRUE(Expr::min(chain, n("b")).isTooLarge());
  // Text has a copy of each occurrence of a shared expression.
  for (int i = 0; i < 40; ++i)
    doubled = Expr::max(doubled + numbered("a", i), 2 * doubled);
  EXPECT_TRUE(doubled.isTooLarge());
  EXPECT_TRUE((n("x") * power.floordiv(2)).substitute({{"x", sum}}).isTooLarge());
}

// An operation on an expression that is too large gives one that is too large.
TEST(ExprLimits, WhatIsTooLargeStaysSo) {
  Expr large = productOfSums(16), x = n("x");
  ASSERT_TRUE(large.isTooLarge());
  for (const Expr &expr :
       {large + 1, 1 + large, x - large, large - large, large * 0, 0 * large, -large, large * x,
        large.floordiv(1), large.floordiv(3), large.ceildiv(3), large.mod(1), large.mod(3),
        Expr::min(large, x), Expr::max(x, large), large.simplify({}),
        large.substitute([](const std::string &) { return std::optional(Expr(1)); })})
    EXPECT_TRUE(expr.isTooLarge()) << expr.str();
  EXPECT_EQ(large.bounds({{"<too large>", {0, 1}}}), std::nullopt);
  EXPECT_EQ(large.evaluate([](const std::string &) { return std::optional<int64_t>(1); }),
            std::nullopt);
  EXPECT_EQ(large.constant(), std::nullopt);
  EXPECT_EQ(large.str(), "<too large>");
  EXPECT_FALSE(Expr::parse(large.str()));
  EXPECT_FALSE(x.isTooLarge() || Expr(0).isTooLarge() || (2 * x).isTooLarge());
}

TEST(ExprLimits, TextIsRefusedWithThem) {
  auto repeated = [](int count, auto text) {
    std::string all;
    for (int i = 0; i < count; ++i)
      all += text(std::to_string(i));
    return all;
  };
  std::string chain = "x";
  for (int i = 0; i < 70; ++i)
    chain = "min(a, " + chain + ") floordiv 3";
  for (const std::string &text :
       {"1" + repeated(16, [](std::string i) { return " * (A" + i + " + B" + i + ")"; }),
        "1" + repeated(5000, [](std::string i) { return " + A" + i; }),
        "x" + repeated(10000, [](std::string) { return " * x"; }), chain}) {
    std::string error;
    EXPECT_FALSE(Expr::parse(text, &error));
    EXPECT_NE(error.find("expected an expression of at most 1024 terms, 8192 factors and 64 "
                         "nested divisions, minima and maxima at column "),
              std::string::npos)
        << error;
    EXPECT_LT(error.size(), 400u);
  }
}

// Each of these once took exponential time, or more, in the number of terms.
TEST(ExprLimits, BoundsAndSimplificationsComeToAnEnd) {
  Expr absorbing(0), nested = n("x0"), mixed(0);
  Ranges ranges = {{"x0", {0, 8}}};
  for (int i = 0; i < 200; ++i) {
    Expr x = numbered("x", i), y = numbered("y", i);
    absorbing = absorbing + (x + y).floordiv(3) - x;
    mixed = mixed + x.mod(3) * y + 5 * y.floordiv(7);
    ranges["x" + std::to_string(i)] = ranges["y" + std::to_string(i)] = {0, 8};
  }
  for (int i = 0; i < 60; ++i)
    nested = (nested + numbered("y", i)).floordiv(2) - nested.mod(3);
  for (const Expr &expr : {absorbing, mixed, nested}) {
    Expr simple = expr.simplify(ranges);
    for (int64_t value : {0, 8}) {
      auto lookup = [&](const std::string &) { return std::optional(value); };
      auto number = expr.evaluate(lookup);
      EXPECT_EQ(simple.evaluate(lookup), number);
      if (auto bounds = expr.bounds(ranges); bounds && number) {
        EXPECT_LE(bounds->low, *number);
        EXPECT_GE(bounds->high, *number);
      }
    }
  }
  EXPECT_FALSE(absorbing.isTooLarge() || mixed.isTooLarge());
}

TEST(Expr, Questions) {
  Expr e = 3 * n("a") + n("b").floordiv(2) - 4;
  EXPECT_EQ(e.coefficient("a"), 3);
  EXPECT_TRUE(e.isLinearIn("a"));
  EXPECT_FALSE(e.isLinearIn("b"));
  EXPECT_FALSE(e.isAffine());
  EXPECT_EQ(e.names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(e.mentions("b"));
  EXPECT_FALSE(e.mentions("c"));
  EXPECT_EQ(n("a").asName(), "a");
  EXPECT_EQ((2 * n("a")).asName(), std::nullopt);
  EXPECT_EQ(e.substitute({{"b", 2 * n("c")}}), 3 * n("a") + n("c") - 4);
}

//===----------------------------------------------------------------------===//
// Random expressions
//===----------------------------------------------------------------------===//

namespace {
/// A random tree and the expression built from it; the tree is evaluated without a canonical
/// form.
struct Drawn {
  Expr expr;
  std::function<int64_t(const std::map<std::string, int64_t> &)> value;
};

const Ranges ranges = {{"a", {0, 6}}, {"b", {-4, 3}}, {"c", {0, 15}}, {"d", {2, 2}}};

int64_t floorDivide(int64_t a, int64_t b) { return (a - ((a % b) + b) % b) / b; }

Drawn draw(Random &random, int depth) {
  using Values = std::map<std::string, int64_t>;
  int kind = depth == 0 ? random.between(0, 1) : random.between(0, 9);
  if (kind == 0) {
    int64_t constant = random.between(-20, 20);
    return {Expr(constant), [=](const Values &) { return constant; }};
  }
  if (kind == 1) {
    std::string name(1, char('a' + random.between(0, 3)));
    return {Expr::name(name), [=](const Values &at) { return at.at(name); }};
  }
  Drawn x = draw(random, depth - 1);
  if (kind <= 4) {
    static const int64_t divisors[] = {1, 2, 3, 4, 6, 8, 12, 16, 64};
    int64_t by = divisors[random.between(0, 8)];
    if (kind == 4)
      return {x.expr * by, [=](const Values &at) { return x.value(at) * by; }};
    if (kind == 3)
      return {x.expr.mod(by),
              [=](const Values &at) { return x.value(at) - by * floorDivide(x.value(at), by); }};
    return {x.expr.floordiv(by), [=](const Values &at) { return floorDivide(x.value(at), by); }};
  }
  Drawn y = draw(random, depth - 1);
  switch (kind) {
  case 5:
    return {x.expr * y.expr, [=](const Values &at) { return x.value(at) * y.value(at); }};
  case 6:
    return {Expr::min(x.expr, y.expr),
            [=](const Values &at) { return std::min(x.value(at), y.value(at)); }};
  case 7:
    return {Expr::max(x.expr, y.expr),
            [=](const Values &at) { return std::max(x.value(at), y.value(at)); }};
  case 8:
    return {x.expr - y.expr, [=](const Values &at) { return x.value(at) - y.value(at); }};
  default:
    return {x.expr + y.expr, [=](const Values &at) { return x.value(at) + y.value(at); }};
  }
}

std::function<std::optional<int64_t>(const std::string &)>
lookupIn(const std::map<std::string, int64_t> &values) {
  return [&](const std::string &name) { return std::optional<int64_t>(values.at(name)); };
}
} // namespace

TEST(Expr, RandomTreesKeepTheirValue) {
  forRandomSeeds(3000, [](Random &random) {
    Drawn drawn = draw(random, int(random.between(1, 5)));
    const Expr &expr = drawn.expr;
    Expr simple = expr.simplify(ranges);
    auto bounds = expr.bounds(ranges), simpleBounds = simple.bounds(ranges);
    ASSERT_TRUE(bounds && simpleBounds) << expr.str();

    std::string error;
    auto again = Expr::parse(expr.str(), &error);
    ASSERT_TRUE(again) << expr.str() << ": " << error;
    EXPECT_EQ(*again, expr) << expr.str() << " reads as " << again->str();
    EXPECT_EQ(rebuilt(expr), expr)
        << expr.str() << " is not in canonical form: " << rebuilt(expr).str();
    EXPECT_EQ(simple.simplify(ranges), simple) << expr.str() << " -> " << simple.str();

    for (int sample = 0; sample < 20; ++sample) {
      std::map<std::string, int64_t> values;
      for (const auto &[name, range] : ranges)
        values[name] = random.between(range.low, range.high);
      int64_t expected = drawn.value(values);
      ASSERT_EQ(expr.evaluate(lookupIn(values)), expected) << expr.str();
      ASSERT_EQ(simple.evaluate(lookupIn(values)), expected)
          << expr.str() << " -> " << simple.str();
      EXPECT_TRUE(bounds->low <= expected && expected <= bounds->high) << expr.str();
      EXPECT_TRUE(simpleBounds->low <= expected && expected <= simpleBounds->high) << simple.str();
      Expr partly = expr.substitute({{"a", Expr(values["a"])}, {"b", Expr(values["b"])}});
      EXPECT_EQ(partly.evaluate(lookupIn(values)), expected) << expr.str();
    }
  });
}

TEST(Expr, OrderIsTotalAndDependsOnTheExpressionAlone) {
  forRandomSeeds(300, [](Random &random) {
    Expr a = draw(random, 3).expr, b = draw(random, 3).expr, c = draw(random, 3).expr;
    EXPECT_EQ(a.compare(b), -b.compare(a));
    if (a < b && b < c) {
      EXPECT_LT(a.compare(c), 0);
    }
    if (a == b) {
      EXPECT_EQ(a.hash(), b.hash());
      EXPECT_EQ(a.str(), b.str());
    }
  });
}
