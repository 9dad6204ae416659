//===- Network.cpp - the network ------------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "models/fashion/Network.h"

using namespace heddle;
using namespace fashion;

const ModelNames &fashion::names() {
  static const ModelNames all;
  return all;
}

State fashion::initialState(uint64_t seed) {
  const ModelNames &n = names();
  auto keyOf = [&](uint64_t layer) { return key(seed * 16 + layer); };
  Net net{
      nn::Conv::make(5, {n.channel, 1}, {n.out, 32}, keyOf(1)),
      nn::Conv::make(5, {n.channel, 32}, {n.out, 64}, keyOf(2)),
      nn::Linear::make({{n.row, 7}, {n.column, 7}, {n.channel, 64}}, {n.hidden, 1024}, keyOf(3)),
      nn::Linear::make({{n.hidden, 1024}}, {n.classes, 10}, keyOf(4))};
  nn::Sgd sgd = nn::Sgd::make(net);
  return {net, sgd};
}

Tensor fashion::forward(const Net &net, Tensor image, const Tensor &dropoutKey) {
  const ModelNames &n = names();
  Tensor x = relu(net.first(image, n.row, n.column, n.channel, n.out));
  x = nn::maxPool(x, n.row, n.column, 2);
  x = relu(net.second(x, n.row, n.column, n.channel, n.out));
  x = nn::maxPool(x, n.row, n.column, 2);
  x = relu(net.wide(x, over(n.row, n.column, n.channel)));
  if (!dropoutKey.empty())
    x = nn::dropout(x, 0.5, dropoutKey, {{n.batch, x.size(n.batch)}, {n.hidden, x.size(n.hidden)}});
  return net.last(x, over(n.hidden));
}

Outcome fashion::trainStep(State &state, const Sample &sample, const Tensor &key,
                           const Tensor &rate) {
  const Name &batch = names().batch, &classes = names().classes;
  auto [result, gradient] = valueAndGrad(
      [&](Net net) {
        Tensor logits = forward(net, sample.image, key);
        Tensor losses = nn::crossEntropy(logits, sample.label, classes) * sample.weight;
        return std::pair(sum(losses, over(batch)) / sum(sample.weight, over(batch)), logits);
      },
      state.net);
  state.sgd.update(state.net, gradient, rate);
  Tensor right = equal(argmax(result.second, over(classes)), sample.label.cast(ElementType::I64));
  return {result.first, sum(right.cast(ElementType::F32) * sample.weight, over(batch))};
}

Prediction fashion::classify(const Net &net, const Image &image) {
  Tensor logits = forward(net, image.image, Tensor());
  return {argmax(logits, over(names().classes)), logits};
}
