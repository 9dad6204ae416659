//===- SymbolicTest.cpp - training for every batch size -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One compiled training step serves every batch size, with the values of programs compiled for each
// size: convolution, pooling, normalisation over the batch, dropout, softmax, optimisers.
//
//===----------------------------------------------------------------------===//

#include "heddle/Jit.h"
#include "heddle/nn/Layers.h"
#include "heddle/nn/Losses.h"
#include "heddle/nn/Optimizers.h"
#include "test/unit/builder/Tensors.h"

#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

namespace {
const Name batch("batch"), row("row"), column("column"), channel("channel"), out("out"),
    hidden("hidden"), classes("classes");

struct Net {
  nn::Conv conv;
  nn::BatchNorm norm;
  nn::Linear wide, last;
  HEDDLE_FIELDS(conv, norm, wide, last)
};
struct State {
  Net net;
  nn::Mode mode;
  nn::Adam adam;
  nn::Sgd sgd;
  HEDDLE_FIELDS(net, mode, adam, sgd)
};

State initial() {
  nn::Windows three{over(row, column), {.size = 3, .padding = Same}};
  Net net{nn::Conv::make(three, {channel, 2}, {out, 5}, key(1)), nn::BatchNorm::make({channel, 5}),
          nn::Linear::make({{row, 3}, {column, 3}, {channel, 5}}, {hidden, 11}, key(2)),
          nn::Linear::make({{hidden, 11}}, {classes, 4}, key(3))};
  return {net, nn::Mode::training(net, key(4), batch), nn::Adam::make(net), nn::Sgd::make(net)};
}

struct Outcome {
  Tensor loss, right;
  HEDDLE_FIELDS(loss, right)
};

Outcome step(State &state, Tensor image, Tensor label) {
  auto [result, gradient] = nn::valueAndGrad(
      [&](Net net, nn::Mode &mode) {
        Tensor x = net.conv(image, over(row, column), channel, out);
        x = nn::maxPool(relu(x), over(row, column), {.size = 2, .stride = 2});
        x = net.norm(x, over(batch, row, column), mode);
        x = relu(net.wide(x, over(row, column, channel)));
        x = nn::dropout(x, 0.5, hidden, mode);
        Tensor logits = net.last(x, over(hidden));
        Tensor loss = mean(nn::crossEntropy(logits, label, classes), over(batch));
        return std::pair(loss, logits);
      },
      state.net, state.mode);
  // A gradient that is only a rounding error stays small.
  state.adam.update(state.net, gradient, 0.01, {.epsilon = 1e-2});
  state.sgd.update(state.net, gradient, 0.1);
  Tensor right = equal(argmax(result.second, over(classes)), label.cast(ElementType::I64));
  return {result.first, sum(right.cast(ElementType::F32), over(batch))};
}

void expectNear(const Tensor &got, const Tensor &expected, const std::string &what) {
  ASSERT_EQ(got.type(), expected.type());
  std::vector<float> a = valuesOf(got), b = valuesOf(expected);
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], 2e-4 + 1e-3 * std::fabs(b[i])) << what << " at " << i;
}

TEST(Training, OneProgramForEveryBatch) {
  int traces = 0;
  auto traced = [&](State &state, Tensor image, Tensor label) {
    ++traces;
    return step(state, image, label);
  };
  auto any = jit(traced, withSymbolic({batch})), reference = jit(traced, withSymbolic({}));
  int64_t count = 0;
  for (int64_t size : {17, 1}) {
    // Each step starts from the same state, so that rounding differences do not add up.
    State a = initial(), b = initial();
    ++count;
    Tensor image = random({{batch, size}, {row, 6}, {column, 6}, {channel, 2}}, uint64_t(size));
    std::vector<int32_t> labels;
    for (int64_t i = 0; i < size; ++i)
      labels.push_back(int32_t(i * 7 % 4));
    Tensor label = Tensor::of<int32_t>(std::span<const int32_t>(labels), {{batch, size}});
    Outcome got = any(a, image, label), expected = reference(b, image, label);
    expectNear(got.loss, expected.loss, "loss");
    expectNear(got.right, expected.right, "right");
    std::vector<Tensor> other;
    forEachTensor(b.net, [&](const std::string &, Tensor &tensor) { other.push_back(tensor); });
    forEachTensor(b.mode.moments, [&](const std::string &, Tensor &t) { other.push_back(t); });
    size_t next = 0;
    auto compare = [&](const std::string &path, Tensor &tensor) {
      expectNear(tensor, other[next++], path + " for " + std::to_string(size));
    };
    forEachTensor(a.net, compare);
    forEachTensor(a.mode.moments, compare);
  }
  EXPECT_EQ(traces, 1 + count);
}

// Random numbers whose slowest dimension is the batch do not depend on its size.
TEST(Symbolic, RandomNumbers) {
  auto draw = [](Tensor x, Tensor seed) {
    std::vector<Extent> by{{batch, x.size(batch)}, {hidden, 3}};
    return std::vector<Tensor>{randomUniform(seed, by),
                               randomNormal(seed, by),
                               randomBits(seed, by).cast(ElementType::F32),
                               randomIntegers(seed, 0, 9, by).cast(ElementType::F32),
                               randomPermutation(seed, by[0]).cast(ElementType::F32),
                               argsort(x, batch).cast(ElementType::F32),
                               countOf(x, over(batch)) * x};
  };
  auto any = jit(draw, withSymbolic({batch})), reference = jit(draw, withSymbolic({}));
  for (int64_t size : {5, 1, 0, 32}) {
    Tensor x = random({{batch, size}}, 3);
    std::vector<Tensor> got = any(x, key(4)), expected = reference(x, key(4));
    for (size_t i = 0; i < got.size(); ++i)
      expectNear(got[i], expected[i], "result " + std::to_string(i));
  }
}

// Lanes that merge the batch with the steps, and stacks with many different symbolic sizes.
TEST(Symbolic, RecurrentLayersAndTheirGradients) {
  const Name timeName("time"), feature("feature");
  struct Case {
    nn::RecurrentOptions options;
    int64_t in, units, steps;
  };
  for (const Case &each :
       {Case{{.cell = nn::Cell::Tanh}, 1, 16, 3},
        Case{{.cell = nn::Cell::Gru, .layers = 2, .bidirectional = true}, 2, 1, 8}}) {
    nn::Recurrent layer =
        nn::Recurrent::make({feature, each.in}, {hidden, each.units}, key(1), each.options);
    auto slopes = [&](const nn::Recurrent &layer, Tensor x) {
      return grad(
          [&](const nn::Recurrent &layer) {
            nn::Mode mode;
            Tensor all = layer(x, timeName, feature, hidden, mode).all;
            return sum(all * all, over(batch, timeName, hidden));
          },
          layer);
    };
    auto any = jit(slopes, withSymbolic({batch})), reference = jit(slopes, withSymbolic({}));
    for (int64_t size : {2, 5}) {
      Tensor x = random({{batch, size}, {timeName, each.steps}, {feature, each.in}}, 3);
      nn::Recurrent got = any(layer, x), expected = reference(layer, x);
      std::vector<Tensor> wanted;
      forEachTensor(expected, [&](const std::string &, Tensor &w) { wanted.push_back(w); });
      size_t next = 0;
      forEachTensor(got, [&](const std::string &path, Tensor &tensor) {
        expectNear(tensor, wanted[next++], path + " for " + std::to_string(size));
      });
    }
  }
}

} // namespace
