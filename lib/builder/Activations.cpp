//===- Activations.cpp - functions of single elements ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/Activations.h"

#include "heddle/Scope.h"

#include <cmath>

using namespace heddle;

Tensor heddle::gelu(const Tensor &x, Here here) {
  CallScope scope(here);
  return x * 0.5 * (erf(x * std::sqrt(0.5)) + 1.0);
}

Tensor heddle::geluTanh(const Tensor &x, Here here) {
  CallScope scope(here);
  Tensor inner = (x + x * x * x * 0.044715) * std::sqrt(2 / M_PI);
  return x * 0.5 * (tanh(inner) + 1.0);
}

Tensor heddle::silu(const Tensor &x, Here here) {
  CallScope scope(here);
  return x * sigmoid(x);
}

Tensor heddle::elu(const Tensor &x, double alpha, Here here) {
  CallScope scope(here);
  return select(x > 0.0, x, expm1(select(x > 0.0, 0.0, x)) * alpha);
}

Tensor heddle::hardTanh(const Tensor &x, Here here) {
  CallScope scope(here);
  return clamp(x, -1.0, 1.0);
}

Tensor heddle::relu6(const Tensor &x, Here here) {
  CallScope scope(here);
  return clamp(x, 0.0, 6.0);
}

Tensor heddle::thresholdRelu(const Tensor &x, double threshold, double value, Here here) {
  CallScope scope(here);
  return select(x > threshold, x, value);
}

Tensor heddle::softplus(const Tensor &x, Here here) {
  CallScope scope(here);
  // `maximum` and `abs` would not give the derivative 1/2 at 0.
  return select(x >= 0.0, x, 0.0) + log1p(exp(select(x >= 0.0, -x, x)));
}

Tensor heddle::gatedLinear(const Tensor &x, const Name &name, Here here) {
  CallScope scope(here);
  if (!x.has(name, here))
    refuse("expected an x with the name '" + name.str() + "', got " + x.type(here), here);
  if (Size size = x.size(name, here); size.isNumber() && int64_t(size) % 2)
    refuse("expected an even size of '" + name.str() + "', got " + x.type(here), here);
  Name half = fresh("half");
  Tensor halves = x.split(name, {{half, 2}, {name, x.size(name) / 2}});
  return halves.at(half, 0) * sigmoid(halves.at(half, 1));
}
