//===- Linear.cpp - linear maps and embeddings ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Linear.h"

#include "lib/nn/LayerUtils.h"

#include <algorithm>
#include <cmath>
#include <utility>

using namespace heddle;
using namespace heddle::nn;

Linear Linear::make(const std::vector<Extent> &in, const std::vector<Extent> &out,
                    const Tensor &key, bool bias, Here here) {
  CallScope scope(here);
  std::vector<Extent> extents = in;
  double inputs = 1;
  for (const Extent &from : in) {
    inputs *= double(from.size);
    for (const Extent &to : out)
      if (from.name == to.name)
        refuse("expected different names for the layer's output and the names it sums over, got "
               "'" +
                   to.name.str() + "' for both; rename the result, y.rename({{..., " +
                   to.name.str() + "}})",
               here);
  }
  for (const Extent &to : out)
    extents.push_back(to);
  double bound = 1 / std::sqrt(std::max(inputs, 1.0)); // inputs may be 0
  Linear layer{uniform(key, extents, -bound, bound, here), {}};
  if (bias)
    layer.bias = uniform(biasKey(key), out, -bound, bound, here);
  return layer;
}

Tensor Linear::operator()(const Tensor &x, const Names &in, Here here) const {
  CallScope scope(here);
  LayerScope layerScope(*this);
  requireNames(x, weight, in, here);
  Tensor y = sum(x * weight, in);
  return bias ? y + *bias : y;
}

Linear Linear::renamed(const std::vector<Rename> &renames) const {
  Linear layer{renameExisting(weight, renames), {}};
  if (bias)
    layer.bias = renameExisting(*bias, renames);
  return layer;
}

Perceptron Perceptron::make(const Extent &in, const std::vector<int64_t> &sizes, const Tensor &key,
                            bool bias, Here here) {
  CallScope scope(here);
  if (sizes.empty())
    refuse("expected the sizes of at least one layer, got none", here);
  Perceptron net;
  int64_t inputs = in.size;
  for (int64_t size : sizes)
    net.layers.push_back(Linear::make({{in.name, std::exchange(inputs, size)}}, {Name("out"), size},
                                      fold(key, double(net.layers.size())), bias));
  return net;
}

Tensor Perceptron::operator()(const Tensor &x, const Name &in, Here here) const {
  CallScope scope(here);
  LayerScope layerScope(*this);
  Name out = fresh("out");
  Tensor y = x;
  for (size_t i = 0; i < layers.size(); ++i)
    y = layers[i].renamed({{Name("out"), out}})(i ? activation(y) : y, in).rename({{out, in}});
  return y;
}

Embedding Embedding::make(const Extent &entries, const Extent &feature, const Tensor &key,
                          std::optional<int64_t> padding, Here here) {
  CallScope scope(here);
  Tensor table = randomNormal(key, {entries, feature});
  if (padding && (*padding < 0 || *padding >= entries.size))
    refuse("expected padding to be an entry from 0 to " + std::to_string(entries.size - 1) +
               " of '" + entries.name.str() + "', got " + std::to_string(*padding),
           here);
  if (padding)
    table = select(equal(iota(entries), double(*padding)), 0.0, table);
  return {table, padding};
}

Tensor Embedding::operator()(const Tensor &index, const Name &entries, Here here) const {
  CallScope scope(here);
  LayerScope layerScope(*this);
  if (isFloat(index.elementType()))
    refuse("expected an index of integers, entries of '" + entries.str() + "', got " + index.type(),
           here);
  Tensor rows = table.gather(entries, index);
  return padding ? select(equal(index, double(*padding)), stopGradient(rows), rows) : rows;
}
