//===- Moe.cpp - a language model of experts ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers of causal attention, and of experts: a router sends each token to one of them (Fedus,
// Zoph, Shazeer: Switch transformers, 2021; here without the loss that balances experts). Each text
// has its own slots at each expert; a token that finds none left passes by. The sizes are of no
// publication: a GPT-2 whose layers have eight experts.
//
//===----------------------------------------------------------------------===//

#include "heddle/Compositions.h"
#include "models/zoo/Sequences.h"
#include "models/zoo/data/Text.h"

#include <cmath>

namespace heddle::zoo::moe {
const Name time("time"), word("word"), feature("feature"), hidden("hidden"), expert("expert"),
    slot("slot");

struct Options {
  int64_t words, length, features, heads, layers, experts;
};

struct Layer {
  nn::Attention attention;
  std::vector<nn::LayerNorm> norms;
  nn::Linear router;
  Tensor up, down; ///< of all experts
  HEDDLE_FIELDS(attention, norms, router, up, down)
  int64_t slots;

  static Layer make(const Options &options, const Tensor &key) {
    Extent in{feature, options.features}, inner{hidden, 4 * options.features},
        all{expert, options.experts};
    auto table = [&](double number, const Extent &from, const Extent &to) {
      return nn::normal(fold(key, number), {all, from, to}, 0, 1 / std::sqrt(double(from.size)));
    };
    return {nn::Attention::make(in, options.heads, fold(key, 0.0)),
            {nn::LayerNorm::make({in}), nn::LayerNorm::make({in})},
            nn::Linear::make({in}, all, fold(key, 1.0)),
            table(2, in, inner),
            table(3, inner, in),
            // A quarter more than if all experts got as many tokens.
            (5 * options.length / options.experts + 3) / 4};
  }
  Tensor operator()(Tensor x, nn::Mode &mode) const {
    x = x + attention(norms[0](x, feature), time, feature, mode, {.causal = true});
    Tensor y = norms[1](x, feature);
    Tensor chances = nn::softmax(router(y, feature), expert);
    Tensor chosen = oneHot(argmax(chances, expert), {expert, chances.size(expert)});
    // The position of a token among those of its expert.
    Tensor number = sum(scan(chosen, time, Combiner::Add, /*exclusive=*/true) * chosen, expert);
    Tensor send = chosen * oneHot(number.cast(ElementType::I32), {slot, slots});
    Tensor sent = sum(send * y, time);
    Tensor answers = sum(relu(sum(sent * up, feature)) * down, hidden);
    return x + sum(send * chances * answers, over(expert, slot));
  }
};

struct Moe {
  nn::Embedding words;
  nn::PositionEmbedding positions;
  std::vector<Layer> layers;
  nn::LayerNorm norm;
  HEDDLE_FIELDS(words, positions, layers, norm)

  Tensor operator()(const Tensor &token, nn::Mode &mode) const {
    Tensor x = words(token, word) + positions(time, token.size(time), Tensor());
    for (size_t i = 0; i < layers.size(); ++i)
      x = mode.seen("layers." + std::to_string(i), layers[i](x, mode));
    return sum(norm(x, feature) * words.table, feature);
  }
};

static nn::Outcome lossOf(const Moe &net, const nn::Fields &fields, nn::Mode &mode) {
  return classified(net(fields.at("token"), mode), fields.at("next"), word, fields);
}

static Registered moe("moe", "Fedus et al., 2021 (other sizes)", [](Size size) {
  Options options = pick(size, Options{13, 7, 6, 2, 2, 3}, Options{256, 128, 192, 6, 4, 4},
                         Options{50257, 1024, 768, 12, 12, 8}, Options{50257, 128, 768, 12, 12, 8});
  auto table = [&](uint64_t seed, const Extent &rows) {
    return nn::normal(key(seed), {rows, {feature, options.features}}, 0, 0.02);
  };
  Moe net{{table(1, {word, options.words})},
          {table(2, {time, options.length})},
          {},
          nn::LayerNorm::make({{feature, options.features}})};
  for (int64_t i = 0; i < options.layers; ++i)
    net.layers.push_back(Layer::make(options, fold(key(3), double(i))));
  return Setting<Moe>{net, lossOf, fortuneBytes(options.words, options.length),
                      trainedFor(3, 32, 2e-3)};
});
} // namespace heddle::zoo::moe
