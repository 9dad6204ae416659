//===- Attention.cpp - attention of queries to keys -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Attention.h"

#include "heddle/nn/Activations.h"
#include "heddle/nn/Leaves.h"
#include "lib/nn/Filled.h"

#include <cmath>

using namespace heddle;
using namespace heddle::nn;

/// The positions `now` of queries: 0, 1, ... from `first` on.
static Tensor positionsOf(const Tensor &x, const Name &time, const Tensor &first) {
  Tensor now = iota({time, x.size(time)});
  return first.empty() ? now : now.broadcast(first.extents()) + first.cast(ElementType::I64);
}

/// The pairs of a query and a key, whose positions are `place`, that count; empty if all do.
static Tensor seenPairs(const Tensor &query, const Tensor &place, const AttentionOptions &options) {
  Tensor seen;
  auto allow = [&](const Tensor &more) { seen = seen.empty() ? more : logicalAnd(seen, more); };
  if (options.causal) {
    Tensor now = positionsOf(query, *options.causal, options.first);
    allow(place.broadcast(now.extents()) <= now);
  }
  if (!options.lengths.empty())
    allow(place.broadcast(options.lengths.extents()) < options.lengths.cast(ElementType::I64));
  return seen;
}

/// Softmax over `past` of the pairs that are seen; zeros where none is, and NaN where `isLength`, if
/// there is one, is false.
static Tensor weightsOf(const Tensor &score, const Tensor &seen, const Name &past,
                        const Tensor &isLength) {
  Tensor visible = select(seen, score, -INFINITY);
  Tensor most = stopGradient(max(visible, past));
  Tensor power = exp(visible - select(most > -INFINITY, most, 0.0));
  Tensor total = sum(power, past);
  Tensor divisor = select(total > 0.0, total, 1.0);
  return power / (isLength.empty() ? divisor : select(isLength, divisor, NAN));
}

static Tensor scoresOf(const Tensor &query, const Tensor &key, const Name &past,
                       const Names &feature, const AttentionOptions &options, Here here) {
  if (query.has(past))
    refuse("expected queries without '" + past.str() + "', the name of the keys, got " +
               query.type() + "; rename one of them",
           here);
  double features = 1;
  for (const Name &name : feature)
    features *= double(query.size(name));
  return sum(query * options.scale.value_or(1 / std::sqrt(features)) * key, feature);
}

/// `isLength`: which of the lengths are possible, if there are lengths.
static Tensor attentionTo(const Tensor &query, const Tensor &key, const Tensor &value,
                          const Name &past, const Names &feature, const AttentionOptions &options,
                          const Tensor &isLength, Here here) {
  Tensor score = scoresOf(query, key, past, feature, options, here);
  if (!options.bias.empty())
    score = score + options.bias;
  Tensor seen = seenPairs(score, iota({past, key.size(past)}), options);
  bool seesItself = options.lengths.empty() && options.first.empty();
  Tensor weights = seen.empty() ? softmax(score, past)
                   : seesItself ? softmax(select(seen, score, -INFINITY), past)
                                : weightsOf(score, seen, past, isLength);
  if (options.dropout > 0 && options.mode)
    weights = dropout(weights, options.dropout, options.dropped, *options.mode);
  return sum(weights * value, past);
}

Tensor nn::attention(const Tensor &query, const Tensor &key, const Tensor &value, const Name &past,
                     const Names &feature, const AttentionOptions &options, Here here) {
  CallScope scope(here);
  Tensor isLength;
  if (!options.lengths.empty())
    isLength = areLengths(options.lengths, past, key.size(past), here);
  return attentionTo(query, key, value, past, feature, options, isLength, here);
}

namespace {
/// What is known of a query's attention after some of the keys.
struct Running {
  Tensor most, total, sum; ///< the largest score; sums of powers, and of weighted values
  HEDDLE_FIELDS(most, total, sum)
};
} // namespace

/// Attention to the first `options.lengths` of `capacity` keys, which reads no others: block by
/// block, each of which corrects the sums before it where the largest score grows (Milakov and
/// Gimelshein, Online normalizer calculation for softmax, 2018). `blockAt(start, size)` gives keys
/// and values; `bias(position)` is added to the scores of the keys at these positions.
static Tensor
attentionInBlocks(const Tensor &query, int64_t capacity,
                  const std::function<std::pair<Tensor, Tensor>(const Tensor &, int64_t)> &blockAt,
                  const Name &past, const Names &feature, const AttentionOptions &options,
                  const std::function<Tensor(const Tensor &)> &bias) {
  Here here = Here::current();
  int64_t block = std::min<int64_t>(64, capacity);
  auto scoresAt = [&](const Tensor &begin) {
    // The last block may start before `begin`, where fewer keys are left.
    Tensor start = minimum(begin, double(capacity - block));
    auto [key, value] = blockAt(start, block);
    Tensor position = iota({past, block}) + start;
    Tensor score = scoresOf(query, key, past, feature, options, here);
    if (bias)
      score = score + bias(position);
    Tensor seen = logicalAnd(seenPairs(score, position, options), position >= begin);
    return std::pair(select(seen, score, -INFINITY), value);
  };
  Tensor filled = options.lengths.cast(ElementType::I64);
  Tensor most = filled.names().empty() ? filled : max(filled, namesOf(filled));
  Tensor steps = (most + double(block - 1)) / double(block);
  auto step = [&](const Tensor &i, const std::optional<Running> &before) {
    auto [score, value] = scoresAt(i * double(block));
    Tensor most = max(score, past);
    if (before)
      most = maximum(before->most, most);
    Tensor shift = select(most > -INFINITY, most, 0.0), power = exp(score - shift);
    Running next{most, sum(power, past), sum(power * value, past)};
    if (before) {
      Tensor kept = exp(before->most - shift);
      next.total = before->total * kept + next.total;
      next.sum = before->sum * kept + next.sum;
    }
    return next;
  };
  // The first block stands before the loop: short sequences need no other, and the caches' layouts,
  // which are chosen there, suit the others too.
  Running first = step(constant(0, ElementType::I64), {});
  Running end = forLoop(
      steps - 1.0, first,
      [&](const Tensor &i, const Running &before) { return step(i + 1.0, before); }, -1, here);
  return end.sum / select(end.total > 0.0, end.total, 1.0);
}

Tensor nn::rotary(const Tensor &x, const Name &time, const Name &feature, const Tensor &first,
                  double base, Here here) {
  CallScope scope(here);
  requireEven(x, feature, here);
  if (!(base > 0))
    refuse("expected a base of rotary positions above 0, got " + std::to_string(base), here);
  Name half = fresh("half"), pair = fresh("pair");
  Size pairs = x.size(feature) / 2;
  Tensor both = x.split(feature, {{half, 2}, {pair, pairs}});
  Tensor a = both.at(half, 0), b = both.at(half, 1);
  Tensor place = positionsOf(x, time, first);
  ElementType wide = x.elementType() == ElementType::F64 ? ElementType::F64 : ElementType::F32;
  Tensor rate = exp(iota({pair, pairs}, wide) * (-std::log(base) / double(pairs)));
  Tensor angle = place.cast(wide).broadcast({{pair, pairs}}) * rate;
  Tensor c = cos(angle).cast(x.elementType()), s = sin(angle).cast(x.elementType());
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
  requireDropout(options.dropout, here);
  if (options.reach < 0)
    refuse("expected a reach of relative positions of at least 0, got " +
               std::to_string(options.reach),
           here);
  if (options.rotary && int64_t(feature.size) / heads % 2)
    refuse("expected heads with an even number of features, for rotary positions, got " +
               std::to_string(heads) + " heads of '" + feature.name.str() + "' of size " +
               std::to_string(feature.size),
           here);
  std::vector<Extent> inner{{head, heads}, {depth, feature.size / heads}};
  auto linear = [&](double i, const std::vector<Extent> &in, const std::vector<Extent> &out) {
    Linear layer = Linear::make(in, out, fold(key, i), false);
    if (options.bias)
      layer.bias = filled(0, out, ElementType::F32, here);
    return layer;
  };
  Attention layer{linear(0, {feature}, inner),
                  linear(1, {feature}, inner),
                  linear(2, {feature}, inner),
                  linear(3, inner, {feature}),
                  {},
                  options};
  if (options.reach > 0)
    layer.relative = randomNormal(fold(key, 4.0), {{distance, 2 * options.reach + 1}, inner[1]}) *
                     (1 / std::sqrt(double(inner[1].size)));
  return layer;
}

KeyValueCache Attention::cache(const std::vector<Extent> &samples, int64_t capacity,
                               Here here) const {
  CallScope scope(here);
  if (capacity < 1)
    refuse("expected a cache for at least one position, got " + std::to_string(capacity), here);
  std::vector<Extent> extents = samples;
  extents.push_back({position, capacity});
  for (const Name &name : {head, depth})
    extents.push_back({name, key.weight.size(name)});
  ElementType keys = key.weight.elementType(here), values = value.weight.elementType(here);
  return {filled(0, extents, keys, here), filled(0, extents, values, here),
          filled(0, samples, ElementType::I64, here)};
}

void nn::detail::requireRoom(const KeyValueCache &cache, int64_t more, Here here) {
  Names samples = namesOf(cache.filled);
  auto most = int64_t((samples.empty() ? cache.filled : max(cache.filled, samples)).item(here));
  if (int64_t capacity = int64_t(cache.keys.size(position)); more > capacity - most)
    throw Error("the cache of keys and values is full: expected room for " + std::to_string(more) +
                    " more positions, got " + std::to_string(capacity - most) + " of " +
                    std::to_string(capacity),
                here);
}

/// For each pair the query's product with the key of their distance, scaled as that with the other
/// key is; `place`: the positions of keys.
static Tensor relativeScores(const Tensor &query, const Tensor &table, const Name &time,
                             const Tensor &place, const Name &depth, const Tensor &first) {
  Name apart = fresh("distance");
  double reach = double(table.size(distance) / 2), scale = 1 / std::sqrt(double(query.size(depth)));
  Tensor products = sum(query * scale * table.rename({{distance, apart}, {::depth, depth}}), depth);
  Tensor now = positionsOf(query, time, first);
  Tensor far = place.broadcast(now.extents()) - now;
  return products.gather(apart, clamp(far, -reach, reach) + reach);
}

Tensor Attention::attend(const Tensor &x, const Name &time, const Tensor &memory, const Name &from,
                         const Name &feature, Mode &mode, const Attend &attend) const {
  Here here = Here::current();
  // A user's names may be spelt like those inside.
  Name h = fresh("head"), d = fresh("depth"), past = fresh("past");
  std::vector<Rename> inside{{head, h}, {depth, d}};
  Tensor q = query.renamed(inside)(x, feature), k = key.renamed(inside)(memory, feature);
  Tensor v = value.renamed(inside)(memory, feature);
  Tensor isLength;
  if (!attend.lengths.empty())
    isLength = areLengths(attend.lengths, from, k.size(from), here);
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
  std::function<Tensor(const Tensor &)> bias;
  if (relative && time == from)
    bias = [&](const Tensor &place) {
      return relativeScores(q, *relative, time, place, d, how.first);
    };
  auto project = [&](const Tensor &y) { return out.renamed(inside)(y, over(h, d)); };
  if (!attend.cache) {
    k = k.rename({{from, past}}), v = v.rename({{from, past}});
    if (bias)
      how.bias = bias(iota({past, k.size(past)}));
    return project(attentionTo(q, k, v, past, d, how, isLength, here));
  }
  if (options.dropout > 0 && mode.isTraining())
    refuse("expected a mode for evaluation with a cache of keys and values, got one for training",
           here);
  KeyValueCache &cache = *attend.cache;
  std::vector<Rename> outside{{from, position}, {h, head}, {d, depth}},
      back{{position, past}, {head, h}, {depth, d}};
  // Renames a block, not the cache, which would be copied for the loop.
  auto blockAt = [&](const Tensor &start, int64_t size) {
    auto part = [&](const Tensor &all) { return all.slice(position, start, size).rename(back); };
    return std::pair(part(cache.keys), part(cache.values));
  };
  Tensor added = isLength.empty() ? countOf(k, from, ElementType::I64)
                                  : select(isLength, attend.lengths.cast(ElementType::I64), 0.0);
  cache.keys = cache.keys.update(position, cache.filled, k.rename(outside));
  cache.values = cache.values.update(position, cache.filled, v.rename(outside));
  cache.filled = cache.filled + added;
  how.lengths = cache.filled;
  Tensor read =
      attentionInBlocks(q, int64_t(cache.keys.size(position)), blockAt, past, d, how, bias);
  return project(isLength.empty() ? read : select(isLength, read, NAN));
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
