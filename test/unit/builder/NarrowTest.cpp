//===- NarrowTest.cpp - means and numbers of narrow floats ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts and factors keep their precision, and sums their range: results are those of double,
// rounded once.
//
//===----------------------------------------------------------------------===//

#include "heddle/Kernel.h"
#include "heddle/heddle.h"
#include "test/unit/Refused.h"
#include "test/unit/builder/Tensors.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace heddle;
using namespace heddle::test;

namespace {
const Name row("row"), column("column"), tap("tap");

class Narrow : public testing::TestWithParam<ElementType> {
protected:
  /// The distance of two neighbouring numbers near `x`.
  double unit(double x) const {
    int digits = GetParam() == ElementType::F16      ? 11
                 : GetParam() == ElementType::BF16   ? 8
                 : GetParam() == ElementType::F8E5M2 ? 3
                                                     : 4;
    return std::ldexp(1.0, std::ilogb(x) - digits + 1);
  }
  Tensor narrow(const Tensor &x) const { return x.cast(GetParam()); }
  static std::vector<double> doubles(const Tensor &x) {
    Names order;
    for (const std::string &name : x.names())
      order.push_back(Name(name));
    return x.cast(ElementType::F64).to<double>(order);
  }
  /// Within a rounding of `wanted`: op by op, compiled, and with symbolic sizes.
  template <typename F>
  void expectRounded(F f, const Tensor &x, double wanted, const std::string &what) const {
    auto check = [&](const Tensor &got, const char *how) {
      ASSERT_EQ(got.elementType(), GetParam());
      EXPECT_NEAR(doubles(got).at(0), wanted, 0.51 * unit(wanted)) << what << ", " << how;
    };
    check(f(x), "op by op");
    check(jit([&](Tensor x) { return f(x); }, {.cache = false})(x), "compiled");
    check(jit([&](Tensor x) { return f(x); }, {.cache = false, .symbolic = {row}})(x), "symbolic");
  }
};
} // namespace
INSTANTIATE_TEST_SUITE_P(Types, Narrow,
                         testing::Values(ElementType::F16, ElementType::BF16, ElementType::F8E5M2,
                                         ElementType::F8E4M3FN),
                         [](const auto &info) { return std::string(spelling(info.param)); });

TEST_P(Narrow, MeansDivideInTheTypeOfSums) {
  for (int64_t count : {3, 300, 66000, 1000000}) {
    Tensor ones = narrow(zeros({{row, count}}) + 1.0);
    auto average = [](const Tensor &x) { return mean(x, row); };
    expectRounded(average, ones, 1, "ones, " + std::to_string(count));
  }
  Tensor x = narrow(random({{row, 300}}, 1, 0) * 16.0);
  double sum = 0;
  for (double value : doubles(x))
    sum += value;
  expectRounded([](const Tensor &x) { return mean(x, row); }, x, sum / 300, "random numbers");
}

TEST_P(Narrow, MeansOverWindowsCountInTheTypeOfSums) {
  // 257 is not representable with 8 bits, and the outer windows have fewer taps.
  Tensor ones = narrow(zeros({{row, 300}}) + 1.0);
  WindowOptions wide{.size = 257, .padding = Padding::explicitly(128, 128).excluded()};
  for (double value : doubles(mean(ones.window(row, tap, wide), tap)))
    EXPECT_EQ(value, 1);
}

TEST_P(Narrow, VariancesHaveTheRangeOfSums) {
  // Squares beyond f16's largest number; multiples of 32 are numbers of all types here.
  double far = GetParam() == ElementType::F8E4M3FN ? 16 : 320;
  std::vector<float> values;
  for (int i = 0; i < 300; ++i)
    values.push_back(float(i % 2 ? far : -far));
  Tensor x = narrow(tensor(values, {{row, 300}}));
  double wanted = far * far;
  if (GetParam() == ElementType::F16) // beyond the range of the result itself
    wanted = INFINITY;
  for (double correction : {0.0, 1.0}) {
    double expected = wanted * 300 / (300 - correction);
    auto spread = [&](const Tensor &x) { return variance(x, row, correction); };
    if (std::isinf(wanted) || (GetParam() == ElementType::F8E5M2 && expected > 61440)) {
      EXPECT_FALSE(std::isfinite(doubles(spread(x))[0]));
      // The root is in range if no intermediate value is rounded.
      EXPECT_NEAR(doubles(sqrt(variance(x.cast(ElementType::F32), row)))[0], far, 1e-3);
      continue;
    }
    expectRounded(spread, x, expected, "variance");
  }
}

TEST_P(Narrow, LogSumExpHasTheRangeOfSums) {
  Tensor zero = narrow(zeros({{row, 100000}}));
  expectRounded([](const Tensor &x) { return logSumExp(x, row); }, zero, std::log(100000.0),
                "zeros");
}

TEST_P(Narrow, NumbersKeepTheirDigits) {
  std::vector<float> values;
  for (int i = 1; i <= 8; ++i)
    for (float scale : {1.0f, 16.0f, 0.25f})
      values.push_back(float(i) * scale);
  Tensor x = narrow(tensor(values, {{row, int64_t(values.size())}}));
  std::vector<double> given = doubles(x);
  struct Case {
    const char *what;
    std::function<Tensor(Tensor)> tensors;
    std::function<Scalar(Scalar)> scalars;
    std::function<double(double)> wanted;
  };
  for (const Case &each : {Case{"product", [](Tensor x) { return x * 0.1; },
                                [](Scalar x) { return x * 0.1; }, [](double x) { return x * 0.1; }},
                           {"quotient", [](Tensor x) { return x / 3.3; },
                            [](Scalar x) { return x / 3.3; }, [](double x) { return x / 3.3; }},
                           {"difference", [](Tensor x) { return 0.3 - x; },
                            [](Scalar x) { return 0.3 - x; }, [](double x) { return 0.3 - x; }},
                           {"power", [](Tensor x) { return pow(x, 1.0 / 3); },
                            [](Scalar x) { return pow(x, 1.0 / 3); },
                            [](double x) { return std::pow(x, 1.0 / 3); }}}) {
    auto check = [&](const Tensor &got, const char *how) {
      auto values = doubles(got);
      for (size_t i = 0; i < given.size(); ++i)
        EXPECT_NEAR(values[i], each.wanted(given[i]), 0.51 * unit(each.wanted(given[i])))
            << each.what << " of " << given[i] << ", " << how;
    };
    check(each.tensors(x), "op by op");
    check(kernel(row).of(each.scalars(at(x, {}))), "in a kernel");
  }
  // Comparisons, selections and bounds use the number rounded to the type.
  Tensor tenth = constant(0.1, GetParam(), {{row, 1}});
  EXPECT_EQ(doubles(equal(tenth, 0.1))[0], 1);
  EXPECT_EQ(doubles(equal(maximum(tenth * 0.0, 0.1), tenth))[0], 1);
}

TEST(ArgOfNothing, IsAnError) {
  Tensor none = zeros({{row, 0}, {column, 2}});
  for (auto best : {argmax, argmin}) {
    refused([&] { best(none, row); }, {"at least one element along 'row'", "column: 2, row: 0"});
    refused([&] { best(none, over(column, row)); }, {"at least one element along 'row'"});
    auto run = jit([&](Tensor x) { return best(x, row); }, {.symbolic = {row}});
    EXPECT_EQ(run(zeros({{row, 3}, {column, 2}})).to<int64_t>({column}),
              (std::vector<int64_t>{0, 0}));
    refused([&] { run(none); }, {"'row'"});
  }
  EXPECT_EQ(argmax(zeros({{row, 2}, {column, 0}}), row).count(), 0u);
}
