//===- Attention.cpp - attention of queries to keys -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Attention.h"

#include "heddle/nn/Activations.h"
#include "lib/nn/Filled.h"

#include <cmath>

using namespace heddle;
using namespace heddle::nn;

/// The pairs of a query and a key that count; empty if all do.
static Tensor seenPairs(const Tensor &score, const Name &past, const AttentionOptions &options) {
  Tensor seen, place = iota({past, score.size(past)});
  auto allow = [&](const Tensor &more) { seen = seen.empty() ? more : logicalAnd(seen, more); };
  if (options.causal) {
    Tensor now = iota({*options.causal, score.size(*options.causal)});
    if (!options.first.empty())
      now = now.broadcast(options.first.extents()) + options.first.cast(ElementType::I64);
    allow(place.broadcast(now.extents()) <= now);
  }
  if (!options.lengths.empty())
    allow(place.broadcast(options.lengths.extents()) < options.lengths.cast(ElementType::I64));
  return seen;
}

/// Softmax over `past` of the pairs that are seen; zeros where none is.
static Tensor weightsOf(const Tensor &score, const Tensor &seen, const Name &past) {
  Tensor visible = select(seen, score, -INFINITY);
  Tensor most = stopGradient(max(visible, past));
  Tensor power = exp(visible - select(most > -INFINITY, most, 0.0));
  Tensor total = sum(power, past);
  return power / select(total > 0.0, total, 1.0);
}

Tensor nn::attention(const Tensor &query, const Tensor &key, const Tensor &value, const Name &past,
                     const Names &feature, const AttentionOptions &options, Here here) {
  CallScope scope(here);
  if (query.has(past))
    refuse("expected queries without '" + past.str() + "', the name of the keys, got " +
               query.type() + "; rename one of them",
           here);
  double features = 1;
  for (const Name &name : feature)
    features *= double(query.size(name));
  Tensor score = sum(query * options.scale.value_or(1 / std::sqrt(features)) * key, feature);
  if (!options.bias.empty())
    score = score + options.bias;
  Tensor seen = seenPairs(score, past, options);
  bool seesItself = options.lengths.empty() && options.first.empty();
  Tensor weights = seen.empty() ? softmax(score, past)
                   : seesItself ? softmax(select(seen, score, -INFINITY), past)
                                : weightsOf(score, seen, past);
  if (options.dropout > 0 && options.mode)
    weights = dropout(weights, options.dropout, options.dropped, *options.mode);
  return sum(weights * value, past);
}

Tensor nn::rotary(const Tensor &x, const Name &time, const Name &feature, const Tensor &first,
                  double base, Here here) {
  CallScope scope(here);
  Name half = fresh("half"), pair = fresh("pair");
  Size pairs = x.size(feature) / 2;
  Tensor both = x.split(feature, {{half, 2}, {pair, pairs}});
  Tensor a = both.at(half, 0), b = both.at(half, 1);
  Tensor place = iota({time, x.size(time)});
  if (!first.empty())
    place = place.broadcast(first.extents()) + first.cast(ElementType::I64);
  Tensor rate = exp(iota({pair, pairs}, ElementType::F32) * (-std::log(base) / double(pairs)));
  Tensor angle = place.cast(ElementType::F32).broadcast({{pair, pairs}}) * rate;
  Tensor c = cos(angle), s = sin(angle);
  auto part = [&](const Tensor &y) { return y.broadcast({{half, 1}}); };
  return concat({part(a * c - b * s), part(b * c + a * s)}, half).merge({half, pair}, feature);
}

namespace {
const Name head("head"), depth("depth"), position("position"), distance("distance");
}

Attention Attention::make(const Extent &feature, int64_t heads, const Tensor &key,
                          const Options &options, Here here) {
  CallScope scope(here);
  if (heads < 1 || int64_t(feature.size) % heads)
    refuse("expected heads that divide '" + feature.name.str() + "' of size " +
               std::to_string(feature.size) + ", got " + std::to_string(heads),
           here);
  std::vector<Extent> inner{{head, heads}, {depth, feature.size / heads}};
  auto linear = [&](double i) {
    return Linear::make({feature}, inner, fold(key, i), options.bias);
  };
  Attention layer{linear(0), linear(1),
                  linear(2), Linear::make(inner, feature, fold(key, 3.0), options.bias),
                  {},        options};
  if (options.reach > 0)
    layer.relative = randomNormal(fold(key, 4.0), {{distance, 2 * options.reach + 1}, inner[1]}) *
                     (1 / std::sqrt(double(inner[1].size)));
  return layer;
}

KeyValueCache Attention::cache(const std::vector<Extent> &samples, int64_t capacity,
                               Here here) const {
  CallScope scope(here);
  std::vector<Extent> extents = samples;
  extents.push_back({position, capacity});
  for (const Name &name : {head, depth})
    extents.push_back({name, key.weight.size(name)});
  return {filled(0, extents, ElementType::F32, here), filled(0, extents, ElementType::F32, here),
          constant(0, ElementType::I64)};
}

/// For each pair the query's product with the key of their distance.
static Tensor relativeScores(const Tensor &query, const Tensor &table, const Name &time,
                             const Extent &past, const Name &depth, const Tensor &first) {
  Name apart = fresh("distance");
  double reach = double(table.size(distance) / 2);
  Tensor products = sum(query * table.rename({{distance, apart}, {::depth, depth}}), depth);
  Tensor place = iota({time, query.size(time)});
  if (!first.empty())
    place = place.broadcast(first.extents()) + first;
  Tensor far = iota(past).broadcast(place.extents()) - place;
  return products.gather(apart, clamp(far, -reach, reach) + reach);
}

Tensor Attention::attend(const Tensor &x, const Name &time, const Tensor &memory, const Name &from,
                         const Name &feature, Mode &mode, const Attend &attend) const {
  // A user's names may be spelt like those inside.
  Name h = fresh("head"), d = fresh("depth"), past = fresh("past");
  std::vector<Rename> inside{{head, h}, {depth, d}};
  Tensor q = query.renamed(inside)(x, feature), k = key.renamed(inside)(memory, feature);
  Tensor v = value.renamed(inside)(memory, feature);
  AttentionOptions how{.lengths = attend.lengths,
                       .dropout = options.dropout,
                       .mode = &mode,
                       .dropped = over(h, time, past)};
  if (attend.causal)
    how.causal.emplace(time);
  if (attend.cache)
    how.first = attend.cache->filled;
  if (options.rotary && time == from) {
    q = rotary(q, time, d, how.first, *options.rotary);
    k = rotary(k, time, d, how.first, *options.rotary);
  }
  if (attend.cache) {
    KeyValueCache &cache = *attend.cache;
    std::vector<Rename> outside{{from, position}, {h, head}, {d, depth}},
        back{{position, past}, {head, h}, {depth, d}};
    cache.keys = cache.keys.update(position, cache.filled, k.rename(outside));
    cache.values = cache.values.update(position, cache.filled, v.rename(outside));
    cache.filled = cache.filled + countOf(k, from, ElementType::I64);
    k = cache.keys.rename(back), v = cache.values.rename(back);
    if (how.lengths.empty())
      how.lengths = cache.filled;
  } else {
    k = k.rename({{from, past}}), v = v.rename({{from, past}});
  }
  if (relative && time == from)
    how.bias = relativeScores(q, *relative, time, {past, k.size(past)}, d, how.first);
  return out.renamed(inside)(attention(q, k, v, past, d, how), over(h, d));
}

Tensor Attention::operator()(const Tensor &x, const Name &time, const Name &feature, Mode &mode,
                             const Attend &attend, Here here) const {
  CallScope scope(here);
  requireHas(x, over(time, feature), here);
  return this->attend(x, time, x, time, feature, mode, attend);
}

Tensor Attention::cross(const Tensor &x, const Name &time, const Tensor &memory, const Name &from,
                        const Name &feature, Mode &mode, const Attend &attend, Here here) const {
  CallScope scope(here);
  if (time == from || x.has(from))
    refuse("expected another name for the positions of the memory than for those of x, got '" +
               from.str() + "' for " + x.type() + "; rename one of them",
           here);
  return this->attend(x, time, memory, from, feature, mode, attend);
}
