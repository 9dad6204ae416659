//===- ViT.cpp - a transformer over patches of an image -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dosovitskiy et al.: An image is worth 16x16 words, ICLR'21.
//
//===----------------------------------------------------------------------===//

#include "models/zoo/Images.h"

namespace heddle::zoo {
namespace {
const Name feature("feature"), token("token");

struct ViT {
  nn::Conv patches;
  Tensor start, positions; ///< the class token; position embeddings
  std::vector<nn::TransformerLayer> layers;
  nn::LayerNorm norm;
  nn::Linear last;
  HEDDLE_FIELDS(patches, start, positions, layers, norm, last)

  static ViT make(const Images &images, int64_t patch, int64_t features, int64_t depth,
                  const nn::TransformerOptions &options) {
    int64_t grid = images.side / patch;
    Extent width{feature, features}, one{token, 1}, tokens{token, grid * grid + 1};
    nn::Windows windows(place, {.size = patch, .stride = patch});
    ViT net{nn::Conv::make(windows, {channel, images.channels}, {feature, features}, key(1)),
            nn::filled(0, {one, width}),
            nn::normal(key(2), {tokens, width}, 0, 0.02),
            {},
            nn::LayerNorm::make({width}, options.epsilon),
            nn::Linear::make({width}, {classes, images.classes}, key(3))};
    for (int64_t i = 0; i < depth; ++i)
      net.layers.push_back(nn::TransformerLayer::make(width, key(4 + i), options));
    return net;
  }

  Tensor operator()(const Tensor &image, nn::Mode &mode) const {
    Tensor x = patches(image, place, channel, feature).rename({{channel, feature}});
    x = x.merge(place, token);
    x = concat({start.broadcast({{batch, x.size(batch)}}), x}, token) + positions;
    for (size_t i = 0; i < layers.size(); ++i)
      x = mode.seen("layers." + std::to_string(i), layers[i](x, token, feature, mode));
    return mode.seen("last", last(norm(x.at(token, 0), feature), feature));
  }
};
} // namespace

static Registered viT("vit", "Dosovitskiy et al., 2021 (ViT-B/16)", [](Size size) {
  Images images = pick<Images>(size, {.side = 11}, {.side = 32}, imageNet(224));
  nn::TransformerOptions options{.heads = pick(size, 3, 4, 12),
                                 .hidden = pick(size, 13, 128, 3072),
                                 .dropout = 0,
                                 .preNorm = true,
                                 .activation = [](const Tensor &x) { return nn::gelu(x); },
                                 .epsilon = 1e-6};
  ViT net = ViT::make(images, pick(size, 5, 4, 16), pick(size, 6, 64, 768), pick(size, 2, 4, 12),
                      options);
  return Setting<ViT>{net, classify<ViT>, dataOf(images), trained(8, 1e-3, 0.87)};
});

} // namespace heddle::zoo
