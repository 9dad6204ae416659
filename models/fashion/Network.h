//===- Network.h - the network ----------------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolution 5x5 to 32 channels, ReLU, max-pool 2, convolution 5x5 to 64 channels, ReLU, max-pool
// 2, 1024 hidden units with ReLU and dropout, 10 classes. The code has named dimensions only and
// states no layouts.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_MODELS_FASHION_NETWORK_H
#define HEDDLE_MODELS_FASHION_NETWORK_H

#include "heddle/heddle.h"
#include "heddle/nn/Layers.h"
#include "heddle/nn/Losses.h"
#include "heddle/nn/Network.h"

namespace fashion {
using namespace heddle;

/// The dimensions of the model.
struct ModelNames {
  Name batch{"batch"}, row{"row"}, column{"column"}, channel{"channel"}, out{"out"},
      hidden{"hidden"}, classes{"class"};
};
const ModelNames &names();

struct Net {
  nn::Conv first, second;
  nn::Linear wide, last;
  HEDDLE_FIELDS(first, second, wide, last)
  /// Logits over `class`. In training, dropout of 0.5 on the hidden units.
  Tensor operator()(const Tensor &image, nn::Mode &mode) const;
};

struct Image {
  Tensor image;
  HEDDLE_FIELDS(image)
};
/// The predictions of the classifier for a batch of images.
struct Prediction {
  Tensor label, logits;
  HEDDLE_FIELDS(label, logits)
};

Net initialNet(uint64_t seed);
/// The mean loss of the batch, and the measure "accuracy", the fraction of correct predictions.
nn::Outcome lossOf(const Net &net, const nn::Fields &fields, nn::Mode &mode);
Prediction classify(const Net &net, const Image &image);

} // namespace fashion

#endif // HEDDLE_MODELS_FASHION_NETWORK_H
