//===- KeyValueCache.cpp - attention to keys and values of earlier steps --===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/Jit.h"
#include "lib/nn/DotAttention.h"
#include "lib/nn/LayerUtils.h"

#include <algorithm>
#include <cmath>

using namespace heddle;
using namespace heddle::nn;

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

/// Rows beyond `added` write the last of these again, which is in bounds where they might not be. A
/// scatter writes no row beyond the end, and doesn't read the tensor, which would be copied for
/// that.
Tensor nn::appended(const Tensor &all, const Tensor &filled, const Tensor &part,
                    const Tensor &added) {
  Tensor row = iota({position, part.size(position)}).broadcast(filled.extents());
  if (added.empty())
    return scatterUnique(all, {{position, row + filled}}, part);
  Tensor own = minimum(row, maximum(added - 1.0, 0.0));
  return scatter(all, {{position, own + filled}}, part.gather(position, own),
                 [](const Scalar &, const Scalar &now) { return now; });
}

namespace {
/// What is known of a query's attention after some of the keys.
struct Running {
  Tensor most, total, sum; ///< the largest score; sums of powers, and of weighted values
  HEDDLE_FIELDS(most, total, sum)
};
} // namespace

Tensor nn::attentionInBlocks(
    const Tensor &query, int64_t capacity,
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
    Seen seen(query, key, value, position, own);
    seen.restrict(position >= begin);
    value = seen.shown(value);
    Tensor score = sum(scaled * key, feature);
    score = biased(
        score, {relative ? relative(position) : Tensor(), own.bias, seen.badScores(value, score)});
    return std::tuple(select(seen.pairs(), score, -INFINITY), widened(value), seen);
  };
  Tensor filled = options.lengths.cast(ElementType::I64);
  Tensor most = filled.names().empty() ? filled : max(filled, namesOf(filled));
  Tensor steps = (most + double(block - 1)) / double(block);
  auto step = [&](const Tensor &i, const std::optional<Running> &before) {
    auto [score, value, seen] = blockOf(i * double(block));
    Tensor most = max(score, past);
    if (before)
      most = maximum(before->most, most);
    Tensor shift = select(equal(most, -INFINITY), 0.0, most), power = exp(score - shift);
    Running next{most, sum(power, past), seen.sum(power, value, past, here)};
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
