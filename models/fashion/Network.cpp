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
  nn::Windows five{over(n.row, n.column), {.size = 5, .padding = Same}};
  Net net{
      nn::Conv::make(five, {n.channel, 1}, {n.out, 32}, keyOf(1)),
      nn::Conv::make(five, {n.channel, 32}, {n.out, 64}, keyOf(2)),
      nn::Linear::make({{n.row, 7}, {n.column, 7}, {n.channel, 64}}, {n.hidden, 1024}, keyOf(3)),
      nn::Linear::make({{n.hidden, 1024}}, {n.classes, 10}, keyOf(4))};
  return {net, nn::Mode::training(net, keyOf(5), n.batch), nn::Sgd::make(net)};
}

Tensor Net::operator()(const Tensor &image, nn::Mode &mode) const {
  const ModelNames &n = names();
  Names place = over(n.row, n.column);
  WindowOptions two{.size = 2, .stride = 2};
  Tensor x = nn::maxPool(relu(first(image, place, n.channel, n.out)), place, two);
  x = nn::maxPool(relu(second(x, place, n.channel, n.out)), place, two);
  x = relu(wide(x, over(n.row, n.column, n.channel)));
  x = nn::dropout(x, 0.5, n.hidden, mode);
  return last(x, n.hidden);
}

Outcome fashion::trainStep(State &state, const Sample &sample, const Tensor &rate) {
  const Name &batch = names().batch, &classes = names().classes;
  auto [result, gradient] = nn::valueAndGrad(
      [&](Net net, nn::Mode &mode) {
        Tensor logits = net(sample.image, mode);
        Tensor losses = nn::crossEntropy(logits, sample.label, classes) * sample.weight;
        return std::pair(sum(losses, over(batch)) / sum(sample.weight, over(batch)), logits);
      },
      state.net, state.mode);
  state.sgd.update(state.net, gradient, rate);
  Tensor right = equal(argmax(result.second, over(classes)), sample.label.cast(ElementType::I64));
  return {result.first, sum(right.cast(ElementType::F32) * sample.weight, over(batch))};
}

Prediction fashion::classify(const Net &net, const Image &image) {
  nn::Mode evaluation;
  Tensor logits = net(image.image, evaluation);
  return {argmax(logits, over(names().classes)), logits};
}
