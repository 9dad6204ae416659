//===- ResNet.cpp - residual networks -------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// He, Zhang, Ren, Sun: Deep residual learning for image recognition, CVPR'16; strides as in
// torchvision, in the middle convolution of a block.
//
//===----------------------------------------------------------------------===//

#include "models/zoo/Images.h"

namespace heddle::zoo {
namespace {
struct Bottleneck {
  std::vector<ConvNorm> parts;
  std::optional<ConvNorm> shortcut; ///< if the block changes the size
  HEDDLE_FIELDS(parts, shortcut)

  static Bottleneck make(int64_t in, int64_t width, int64_t stride, const Tensor &key) {
    int64_t outs = 4 * width;
    Bottleneck block{{ConvNorm::make(windowsOf(1), in, width, fold(key, 0.0)),
                      ConvNorm::make(windowsOf(3, stride), width, width, fold(key, 1.0)),
                      ConvNorm::make(windowsOf(1), width, outs, fold(key, 2.0))},
                     {}};
    if (stride > 1 || in != outs)
      block.shortcut = ConvNorm::make(windowsOf(1, stride), in, outs, fold(key, 3.0));
    return block;
  }

  Tensor operator()(const Tensor &x, nn::Mode &mode) const {
    Tensor y = relu(parts[0](x, mode));
    y = relu(parts[1](y, mode));
    y = parts[2](y, mode);
    return relu(y + (shortcut ? (*shortcut)(x, mode) : x));
  }
};

struct ResNet {
  ConvNorm stem;
  std::vector<std::vector<Bottleneck>> layers;
  nn::Linear last;
  HEDDLE_FIELDS(stem, layers, last)
  bool pools; ///< whether max-pooling follows the stem

  static ResNet make(const Images &images, int64_t width, const std::vector<int64_t> &depths,
                     bool pools) {
    ResNet net{ConvNorm::make(windowsOf(7, 2), images.channels, width, key(1)), {}, {}, pools};
    int64_t in = width, number = 1;
    for (size_t i = 0; i < depths.size(); ++i, width *= 2) {
      auto &layer = net.layers.emplace_back();
      for (int64_t j = 0; j < depths[i]; ++j, in = 4 * width)
        layer.push_back(Bottleneck::make(in, width, i > 0 && j == 0 ? 2 : 1, key(++number)));
    }
    net.last = nn::Linear::make({{channel, in}}, {classes, images.classes}, key(0));
    return net;
  }

  Tensor operator()(Tensor x, nn::Mode &mode) const {
    x = mode.seen("stem", relu(stem(x, mode)));
    if (pools)
      x = nn::maxPool(x, place, {.size = 3, .stride = 2, .padding = nn::padded(1)});
    for (size_t i = 0; i < layers.size(); ++i)
      for (size_t j = 0; j < layers[i].size(); ++j)
        x = mode.seen("layers." + std::to_string(i) + "." + std::to_string(j),
                      layers[i][j](x, mode));
    return mode.seen("last", last(mean(x, place), channel));
  }
};

using Depths = std::vector<int64_t>;
Setting<ResNet> setting(Size size, const Depths &tiny, const Depths &small, const Depths &full) {
  Images images = pick<Images>(size, {.side = 19}, {.side = 32, .mirrored = true}, imageNet(224));
  auto training = trained(6, 2e-3, 0.92);
  return {ResNet::make(images, pick(size, 2, 16, 64), pick(size, tiny, small, full),
                       size != Size::Small),
          classify<ResNet>, dataOf(images), training};
}
} // namespace

static Registered resNet50("resnet50", "He et al., 2016", [](Size size) {
  return setting(size, {2, 1, 1}, {2, 2, 2}, {3, 4, 6, 3});
});
static Registered resNet101("resnet101", "He et al., 2016", [](Size size) {
  return setting(size, {1, 2, 1}, {2, 2, 4}, {3, 4, 23, 3});
});

} // namespace heddle::zoo
