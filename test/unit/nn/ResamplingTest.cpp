//===- ResamplingTest.cpp - resampling compared with PyTorch --------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Resampling.h"
#include "test/unit/Refused.h"
#include "test/unit/nn/Recorded.h"

using namespace heddle;
using namespace heddle::test;
using nn::Interpolation;

namespace {
const Name batch("batch"), channel("channel"), row("row"), column("column"), depth("depth"),
    point("point");

const Recorded &recorded() {
  static const Recorded all("resampling");
  return all;
}

const std::map<std::string, Interpolation> ways{{"nearest", Interpolation::Nearest},
                                                {"nearest-exact", Interpolation::NearestExact},
                                                {"bilinear", Interpolation::Linear},
                                                {"bicubic", Interpolation::Cubic}};
} // namespace

TEST(Resampling, BySizes) {
  std::vector<std::vector<Extent>> sizes{{{row, 3}, {column, 11}},
                                         {{row, 3}, {column, 2}},
                                         {{column, 4}, {row, 1}},
                                         {{row, 8}, {column, 3}}};
  for (size_t i = 0; i < sizes.size(); ++i)
    for (const auto &[word, by] : ways)
      for (bool corners : {false, true}) {
        std::string name = word + (corners ? "-corners." : ".") + std::to_string(i);
        if (recorded().has(name + ".output"))
          recorded().expect(
              name,
              [&](const Given &x) { return nn::resample(x.at("x"), sizes[i], {by, corners}); },
              /*check=*/true);
      }
  recorded().expect("linear-1d",
                    [](const Given &x) { return nn::resample(x.at("x"), {{row, 9}}); });
  recorded().expect("trilinear", [](const Given &x) {
    return nn::resample(x.at("x"), {{row, 2}, {column, 5}, {depth, 3}});
  });
}

TEST(Resampling, ByFactors) {
  std::vector<std::pair<double, double>> factors{{2.5, 0.6}, {0.5, 1.75}, {3.0, 1.0 / 3}};
  for (size_t i = 0; i < factors.size(); ++i)
    for (const auto &[word, by] : ways)
      recorded().expect(
          word + "-by." + std::to_string(i),
          [&](const Given &x) {
            return nn::resampleBy(x.at("x"), {{row, factors[i].first}, {column, factors[i].second}},
                                  {by});
          },
          /*check=*/true);
}

/// An element of weight 0 may have any value.
TEST(Resampling, InfinitiesStayWhereTheyAre) {
  Tensor x = Tensor::of<float>({1, INFINITY, 3, NAN, 5}, {{row, 5}});
  Tensor y = nn::resample(x, {{row, 3}}, {.alignCorners = true});
  EXPECT_EQ(y.to<float>({row}), (std::vector<float>{1, 3, 5}));
  auto loss = [](Tensor x) {
    return sum(nn::resample(x, {{row, 3}}, {.alignCorners = true}), row);
  };
  EXPECT_EQ(grad(loss, x).to<float>({row}), (std::vector<float>{1, 0, 1, 0, 1}));
}

/// 49 / 49 is 1, and 49 * (1 / 49) is not. f16 has no 4097.
TEST(Resampling, PositionsAreNotRounded) {
  Tensor x = iota({row, 3});
  std::vector<int64_t> y =
      nn::resampleBy(x, {{row, 49}}, {Interpolation::Nearest}).to<int64_t>(row);
  for (size_t i = 0; i < y.size(); ++i)
    ASSERT_EQ(y[i], int64_t(i / 49)) << i;
  Tensor many = (iota({row, 8192}) % 2.0).cast(ElementType::F16);
  auto ofType = [&](ElementType type) {
    Tensor y = nn::resample(many.cast(type), {{row, 8191}}, {.alignCorners = true});
    return valuesOf(y.cast(ElementType::F32));
  };
  expectNear(ofType(ElementType::F16), mapped(ofType(ElementType::F64), [](double y) { return y; }),
             1e-3);
}

TEST(Resampling, SymbolicSizes) {
  auto all = [](Tensor x) {
    auto twice = [&](Interpolation by) {
      Tensor y = nn::resample(x, {{row, 2 * x.size(row)}, {column, 3}}, {by});
      return nn::resampleBy(y, {{column, 1.5}, {row, 0.75}}, {by});
    };
    std::vector<Tensor> values;
    for (const auto &[word, by] : ways)
      values.push_back(twice(by));
    values.push_back(nn::gridSample(x, {{row, x * 2.0 - 1.0}}));
    values.push_back(
        grad([](Tensor x) { return sum(square(nn::resample(x, {{row, 5}})), {row, column}); }, x));
    return values;
  };
  auto any = jit(all, withSymbolic({row, column})), one = jit(all, withSymbolic({}));
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{7, 6}, {6, 1}}) {
    Tensor x = random({{row, rows}, {column, columns}}, uint64_t(rows), 0);
    std::vector<Tensor> got = any(x), wanted = one(x);
    for (size_t i = 0; i < wanted.size(); ++i)
      expectNear(valuesOf(got[i]), mapped(valuesOf(wanted[i]), [](double y) { return y; }));
  }
}

TEST(GridSample, PointsBetweenElements) {
  for (std::string by : {"bilinear", "nearest"})
    for (const auto &[word, beyond] :
         std::map<std::string, nn::Beyond>{{"zeros", nn::Beyond::Zero},
                                           {"border", nn::Beyond::Edge},
                                           {"reflection", nn::Beyond::Mirror}})
      for (bool corners : {false, true})
        recorded().expect(
            "grid-" + by + "-" + word + (corners ? "-corners" : ""),
            [&](const Given &x) {
              return nn::gridSample(x.at("x"), {{column, x.at("u")}, {row, x.at("v")}},
                                    {ways.at(by), beyond, corners});
            },
            /*check=*/true);
  recorded().expect("grid-3d", [](const Given &x) {
    return nn::gridSample(x.at("x"), {{row, x.at("w")}, {column, x.at("v")}, {depth, x.at("u")}},
                          {.beyond = nn::Beyond::Edge});
  });
}

/// Points along one name only, and along names that the result then has.
TEST(GridSample, AnyNames) {
  Tensor x = random({{row, 4}, {column, 5}}, 1), v = random({{row, 3}}, 2),
         u = random({{column, 2}}, 3);
  Tensor both = nn::gridSample(x, {{row, v}, {column, u}});
  EXPECT_EQ(both.type(), "!nd.tensor<f32, column: 2, row: 3>");
  Tensor apart = nn::gridSample(nn::gridSample(x, {{row, v}}), {{column, u}});
  expectNear(valuesOf(both), mapped(valuesOf(apart), [](double y) { return y; }));
  Tensor one = nn::gridSample(x, {{row, constant(-0.25)}});
  expectNear(valuesOf(one), mapped(valuesOf(x.at(row, 1)), [](double y) { return y; }));
}

/// Elements replaced by zeros affect nothing, even if they are NaN; points that are NaN give NaN.
TEST(GridSample, NothingHiddenIsSeen) {
  Tensor x = Tensor::of<float>({NAN, 2, 3, INFINITY}, {{row, 4}});
  Tensor v = Tensor::of<float>({-0.25f, 0.25f, -3, 1e30f, INFINITY, NAN}, {{point, 6}});
  auto loss = [](Tensor x, Tensor v) {
    Tensor y = nn::gridSample(x, {{row, v}}, {Interpolation::Nearest});
    return std::pair(sum(y.slice(point, 0, 5), point), y);
  };
  auto [result, gradient] = valueAndGrad([&](Tensor x) { return loss(x, v); }, x);
  std::vector<float> y = result.second.to<float>(point);
  EXPECT_TRUE(std::isnan(y[5]));
  y.pop_back();
  EXPECT_EQ(y, (std::vector<float>{2, 3, 0, 0, 0}));
  EXPECT_EQ(gradient.to<float>(row), (std::vector<float>{0, 1, 1, 0}));
  // Far outside, the gradient of points is 0.
  Tensor far = Tensor::of<float>({-3, 1e30f, INFINITY}, {{point, 3}});
  auto linear = [&](Tensor v) { return sum(nn::gridSample(x, {{row, v}}), point); };
  EXPECT_EQ(linear(far).item(), 0);
  EXPECT_EQ(grad(linear, far).to<float>(point), (std::vector<float>{0, 0, 0}));
  EXPECT_TRUE(std::isnan(linear(Tensor::of<float>({NAN}, {{point, 1}})).item()));
}

TEST(Misuse, Resampling) {
  Tensor x = random({{row, 4}, {column, 4}}, 1);
  refused([&] { nn::resample(x, {{depth, 2}}); }, {"an x with the name 'depth'"});
  refused([&] { nn::resample(x, {{row, 0}}); }, {"at least 1 element of 'row', got 4 to make 0"});
  refused([&] { nn::resample(x, {{row, 2}, {row, 3}}); }, {"each name once, got 'row' twice"});
  refused([&] { nn::resample(x, {{row, 2}}, {Interpolation::Nearest, true}); },
          {"alignCorners of linear and cubic interpolation only"});
  refused([&] { nn::resample(x.cast(ElementType::I32), {{row, 2}}); }, {"an x of floats"});
  for (double factor : {0.0, -1.0, double(INFINITY), double(NAN)})
    refused([&] { nn::resampleBy(x, {{row, factor}}); }, {"a factor above 0 of 'row'"});
  refused([&] { nn::gridSample(x, {}); }, {"points along at least one name"});
  refused([&] { nn::gridSample(x, {{row, iota({point, 2})}}); }, {"points of floats along 'row'"});
  refused([&] { nn::gridSample(x, {{row, x}}, {Interpolation::Cubic}); },
          {"linear interpolation or the nearest"});
  auto any = jit([](Tensor x) { return nn::resampleBy(x, {{row, 1.0 / 3}}); }, withSymbolic({row}));
  refused([&] { any(x); }, {"a factor whose product with 1024 is a whole number along 'row'"});
}
