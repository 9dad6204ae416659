//===- DotAttention.cpp - attention to all keys at once -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/nn/DotAttention.h"
#include "heddle/nn/Activations.h"
#include "lib/nn/LayerUtils.h"

#include <cmath>

using namespace heddle;
using namespace heddle::nn;

/// Softmax over `past` of the pairs that are seen; zeros where none is.
static Tensor weightsOf(const Tensor &score, const Tensor &seen, const Name &past) {
  Tensor visible = select(seen, score, -INFINITY);
  Tensor most = stopGradient(max(visible, past));
  Tensor power = exp(visible - select(equal(most, -INFINITY), 0.0, most));
  Tensor total = sum(power, past);
  return power / select(equal(total, 0.0), 1.0, total);
}

Tensor nn::attentionTo(const Tensor &query, const Tensor &key, const Tensor &value,
                       const Name &past, const Names &feature, const AttentionOptions &options,
                       const Seen &seen, const Tensor &relative, const Tensor &isLength,
                       Here here) {
  Tensor q = scaledQuery(query, past, feature, options, here);
  Tensor score = seen.products(q, key, feature, here);
  score = biased(score, {relative, options.bias, seen.badScores(value, score)});
  bool seesItself = options.mask.empty() && options.bias.empty() && options.lengths.empty() &&
                    options.first.empty();
  const Tensor &pairs = seen.pairs();
  Tensor weights = pairs.empty() ? softmax(score, past)
                   : seesItself  ? softmax(select(pairs, score, -INFINITY), past)
                                 : weightsOf(score, pairs, past);
  weights = weights.cast(value.elementType());
  if (options.weights)
    *options.weights = weights;
  if (options.dropout > 0 && options.mode)
    weights = dropout(weights, options.dropout, options.dropped, *options.mode);
  Tensor y = seen.sum(weights, value, past, here);
  return isLength.empty() ? y : select(isLength, y, NAN);
}

Tensor nn::attention(const Tensor &query, const Tensor &key, const Tensor &value, const Name &past,
                     const Names &feature, const AttentionOptions &options, Here here) {
  CallScope scope(here);
  requireMask(options.mask, options.bias, here);
  Tensor isLength;
  if (!options.lengths.empty())
    isLength = areLengths(options.lengths, past, key.size(past), here);
  Seen seen(query, key, value, iota({past, key.size(past)}), options);
  return attentionTo(query, seen.shown(key), seen.shown(value), past, feature, options, seen, {},
                     isLength, here);
}
