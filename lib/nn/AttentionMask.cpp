//===- AttentionMask.cpp - pairs of a query and a key ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/nn/AttentionMask.h"

#include "heddle/Jit.h"
#include "lib/nn/LayerUtils.h"

#include <algorithm>
#include <cmath>

using namespace heddle;
using namespace heddle::nn;

void nn::requireMask(const Tensor &mask, const Tensor &bias, Here here) {
  if (!mask.empty() && mask.elementType() != ElementType::I1)
    refuse("expected a mask of truth values (i1), which are true for what counts, got " +
               mask.type(),
           here);
  if (!bias.empty() && !isFloat(bias.elementType()))
    refuse("expected a bias of floats, got " + bias.type(), here);
}

static Tensor both(const Tensor &a, const Tensor &b) { return a.empty() ? b : logicalAnd(a, b); }

static Tensor finite(const Tensor &x) { return select(abs(x) < INFINITY, x, 0.0); }

/// The sum of `x` over the names that `like` lacks.
static Tensor summedTo(const Tensor &x, const Tensor &like) {
  Names others = namesBeyond(x, like);
  return others.empty() ? x : sum(x, others);
}

/// `condition` as one of keys alone, if it is one: further names have a single coordinate.
static Tensor ofKeys(Tensor condition, const Tensor &key, const Tensor &value) {
  for (const Name &name : namesOf(condition))
    if (!key.has(name) || !value.has(name)) {
      if (Size size = condition.size(name); !size.isNumber() || int64_t(size) != 1)
        return {};
      condition = condition.at(name, 0);
    }
  return condition;
}

Seen::Seen(const Tensor &query, const Tensor &key, const Tensor &value, const Tensor &place,
           const AttentionOptions &options)
    : place(place) {
  auto allow = [&](const Tensor &condition, Conditions kind) {
    seen = both(seen, condition);
    if (Tensor own = ofKeys(condition, key, value); !own.empty())
      keys = both(keys, own);
    else
      conditions = std::max(conditions, kind);
  };
  if (!options.mask.empty())
    allow(options.mask, Conditions::OfPairs);
  if (options.causal) {
    now = positionsOf(query, *options.causal, options.first);
    allow(place.broadcast(now.extents()) <= now, Conditions::OfPositions);
  }
  if (!options.lengths.empty())
    allow(place.broadcast(options.lengths.extents()) < options.lengths.cast(ElementType::I64),
          Conditions::OfPairs);
  if (!options.bias.empty())
    allow(notEqual(options.bias, -INFINITY), Conditions::OfPairs);
}

void Seen::restrict(const Tensor &condition) {
  seen = both(seen, condition);
  keys = both(keys, condition);
}

Tensor Seen::products(const Tensor &query, const Tensor &key, const Names &feature,
                      Here here) const {
  if (conditions == Conditions::OfKeys)
    return heddle::sum(query * key, feature);
  // Slopes of 0 are multiplied with finite factors only.
  return withGradient([&](Tensor q, Tensor k) { return heddle::sum(q * k, feature); },
                      [&](Tensor q, Tensor k, Tensor g) {
                        return std::pair(summedTo(g * finite(k), q), summedTo(g * finite(q), k));
                      },
                      here)(query, key);
}

Tensor Seen::badScores(const Tensor &value, const Tensor &score) const {
  if (conditions != Conditions::OfPairs)
    return {};
  Tensor each = select(abs(value) < INFINITY, constant(0, value.elementType()), NAN);
  return stopGradient(summedTo(each, score));
}

Tensor Seen::sum(const Tensor &weights, const Tensor &value, const Name &past, Here here) const {
  if (conditions == Conditions::OfKeys)
    return heddle::sum(weights * value, past);
  // Queries from `bad` on see a value that is not finite.
  Tensor bad;
  if (conditions == Conditions::OfPositions)
    bad = min(select(abs(value) < INFINITY, 0x1p62, place), past);
  auto isGood = [&](const Tensor &first) { return across(now, first) < first; };
  auto forward = [&](Tensor w, Tensor v) {
    Tensor y = heddle::sum(w * v, past);
    return bad.empty() ? y : select(isGood(bad), y, NAN);
  };
  // Slopes of hidden weights, which sums of large values may make infinite, are 0.
  auto backward = [&](Tensor w, Tensor v, Tensor g) {
    Tensor slope = summedTo(g * v, w);
    if (!bad.empty()) {
      Names others = namesBeyond(bad, w);
      Tensor first = others.empty() ? bad : min(bad, others);
      slope = slope * select(isGood(first), constant(1, slope.elementType()), NAN);
    }
    return std::pair(select(seen, slope, 0.0), summedTo(g * w, v));
  };
  return withGradient(forward, backward, here)(weights, finite(value));
}

Tensor nn::whereSeen(const Tensor &x, const Tensor &seen) {
  Names others = namesBeyond(seen, x);
  if (others.empty())
    return select(seen, x, 0.0);
  return select(max(seen.cast(ElementType::I8), others) > 0.0, x, 0.0);
}

Tensor nn::scaledQuery(const Tensor &query, const Name &past, const Names &feature,
                       const AttentionOptions &options, Here here) {
  if (query.has(past))
    refuse("expected queries without '" + past.str() + "', the name of the keys, got " +
               query.type() + "; rename one of them",
           here);
  double features = 1;
  for (const Name &name : feature)
    features *= double(query.size(name));
  return query * options.scale.value_or(1 / std::sqrt(features));
}

Tensor nn::biased(const Tensor &score, const std::vector<Tensor> &biases) {
  Tensor all = widened(score);
  for (const Tensor &bias : biases)
    if (!bias.empty())
      all = all + bias.cast(all.elementType());
  return all;
}
