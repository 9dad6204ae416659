//===- Transformer.cpp - layers of transformers ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Transformer.h"

#include "lib/nn/LayerUtils.h"

#include <cmath>

using namespace heddle;
using namespace heddle::nn;

static const Name hidden("hidden");

FeedForward FeedForward::make(const Extent &feature, int64_t size, const Tensor &key, Here here) {
  CallScope scope(here);
  return {Linear::make({feature}, {hidden, size}, fold(key, 0.0)),
          Linear::make({{hidden, size}}, feature, fold(key, 1.0))};
}

Tensor FeedForward::operator()(const Tensor &x, const Name &feature, const Names &along,
                               const std::function<Tensor(const Tensor &)> &activation,
                               double dropout, Mode &mode, Here here) const {
  CallScope scope(here);
  LayerScope layerScope(*this);
  Name inside = fresh("hidden");
  Names drawn = along;
  drawn.push_back(inside);
  Tensor y = activation(up.renamed({{hidden, inside}})(x, feature));
  return down.renamed({{hidden, inside}})(nn::dropout(y, dropout, drawn, mode), inside);
}

TransformerLayer TransformerLayer::make(const Extent &feature, const Tensor &key,
                                        const TransformerOptions &options, Here here) {
  CallScope scope(here);
  Attention::Options inner = options.attention;
  inner.dropout = options.dropout;
  auto attention = [&](double i) {
    return Attention::make(feature, options.heads, fold(key, i), inner);
  };
  TransformerLayer layer{
      attention(0), {}, FeedForward::make(feature, options.hidden, fold(key, 1.0)), {}, options};
  if (options.decoder)
    layer.cross = attention(2);
  for (int part = 0; part < 2 + options.decoder; ++part)
    layer.norms.push_back(LayerNorm::make({feature}, options.epsilon));
  return layer;
}

std::vector<TransformerLayer> TransformerLayer::stack(int64_t count, const Extent &feature,
                                                      const Tensor &key,
                                                      const TransformerOptions &options,
                                                      Here here) {
  std::vector<TransformerLayer> layers;
  for (int64_t i = 0; i < count; ++i)
    layers.push_back(make(feature, fold(key, double(i)), options, here));
  return layers;
}

Tensor TransformerLayer::operator()(const Tensor &x, const Name &time, const Name &feature,
                                    Mode &mode, const Attend &attend,
                                    const std::optional<Memory> &memory, Here here) const {
  CallScope scope(here);
  LayerScope layerScope(*this);
  if (cross.has_value() != memory.has_value())
    refuse(cross ? "expected a memory for the cross attention of a decoder, got none"
                 : "expected no memory, since the layer is not a decoder, got " +
                       memory->memory.type(),
           here);
  requireHas(x, over(time, feature), here);
  Tensor y = zeroBeyond(x, time, attend.lengths);
  size_t next = 0;
  auto part = [&](const auto &function) {
    const LayerNorm &norm = norms.at(next++);
    Tensor change = function(options.preNorm ? norm(y, feature) : y);
    y = y + dropout(change, options.dropout, over(time, feature), mode);
    if (!options.preNorm)
      y = norm(y, feature);
  };
  part([&](const Tensor &x) { return attention(x, time, feature, mode, attend); });
  if (cross)
    part([&](const Tensor &x) {
      return cross->cross(x, time, memory->memory, memory->from, feature, mode, memory->attend);
    });
  part([&](const Tensor &x) {
    return feed(x, feature, time, options.activation, options.dropout, mode);
  });
  return y;
}

Tensor nn::sinusoids(const Extent &time, const Extent &feature, const Tensor &first, Here here) {
  CallScope scope(here);
  Tensor number = iota(feature), even = (number / 2.0) * 2.0;
  Tensor rate = exp(even.cast(ElementType::F32) * (-std::log(10000.0) / double(feature.size)));
  Tensor place = iota(time);
  if (!first.empty())
    place = place.broadcast(first.extents()) + first.cast(ElementType::I64);
  Tensor angle = place.cast(ElementType::F32).broadcast({feature}) * rate;
  return select(equal(number, even), sin(angle), cos(angle));
}
