//===- AlexNet.cpp - five convolutions, three linear maps -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Krizhevsky: One weird trick for parallelizing convolutional neural networks, 2014.
//
//===----------------------------------------------------------------------===//

#include "models/zoo/Images.h"

namespace heddle::zoo {
namespace {
struct AlexNet {
  std::vector<nn::Conv> features;
  Classifier classifier;
  HEDDLE_FIELDS(features, classifier)

  Tensor operator()(Tensor x, nn::Mode &mode) const {
    for (size_t i = 0; i < features.size(); ++i) {
      x = relu(features[i](x, place, channel, out));
      if (i == 0 || i == 1 || i == 4)
        x = nn::maxPool(x, place, {.size = 3, .stride = 2});
      x = mode.seen("features." + std::to_string(i), x);
    }
    return classifier(x, mode);
  }
};
} // namespace

static Registered alexNet("alexnet", "Krizhevsky, 2014", [](Size size) {
  Images images = pick<Images>(size, {.side = 65}, {.side = 64}, imageNet(224));
  std::vector<int64_t> widths = pick<std::vector<int64_t>>(
      size, {2, 3, 5, 3, 2}, {32, 64, 96, 64, 64}, {64, 192, 384, 256, 256});
  nn::Windows eleven(place, {.size = 11, .stride = 4, .padding = nn::padded(2)});
  AlexNet net;
  int64_t in = images.channels;
  for (size_t i = 0; i < widths.size(); in = widths[i++])
    net.features.push_back(
        convolution(i == 0 ? eleven : windowsOf(i == 1 ? 5 : 3), in, widths[i], key(i)));
  net.classifier =
      Classifier::make(in, pick(size, 2, 1, 6), pick(size, 7, 256, 4096), images.classes,
                       pick(size, 0.0, 0.2, 0.5), /*dropped=*/0, key(widths.size()));
  Setting<AlexNet> setting{net, classify<AlexNet>, dataOf(images), trained(5, 1e-3, 0.89)};
  setting.deviceBatch = 256;
  return setting;
});

} // namespace heddle::zoo
