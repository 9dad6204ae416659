//===- Gpt.cpp - a language model that generates text ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GPT-2 (Radford et al., 2019): layers of causal attention with normalised inputs; the output
// shares the table of words. The small one has 124,439,808 parameters: 50,257 words and 1024
// positions of 768 features (39,383,808), twelve layers (85,054,464), the last normalisation
// (1,536).
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Generate.h"
#include "models/zoo/Sequences.h"
#include "models/zoo/data/Text.h"

namespace heddle::zoo::gpt {
const Name time("time"), word("word"), feature("feature");

struct Options {
  int64_t words, length, features, heads, layers;
  double dropout;
};

struct Gpt {
  nn::Embedding words;
  nn::PositionEmbedding positions;
  std::vector<nn::TransformerLayer> layers;
  nn::LayerNorm norm;
  HEDDLE_FIELDS(words, positions, layers, norm)
  double dropout;

  static Gpt make(const Options &options, std::optional<int64_t> layers) {
    Extent features{feature, options.features};
    auto table = [&](uint64_t seed, const Extent &rows) {
      return nn::normal(key(seed), {rows, features}, 0, 0.02);
    };
    nn::TransformerOptions layer{.heads = options.heads,
                                 .hidden = 4 * options.features,
                                 .dropout = options.dropout,
                                 .preNorm = true,
                                 .activation = [](const Tensor &x) { return nn::geluTanh(x); }};
    return {{table(1, {word, options.words})},
            {table(2, {time, options.length})},
            nn::TransformerLayer::stack(layers.value_or(options.layers), features, key(3), layer),
            nn::LayerNorm::make({features}),
            options.dropout};
  }
  /// The logits of the next word at each position. `caches`: keys and values of earlier words, one
  /// for each layer.
  Tensor operator()(const Tensor &token, nn::Mode &mode,
                    std::vector<nn::KeyValueCache> *caches = nullptr) const {
    Tensor before = caches ? caches->front().filled : Tensor();
    Tensor x = words(token, word) + positions(time, token.size(time), before);
    x = mode.seen("embedded", nn::dropout(x, dropout, over(time, feature), mode));
    for (size_t i = 0; i < layers.size(); ++i)
      x = mode.seen("layers." + std::to_string(i),
                    layers[i](x, time, feature, mode,
                              {.causal = true, .cache = caches ? &caches->at(i) : nullptr}));
    return sum(norm(x, feature) * words.table, feature);
  }
};

static nn::Outcome lossOf(const Gpt &net, const nn::Fields &fields, nn::Mode &mode) {
  return classified(net(fields.at("token"), mode), fields.at("next"), word, fields);
}

/// Words are bytes. When all positions are used, generation continues from the last half of the
/// text.
static Writer writerOf(const Gpt &net, int threads) {
  using Caches = std::vector<nn::KeyValueCache>;
  auto run = jit(
      [](Caches &caches, const Gpt &net, Tensor token) {
        nn::Mode evaluation;
        return net(token, evaluation, &caches).at(time, -1);
      },
      {.name = "generate", .threads = threads, .kept = {1}});
  return [net, run](const Generation &how, const Print &print) {
    int64_t positions = std::min(int64_t(net.positions.table.size(time)), how.capacity);
    int64_t words = net.words.table.size(word);
    Caches caches;
    std::vector<int64_t> text;
    auto next = [&](const Tensor &token) {
      if (!token.empty() && caches[0].filled.item() < double(positions))
        return run(caches, net, token.broadcast({{time, 1}}));
      auto size = std::min(int64_t(text.size()), (positions + 1) / 2);
      caches.clear();
      for (const nn::TransformerLayer &layer : net.layers)
        caches.push_back(layer.attention.cache({}, positions));
      std::vector<int64_t> last(text.end() - size, text.end());
      return run(caches, net, Tensor::of<int64_t>(last, {{time, size}}));
    };
    for (unsigned char byte : how.prompt.empty() ? "\n" : how.prompt)
      text.push_back(byte % words);
    print(how.prompt);
    nn::Sampling sampling{how.temperature, how.topK ? how.topK : words, how.topP};
    auto write = [&](const std::vector<int64_t> &tokens) {
      text.push_back(tokens[0]);
      print(std::string(1, char(tokens[0])));
      return true;
    };
    nn::generate(next({}), next, word,
                 {.most = how.length, .sampling = sampling, .seed = how.seed, .onTokens = write});
  };
}

static Registered gpt("gpt", "Radford et al., GPT-2, 2019", [](Size size, auto deep) {
  Options options = pick(size, Options{13, 7, 6, 2, 2, 0.0}, Options{256, 128, 192, 6, 4, 0.0},
                         Options{50257, 1024, 768, 12, 12, 0.1},
                         Options{50257, 128, 768, 12, 12, 0.1}); // of no publication
  return Setting<Gpt>{Gpt::make(options, deep), lossOf, fortuneBytes(options.words, options.length),
                      trainedFor(3, 32, 2e-3, 1, {"loss", /*larger=*/false, 1.80}), writerOf};
});
} // namespace heddle::zoo::gpt
