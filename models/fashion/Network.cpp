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

Net fashion::initialNet(uint64_t seed) {
  const ModelNames &n = names();
  auto keyOf = [&](uint64_t layer) { return key(seed * 16 + layer); };
  nn::Windows five{over(n.row, n.column), {.size = 5, .padding = Same}};
  return {
      nn::Conv::make(five, {n.channel, 1}, {n.out, 32}, keyOf(1)),
      nn::Conv::make(five, {n.channel, 32}, {n.out, 64}, keyOf(2)),
      nn::Linear::make({{n.row, 7}, {n.column, 7}, {n.channel, 64}}, {n.hidden, 1024}, keyOf(3)),
      nn::Linear::make({{n.hidden, 1024}}, {n.classes, 10}, keyOf(4))};
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

nn::Outcome fashion::lossOf(const Net &net, const nn::Fields &fields, nn::Mode &mode) {
  const Name &classes = names().classes;
  Tensor logits = net(fields.at("image"), mode), label = fields.at("label");
  return {nn::sampleMean(nn::crossEntropy(logits, label, classes), fields),
          {{"accuracy", nn::sampleMean(nn::isRight(logits, label, classes), fields)}}};
}

Prediction fashion::classify(const Net &net, const Image &image) {
  nn::Mode evaluation;
  Tensor logits = net(image.image, evaluation);
  return {argmax(logits, over(names().classes)), logits};
}
