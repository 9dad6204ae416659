//===- DotAttention.h - attention to all keys, or by blocks -----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of nn::Attention, which names and projects queries, keys and values, and calls one of
// two functions: `attentionTo` has all scores at once, `attentionInBlocks` reads a cache of keys
// and values.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_NN_DOTATTENTION_H
#define HEDDLE_LIB_NN_DOTATTENTION_H

#include "lib/nn/AttentionMask.h"

namespace heddle::nn {

/// Names of the tables and caches of nn::Attention.
extern const Name head, depth, position, distance;

/// `relative`: added to scores, finite. `isLength`: which of the lengths are possible, if there are
/// lengths (the others make NaN). Keys and values are finite where no query sees them.
Tensor attentionTo(const Tensor &query, const Tensor &key, const Tensor &value, const Name &past,
                   const Names &feature, const AttentionOptions &options, const Seen &seen,
                   const Tensor &relative, const Tensor &isLength, Here here);

/// Attention to the first `options.lengths` of `capacity` keys, which reads no others: block by
/// block, each of which corrects the sums before it where the largest score grows (Milakov and
/// Gimelshein, Online normalizer calculation for softmax, 2018). `blockAt(start, size)` gives keys
/// and values; `relative(position)` is added to the scores of the keys at these positions.
Tensor
attentionInBlocks(const Tensor &query, int64_t capacity,
                  const std::function<std::pair<Tensor, Tensor>(const Tensor &, int64_t)> &blockAt,
                  const Name &past, const Names &feature, const AttentionOptions &options,
                  const std::function<Tensor(const Tensor &)> &relative);

/// Adds rows of `part` along `position` to a cache's tensor behind those that it holds. Where
/// `added` is given, only as many of them count.
Tensor appended(const Tensor &all, const Tensor &filled, const Tensor &part, const Tensor &added);

/// For each pair the query's product with the key of their distance, scaled as that with the other
/// key is; `place`: the positions of keys.
Tensor relativeScores(const Tensor &query, const Tensor &table, const Name &time,
                      const Tensor &place, const Name &depth, const Tensor &first);

} // namespace heddle::nn

#endif // HEDDLE_LIB_NN_DOTATTENTION_H
