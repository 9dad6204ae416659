//===- ExcludedTest.cpp - means over windows with excluded taps -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Averages over windows with excluded taps, by hand: PyTorch's avg_pool2d(count_include_pad=False).
//
//===----------------------------------------------------------------------===//

#include "heddle/heddle.h"
#include "test/unit/builder/Tensors.h"
#include "test/unit/support/io/Files.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace heddle;
using namespace heddle::test;

namespace {
const Name row("row"), column("column"), batch("batch"), ky("ky"), kx("kx"), place("place");
const Padding around = Padding::explicitly(1, 1).excluded();

JitOptions options(SymbolicSizes symbolic = {}) {
  return {.threads = 1, .cache = false, .symbolic = std::move(symbolic)};
}

void expectValues(const Tensor &got, const std::vector<float> &want, const char *how) {
  std::vector<float> values = valuesOf(got.cast(ElementType::F32));
  ASSERT_EQ(values.size(), want.size()) << how << ": " << got.type();
  for (size_t i = 0; i < want.size(); ++i)
    if (std::isnan(want[i]))
      EXPECT_TRUE(std::isnan(values[i])) << how << " at " << i << ", got " << values[i];
    else
      EXPECT_NEAR(values[i], want[i], 1e-6f * std::fabs(want[i])) << how << " at " << i;
}

/// The function op by op, compiled for constant sizes, and compiled for symbolic sizes.
template <typename F>
void holds(F f, const std::vector<float> &want, const Tensor &x) {
  expectValues(f(x), want, "eager");
  expectValues(jit(f, options())(x), want, "compiled");
  SymbolicSizes all;
  for (const std::string &name : x.names())
    all.push_back(Name(name));
  expectValues(jit(f, options(all))(x), want, "over symbols");
}

Tensor counting(const std::vector<Extent> &extents) {
  size_t count = 1;
  for (const Extent &extent : extents)
    count *= size_t(extent.size);
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = float(i + 1);
  return tensor(values, extents);
}

Tensor windows(const Tensor &x, int64_t stride = 1, Padding padding = around) {
  WindowOptions shape{.size = 3, .stride = stride, .padding = padding};
  return x.window(row, ky, shape).window(column, kx, shape);
}
} // namespace

TEST(Excluded, MeansCountWhatIsInside) {
  // The names are sorted: column by column.
  Tensor x = counting({{column, 3}, {row, 3}});
  holds([](Tensor x) { return mean(windows(x), over(ky, kx)); },
        {3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7}, x);
  holds([](Tensor x) { return mean(windows(x, 2), over(ky, kx)); }, {3, 4, 6, 7}, x);
  holds([](Tensor x) { return mean(windows(x, 2, Padding(Same).excluded()), over(ky, kx)); },
        {3, 4, 6, 7}, x);
  holds([](Tensor x) { return countOf(windows(x), over(ky, kx)); }, {4, 6, 4, 6, 9, 6, 4, 6, 4}, x);
  // Padding with a value counts.
  holds([](Tensor x) { return mean(windows(x, 2, Padding::explicitly(1, 1)), over(ky, kx)); },
        {12 / 9.0f, 16 / 9.0f, 24 / 9.0f, 28 / 9.0f}, x);
}

TEST(Excluded, CountsHaveTheNamesOnWhichTheyHang) {
  Tensor x = counting({{batch, 2}, {column, 3}, {row, 4}});
  auto taps = [](const Tensor &x) {
    return x.window(row, ky, {.size = 3, .padding = around}).rename({{ky, kx}});
  };
  EXPECT_EQ(countOf(taps(x), over(kx)).names(), over(row));
  holds([&](Tensor x) { return countOf(taps(x), over(kx)); }, {2, 3, 3, 2}, x);
  holds([&](Tensor x) { return countOf(taps(x) * 2.0, over(kx, batch)); }, {4, 6, 6, 4}, x);
  holds([&](Tensor x) { return countOf(taps(x), over(kx, row, column)); }, {30}, x);
  holds([&](Tensor x) { return countOf(taps(x), over(batch, column), ElementType::I64); }, {6},
        x.slice(row, 0, 4));
}

TEST(Excluded, MeansOfWhatIsMadeOfWindows) {
  Tensor x = counting({{batch, 2}, {row, 4}});
  WindowOptions shape{.size = 3, .padding = around};
  // 1 2 3 4 and 5 6 7 8.
  holds([=](Tensor x) { return mean(square(x.window(row, ky, shape)) + 1.0, over(ky)); },
        {3.5, 17 / 3.0f, 32 / 3.0f, 13.5, 31.5, 113 / 3.0f, 152 / 3.0f, 57.5}, x);
  holds([=](Tensor x) { return mean(x.window(row, ky, shape), over(ky, batch)); }, {3.5, 4, 5, 5.5},
        x);
  holds(
      [=](Tensor x) {
        Tensor w = x.window(row, ky, shape);
        return mean((w * w.rename({{ky, kx}}).rename({{kx, ky}})).slice(row, 1, 3), over(ky));
      },
      {14 / 3.0f, 29 / 3.0f, 12.5, 110 / 3.0f, 149 / 3.0f, 56.5}, x);
  holds([=](Tensor x) { return mean(x.window(row, ky, shape).slice(row, 0, 3), over(ky)); },
        {1.5, 2, 3, 5.5, 6, 7}, x);
  holds(
      [=](Tensor x) { // the first three, and the last one
        return mean(x.window(row, ky, shape).split(row, {{column, 2}, {kx, 2}}), over(ky, kx));
      },
      {9 / 5.0f, 16 / 5.0f, 29 / 5.0f, 36 / 5.0f}, x);
  // Two windows that exclude different taps: only taps that neither excludes count.
  auto both = [=](const Tensor &x) {
    WindowOptions before{.size = 3, .padding = Padding::explicitly(2, 0).excluded()};
    return x.window(row, ky, shape) * x.window(row, ky, before);
  };
  holds([=](Tensor x) { return countOf(both(x), over(ky)); }, {1, 2, 3, 2}, x);
  holds([=](Tensor x) { return mean(both(x), over(ky)); },
        {2, 4, 20 / 3.0f, 9, 30, 36, 128 / 3.0f, 49}, x);
  // Dilated: the first and the last window have one tap out of bounds.
  holds(
      [=](Tensor x) {
        return mean(x.window(row, ky, {.size = 2, .dilation = 3, .padding = around}), over(ky));
      },
      {3, 2.5, 2, 7, 6.5, 6}, x);
  holds([=](Tensor x) { return mean(x.cast(ElementType::BF16).window(row, ky, shape), over(ky)); },
        {1.5, 2, 3, 3.5, 5.5, 6, 7, 7.5}, x);
}

TEST(Excluded, AMeanOfNothingIsNaN) {
  Tensor x = counting({{row, 3}});
  auto taps = [](const Tensor &x) {
    return x.window(row, ky, {.size = 2, .padding = Padding::explicitly(2, 0).excluded()});
  };
  holds([&](Tensor x) { return countOf(taps(x), over(ky)); }, {0, 1, 2, 2}, x);
  holds([&](Tensor x) { return mean(taps(x), over(ky)); }, {NAN, 1, 1.5, 2.5}, x);
}

TEST(Excluded, GradientsOfMeansDivideByTheCount) {
  Tensor x = counting({{row, 4}});
  WindowOptions shape{.size = 3, .padding = around};
  // Counts are 2 3 3 2; the square has the slope 2 mean.
  holds(
      [=](Tensor x) {
        return grad(
            [&](Tensor x) { return sum(mean(x.window(row, ky, shape), over(ky)), over(row)); }, x);
      },
      {5 / 6.0f, 7 / 6.0f, 7 / 6.0f, 5 / 6.0f}, x);
  holds(
      [=](Tensor x) {
        return grad(
            [&](Tensor x) {
              return sum(square(mean(x.window(row, ky, shape), over(ky))), over(row));
            },
            x);
      },
      {1.5f + 4 / 3.0f, 1.5f + 4 / 3.0f + 2, 4 / 3.0f + 2 + 3.5f, 2 + 3.5f}, x);
}

TEST(Excluded, FunctionsOfWindowsCountWhatTheyAreGiven) {
  Tensor x = counting({{batch, 2}, {row, 4}});
  auto taps = [](const Tensor &x) { return x.window(row, ky, {.size = 3, .padding = around}); };
  auto average = [](Tensor w) { return mean(w, over(ky)); };
  const std::vector<float> means{1.5, 2, 3, 3.5, 5.5, 6, 7, 7.5};
  holds([&](Tensor x) { return lift(average, over(batch))(taps(x)); }, means, x);
  // A function of one window, at every place.
  holds([&](Tensor x) { return lift(average, over(batch, row))(taps(x)); }, means, x);
  holds([&](Tensor x) { return checkpoint(average)(taps(x)); }, means, x);
  holds(
      [&](Tensor x) {
        return withGradient(average, [](Tensor w, Tensor g) { return w * g; })(taps(x));
      },
      means, x);
  // Linear: its derivative along x is its value.
  auto lifted = [&](Tensor x) { return lift(average, over(batch))(taps(x)); };
  holds([&](Tensor x) { return jvp(lifted, x, x); }, means, x);
  auto spread = [](Tensor w) { return variance(w, over(ky)); };
  holds([&](Tensor x) { return lift(spread, over(batch))(taps(x)); },
        {0.25, 2 / 3.0f, 2 / 3.0f, 0.25, 0.25, 2 / 3.0f, 2 / 3.0f, 0.25}, x);
  // The derivative of sums over rows of means with respect to a factor of all taps.
  holds(
      [&](Tensor x) {
        auto slope = [](Tensor w) {
          return grad([&](Tensor s) { return sum(mean(w * s, over(ky)), over(row)); }, constant(1));
        };
        return lift(slope, over(batch))(taps(x));
      },
      {10, 26}, x);
  auto total = [&](Tensor w) { return sum(average(w), over(row, batch)); };
  // The square of a mean has the slope 2 mean / count at each of its taps.
  holds(
      [&](Tensor x) {
        return grad([&](Tensor x) { return sum(square(lifted(x)), over(row, batch)); }, x);
      },
      {17 / 6.0f, 29 / 6.0f, 41 / 6.0f, 5.5, 9.5, 85 / 6.0f, 97 / 6.0f, 73 / 6.0f}, x);
  holds(
      [&](Tensor x) {
        auto both = [&](Tensor w) { return std::pair(total(w), average(w)); };
        return valueAndGrad(both, taps(x)).first.second;
      },
      means, x);
}

TEST(Excluded, PaddingIsRefusedAtTheCall) {
  Tensor taps = counting({{row, 4}}).window(row, ky, {.size = 3, .padding = around});
  for (const Name &name : {row, ky})
    expectHas(messageOf([&] { (taps * 2.0).pad(name, 0, 1); }),
              {"ExcludedTest.cpp:", "expected no padding of what windows exclude taps from",
               "pad before the window"});
  EXPECT_TRUE(taps.pad(row, 0, 0).has(ky)); // adds nothing
  // A reduction has left the taps out.
  EXPECT_EQ(sum(taps, ky).pad(row, 1, 0).to<float>({row}).front(), 0);
}

TEST(Excluded, WhatFunctionsReturnIsNotCounted) {
  Tensor x = counting({{batch, 2}, {row, 4}});
  auto taps = [](Tensor x) { return x.window(row, ky, {.size = 3, .padding = around}); };
  auto refused = [&](auto f, const char *what) {
    std::string message = messageOf([&] { jit(f, options())(x); });
    expectHas(message, {"ExcludedTest.cpp:", what});
  };
  auto lifted = [&](Tensor x) { return lift(taps, over(batch))(x); };
  refused([&](Tensor x) { return mean(lifted(x), over(ky)); },
          "is unknown outside of the function or branch that returned it");
  refused([&](Tensor x) { return mean(lifted(x), over(row)); }, "excluded taps");
  // At a fixed coordinate, the excluded taps depend on the name that the function is lifted over.
  refused(
      [&](Tensor x) {
        auto some = [&](Tensor at) { return taps(x).gather(row, at); };
        Tensor places = iota({place, 2}, ElementType::I64);
        return countOf(lift(some, over(place))(places), over(place));
      },
      "excluded taps");
  refused([&](Tensor x) { return countOf(checkpoint(taps)(x) * 2.0, over(ky)); }, "excluded taps");
  refused(
      [&](Tensor x) {
        Tensor isPositive = sum(x, over(row, batch)) > 0.0;
        return mean(cond(isPositive, [&] { return taps(x); }, [&] { return taps(-x); }), over(ky));
      },
      "excluded taps");
  refused(
      [&](Tensor x) {
        return forLoop(2, taps(x), [](Tensor, Tensor w) { return w + mean(w, over(ky)); });
      },
      "expected a state and inputs of a loop without excluded taps");
  // Sums, which do not count, and names on which the count does not depend.
  holds([&](Tensor x) { return sum(lifted(x), over(ky)); }, {3, 6, 9, 7, 11, 18, 21, 15}, x);
  holds([&](Tensor x) { return countOf(lifted(x), over(batch)); }, {2}, x);
}

TEST(Excluded, LiftedFunctionsCountToo) {
  Tensor x = counting({{batch, 2}, {row, 4}});
  auto f = [](Tensor x) {
    return mean(x.window(row, ky, {.size = 3, .padding = around}), over(ky));
  };
  holds([&](Tensor x) { return lift(f, over(batch))(x); }, {1.5, 2, 3, 3.5, 5.5, 6, 7, 7.5}, x);
}
