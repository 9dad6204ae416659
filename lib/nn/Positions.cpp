//===- Positions.cpp - positions of queries and keys ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/nn/DotAttention.h"
#include "lib/nn/LayerUtils.h"

#include <cmath>

using namespace heddle;
using namespace heddle::nn;

Tensor nn::positionsOf(const Tensor &x, const Name &time, const Tensor &first) {
  Tensor now = iota({time, x.size(time)});
  return first.empty() ? now : now.broadcast(first.extents()) + first.cast(ElementType::I64);
}

Tensor nn::rotary(const Tensor &x, const Name &time, const Name &feature, const Tensor &first,
                  double base, Here here) {
  CallScope scope(here);
  requireEven(x, feature, here);
  if (!(base > 0))
    refuse("expected a base of rotary positions above 0, got " + std::to_string(base), here);
  Name half = fresh("half"), pair = fresh("pair");
  Size pairs = x.size(feature) / 2;
  Tensor both = widened(x).split(feature, {{half, 2}, {pair, pairs}});
  Tensor a = both.at(half, 0), b = both.at(half, 1);
  Tensor place = positionsOf(x, time, first);
  ElementType wide = both.elementType();
  Tensor rate = exp(iota({pair, pairs}, wide) * (-std::log(base) / double(pairs)));
  Tensor angle = place.cast(wide).broadcast({{pair, pairs}}) * rate;
  Tensor c = cos(angle), s = sin(angle);
  auto part = [&](const Tensor &y) { return y.broadcast({{half, 1}}); };
  return concat({part(a * c - b * s), part(b * c + a * s)}, half)
      .merge({half, pair}, feature)
      .cast(x.elementType());
}

Tensor nn::relativeScores(const Tensor &query, const Tensor &table, const Name &time,
                          const Tensor &place, const Name &depth, const Tensor &first) {
  Name apart = fresh("distance");
  double reach = double(table.size(distance) / 2), scale = 1 / std::sqrt(double(query.size(depth)));
  Tensor products =
      sum(query * scale * table.rename({{distance, apart}, {nn::depth, depth}}), depth);
  Tensor now = positionsOf(query, time, first);
  Tensor far = place.broadcast(now.extents()) - now;
  return products.gather(apart, clamp(far, -reach, reach) + reach);
}
