//===- Attention.cpp - attention with several heads -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Attention.h"

#include "lib/nn/DotAttention.h"
#include "lib/nn/LayerUtils.h"

#include <cmath>

using namespace heddle;
using namespace heddle::nn;

const Name nn::head("head"), nn::depth("depth"), nn::position("position"), nn::distance("distance");

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

namespace {
/// Names inside a call, where a user's may be spelt alike, and how masks, biases and weights have
/// them.
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
    if (pairs.empty())
      return pairs;
    std::vector<Rename> renames{{keys, past}};
    if (heads)
      renames.push_back({*heads, head});
    return grouped(renameExisting(pairs, renames));
  }
  Tensor outside(const Tensor &weights) const {
    Tensor all = merged(weights);
    return (heads ? all.rename({{head, *heads}}) : mean(all, head)).rename({{past, keys}});
  }
};
} // namespace

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
  bool hidesKeys = isMasked || (attend.causal && time != from); // from all queries
  if (hidesKeys && !attend.cache) {
    asKey = memory.rename({{from, past}});
    Seen seen(x, asKey, asKey, iota({past, memory.size(from)}), how);
    asQuery = whereSeen(x, seen.pairs());
    asKey = whereSeen(asKey, seen.pairs()).rename({{past, from}});
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
    Seen seen(q, k, v, iota({past, k.size(past)}), how);
    Tensor y = attentionTo(q, k, v, past, d, how, seen, far, isLength, here);
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
