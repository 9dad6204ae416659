//===- Embedding.cpp - positions and large vocabularies -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Embedding.h"

#include "heddle/nn/Activations.h"
#include "lib/nn/LayerUtils.h"

#include <cmath>

using namespace heddle;
using namespace heddle::nn;

PositionEmbedding PositionEmbedding::make(const Extent &time, const Extent &feature,
                                          const Tensor &key, Here here) {
  CallScope scope(here);
  return {randomNormal(key, {time, feature})};
}

Tensor PositionEmbedding::operator()(const Name &time, const Size &size, const Tensor &first,
                                     Here here) const {
  CallScope scope(here);
  LayerScope layerScope(*this);
  if (first.empty())
    return table.slice(time, 0, size);
  Name position = fresh("position");
  Tensor place = iota({time, size}).broadcast(first.extents()) + first.cast(ElementType::I64);
  Tensor rows = table.rename({{time, position}}).gather(position, place);
  Tensor isPosition = logicalAnd(place >= 0.0, place < double(int64_t(table.size(time))));
  return select(isPosition, rows, NAN);
}

AdaptiveSoftmax AdaptiveSoftmax::make(const Extent &feature, const Extent &classes,
                                      const std::vector<int64_t> &cutoffs, const Tensor &key,
                                      double divisor, Here here) {
  CallScope scope(here);
  if (!(divisor >= 1))
    refuse("expected a divisor of sizes of at least 1, got " + std::to_string(divisor), here);
  std::vector<int64_t> ends = cutoffs;
  ends.push_back(classes.size);
  for (size_t i = 0, last = 0; i < ends.size(); last = size_t(ends[i++]))
    if (ends[i] <= int64_t(last))
      refuse("expected cutoffs that rise from 1 to below " + std::to_string(classes.size) +
                 ", the size of '" + classes.name.str() + "', got " + std::to_string(ends[i]) +
                 " after " + std::to_string(last),
             here);
  int64_t count = int64_t(cutoffs.size());
  AdaptiveSoftmax layer{
      Linear::make({feature}, {classes.name, ends[0] + count}, fold(key, 0.0), /*bias=*/false), {}};
  Name inner("inner");
  for (int64_t i = 0; i < count; ++i) {
    int64_t size = int64_t(double(feature.size) / std::pow(divisor, double(i + 1)));
    Tensor own = fold(key, double(i + 1));
    layer.clusters.push_back(
        {Linear::make({feature}, {inner, std::max<int64_t>(size, 1)}, fold(own, 0.0), false),
         Linear::make({{inner, std::max<int64_t>(size, 1)}},
                      {classes.name, ends[size_t(i) + 1] - ends[size_t(i)]}, fold(own, 1.0),
                      false)});
  }
  return layer;
}

Tensor AdaptiveSoftmax::operator()(const Tensor &x, const Name &feature, const Name &classes,
                                   Here here) const {
  CallScope scope(here);
  LayerScope layerScope(*this);
  Name inner = fresh("inner");
  Tensor top = logSoftmax(head(x, feature), classes);
  Size own = top.size(classes) - int64_t(clusters.size());
  std::vector<Tensor> parts{top.slice(classes, 0, own)};
  for (size_t i = 0; i < clusters.size(); ++i) {
    std::vector<Rename> hygiene{{Name("inner"), inner}};
    Tensor narrow = clusters[i].down.renamed(hygiene)(x, feature);
    Tensor scores = clusters[i].up.renamed(hygiene)(narrow, inner);
    parts.push_back(logSoftmax(scores, classes) + top.at(classes, own + int64_t(i)));
  }
  return concat(parts, classes);
}
