//===- Graph.cpp - layers of graph networks -------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Graph.h"

#include "heddle/Compositions.h"
#include "lib/nn/LayerUtils.h"

#include <cmath>

using namespace heddle;
using namespace heddle::nn;

GraphAttention GraphAttention::make(const std::vector<Extent> &in, const std::vector<Extent> &outs,
                                    const Tensor &key, Here here) {
  CallScope scope(here);
  if (outs.empty())
    refuse("expected at least one name of the layer's output, got none", here);
  auto part = [&](double number) {
    return glorotUniform(fold(key, number), outs, outs.back().name, over());
  };
  return {Linear::make(in, outs, fold(key, 0.0), /*bias=*/false), part(1), part(2),
          filled(0, outs)};
}

Tensor GraphAttention::operator()(const Tensor &x, const Name &node, const Names &in,
                                  const Name &out, const Neighbours &near, Here here) const {
  CallScope scope(here);
  LayerScope layerScope(*this);
  requireHas(x, over(node), here);
  requireHas(near.number, over(near.slot), here);
  Tensor place = iota({near.slot, near.number.size(near.slot)}).broadcast(near.count.extents());
  Tensor counts = place < near.count.cast(ElementType::I64);
  Tensor number = select(counts, near.number, 0.0); // unused slots often have -1
  Tensor y = project(x, in), theirs = sum(y * other, out).gather(node, number);
  Tensor score = widened(leakyRelu(theirs + sum(y * own, out), 0.2));
  // Unused slots are replaced before they become operands, since their nodes and scores may be NaN
  // or infinite.
  Tensor visible = select(counts, score, -INFINITY),
         seen = select(counts, y.gather(node, number), 0.0);
  // A node without neighbours has no largest score; its weights are all zero.
  Tensor most = max(visible, near.slot);
  Tensor power = exp(visible - stopGradient(select(equal(most, -INFINITY), 0.0, most)));
  Tensor total = sum(power, near.slot);
  Tensor isCount = areLengths(near.count, near.slot, near.number.size(near.slot), here);
  Tensor weights = power / select(isCount, select(equal(total, 0.0), 1.0, total), NAN);
  return sum(weights.cast(y.elementType()) * seen, near.slot) + bias;
}
