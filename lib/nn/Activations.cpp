//===- Activations.cpp - learned slopes, and softmax ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Activations.h"

#include "lib/nn/LayerUtils.h"

using namespace heddle;
using namespace heddle::nn;

PRelu PRelu::make(const std::vector<Extent> &extents, double slope, Here here) {
  return {filled(float(slope), extents, ElementType::F32, here)};
}

Tensor PRelu::operator()(const Tensor &x, Here here) const {
  CallScope scope(here);
  LayerScope layerScope(*this);
  return select(x > 0.0, x, slope * x);
}

Tensor nn::logSoftmax(const Tensor &x, const Names &along, Here here) {
  CallScope scope(here);
  Tensor wide = widened(x), shifted = wide - stopGradient(max(wide, along));
  return (shifted - log(sum(exp(shifted), along))).cast(x.elementType());
}

Tensor nn::softmax(const Tensor &x, const Names &along, Here here) {
  CallScope scope(here);
  Tensor wide = widened(x), power = exp(wide - stopGradient(max(wide, along)));
  return (power / sum(power, along)).cast(x.elementType());
}
