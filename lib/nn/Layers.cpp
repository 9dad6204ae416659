//===- Layers.cpp - layers, losses, optimisers ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Layers.h"

#include <cmath>

using namespace heddle;
using namespace heddle::nn;

static std::vector<Extent> extentsOf(const Tensor &tensor) {
  std::vector<Extent> extents;
  for (const auto &[name, size] : tensor.sizes())
    extents.push_back({Name(name), size});
  return extents;
}

/// Uniform in [-bound, bound).
static Tensor uniform(const Tensor &key, const std::vector<Extent> &extents, double bound) {
  return randomUniform(key, extents) * (2 * bound) - bound;
}

Tensor Sgd::zerosLike(const Tensor &like) {
  auto extents = extentsOf(like);
  std::vector<float> values(like.count());
  return Tensor::of<float>(std::span<const float>(values), extents);
}

Linear Linear::make(const Names &in, const std::vector<int64_t> &inSizes, const Extent &out, const Tensor &key,
                    Here here) {
  if (in.size() != inSizes.size())
    throw Error("expected a size for each name that a linear layer sums over");
  std::vector<Extent> extents;
  int64_t count = 1;
  for (size_t i = 0; i < in.size(); ++i) {
    extents.push_back({in[i], inSizes[i]});
    count *= inSizes[i];
  }
  extents.push_back(out);
  return {uniform(key, extents, 1 / std::sqrt(double(count))), zeros({out}, ElementType::F32, here)};
}

Conv Conv::make(int64_t window, const Extent &in, const Extent &out, const Tensor &key, Here here) {
  Name ky("ky"), kx("kx");
  double bound = 1 / std::sqrt(double(window * window * in.size));
  return {uniform(key, {{ky, window}, {kx, window}, in, out}, bound), zeros({out}, ElementType::F32, here)};
}

Tensor Conv::operator()(const Tensor &x, const Name &row, const Name &column, const Name &in, const Name &out) const {
  Name ky = fresh("ky"), kx = fresh("kx");
  int64_t size = weight.size(Name("ky"));
  Tensor windows = x.window(row, ky, {.size = size, .padding = Same}).window(column, kx, {.size = size, .padding = Same});
  Tensor taps = weight.rename({{Name("ky"), ky}, {Name("kx"), kx}});
  return (sum(windows * taps, over(in, ky, kx)) + bias).rename({{out, in}});
}

Tensor nn::maxPool(const Tensor &x, const Name &row, const Name &column, int64_t window) {
  Name ky = fresh("py"), kx = fresh("px");
  WindowOptions options{.size = window, .stride = window};
  return max(x.window(row, ky, options).window(column, kx, options), over(ky, kx));
}

Tensor nn::dropout(const Tensor &x, double rate, const Tensor &key, const std::vector<Extent> &by) {
  Tensor kept = randomUniform(key, by) >= rate;
  return select(kept, x * (1 / (1 - rate)), 0.0);
}

Tensor nn::crossEntropy(const Tensor &logits, const Tensor &label, const Name &classes) {
  Tensor shifted = logits - stopGradient(max(logits, over(classes)));
  Tensor normaliser = log(sum(exp(shifted), over(classes)));
  Tensor chosen = equal(label, iota({classes, logits.size(classes)}, label.elementType())
                                   .broadcast(extentsOf(label)));
  return normaliser - sum(select(chosen, shifted, 0.0), over(classes));
}
