//===- Attention.h - attention of queries to keys ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     Tensor y = nn::attention(query, key, value, past, feature);       // on tensors
//     nn::Attention self = nn::Attention::make({feature, 512}, 8, key(1));
//     x = self(x, time, feature, mode, {.causal = true});            // time attends to itself
//     y = self.cross(x, time, memory, from, feature, mode, {.lengths = length});
//
// Generation step by step (Generate.h) keeps keys and values in a cache, which is state:
//
//     auto cache = self.cache({{batch, 4}}, 1024);                   // in a HEDDLE_FIELDS struct
//     x = self(x, time, feature, mode, {.causal = true, .cache = &cache});
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_ATTENTION_H
#define HEDDLE_NN_ATTENTION_H

#include "heddle/nn/Linear.h"
#include "heddle/nn/Mode.h"

namespace heddle::nn {

/// The keys that a query attends to, and terms added to scores.
struct AttentionOptions {
  std::optional<Name> causal;       ///< the name of queries: they see keys up to their own position
  Tensor first = {};                ///< the position of the first query; 0 if empty
  Tensor lengths = {};              ///< as of Attend
  Tensor mask = {};                 ///< i1: the pairs of a query and a key that count
  Tensor bias = {};                 ///< added to scores; -inf hides a key
  std::optional<double> scale = {}; ///< by default 1 / sqrt(number of features)
  double dropout = 0;               ///< of the weights
  Mode *mode = nullptr;             ///< for dropout
  Names dropped = {};               ///< names that dropout draws along
  Tensor *weights = nullptr;        ///< is set to the weights, before dropout
};

/// sum over `past` of softmax over `past` of (scale * sum over `feature` of query * key) * value
/// (torch.nn.functional.scaled_dot_product_attention). `key` and `value` have `past`, `query` has
/// not; other names are aligned, as those of heads. Several heads of queries share one of keys
/// where a further name of the queries counts them (enable_gqa). Throws Error for lengths of
/// floats, and for a mask that is not i1.
///
/// What is hidden from a query, by `causal`, `lengths`, `mask` or a bias of -inf, reaches neither
/// its result nor, through it, a gradient, even if it is NaN or infinite. A query that sees no key
/// gets zeros, and gradients of zero. Where keys are hidden from some queries only, one that sees a
/// value that is infinite or NaN gets NaN in this feature, by `causal`, or in all features, by a
/// mask or a bias.
Tensor attention(const Tensor &query, const Tensor &key, const Tensor &value, const Name &past,
                 const Names &feature, const AttentionOptions &options = {},
                 Here here = Here::current());

/// Positions as rotations of pairs of features, (i, i + half) at the angle position * base^(-i /
/// half) (Su et al., RoFormer, 2021, in the pairing of GPT-NeoX). `first`: the position of the
/// first coordinate of `time`. Throws Error for an odd number of features.
Tensor rotary(const Tensor &x, const Name &time, const Name &feature, const Tensor &first = {},
              double base = 10000, Here here = Here::current());

/// Keys and values of earlier positions.
struct KeyValueCache {
  Tensor keys, values;
  Tensor filled; ///< the number of positions so far of each sample, i64
  HEDDLE_FIELDS(keys, values, filled)
};

namespace detail {
void requireRoom(const KeyValueCache &cache, int64_t more, Here here);
} // namespace detail

/// Throws Error unless all caches of a tree have room for `more` positions. In a step itself, a
/// sample whose cache has too little room gets NaN, and its cache stays as it is (JitOptions::check
/// reports it). Positions of a chunk beyond its lengths need no room: they are not stored.
template <typename T>
void requireRoom(T &tree, int64_t more = 1, Here here = Here::current()) {
  forEachNode(tree, [&]<typename N>(const std::string &, N &node) {
    if constexpr (std::is_same_v<N, KeyValueCache>)
      detail::requireRoom(node, more, here);
  });
}

/// Options of a call of nn::Attention.
struct Attend {
  bool causal = false;
  /// The number of keys that count, such as one for each of a batch. Positions from there on are
  /// read as zeros, whatever they hold. One below 0 or above the number of keys makes the result
  /// NaN; JitOptions::check reports it.
  Tensor lengths = {};
  /// The positions of x are added to it, the first `lengths` of them where these are given, and
  /// queries attend to what it then holds. A call takes time for the positions so far, not for the
  /// capacity. For evaluation only.
  KeyValueCache *cache = nullptr;
  /// The pairs of a query and a key that count (i1), and what is added to their scores (-inf hides
  /// a key). They may have the names of x, `keys` for the positions of keys, and `heads`. With a
  /// cache `keys` has the size of its capacity.
  ///
  ///     Tensor near = abs(iota({time, 9}) - iota({past, 9})) < 3.0; // with broadcasts
  ///     y = layer(x, time, feature, mode, {.mask = near, .keys = past});
  Tensor mask = {}, bias = {};
  std::optional<Name> keys = {};  ///< in cross attention the memory's positions by default
  std::optional<Name> heads = {}; ///< without it, weights are means over heads
  Tensor *weights = nullptr; ///< is set to the weights of keys, before dropout; not with a cache
};

/// Attention with several heads, each on features of its own (Vaswani et al., 2017;
/// torch.nn.MultiheadAttention).
struct Attention {
  Linear query, key, value, out;
  std::optional<Tensor> relative; ///< keys of distances, -reach to reach (Shaw et al., 2018)
  HEDDLE_FIELDS(query, key, value, out, relative)
  struct Options {
    bool bias = true;
    double dropout = 0;                ///< of the weights
    std::optional<double> rotary = {}; ///< the base of rotary positions
    int64_t reach = 0;                 ///< the largest distance of relative positions; 0: none
    int64_t keyHeads =
        0; ///< of keys and values, each for as many of queries (Ainslie et al., 2023); 0: heads
  };
  Options options = {};
  /// Biases are initialised with zero, as in PyTorch. Throws Error unless heads divide the features
  /// and heads of keys divide the heads.
  static Attention make(const Extent &feature, int64_t heads, const Tensor &key,
                        const Options &options, Here here = Here::current());
  static Attention make(const Extent &feature, int64_t heads, const Tensor &key,
                        Here here = Here::current()) {
    return make(feature, heads, key, Options(), here);
  }
  /// x attends to itself along `time`.
  Tensor operator()(const Tensor &x, const Name &time, const Name &feature, Mode &mode,
                    const Attend &attend = {}, Here here = Here::current()) const;
  /// x, with positions `time`, attends to `memory`, whose positions are called `from`.
  Tensor cross(const Tensor &x, const Name &time, const Tensor &memory, const Name &from,
               const Name &feature, Mode &mode, const Attend &attend = {},
               Here here = Here::current()) const;
  /// An empty cache for `capacity` positions; `samples`: the other names of x, such as the batch.
  KeyValueCache cache(const std::vector<Extent> &samples, int64_t capacity,
                      Here here = Here::current()) const;

private:
  Tensor attend(const Tensor &x, const Name &time, const Tensor &memory, const Name &from,
                const Name &feature, Mode &mode, const Attend &attend) const;
};

} // namespace heddle::nn

#endif // HEDDLE_NN_ATTENTION_H
