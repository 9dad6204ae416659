//===- Images.h - shared code of image models -------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names, data, and the loss of a classifier, `logits = net(image, mode)`:
//
//     Images images = pick<Images>(size, {.side = 19}, {.side = 32}, imageNet(224));
//     Setting<Net>{net, classify<Net>, dataOf(images), trained(5, 1e-3, 0.9)};
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_MODELS_ZOO_IMAGES_H
#define HEDDLE_MODELS_ZOO_IMAGES_H

#include "heddle/heddle.h"
#include "heddle/nn/Diffusion.h"
#include "heddle/nn/Initializers.h"
#include "heddle/nn/Layers.h"
#include "heddle/nn/Losses.h"
#include "models/zoo/Zoo.h"

namespace heddle::zoo {

inline const Name batch("batch"), row("row"), column("column"), channel("channel"), out("out"),
    hidden("hidden"), classes("class");
inline const Names place = over(row, column);

/// The images of a setting: by default Fashion-MNIST, 28x28, padded or resized to `side`.
struct Images {
  int64_t side = 28, channels = 1, classes = 10;
  float mean = 0.2860f, deviation = 0.3530f; ///< pixels from 0 to 1 become (p - mean) / deviation
  bool mirrored = false;                     ///< augments the training data by reversed columns
};
/// Random images of the sizes of ImageNet, whose data are not available here.
inline Images imageNet(int64_t side) { return {side, 3, 1000, 0, 1}; }

/// Fields "image", f32 {batch, row, column, channel}, and "label", i32 {batch}. Fashion-MNIST for 1
/// channel and 10 classes, else random values.
Data dataOf(const Images &images);

/// Adds "noise", normally distributed with the shape of the images, and "step", i32 {batch}, below
/// `steps`. Both depend only on the sample's index, so that a loss depends only on the batch.
Data withNoise(const Data &images, int64_t steps);

/// One sampling step, from an image after step `now` to the image after step `next`.
using Denoise = std::function<Tensor(const Tensor &x, const Tensor &now, const Tensor &next)>;
/// 16 images, sampled by `denoise` in 50 of `steps` steps, as HTML for a report.
std::string drawn(const Images &images, int64_t steps, const Denoise &denoise);
/// Setting::section of a network that predicts the noise in images.
template <typename Net>
std::function<std::string(const Net &, int)> drawer(const Images &images,
                                                    const nn::NoiseSchedule &schedule) {
  return [=](const Net &net, int threads) {
    auto step = jit(
        [=](const Net &net, Tensor x, Tensor now, Tensor next) {
          nn::Mode evaluation;
          return schedule.denoised(x, net(x, now, evaluation), now, next);
        },
        {.name = "denoise", .threads = threads, .kept = {0}});
    return drawn(images, schedule.steps,
                 [&](const Tensor &x, const Tensor &now, const Tensor &next) {
                   return step(net, x, now, next);
                 });
  };
}

/// The cross-entropy of logits {batch, class}, and the measure "accuracy".
nn::Outcome classified(const Tensor &logits, const nn::Fields &fields);
template <typename Net>
nn::Outcome classify(const Net &net, const nn::Fields &fields, nn::Mode &mode) {
  return classified(net(fields.at("image"), mode), fields);
}
/// Training by Adam with a triangular schedule; the goal is a test accuracy.
nn::Training trained(int64_t epochs, double rate, double accuracy);

/// Windows of n x n, padded so that stride 1 keeps the size.
nn::Windows windowsOf(int64_t size, int64_t stride = 1);
/// A convolution over images whose initial weights preserve the variance of gradients through a
/// ReLU (He et al., 2015).
nn::Conv convolution(const nn::Windows &windows, int64_t in, int64_t outs, const Tensor &key,
                     bool bias = true);

/// A convolution without bias, followed by batch normalisation.
struct ConvNorm {
  nn::Conv conv;
  nn::BatchNorm norm;
  HEDDLE_FIELDS(conv, norm)
  static ConvNorm make(const nn::Windows &windows, int64_t in, int64_t outs, const Tensor &key,
                       double epsilon = 1e-5);
  Tensor operator()(const Tensor &x, nn::Mode &mode) const;
};

/// The head of AlexNet and VGG: features are averaged over a grid, then three linear maps with
/// ReLUs between them.
struct Classifier {
  std::vector<nn::Linear> layers;
  HEDDLE_FIELDS(layers)
  int64_t grid;
  double rate;    ///< of dropout, before two of the maps
  size_t dropped; ///< the first map with dropout
  static Classifier make(int64_t channels, int64_t grid, int64_t units, int64_t outs, double rate,
                         size_t dropped, const Tensor &key);
  Tensor operator()(const Tensor &x, nn::Mode &mode) const;
};

} // namespace heddle::zoo

#endif // HEDDLE_MODELS_ZOO_IMAGES_H
