//===- LayerOptionsTest.cpp - options of layers in compiled functions -----===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/heddle.h"
#include "heddle/nn/Layers.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace heddle;

namespace {
const Name batch("batch"), row("row"), channel("channel"), out("out"), time("time");

/// The mean of 1 and 3 is 2, and their variance 1.
TEST(LayerOptions, AChangedEpsilonIsSeen) {
  nn::LayerNorm norm = nn::LayerNorm::make({{row, 2}}, 0);
  Tensor x = Tensor::of<float>({1, 3}, {{row, 2}});
  auto f = jit([](const nn::LayerNorm &n, Tensor x) { return n(x, row); });
  for (double epsilon : {0.0, 1.0, 3.0}) {
    norm.epsilon = epsilon;
    EXPECT_NEAR(f(norm, x).to<float>({row})[1], 1 / std::sqrt(1 + epsilon), 1e-6) << epsilon;
  }
}

// The options of layers inside of vectors and optionals, too.
TEST(LayerOptions, OptionsOfLayersInside) {
  struct Net {
    std::vector<nn::Conv> convs;
    std::optional<nn::GroupNorm> norm;
    HEDDLE_FIELDS(convs, norm)
    Tensor operator()(Tensor x) const {
      for (const nn::Conv &conv : convs)
        x = conv(x, over(row), channel, out);
      return norm ? (*norm)(x, channel, over(row)) : x;
    }
  };
  Net net;
  net.convs.push_back(nn::Conv::make({{row, {.size = 3}}}, {channel, 2}, {out, 2}, key(1)));
  net.norm = nn::GroupNorm::make({channel, 2}, 1);
  Tensor x = randomNormal(key(2), {{row, 8}, {channel, 2}});
  int traces = 0;
  auto f = jit([&](const Net &n, Tensor x) {
    ++traces;
    return n(x);
  });
  auto expectSeen = [&](int expected) {
    Tensor got = f(net, x), want = net(x);
    EXPECT_EQ(got.type(), want.type());
    EXPECT_LT(max(abs(got - want)).item(), 1e-5);
    EXPECT_EQ(traces, expected);
  };
  expectSeen(1);
  net.norm->groups = 2;
  expectSeen(2);
  net.convs[0].windows.along["row"].padding = Same;
  expectSeen(3);
  net.convs[0].windows.along["row"].dilation = 2;
  expectSeen(4);
  net.norm->groups = 2;
  expectSeen(4);
}

// Another network of the same kind runs the same program, although its layers have other moments.
TEST(LayerOptions, NetworksOfOneKindShareAProgram) {
  int traces = 0;
  auto f = jit([&](const nn::BatchNorm &norm, nn::Mode mode, Tensor x) {
    ++traces;
    return norm(x, over(batch), mode);
  });
  Tensor x = Tensor::of<float>({1, 2, 3, 5}, {{batch, 2}, {channel, 2}});
  for (int i = 0; i < 10; ++i) {
    nn::BatchNorm norm = nn::BatchNorm::make({channel, 2});
    EXPECT_FALSE(f(norm, nn::Mode::training(norm, key(1), batch).evaluation(), x).empty());
  }
  EXPECT_EQ(traces, 1);
}

TEST(LayerOptions, DropoutIsLeftOutWhereAModeSaysSo) {
  Tensor x = Tensor::of<float>({1, 2, 3, 4}, {{row, 4}});
  nn::Mode mode = nn::Mode::training(key(1), {});
  auto f = jit([](Tensor x, nn::Mode mode) { return nn::dropout(x, 0.999, row, mode); });
  EXPECT_NE(f(x, mode).to<float>({row}), x.to<float>({row}));
  EXPECT_EQ(f(x, mode.withoutDropout()).to<float>({row}), x.to<float>({row}));
}

} // namespace
