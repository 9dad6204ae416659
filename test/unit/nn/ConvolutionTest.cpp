//===- ConvolutionTest.cpp - convolutions and pooling ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Convolution.h"
#include "test/unit/Refused.h"
#include "test/unit/nn/Compare.h"

using namespace heddle;
using namespace heddle::test;

namespace {
const Name n("n"), row("row"), column("column"), channel("channel"), out("out");

/// One name of a window, for plain loops.
struct Axis {
  int64_t size, window, stride, low, high, dilation;
  int64_t places() const { return (size + low + high - (window - 1) * dilation - 1) / stride + 1; }
  /// The element that tap `k` of window `o` reads; none if negative.
  int64_t at(int64_t o, int64_t k) const {
    int64_t i = o * stride + k * dilation - low;
    return i >= 0 && i < size ? i : -1;
  }
  WindowOptions options() const {
    return {.size = window,
            .stride = stride,
            .dilation = dilation,
            .padding = Padding::explicitly(low, high)};
  }
};

/// y[r, c, out] of x[r, c, in] and w[kr, kc, in of a group, out].
std::vector<double> convolved(const std::vector<float> &x, const std::vector<float> &w,
                              const Axis &r, const Axis &c, int64_t in, int64_t outs,
                              int64_t groups) {
  std::vector<double> y;
  int64_t inside = in / groups;
  for (int64_t i = 0; i < r.places(); ++i)
    for (int64_t j = 0; j < c.places(); ++j)
      for (int64_t o = 0; o < outs; ++o) {
        double sum = 0;
        int64_t group = o / (outs / groups);
        for (int64_t ki = 0; ki < r.window; ++ki)
          for (int64_t kj = 0; kj < c.window; ++kj)
            for (int64_t k = 0; k < inside; ++k) {
              int64_t a = r.at(i, ki), b = c.at(j, kj);
              if (a >= 0 && b >= 0)
                sum += double(x[size_t((a * c.size + b) * in + group * inside + k)]) *
                       w[size_t(((ki * c.window + kj) * inside + k) * outs + o)];
            }
        y.push_back(sum);
      }
  return y;
}

struct Case {
  Axis row, column;
  int64_t in, out, groups;
};
} // namespace

class Convolutions : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(
    All, Convolutions,
    testing::Values(Case{{7, 3, 1, 1, 1, 1}, {5, 3, 1, 1, 1, 1}, 2, 3, 1},
                    Case{{7, 3, 2, 1, 0, 1}, {11, 5, 3, 0, 2, 1}, 1, 1, 1}, // each name by itself
                    Case{{7, 2, 1, 0, 0, 3}, {5, 3, 2, 2, 2, 2}, 3, 2, 1},  // dilation
                    Case{{5, 3, 1, 1, 1, 1}, {5, 1, 1, 0, 0, 1}, 6, 4, 2},  // groups
                    Case{{5, 3, 1, 1, 1, 1}, {3, 3, 1, 1, 1, 1}, 3, 3, 3},  // depthwise
                    Case{{1, 1, 1, 0, 0, 1}, {1, 1, 1, 0, 0, 1}, 1, 1, 1}));

TEST_P(Convolutions, ValueAndGradient) {
  const Case &p = GetParam();
  nn::Conv layer = nn::Conv::make({{row, p.row.options()}, {column, p.column.options()}},
                                  {channel, p.in}, {out, p.out}, key(2), {.groups = p.groups});
  layer.bias = random({{out, p.out}}, 4);
  auto x = numbers(size_t(p.row.size * p.column.size * p.in), 6), b = valuesOf(*layer.bias);
  Names order{Name("row_k"), Name("column_k"), channel, out};
  auto wanted = convolved(x, layer.weight.to<float>(order), p.row, p.column, p.in, p.out, p.groups);
  for (size_t i = 0; i < wanted.size(); ++i)
    wanted[i] += b[i % b.size()];
  Tensor input = tensor(x, {{row, p.row.size}, {column, p.column.size}, {channel, p.in}});
  expectNear(layer(input, over(row, column), channel, out).to<float>({row, column, channel}),
             wanted);
  expectGradient(
      [&](const std::vector<Tensor> &x) {
        return nn::Conv{x[1], x[2], layer.windows, layer.options}(x[0], over(column, row), channel,
                                                                  out);
      },
      {input, layer.weight, *layer.bias});
}

/// <transposed(x), y> = <x, convolved(y)>: the transposed convolution from `in` to `out` channels
/// is the adjoint of the convolution with the same weight from `out` to `in`.
TEST_P(Convolutions, TheTransposedOneIsTheAdjoint) {
  const Case &p = GetParam();
  // Of all sizes that give these windows the smallest.
  Axis r = p.row, c = p.column;
  for (Axis *axis : {&r, &c})
    axis->size = (axis->places() - 1) * axis->stride + (axis->window - 1) * axis->dilation + 1 -
                 axis->low - axis->high;
  nn::Conv layer =
      nn::Conv::make({{row, r.options()}, {column, c.options()}}, {channel, p.in}, {out, p.out},
                     key(3), {.groups = p.groups, .bias = false, .transposed = true});
  Tensor x = random({{row, r.places()}, {column, c.places()}, {channel, p.in}}, 7);
  Tensor got = layer(x, over(row, column), channel, out);
  EXPECT_EQ(got.size(row), r.size);
  EXPECT_EQ(got.size(column), c.size);
  auto y = numbers(size_t(r.size * c.size * p.out), 8);
  double left = 0, right = 0;
  auto values = got.to<float>({row, column, channel});
  for (size_t i = 0; i < values.size(); ++i)
    left += double(values[i]) * y[i];
  // The weight as the convolution sees it: its inputs are `out`, of a group, its outputs `in`.
  int64_t inGroup = p.in / p.groups, outGroup = p.out / p.groups;
  auto w = layer.weight.to<float>({Name("row_k"), Name("column_k"), channel, out});
  std::vector<float> swapped;
  for (int64_t tap = 0; tap < r.window * c.window; ++tap)
    for (int64_t o = 0; o < outGroup; ++o)
      for (int64_t i = 0; i < p.in; ++i)
        swapped.push_back(
            w[size_t((tap * inGroup + i % inGroup) * p.out + (i / inGroup) * outGroup + o)]);
  auto back = convolved(y, swapped, r, c, p.out, p.in, p.groups);
  auto given = x.to<float>({row, column, channel});
  for (size_t i = 0; i < back.size(); ++i)
    right += back[i] * given[i];
  EXPECT_NEAR(left, right, 1e-4 * (1 + std::abs(right)));
}

TEST(Convolution, OneAndThreeNamesAndOutputPadding) {
  Name depth("depth");
  nn::Conv line =
      nn::Conv::make({over(row), {.size = 3, .padding = Same}}, {channel, 2}, {out, 5}, key(1));
  EXPECT_EQ(line(random({{n, 2}, {row, 6}, {channel, 2}}, 1), row, channel, out).type(),
            "!nd.tensor<f32, channel: 5, n: 2, row: 6>");
  nn::Conv cube = nn::Conv::make({over(row, column, depth), {.size = 2, .stride = 2}}, {channel, 2},
                                 {out, 3}, key(1), {.bias = false});
  EXPECT_FALSE(cube.bias);
  Tensor x = random({{row, 4}, {column, 5}, {depth, 2}, {channel, 2}}, 2);
  EXPECT_EQ(cube(x, over(row, column, depth), channel, out).type(),
            "!nd.tensor<f32, channel: 3, column: 2, depth: 1, row: 2>");
  nn::Conv wider =
      nn::Conv::make({over(row), {.size = 3, .stride = 2, .padding = nn::padded(1)}}, {channel, 2},
                     {out, 1}, key(1), {.transposed = true, .outputPadding = 1});
  EXPECT_EQ(wider(random({{row, 5}, {channel, 2}}, 3), row, channel, out).size(row), 10);
  nn::Conv uneven = nn::Conv::make({{row, {.size = 2, .stride = 2}}, {column, {.size = 2}}},
                                   {channel, 2}, {out, 1}, key(1),
                                   {.transposed = true, .outputPadding = {{row, 1}, {column, 0}}});
  EXPECT_EQ(
      uneven(random({{row, 3}, {column, 3}, {channel, 2}}, 3), over(row, column), channel, out)
          .type(),
      "!nd.tensor<f32, channel: 1, column: 4, row: 7>");
  // The elements that a dilation beyond the stride adds are those of a longer input's zeros.
  nn::Windows far{over(row), {.size = 2, .dilation = 3}};
  nn::ConvOptions more{.bias = false, .transposed = true, .outputPadding = 2};
  nn::Conv longer = nn::Conv::make(far, {channel, 2}, {out, 1}, key(1), more), plain = longer;
  plain.options.outputPadding = 0;
  Tensor y = random({{row, 5}, {channel, 2}}, 3);
  EXPECT_EQ(longer(y, row, channel, out).size(row), 10);
  EXPECT_EQ(longer(y, row, channel, out).to<float>({row, channel}),
            plain(y.pad(row, 0, 2), row, channel, out).to<float>({row, channel}));
  nn::Conv same = nn::Conv::make({over(row), {.size = 4, .stride = 2, .padding = Same}},
                                 {channel, 2}, {out, 1}, key(1), {.transposed = true});
  EXPECT_EQ(same(random({{row, 5}, {channel, 2}}, 3), row, channel, out).size(row), 10);
}

TEST(Convolution, RenamingChangesNoBit) {
  Name a("zz"), b("aa"), c("mm");
  nn::Windows windows{{row, {.size = 3}}, {column, {.size = 2}}},
      other{{b, {.size = 2}}, {a, {.size = 3}}};
  nn::Conv first = nn::Conv::make(windows, {channel, 2}, {out, 3}, key(1)), second = first;
  second.windows = other;
  second.weight = first.weight.rename(
      {{Name("row_k"), Name("zz_k")}, {Name("column_k"), Name("aa_k")}, {channel, c}});
  Tensor x = random({{row, 5}, {column, 7}, {channel, 2}}, 1);
  EXPECT_EQ(first(x, over(row, column), channel, out).to<float>({row, column, channel}),
            second(x.rename({{row, a}, {column, b}, {channel, c}}), over(b, a), c, out)
                .to<float>({a, b, c}));
}

TEST(Convolution, Mistakes) {
  nn::Windows windows{over(row, column), {.size = 3}};
  nn::Conv conv = nn::Conv::make(windows, {channel, 2}, {out, 4}, key(1));
  Tensor x = random({{row, 5}, {column, 5}, {channel, 2}}, 1);
  refused([&] { conv(x.broadcast({{out, 4}}), over(row, column), channel, out); },
          {"an x without 'out'"});
  refused([&] { conv(x, over(row, out), channel, out); },
          {"'column', 'row', each once, got 'out'"});
  refused([&] { conv(x, over(row, row), channel, out); }, {"each once, got 'row'"});
  refused([&] { conv(x.slice(row, 0, 2), over(row, column), channel, out); },
          {"at most 2 elements of 'row'", "got 3"});
  refused([&] { conv(x.slice(channel, 0, 1), over(row, column), channel, out); },
          {"'channel'", "size 1", "size 2"});
  refused([&] { nn::Conv::make(windows, {channel, 3}, {out, 4}, key(1), {.groups = 2}); },
          {"groups that divide 'channel' of size 3, got 2"});
  for (int64_t more : {-1, 1})
    refused(
        [&] {
          nn::Conv::make(windows, {channel, 2}, {out, 4}, key(1),
                         {.transposed = true, .outputPadding = more});
        },
        {"output padding", "below 1 along 'column', got " + std::to_string(more)});
  refused([&] { conv(x, row, channel, out); }, {"all names", "'column', 'row', got 1 of them"});
  refused(
      [&] {
        nn::Conv::make({over(row), {.size = 4, .stride = 2, .padding = Same}}, {channel, 2},
                       {out, 1}, key(1), {.transposed = true, .outputPadding = 1});
      },
      {"below 1 along 'row', got 1"});
  refused(
      [&] {
        nn::Conv::make(windows, {channel, 2}, {out, 4}, key(1),
                       {.transposed = true, .outputPadding = {{Name("depth"), 1}}});
      },
      {"'column', 'row', got one of 'depth'"});
  refused([&] { nn::Conv::make(windows, {channel, 4}, {out, 3}, key(1), {.groups = 2}); },
          {"groups that divide 'out' of size 3, got 2"});
  refused([&] { nn::Conv::make(windows, {channel, 4}, {out, 4}, key(1), {.groups = 0}); },
          {"got 0"});
  refused([&] { nn::Conv::make(windows, {channel, 2}, {out, 4}, key(1), {.outputPadding = 1}); },
          {"of a transposed convolution only", "'column'"});
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

TEST(Pool, LargestAndMeansOfEachWindow) {
  Axis r{7, 3, 2, 1, 1, 1}, c{5, 2, 1, 0, 1, 2};
  auto values = numbers(35, 7, -3); // most are below the zeros of the padding
  Tensor x = tensor(values, {{row, 7}, {column, 5}});
  std::vector<double> largest, means, inner;
  for (int64_t i = 0; i < r.places(); ++i)
    for (int64_t j = 0; j < c.places(); ++j) {
      double most = -INFINITY, sum = 0, count = 0;
      for (int64_t ki = 0; ki < r.window; ++ki)
        for (int64_t kj = 0; kj < c.window; ++kj)
          if (int64_t a = r.at(i, ki), b = c.at(j, kj); a >= 0 && b >= 0) {
            double value = values[size_t(a * 5 + b)];
            most = std::max(most, value);
            sum += value;
            ++count;
          }
      largest.push_back(most);
      means.push_back(sum / double(r.window * c.window));
      inner.push_back(sum / count);
    }
  auto pooled = [&](const auto &pool) {
    return pool(pool(x, row, r.options()), column, c.options()).template to<float>({row, column});
  };
  expectNear(pooled([](const Tensor &x, const Name &along, const WindowOptions &w) {
               return nn::maxPool(x, along, w);
             }),
             largest);
  expectNear(pooled([](const Tensor &x, const Name &along, const WindowOptions &w) {
               return nn::averagePool(x, along, w);
             }),
             means);
  expectNear(pooled([](const Tensor &x, const Name &along, const WindowOptions &w) {
               return nn::averagePool(x, along, w, false);
             }),
             inner);
}

TEST(Pool, BothNamesAtOnceAreOneAfterTheOther) {
  Tensor x = random({{row, 8}, {column, 7}}, 9, -2);
  WindowOptions three{.size = 3, .stride = 2, .padding = nn::padded(1)};
  expectNear(valuesOf(nn::maxPool(x, over(row, column), three)),
             mapped(valuesOf(nn::maxPool(nn::maxPool(x, row, three), column, three)),
                    [](double v) { return v; }));
  expectGradient(
      [&](const std::vector<Tensor> &x) {
        return nn::averagePool(x[0], over(row, column), three, false);
      },
      {x});
  std::vector<float> apart(16);
  for (size_t i = 0; i < 16; ++i)
    apart[i] = float((i * 7) % 16);
  expectGradient(
      [&](const std::vector<Tensor> &x) { return nn::maxPool(x[0], over(row, column), three); },
      {tensor(apart, {{row, 4}, {column, 4}})});
}

TEST(Pool, LargerThanTheirInput) {
  Tensor x = random({{row, 4}, {column, 3}}, 1);
  for (bool largest : {true, false}) {
    auto pool = [&](int64_t size) {
      WindowOptions window{.size = size, .stride = 3};
      return largest ? nn::maxPool(x, over(row, column), window)
                     : nn::averagePool(x, over(row, column), window);
    };
    EXPECT_EQ(pool(3).type(), "!nd.tensor<f32, column: 1, row: 1>");
    refused([&] { pool(4); }, {"at most 3 elements of 'column'", "got 4"});
    refused([&] { pool(0); }, {"at least 1, got 0"});
  }
}

TEST(Pool, RangesCoverANameEvenly) {
  auto values = numbers(7, 5, -2);
  Tensor x = tensor(values, {{row, 7}});
  auto meanOf = [&](size_t first, size_t end) {
    double sum = 0;
    for (size_t i = first; i < end; ++i)
      sum += values[i];
    return sum / double(end - first);
  };
  // The ranges of 3 parts of 7 overlap; 9 parts repeat elements.
  expectNear(valuesOf(nn::adaptiveAveragePool(x, row, 3)),
             {meanOf(0, 3), meanOf(2, 5), meanOf(4, 7)});
  std::vector<double> nine;
  for (auto [first, end] : std::vector<std::pair<size_t, size_t>>{
           {0, 1}, {0, 2}, {1, 3}, {2, 4}, {3, 4}, {3, 5}, {4, 6}, {5, 7}, {6, 7}})
    nine.push_back(meanOf(first, end));
  expectNear(valuesOf(nn::adaptiveAveragePool(x, row, 9)), nine);
  Tensor image = random({{row, 6}, {column, 4}}, 3);
  expectNear(valuesOf(nn::adaptiveAveragePool(image, over(row, column), 2)),
             mapped(valuesOf(nn::averagePool(nn::averagePool(image, row, {.size = 3, .stride = 3}),
                                             column, {.size = 2, .stride = 2})),
                    [](double v) { return v; }));
  expectGradient(
      [&](const std::vector<Tensor> &x) {
        return nn::adaptiveAveragePool(x[0], over(row, column), 4);
      },
      {image});
  refused([&] { nn::adaptiveAveragePool(x, row, 0); }, {"at least 1 part", "'row'", "got 0 of 7"});
  refused([&] { nn::adaptiveAveragePool(x, column, 2); }, {"'column'"});
}

TEST(Pool, RepeatedElements) {
  Tensor x = tensor({1, 2, 3, 4}, {{row, 2}, {column, 2}});
  EXPECT_EQ(nn::repeated(x, column, 3).to<float>({row, column}),
            (std::vector<float>{1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4}));
  EXPECT_EQ(nn::repeated(x, over(row, column), 2).to<float>({row, column}),
            (std::vector<float>{1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4}));
  expectGradient([&](const std::vector<Tensor> &x) { return nn::repeated(x[0], row, 2); }, {x});
  refused([&] { nn::repeated(x, row, 0); }, {"at least once", "got 0"});
}
