//===- Layers.cpp - a stack of layers -------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The weights of all layers are tensors with the name `layer`, and a scan along it computes the
// layers one after the other. If `layer` is split, each device has the weights of some layers, and
// activations are sent from device to device.
//
//===----------------------------------------------------------------------===//

#include "models/split/Split.h"

#include "heddle/nn/Activations.h"
#include "heddle/nn/Embedding.h"
#include "heddle/nn/Initializers.h"
#include "heddle/nn/Linear.h"

namespace heddle::split {
namespace {
const Name batch("batch"), time("time"), word("word"), feature("feature"), hidden("hidden"),
    layer("layer");

constexpr int64_t layerCount = 5, features = 16, hiddenUnits = 32;

/// The weights of all layers, or of one.
struct Weights {
  Tensor in, out;
  HEDDLE_FIELDS(in, out)
};

struct Layers {
  nn::Embedding words;
  Weights stack;
  nn::Linear out;
  HEDDLE_FIELDS(words, stack, out)

  Tensor operator()(const Tensor &token) const {
    Tensor x = words(token, word);
    auto next = [](Tensor x, Weights weights) {
      Tensor inner = relu(sum(x * weights.in, feature));
      return std::pair(x + sum(inner * weights.out, hidden), std::vector<Tensor>());
    };
    return out(scan(layer, x, stack, next).first, feature);
  }
};
} // namespace

nn::Network layers() {
  auto table = [](uint64_t seed, const Name &from, int64_t inputs, const Name &to,
                  int64_t outputs) {
    return nn::normal(key(seed), {{layer, layerCount}, {from, inputs}, {to, outputs}}, 0, 0.2);
  };
  Layers net{nn::Embedding::make({word, words}, {feature, features}, key(1)),
             {table(2, feature, features, hidden, hiddenUnits),
              table(3, hidden, hiddenUnits, feature, features)},
             nn::Linear::make({{feature, features}}, {word, words}, key(4))};
  auto loss = [](const Layers &net, const nn::Fields &fields, nn::Mode &) {
    return nextToken(net(fields.at("token")), fields);
  };
  return nn::networkOf(net, loss, key(5), batch);
}

} // namespace heddle::split
