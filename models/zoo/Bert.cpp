//===- Bert.cpp - a masked language model ---------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// BERT (Devlin et al., 2019), trained to predict masked words. The base model has 109,512,762
// parameters, which is Hugging Face's BertForMaskedLM, 109,514,298, without the table of two
// segments (2 x 768), since texts here have one segment: 30,522 words and 512 positions of 768
// features and their normalisation (23,835,648), twelve layers (85,054,464), the linear map and
// normalisation before the output (592,128), and the output's biases (30,522); the output's weights
// are the table of words.
//
// "bert-406m" has the size of the benchmark in the Flashlight paper, which states only the number
// of parameters, 406 M. Here it has 24 layers of 1024 features (302,309,376), 50,000 words with a
// separate output (102,450,000), and 512 positions, linear map and normalisations (1,577,984).
//
//===----------------------------------------------------------------------===//

#include "models/zoo/Sequences.h"
#include "models/zoo/data/Text.h"

namespace heddle::zoo::bert {
const Name time("time"), word("word"), feature("feature"), out("out");

struct Options {
  int64_t words, length, masked, features, heads, layers;
  double dropout;
};

struct Bert {
  nn::Embedding words;
  nn::PositionEmbedding positions;
  nn::LayerNorm norm, denseNorm;
  std::vector<nn::TransformerLayer> layers;
  nn::Linear dense;
  std::optional<Tensor> output; ///< if none, the table of words
  Tensor bias;
  HEDDLE_FIELDS(words, positions, norm, denseNorm, layers, dense, output, bias)
  double dropout;

  /// The logits of the words at the positions `place`.
  Tensor operator()(const Tensor &token, const Tensor &place, nn::Mode &mode) const {
    Tensor x = norm(words(token, word) + positions(time, token.size(time)), feature);
    x = mode.seen("embedded", nn::dropout(x, dropout, over(time, feature), mode));
    for (size_t i = 0; i < layers.size(); ++i)
      x = mode.seen("layers." + std::to_string(i), layers[i](x, time, feature, mode));
    x = nn::gelu(dense(x.gather(time, place), feature)).rename({{out, feature}});
    return sum(denseNorm(x, feature) * output.value_or(words.table), feature) + bias;
  }
};

static nn::Outcome lossOf(const Bert &net, const nn::Fields &fields, nn::Mode &mode) {
  Tensor logits = net(fields.at("token"), fields.at("place"), mode);
  return classified(logits, fields.at("label"), word, fields);
}

static Setting<Bert> setting(Size size, const Options &full, bool tied) {
  auto [count, length, masked, features, heads, depth, dropout] =
      pick<Options>(size, {11, 7, 2, 6, 2, 2, 0.0}, {4000, 64, 10, 128, 4, 3, 0.0}, full);
  Extent feature{bert::feature, features}, words{word, count};
  auto table = [&](uint64_t seed, const Extent &rows) {
    return nn::normal(key(seed), {rows, feature}, 0, 0.02);
  };
  auto gelu = [](const Tensor &x) { return nn::gelu(x); };
  nn::TransformerOptions layer{heads, 4 * features, dropout, false, false, gelu, 1e-12};
  auto norm = [&] { return nn::LayerNorm::make({feature}, 1e-12); };
  Bert net{{table(1, words)},
           {table(2, {time, length})},
           norm(),
           norm(),
           nn::TransformerLayer::stack(depth, feature, key(3), layer),
           nn::Linear::make({feature}, {out, features}, key(4)),
           tied ? std::nullopt : std::optional(table(5, words)),
           nn::filled(0, {words}),
           dropout};
  return {net, lossOf, maskedFortunes(count, length, masked), trainedFor(10, 32, 1e-3)};
}
static Registered base("bert", "Devlin et al., 2019", [](Size size) {
  return setting(size, {30522, 512, 77, 768, 12, 12, 0.1}, /*tied=*/true);
});
static Registered large("bert-406m", "Kahn et al., Flashlight, 2022", [](Size size) {
  return setting(size, {50000, 512, 77, 1024, 16, 24, 0.1}, /*tied=*/false);
});
} // namespace heddle::zoo::bert
