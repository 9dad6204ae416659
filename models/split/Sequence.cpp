//===- Sequence.cpp - attention over a sequence ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "models/split/Split.h"

#include "heddle/nn/Attention.h"
#include "heddle/nn/Embedding.h"
#include "heddle/nn/Losses.h"
#include "heddle/nn/Normalization.h"

namespace heddle::split {
const Name batch("batch"), time("time"), word("word"), feature("feature");

nn::Outcome nextToken(const Tensor &logits, const nn::Fields &fields) {
  const Tensor &next = fields.at("next");
  return {nn::sampleMean(nn::crossEntropy(logits, next, word), fields),
          {{"accuracy", nn::sampleMean(nn::isRight(logits, next, word), fields)}}};
}

namespace {
struct Sequence {
  nn::Embedding words;
  nn::PositionEmbedding positions;
  nn::Attention self;
  nn::LayerNorm norm;
  nn::Linear out;
  HEDDLE_FIELDS(words, positions, self, norm, out)

  Tensor operator()(const Tensor &token, nn::Mode &mode) const {
    Tensor x = words(token, word) + positions(time, token.size(time));
    x = x + self(x, time, feature, mode, {.causal = true});
    return out(norm(x, feature), feature);
  }
};
} // namespace

nn::Network sequence() {
  Extent features{feature, 32};
  Sequence net{nn::Embedding::make({word, words}, features, key(1)),
               nn::PositionEmbedding::make({time, length}, features, key(2)),
               nn::Attention::make(features, 4, key(3)), nn::LayerNorm::make({features}),
               nn::Linear::make({features}, {word, words}, key(4))};
  auto loss = [](const Sequence &net, const nn::Fields &fields, nn::Mode &mode) {
    return nextToken(net(fields.at("token"), mode), fields);
  };
  return nn::networkOf(net, loss, key(5), batch);
}

} // namespace heddle::split
