//===- Activations.cpp - functions of single elements, and softmax --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Activations.h"

#include "lib/nn/Filled.h"

#include <cmath>

using namespace heddle;
using namespace heddle::nn;

Tensor nn::gelu(const Tensor &x, Here here) {
  CallScope scope(here);
  return x * 0.5 * (erf(x * std::sqrt(0.5)) + 1.0);
}

Tensor nn::geluTanh(const Tensor &x, Here here) {
  CallScope scope(here);
  Tensor inner = (x + x * x * x * 0.044715) * std::sqrt(2 / M_PI);
  return x * 0.5 * (tanh(inner) + 1.0);
}

Tensor nn::silu(const Tensor &x, Here here) {
  CallScope scope(here);
  return x * sigmoid(x);
}

Tensor nn::elu(const Tensor &x, double alpha, Here here) {
  CallScope scope(here);
  return select(x > 0.0, x, expm1(select(x > 0.0, 0.0, x)) * alpha);
}

Tensor nn::hardTanh(const Tensor &x, Here here) {
  CallScope scope(here);
  return clamp(x, -1.0, 1.0);
}

Tensor nn::relu6(const Tensor &x, Here here) {
  CallScope scope(here);
  return clamp(x, 0.0, 6.0);
}

Tensor nn::thresholdRelu(const Tensor &x, double threshold, double value, Here here) {
  CallScope scope(here);
  return select(x > threshold, x, value);
}

Tensor nn::softplus(const Tensor &x, Here here) {
  CallScope scope(here);
  // Not by maximum and abs, whose slopes at 0 are no half.
  return select(x >= 0.0, x, 0.0) + log1p(exp(select(x >= 0.0, -x, x)));
}

Tensor nn::gatedLinear(const Tensor &x, const Name &name, Here here) {
  CallScope scope(here);
  requireEven(x, name, here);
  Name half = fresh("half");
  Tensor halves = x.split(name, {{half, 2}, {name, x.size(name) / 2}});
  return halves.at(half, 0) * sigmoid(halves.at(half, 1));
}

PRelu PRelu::make(const std::vector<Extent> &extents, double slope, Here here) {
  return {filled(float(slope), extents, ElementType::F32, here)};
}

Tensor PRelu::operator()(const Tensor &x, Here here) const {
  CallScope scope(here);
  return select(x > 0.0, x, slope * x);
}

Tensor nn::logSoftmax(const Tensor &x, const Names &along, Here here) {
  CallScope scope(here);
  Tensor shifted = x - stopGradient(max(x, along));
  return shifted - log(sum(exp(shifted), along));
}

Tensor nn::softmax(const Tensor &x, const Names &along, Here here) {
  CallScope scope(here);
  Tensor power = exp(x - stopGradient(max(x, along)));
  return power / sum(power, along);
}
