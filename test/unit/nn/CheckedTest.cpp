//===- CheckedTest.cpp - checks of values that a layer expects ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// JitOptions::check reports an index that is out of range, and the op that computes the first NaN.
// Calls of the library with valid arguments must pass both checks.
//
//===----------------------------------------------------------------------===//

#include "heddle/Compositions.h"
#include "heddle/nn/Gradients.h"
#include "heddle/nn/Layers.h"
#include "heddle/nn/Losses.h"
#include "test/unit/Refused.h"
#include "test/unit/nn/Compare.h"

#include <cmath>

using namespace heddle;
using namespace heddle::test;

namespace {
const Name batch("batch"), node("node"), slot("slot"), word("word"), out("out"), classes("class");
} // namespace

TEST(Checked, IgnoredLabels) {
  auto loss = jit(
      [](Tensor x, Tensor label) {
        return nn::crossEntropyMean(x, label, classes, batch, {.ignored = -100});
      },
      {.check = true});
  Tensor x = Tensor::of<float>({1, 2, 3, 4, 5, 6}, {{batch, 2}, {classes, 3}});
  double expected = std::log(std::exp(1.0) + std::exp(2.0) + std::exp(3.0)) - 2;
  EXPECT_NEAR(loss(x, Tensor::of<int32_t>({1, -100}, {{batch, 2}})).item(), expected, 1e-6);
  // Other labels out of range are reported.
  EXPECT_THROW(loss(x, Tensor::of<int32_t>({1, -7}, {{batch, 2}})).item(), Error);
}

TEST(Checked, LogarithmsOfSumsOfNothing) {
  auto both = jit(
      [](Tensor x, Tensor y) { return std::pair(logSumExp(x, over(classes)), logAddExp(y, y)); },
      {.check = true});
  for (double value : {double(-INFINITY), double(INFINITY)}) {
    auto [row, pair] = both(constant(value, ElementType::F32, {{batch, 2}, {classes, 3}}),
                            constant(value, ElementType::F32));
    for (float each : row.to<float>({batch}))
      EXPECT_EQ(each, float(value));
    EXPECT_EQ(pair.item(), value);
  }
}

TEST(Checked, OverflowOfScaledLosses) {
  struct State {
    Tensor w;
    nn::LossScale scale;
    HEDDLE_FIELDS(w, scale)
  };
  for (float gradient : {INFINITY, NAN, 2.0f}) {
    State state{Tensor::of<float>({1}, {}), nn::LossScale::make()};
    auto step = jit(
        [](State &s, Tensor g) {
          std::vector<Tensor> all{g};
          s.scale.update(all, [&] { s.w -= all[0]; }, s.w);
        },
        {.check = !std::isnan(gradient)}); // a check would report this NaN
    step(state, Tensor::of<float>({gradient}, {}));
    EXPECT_EQ(state.scale.scale.item(), gradient == 2 ? 65536 : 32768);
    EXPECT_FLOAT_EQ(float(state.w.item()), gradient == 2 ? 1 - 2.0f / 65536 : 1);
  }
}

TEST(Checked, SlotsWithoutNeighbours) {
  nn::GraphAttention layer = nn::GraphAttention::make({{word, 3}}, {{out, 4}}, key(1));
  auto run =
      jit([](nn::GraphAttention layer, Tensor x, Tensor number,
             Tensor count) { return layer(x, node, over(word), out, {number, count, slot}); },
          {.check = true});
  Tensor x = random({{node, 3}, {word, 3}}, 2), count = Tensor::of<int32_t>({1, 2, 0}, {{node, 3}});
  auto of = [&](std::vector<int32_t> number) {
    return run(layer, x, Tensor::of<int32_t>(number, {{node, 3}, {slot, 2}}), count)
        .to<float>({node, out});
  };
  EXPECT_EQ(of({1, -1, 0, 2, -1, -1}), of({1, 0, 0, 2, 0, 0}));
  EXPECT_THROW(of({-1, 0, 0, 2, 0, 0}), Error); // one that counts
}
