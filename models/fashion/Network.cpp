//===- Network.cpp - the network ------------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "models/fashion/Fashion.h"

using namespace heddle;
using namespace fashion;

const ModelNames &fashion::names() {
  static const ModelNames all;
  return all;
}

State fashion::initialState(uint64_t seed) {
  const ModelNames &n = names();
  auto keyOf = [&](uint64_t layer) { return key(seed * 16 + layer); };
  Net net{nn::Conv::make(5, {n.channel, 1}, {n.out, 32}, keyOf(1)),
          nn::Conv::make(5, {n.channel, 32}, {n.out, 64}, keyOf(2)),
          nn::Linear::make({n.row, n.column, n.channel}, {7, 7, 64}, {n.hidden, 1024}, keyOf(3)),
          nn::Linear::make({n.hidden}, {1024}, {n.classes, 10}, keyOf(4))};
  nn::Sgd sgd = nn::Sgd::make(net);
  return {net, sgd};
}

Tensor fashion::forward(const Net &net, Tensor image, const Tensor &dropoutKey) {
  const ModelNames &n = names();
  Tensor x = nn::maxPool(relu(net.first(image, n.row, n.column, n.channel, n.out)), n.row, n.column, 2);
  x = nn::maxPool(relu(net.second(x, n.row, n.column, n.channel, n.out)), n.row, n.column, 2);
  x = relu(net.wide(x, {n.row, n.column, n.channel}));
  if (dropoutKey)
    x = nn::dropout(x, 0.5, dropoutKey, {{n.batch, x.size(n.batch)}, {n.hidden, x.size(n.hidden)}});
  return net.last(x, {n.hidden});
}

Tensor fashion::argmaxClass(const Tensor &logits) { return argmax(logits, over(names().classes)); }
