//===- GraphTest.cpp - graph layers, perceptrons --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Layers.h"
#include "test/unit/Refused.h"
#include "test/unit/nn/Compare.h"

#include <cmath>

using namespace heddle;
using namespace heddle::test;

namespace {
const Name n("n"), node("node"), slot("slot"), word("word"), head("head"), out("out");
} // namespace

TEST(Graph, AttentionAgainstLoops) {
  constexpr int nodes = 5, words = 3, heads = 2, outs = 2, slots = 3;
  nn::GraphAttention layer =
      nn::GraphAttention::make({{word, words}}, {{head, heads}, {out, outs}}, key(1));
  auto filled = [](uint64_t seed) { return random({{head, heads}, {out, outs}}, seed); };
  layer.own = filled(2), layer.other = filled(3), layer.bias = filled(4);
  std::vector<int32_t> near{0, 1, 2, 1, 4, 0, 2, 2, 2, 3, 0, 4, 4, 4, 4}, count{3, 2, 1, 0, 3};
  Tensor x = random({{node, nodes}, {word, words}}, 5);
  nn::Neighbours neighbours{Tensor::of<int32_t>(near, {{node, nodes}, {slot, slots}}),
                            Tensor::of<int32_t>(count, {{node, nodes}}), slot};
  auto input = x.to<float>({node, word}),
       weight = layer.project.weight.to<float>({word, head, out});
  auto own = layer.own.to<float>({head, out}), other = layer.other.to<float>({head, out});
  auto bias = layer.bias.to<float>({head, out});
  std::vector<double> mapped(nodes * heads * outs), wanted;
  for (int i = 0; i < nodes; ++i)
    for (int j = 0; j < heads * outs; ++j)
      for (int k = 0; k < words; ++k)
        mapped[i * heads * outs + j] += double(input[i * words + k]) * weight[k * heads * outs + j];
  for (int i = 0; i < nodes; ++i)
    for (int h = 0; h < heads; ++h) {
      auto part = [&](int at, const std::vector<float> &by) {
        double total = 0;
        for (int o = 0; o < outs; ++o)
          total += mapped[(at * heads + h) * outs + o] * by[h * outs + o];
        return total;
      };
      std::vector<double> power;
      double total = 0;
      for (int s = 0; s < count[i]; ++s) {
        double score = part(i, own) + part(near[i * slots + s], other);
        power.push_back(std::exp(score > 0 ? score : 0.2 * score));
        total += power.back();
      }
      for (int o = 0; o < outs; ++o) {
        double y = bias[h * outs + o];
        for (int s = 0; s < count[i]; ++s)
          y += power[s] / total * mapped[(near[i * slots + s] * heads + h) * outs + o];
        wanted.push_back(y);
      }
    }
  expectNear(layer(x, node, word, out, neighbours).to<float>({node, head, out}), wanted);
  expectGradient(
      [&](const std::vector<Tensor> &t) {
        nn::GraphAttention moved{{t[1], {}}, t[2], t[3], t[4]};
        return moved(t[0], node, word, out, neighbours);
      },
      {x, layer.project.weight, layer.own, layer.other, layer.bias});
  refused([&] { layer(x, n, word, out, neighbours); }, {"'n'"});
  refused([&] { nn::GraphAttention::make({{word, 3}}, {}, key(1)); }, {"at least one name"});
}

TEST(Perceptron, AgainstItsLayers) {
  nn::Perceptron net = nn::Perceptron::make({word, 3}, {5, 1, 2}, key(1));
  Tensor x = random({{n, 4}, {word, 3}}, 2);
  auto step = [&](size_t i, const Tensor &y) {
    return net.layers[i](y, word).rename({{Name("out"), word}});
  };
  Tensor wanted = step(2, relu(step(1, relu(step(0, x)))));
  EXPECT_EQ(net(x, word).to<float>({n, word}), wanted.to<float>({n, word}));
  // A user's name may be equal to an inner one.
  EXPECT_EQ(net(x.rename({{n, out}}), word).to<float>({out, word}), wanted.to<float>({n, word}));
  net.activation = [](const Tensor &y) { return tanh(y); };
  wanted = step(2, tanh(step(1, tanh(step(0, x)))));
  EXPECT_EQ(net(x, word).to<float>({n, word}), wanted.to<float>({n, word}));
  EXPECT_FALSE(nn::Perceptron::make({word, 3}, {2}, key(1), false).layers[0].bias);
  refused([] { nn::Perceptron::make({word, 3}, {}, key(1)); }, {"at least one layer"});
}

TEST(Transformer, LayersOfAStackDiffer) {
  auto layers = nn::TransformerLayer::stack(3, {word, 4}, key(7), {.heads = 2, .hidden = 5});
  ASSERT_EQ(layers.size(), 3u);
  auto weights = [&](size_t i) {
    return layers[i].feed.up.weight.to<float>({word, Name("hidden")});
  };
  EXPECT_NE(weights(0), weights(1));
  EXPECT_NE(weights(1), weights(2));
  EXPECT_EQ(layers[2].options.heads, 2);
}
