//===- Asr.cpp - speech to tokens -----------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolutions over frames, the second of stride 2, then layers of a transformer, trained by CTC:
// the layers of Flashlight's benchmark (Likhomanenko et al., Rethinking evaluation in ASR, 2020)
// after the convolutions of Whisper (Radford et al., 2022). At full size it has 264,808,720
// parameters: convolutions of 3 frames from 80 bands to 768 features and from these to as many
// (1,955,328), 36 layers with 3072 hidden units (255,163,392), and the output, 10,000 tokens, where
// 0 is the blank (7,690,000). Positions are sines and cosines.
//
//===----------------------------------------------------------------------===//

#include "models/zoo/Sequences.h"
#include "models/zoo/data/Made.h"

namespace heddle::zoo::asr {
const Name time("time"), band("band"), feature("feature"), out("out"), token("token"),
    position("position");

struct Options {
  int64_t features, heads, layers;
  double dropout;
};

struct Asr {
  nn::Conv first, second;
  std::vector<nn::TransformerLayer> layers;
  nn::Linear output;
  HEDDLE_FIELDS(first, second, layers, output)
  double dropout;

  static Asr make(int64_t bands, int64_t tokens, const Options &options) {
    Extent features{feature, options.features}, outs{out, options.features};
    nn::Windows every(time, {.size = 3, .padding = nn::padded(1)});
    nn::Windows half(time, {.size = 3, .stride = 2, .padding = nn::padded(1)});
    return {
        nn::Conv::make(every, {band, bands}, outs, key(1)),
        nn::Conv::make(half, features, outs, key(2)),
        nn::TransformerLayer::stack(
            options.layers, features, key(3),
            {.heads = options.heads, .hidden = 4 * options.features, .dropout = options.dropout}),
        nn::Linear::make({features}, {token, tokens}, key(4)), options.dropout};
  }
  /// The logits of tokens for every second frame; `lengths`: the number of valid ones of each
  /// sample.
  Tensor operator()(const Tensor &frames, const Tensor &lengths, nn::Mode &mode) const {
    Tensor x = nn::gelu(first(frames, time, band, out).rename({{band, feature}}));
    x = mode.seen("convolutions", nn::gelu(second(x, time, feature, out)));
    x = x + nn::sinusoids({time, x.size(time)}, {feature, x.size(feature)});
    x = nn::dropout(x, dropout, over(time, feature), mode);
    for (size_t i = 0; i < layers.size(); ++i)
      x = mode.seen("layers." + std::to_string(i),
                    layers[i](x, time, feature, mode, {.lengths = lengths}));
    return output(x, feature);
  }
};

static nn::Outcome lossOf(const Asr &net, const nn::Fields &fields, nn::Mode &mode) {
  Tensor lengths = (fields.at("frames_length") + 1.0) / 2.0;
  Tensor text = fields.at("text"), spoken = fields.at("text_length");
  Tensor logits = mode.seen("output", net(fields.at("frames"), lengths, mode));
  nn::CtcNames names{time, token, position};
  Tensor losses = nn::ctc(nn::logSoftmax(logits, token), lengths, text, spoken, names);
  Tensor errors = nn::ctcErrors(logits, lengths, text, spoken, names);
  Tensor count = maximum(spoken, 1.0).cast(ElementType::F32);
  return {nn::sampleMean(losses / count, fields),
          {{"errors", nn::sampleMean(errors / count, fields)}}};
}

static Registered asr("asr", "Likhomanenko et al., 2020", [](Size size) {
  SpeechOptions tiny{.tokens = 7, .bands = 5, .frames = 23, .longest = 5};
  SpeechOptions full{.tokens = 10000, .bands = 80, .frames = 1500, .longest = 100};
  SpeechOptions data = pick(size, tiny, SpeechOptions(), full);
  Options options =
      pick(size, Options{6, 2, 2, 0.0}, Options{128, 4, 3, 0.1}, Options{768, 4, 36, 0.4});
  return Setting<Asr>{Asr::make(data.bands, data.tokens, options), lossOf, speech(data),
                      trainedFor(2, 32, 1e-3, data.frames, {"errors", /*larger=*/false, 0.05})};
});
} // namespace heddle::zoo::asr
