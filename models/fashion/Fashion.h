//===- Fashion.h - the network and its report -------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_MODELS_FASHION_FASHION_H
#define HEDDLE_MODELS_FASHION_FASHION_H

#include "heddle/heddle.h"
#include "heddle/nn/Layers.h"
#include "heddle/nn/data/Idx.h"

namespace fashion {
using namespace heddle;

/// The dimensions of the model.
struct ModelNames {
  Name batch{"batch"}, row{"row"}, column{"column"}, channel{"channel"}, out{"out"}, hidden{"hidden"}, classes{"class"};
};
const ModelNames &names();

struct Net {
  nn::Conv first, second;
  nn::Linear wide, last;
  HEDDLE_FIELDS(first, second, wide, last)
};

struct State {
  Net net;
  nn::Sgd sgd;
  HEDDLE_FIELDS(net, sgd)
};

State initialState(uint64_t seed);
/// Logits over `class`. With a key half of the hidden units are dropped; an empty key means no dropout.
Tensor forward(const Net &net, Tensor image, const Tensor &dropoutKey);
/// The class of the largest logit, i64.
Tensor argmaxClass(const Tensor &logits);

/// One HTML file: curves, a confusion matrix, images with predictions.
void writeReport(const std::string &path, const std::vector<double> &loss, const std::vector<double> &accuracy,
                 const nn::LabelledImages &test, const std::vector<int> &predicted);

} // namespace fashion

#endif // HEDDLE_MODELS_FASHION_FASHION_H
