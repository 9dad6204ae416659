//===- Attention.cpp - attention of queries to keys -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Attention.h"

#include "heddle/Jit.h"
#include "heddle/nn/Activations.h"
#include "heddle/nn/Leaves.h"
#include "lib/nn/Filled.h"

#include <algorithm>
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
  Tensor seen = options.mask;
  auto allow = [&](const Tensor &more) { seen = seen.empty() ? more : logicalAnd(seen, more); };
  if (options.causal) {
    Tensor now = positionsOf(query, *options.causal, options.first);
    allow(place.broadcast(now.extents()) <= now);
  }
  if (!options.lengths.empty())
    allow(place.broadcast(options.lengths.extents()) < options.lengths.cast(ElementType::I64));
  if (!options.bias.empty())
    allow(notEqual(options.bias, -INFINITY));
  return seen;
}

/// Softmax over `past` of the pairs that are seen; zeros where none is.
static Tensor weightsOf(const Tensor &score, const Tensor &seen, const Name &past) {
  Tensor visible = select(seen, score, -INFINITY);
  Tensor most = stopGradient(max(visible, past));
  Tensor power = exp(visible - select(equal(most, -INFINITY), 0.0, most));
  Tensor total = sum(power, past);
  return power / select(equal(total, 0.0), 1.0, total);
}

//===----------------------------------------------------------------------===//
// Products of pairs some of which are hidden
//===----------------------------------------------------------------------===//
//
// A key that one query sees is hidden from another, by its position or a mask. Where a hidden one is
// infinite or NaN, neither its weight of 0 nor a slope of 0 may be multiplied with it. So the factors of
// products of pairs are finite, and a key whose value is not makes the scores NaN that it is seen by;
// selecting in the products of all pairs would take a third longer.

static Tensor finite(const Tensor &x) { return select(abs(x) < INFINITY, x, 0.0); }

/// The names of `x` that `like` lacks.
static Names namesBeyond(const Tensor &x, const Tensor &like) {
  Names others;
  for (const Name &name : namesOf(x))
    if (!like.has(name))
      others.push_back(name);
  return others;
}

/// The sum of `x` over the names that `like` lacks.
static Tensor summedTo(const Tensor &x, const Tensor &like) {
  Names others = namesBeyond(x, like);
  return others.empty() ? x : sum(x, others);
}

/// 0 for finite values and NaN for others, over the names that `score` has.
static Tensor notFinite(const Tensor &value, const Tensor &score) {
  Tensor each = select(abs(value) < INFINITY, constant(0, value.elementType()), NAN);
  return stopGradient(summedTo(each, score));
}

/// sum of query * key over `feature`, whose slopes at hidden pairs are 0.
static Tensor productsOfPairs(const Tensor &query, const Tensor &key, const Names &feature,
                              Here here) {
  return withGradient([&](Tensor q, Tensor k) { return sum(q * k, feature); },
                      [&](Tensor q, Tensor k, Tensor g) {
                        return std::pair(summedTo(g * finite(k), q), summedTo(g * finite(q), k));
                      },
                      here)(query, key);
}

/// sum of weights * value over `past`. Slopes of hidden weights, which sums of large values may make
/// infinite, are 0.
static Tensor sumOfPairs(const Tensor &weights, const Tensor &value, const Tensor &seen,
                         const Name &past, Here here) {
  return withGradient([&](Tensor w, Tensor v) { return sum(w * v, past); },
                      [&](Tensor w, Tensor v, Tensor g) {
                        return std::pair(select(seen, summedTo(g * v, w), 0.0), summedTo(g * w, v));
                      },
                      here)(weights, value);
}

static Tensor scaledQuery(const Tensor &query, const Name &past, const Names &feature,
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

/// Adds biases to scores, in the type of sums.
static Tensor biased(const Tensor &score, const std::vector<Tensor> &biases) {
  Tensor all = widened(score);
  for (const Tensor &bias : biases)
    if (!bias.empty())
      all = all + bias.cast(all.elementType());
  return all;
}

/// `relative`: added to scores, finite. `isLength`: which of the lengths are possible, if there are
/// lengths (the others make NaN); what lies behind them is finite.
static Tensor attentionTo(const Tensor &query, const Tensor &key, const Tensor &value,
                          const Name &past, const Names &feature, const AttentionOptions &options,
                          const Tensor &relative, const Tensor &isLength, Here here) {
  Tensor seen = seenPairs(query, iota({past, key.size(past)}), options);
  bool isMasked = !options.mask.empty() || !options.bias.empty();
  bool hidesPairs = isMasked || options.causal;
  Tensor q = scaledQuery(query, past, feature, options, here);
  Tensor score = hidesPairs ? productsOfPairs(q, key, feature, here) : sum(q * key, feature);
  Tensor bad = hidesPairs ? notFinite(value, score) : Tensor();
  score = biased(score, {relative, options.bias, bad});
  bool seesItself = !isMasked && options.lengths.empty() && options.first.empty();
  Tensor weights = seen.empty() ? softmax(score, past)
                   : seesItself ? softmax(select(seen, score, -INFINITY), past)
                                : weightsOf(score, seen, past);
  weights = weights.cast(value.elementType());
  if (options.weights)
    *options.weights = weights;
  if (options.dropout > 0 && options.mode)
    weights = dropout(weights, options.dropout, options.dropped, *options.mode);
  Tensor y = hidesPairs ? sumOfPairs(weights, finite(value), seen, past, here)
                        : sum(weights * value, past);
  return isLength.empty() ? y : select(isLength, y, NAN);
}

static void requireMask(const Tensor &mask, const Tensor &bias, Here here) {
  if (!mask.empty() && mask.elementType() != ElementType::I1)
    refuse("expected a mask of truth values (i1), which are true for what counts, got " +
               mask.type(),
           here);
  if (!bias.empty() && !isFloat(bias.elementType()))
    refuse("expected a bias of floats, got " + bias.type(), here);
}

Tensor nn::attention(const Tensor &query, const Tensor &key, const Tensor &value, const Name &past,
                     const Names &feature, const AttentionOptions &options, Here here) {
  CallScope scope(here);
  requireMask(options.mask, options.bias, here);
  Tensor isLength;
  if (!options.lengths.empty())
    isLength = areLengths(options.lengths, past, key.size(past), here);
  return attentionTo(query, zeroBeyond(key, past, options.lengths),
                     zeroBeyond(value, past, options.lengths), past, feature, options, {}, isLength,
                     here);
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
/// and values; `relative(position)` is added to the scores of the keys at these positions.
static Tensor
attentionInBlocks(const Tensor &query, int64_t capacity,
                  const std::function<std::pair<Tensor, Tensor>(const Tensor &, int64_t)> &blockAt,
                  const Name &past, const Names &feature, const AttentionOptions &options,
                  const std::function<Tensor(const Tensor &)> &relative) {
  Here here = Here::current();
  int64_t block = std::min<int64_t>(64, capacity);
  Tensor scaled = scaledQuery(query, past, feature, options, here);
  auto blockOf = [&](const Tensor &begin) {
    // The last block may start before `begin`, where fewer keys are left.
    Tensor start = minimum(begin, double(capacity - block));
    auto [key, value] = blockAt(start, block);
    Tensor position = iota({past, block}) + start;
    AttentionOptions own = options; // of the block's positions
    for (Tensor *pairs : {&own.mask, &own.bias})
      if (!pairs->empty() && pairs->has(past))
        *pairs = pairs->gather(past, position);
    Tensor score = sum(scaled * key, feature), bad = notFinite(value, score);
    score = biased(score, {relative ? relative(position) : Tensor(), own.bias, bad});
    Tensor seen = logicalAnd(seenPairs(score, position, own), position >= begin);
    return std::pair(select(seen, score, -INFINITY), widened(finite(value)));
  };
  Tensor filled = options.lengths.cast(ElementType::I64);
  Tensor most = filled.names().empty() ? filled : max(filled, namesOf(filled));
  Tensor steps = (most + double(block - 1)) / double(block);
  auto step = [&](const Tensor &i, const std::optional<Running> &before) {
    auto [score, value] = blockOf(i * double(block));
    Tensor most = max(score, past);
    if (before)
      most = maximum(before->most, most);
    Tensor shift = select(equal(most, -INFINITY), 0.0, most), power = exp(score - shift);
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
  return (end.sum / select(equal(end.total, 0.0), 1.0, end.total)).cast(query.elementType());
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
  int64_t keyHeads = options.keyHeads ? options.keyHeads : heads;
  if (keyHeads < 1 || heads % keyHeads)
    refuse("expected heads of keys that divide the " + std::to_string(heads) + " of queries, got " +
               std::to_string(keyHeads),
           here);
  std::vector<Extent> inner{{head, heads}, {depth, feature.size / heads}},
      fewer{{head, keyHeads}, inner[1]};
  auto linear = [&](double i, const std::vector<Extent> &in, const std::vector<Extent> &out) {
    Linear layer = Linear::make(in, out, fold(key, i), false);
    if (options.bias)
      layer.bias = filled(0, out, ElementType::F32, here);
    return layer;
  };
  Attention layer{linear(0, {feature}, inner),
                  linear(1, {feature}, fewer),
                  linear(2, {feature}, fewer),
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

/// `x`, with zeros where no pair of `seen` has its coordinates: as an operand of products with weights it
/// may be NaN or infinite there.
static Tensor whereSeen(const Tensor &x, const Tensor &seen) {
  Names others = namesBeyond(seen, x);
  if (others.empty())
    return select(seen, x, 0.0);
  return select(max(seen.cast(ElementType::I8), others) > 0.0, x, 0.0);
}

namespace {
/// Names inside a call, where a user's may be spelt alike, and how masks, biases and weights have them.
struct InnerNames {
  Name head = fresh("head"), group = fresh("group"), depth = fresh("depth"), past = fresh("past");
  Name keys;                 ///< the user's name of `past`
  std::optional<Name> heads; ///< and that of heads
  int64_t keyHeads, groups;  ///< each head of keys is that of a group of queries

  /// Heads of queries as groups of those of keys.
  Tensor grouped(const Tensor &x) const {
    return groups == 1 || !x.has(head) ? x : x.split(head, {{head, keyHeads}, {group, groups}});
  }
  Tensor merged(const Tensor &x) const { return groups == 1 ? x : x.merge({head, group}, head); }
  Tensor inside(const Tensor &pairs) const {
    std::vector<Rename> renames;
    if (!pairs.empty() && pairs.has(keys))
      renames.push_back({keys, past});
    if (!pairs.empty() && heads && pairs.has(*heads))
      renames.push_back({*heads, head});
    return pairs.empty() ? pairs : grouped(pairs.rename(renames));
  }
  Tensor outside(const Tensor &weights) const {
    Tensor all = merged(weights);
    return (heads ? all.rename({{head, *heads}}) : mean(all, head)).rename({{past, keys}});
  }
};
} // namespace

/// Adds rows of `part` along `position` to a cache's tensor behind those that it holds. Where `added` is
/// given, only as many of them count; the others write the last of these again, which is in bounds where
/// they might not be. A scatter writes no row beyond the end, and doesn't read the tensor, which would be
/// copied for that.
static Tensor appended(const Tensor &all, const Tensor &filled, const Tensor &part,
                       const Tensor &added) {
  Tensor row = iota({position, part.size(position)}).broadcast(filled.extents());
  if (added.empty())
    return scatterUnique(all, {{position, row + filled}}, part);
  Tensor own = minimum(row, maximum(added - 1.0, 0.0));
  return scatter(all, {{position, own + filled}}, part.gather(position, own),
                 [](const Scalar &, const Scalar &now) { return now; });
}

Tensor Attention::attend(const Tensor &x, const Name &time, const Tensor &memory, const Name &from,
                         const Name &feature, Mode &mode, const Attend &attend) const {
  Here here = Here::current();
  requireMask(attend.mask, attend.bias, here);
  bool isMasked = !attend.mask.empty() || !attend.bias.empty();
  if (time == from && (isMasked || attend.weights) && !attend.keys)
    refuse("expected the name of the keys in masks, biases and weights (Attend::keys), got none",
           here);
  int64_t keyHeads = key.weight.size(head), heads = query.weight.size(head);
  InnerNames names{.keys = attend.keys.value_or(from),
                   .heads = attend.heads,
                   .keyHeads = keyHeads,
                   .groups = heads / keyHeads};
  const Name &h = names.head, &d = names.depth, &past = names.past;
  AttentionOptions how{.lengths = attend.lengths,
                       .mask = names.inside(attend.mask),
                       .bias = names.inside(attend.bias),
                       .dropout = options.dropout,
                       .mode = &mode,
                       .dropped = over(h, time, past)};
  if (names.groups > 1)
    how.dropped.push_back(names.group);
  if (attend.causal)
    how.causal.emplace(time);
  if (attend.cache)
    how.first = attend.cache->filled;
  Tensor asQuery = x, asKey = memory;
  if (isMasked && !attend.cache) {
    Tensor seen = seenPairs(x, iota({past, memory.size(from)}), how);
    asQuery = whereSeen(x, seen);
    asKey = whereSeen(memory.rename({{from, past}}), seen).rename({{past, from}});
  }
  std::vector<Rename> inside{{head, h}, {depth, d}};
  Tensor q = query.renamed(inside)(asQuery, feature), k = key.renamed(inside)(asKey, feature);
  Tensor v = value.renamed(inside)(asKey, feature);
  Tensor isLength;
  if (!attend.lengths.empty())
    isLength = areLengths(attend.lengths, from, k.size(from), here);
  if (options.rotary && time == from) {
    q = rotary(q, time, d, how.first, *options.rotary);
    k = rotary(k, time, d, how.first, *options.rotary);
  }
  q = names.grouped(q);
  std::function<Tensor(const Tensor &)> relativeAt;
  if (relative && time == from)
    relativeAt = [&](const Tensor &place) {
      return relativeScores(q, *relative, time, place, d, how.first);
    };
  auto project = [&](const Tensor &y) { return out.renamed(inside)(names.merged(y), over(h, d)); };
  if (!attend.cache) {
    k = k.rename({{from, past}}), v = v.rename({{from, past}});
    Tensor weights, far = relativeAt ? relativeAt(iota({past, k.size(past)})) : Tensor();
    how.weights = attend.weights ? &weights : nullptr;
    Tensor y = attentionTo(q, k, v, past, d, how, far, isLength, here);
    if (attend.weights)
      *attend.weights = names.outside(weights);
    return project(y);
  }
  if (options.dropout > 0 && mode.isTraining())
    refuse("expected a mode for evaluation with a cache of keys and values, got one for training",
           here);
  if (attend.weights)
    refuse("expected no request for weights with a cache of keys and values", here);
  KeyValueCache &cache = *attend.cache;
  Size capacity = cache.keys.size(position);
  for (const Tensor *pairs : {&how.mask, &how.bias})
    if (!pairs->empty() && pairs->has(past) && int64_t(pairs->size(past)) != int64_t(capacity))
      refuse("expected a mask or bias of all " + std::to_string(int64_t(capacity)) +
                 " positions of the cache along '" + names.keys.str() + "', got " +
                 std::to_string(int64_t(pairs->size(past))),
             here);
  std::vector<Rename> outside{{from, position}, {h, head}, {d, depth}},
      back{{position, past}, {head, h}, {depth, d}};
  // Renames a block, not the cache, which would be copied for the loop.
  auto blockAt = [&](const Tensor &start, int64_t size) {
    auto part = [&](const Tensor &all) { return all.slice(position, start, size).rename(back); };
    return std::pair(part(cache.keys), part(cache.values));
  };
  Tensor count = isLength.empty() ? countOf(k, from, ElementType::I64)
                                  : select(isLength, attend.lengths.cast(ElementType::I64), 0.0);
  Tensor hasRoom = areLengths(cache.filled + count, position, capacity, here);
  Tensor isGood = isLength.empty() ? hasRoom : logicalAnd(isLength, hasRoom);
  Tensor added = select(hasRoom, count, 0.0);
  Tensor rows = isLength.empty() ? Tensor() : added;
  cache.keys = appended(cache.keys, cache.filled, k.rename(outside), rows);
  cache.values = appended(cache.values, cache.filled, v.rename(outside), rows);
  cache.filled = cache.filled + added;
  how.lengths = cache.filled;
  Tensor read = attentionInBlocks(q, int64_t(capacity), blockAt, past, d, how, relativeAt);
  return project(select(isGood, read, NAN));
}

Tensor Attention::operator()(const Tensor &x, const Name &time, const Name &feature, Mode &mode,
                             const Attend &attend, Here here) const {
  CallScope scope(here);
  LayerScope layerScope(*this);
  requireHas(x, over(time, feature), here);
  Tensor own = zeroBeyond(x, time, attend.lengths);
  return this->attend(own, time, own, time, feature, mode, attend);
}

Tensor Attention::cross(const Tensor &x, const Name &time, const Tensor &memory, const Name &from,
                        const Name &feature, Mode &mode, const Attend &attend, Here here) const {
  CallScope scope(here);
  LayerScope layerScope(*this);
  if (time == from || x.has(from))
    refuse("expected another name for the positions of the memory than for those of x, got '" +
               from.str() + "' for " + x.type() + "; rename one of them",
           here);
  return this->attend(x, time, zeroBeyond(memory, from, attend.lengths), from, feature, mode,
                      attend);
}
