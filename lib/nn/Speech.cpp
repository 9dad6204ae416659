//===- Speech.cpp - layers for sequences of frames ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Speech.h"

#include "heddle/LayerScope.h"
#include "heddle/nn/Activations.h"
#include "lib/nn/LayerUtils.h"

using namespace heddle;
using namespace heddle::nn;

Tensor nn::specAugment(const Tensor &x, const Name &time, const Name &band,
                       const SpecAugmentOptions &options, Mode &mode, Here here) {
  CallScope scope(here);
  if (options.bands < 0 || options.widestBand < 0 || options.spans < 0 || options.longestSpan < 0 ||
      !(options.longestPart >= 0))
    refuse("expected numbers and sizes of masks of at least 0", here);
  if (!mode.isTraining())
    return x;
  std::vector<Extent> samples;
  for (const Name &name : mode.samplesOf(x))
    samples.push_back({name, x.size(name)});
  Tensor y = x;
  auto mask = [&](const Name &name, int64_t count, const Tensor &most) {
    Tensor size = constant(1) * countOf(x, name),
           place = iota({name, x.size(name)}, ElementType::F32);
    for (int64_t i = 0; i < count; ++i) {
      Tensor width = floor(randomUniform(mode.drawEach(x), {}) * (most + 1.0));
      Tensor begin = floor(randomUniform(mode.drawEach(x), {}) * (size - width + 1.0));
      Tensor at = place.broadcast(samples);
      y = select(logicalAnd(at >= begin, at < begin + width), 0.0, y);
    }
  };
  mask(band, options.bands, minimum(countOf(x, band), double(options.widestBand)));
  mask(time, options.spans,
       minimum(floor(countOf(x, time) * options.longestPart), double(options.longestSpan)));
  return y;
}

static Tensor swish(const Tensor &x) { return silu(x); }

Conformer Conformer::make(const Name &time, const Extent &feature, const Tensor &key,
                          const ConformerOptions &options, Here here) {
  CallScope scope(here);
  Extent wide{Name("hidden"), feature.size * 2}, out{Name("hidden"), feature.size};
  Attention::Options inner = options.attention;
  inner.dropout = options.dropout;
  Conformer layer{FeedForward::make(feature, options.hidden, fold(key, 0.0)),
                  FeedForward::make(feature, options.hidden, fold(key, 1.0)),
                  Attention::make(feature, options.heads, fold(key, 2.0), inner),
                  Linear::make({feature}, wide, fold(key, 3.0)),
                  Linear::make({feature}, out, fold(key, 4.0)),
                  Conv::make({over(time), {.size = options.window, .padding = Same}}, feature, out,
                             fold(key, 5.0), {.groups = feature.size}),
                  BatchNorm::make(feature),
                  {},
                  options};
  for (int i = 0; i < 5; ++i)
    layer.norms.push_back(LayerNorm::make({feature}));
  return layer;
}

Tensor Conformer::operator()(const Tensor &x, const Name &time, const Name &feature, Mode &mode,
                             const Attend &attend, Here here) const {
  CallScope scope(here);
  LayerScope layerScope(*this);
  Name hidden("hidden");
  Tensor y = zeroBeyond(x, time, attend.lengths);
  size_t next = 0;
  auto part = [&](double scale, const auto &function) {
    Tensor change = function(norms.at(next++)(y, feature));
    y = y + dropout(change, options.dropout, over(time, feature), mode) * scale;
  };
  part(0.5, [&](const Tensor &x) { return first(x, feature, time, swish, options.dropout, mode); });
  part(1, [&](const Tensor &x) { return attention(x, time, feature, mode, attend); });
  part(1, [&](const Tensor &x) {
    Tensor gated = gatedLinear(widen(x, feature), hidden).rename({{hidden, feature}});
    Names all = mode.samplesOf(x);
    all.push_back(time);
    Tensor mixed = convNorm(conv(gated, time, feature, hidden), all, mode);
    return narrow(silu(mixed), feature).rename({{hidden, feature}});
  });
  part(0.5, [&](const Tensor &x) { return last(x, feature, time, swish, options.dropout, mode); });
  return norms.at(next)(y, feature);
}

TimeDepthSeparable TimeDepthSeparable::make(const Name &time, const Extent &band,
                                            const Extent &channel, int64_t window,
                                            const Tensor &key, double dropout, Here here) {
  CallScope scope(here);
  Extent hidden{Name("hidden"), band.size * channel.size}, out{Name("out"), channel.size};
  return {Conv::make({time, {.size = window, .padding = Same}}, channel, out, fold(key, 0.0)),
          Linear::make({band, channel}, hidden, fold(key, 1.0)),
          Linear::make({hidden}, {band, channel}, fold(key, 2.0)),
          LayerNorm::make({band, channel}),
          LayerNorm::make({band, channel}),
          dropout};
}

Tensor TimeDepthSeparable::operator()(const Tensor &x, const Name &time, const Name &band,
                                      const Name &channel, Mode &mode, Here here) const {
  CallScope scope(here);
  LayerScope layerScope(*this);
  Name hidden("hidden");
  Names all = over(time, band, channel);
  auto drop = [&](const Tensor &y, const Names &by) { return nn::dropout(y, dropout, by, mode); };
  Tensor mixed = relu(conv(x, time, channel, Name("out")));
  Tensor y = convNorm(x + drop(mixed, all), over(band, channel));
  Tensor inner = drop(relu(up(y, over(band, channel))), over(time, hidden));
  return norm(y + drop(down(inner, hidden), all), over(band, channel));
}
