//===- Vgg.cpp - VGG-16 ---------------------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Simonyan and Zisserman: Very deep convolutional networks for large-scale image recognition, 2014.
//
//===----------------------------------------------------------------------===//

#include "models/zoo/Images.h"

namespace heddle::zoo {
namespace {
struct Vgg {
  std::vector<std::vector<nn::Conv>> features; ///< a pool follows each inner list
  Classifier classifier;
  HEDDLE_FIELDS(features, classifier)

  Tensor operator()(Tensor x, nn::Mode &mode) const {
    for (size_t i = 0; i < features.size(); ++i) {
      for (const nn::Conv &conv : features[i])
        x = relu(conv(x, place, channel, out));
      x = mode.seen("features." + std::to_string(i),
                    nn::maxPool(x, place, {.size = 2, .stride = 2}));
    }
    return classifier(x, mode);
  }
};
} // namespace

static Registered vgg16("vgg16", "Simonyan and Zisserman, 2014", [](Size size) {
  Images images = pick<Images>(size, {.side = 37}, {.side = 32}, imageNet(224));
  auto widths = pick<std::vector<int64_t>>(size, {2, 3, 3, 5, 5}, {16, 32, 64, 96, 96},
                                           {64, 128, 256, 512, 512});
  Vgg net{std::vector<std::vector<nn::Conv>>(widths.size()), {}};
  int64_t in = images.channels, number = 0;
  for (size_t i = 0; i < widths.size(); ++i)
    for (int j = 0; j < (i < 2 ? 2 : 3); ++j, in = widths[i])
      net.features[i].push_back(convolution(windowsOf(3), in, widths[i], key(++number)));
  net.classifier =
      Classifier::make(in, pick(size, 2, 1, 7), pick(size, 7, 256, 4096), images.classes,
                       pick(size, 0.0, 0.2, 0.5), /*dropped=*/1, key(0));
  auto training = trained(7, 1e-3, 0.91);
  return Setting<Vgg>{net, classify<Vgg>, dataOf(images), training};
});

} // namespace heddle::zoo
