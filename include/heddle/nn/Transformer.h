//===- Transformer.h - layers of transformers -------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     nn::TransformerLayer layer = nn::TransformerLayer::make({feature, 512}, key(1),
//                                                             {.heads = 8, .hidden = 2048});
//     x = layer(x, time, feature, mode, {.causal = true});
//     x = x + nn::sinusoids({time, x.size(time)}, {feature, 512});
//
//     // With cross attention: a decoder.
//     y = decoder(y, time, feature, mode, {.causal = true}, {memory, from, {.lengths = length}});
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_TRANSFORMER_H
#define HEDDLE_NN_TRANSFORMER_H

#include "heddle/nn/Attention.h"
#include "heddle/nn/Normalization.h"

namespace heddle::nn {

/// Two linear maps with an activation and dropout between them.
struct FeedForward {
  Linear up, down;
  HEDDLE_FIELDS(up, down)
  static FeedForward make(const Extent &feature, int64_t hidden, const Tensor &key,
                          Here here = Here::current());
  /// `along`: further names of x that dropout draws along, such as positions.
  Tensor operator()(const Tensor &x, const Name &feature, const Names &along,
                    const std::function<Tensor(const Tensor &)> &activation, double dropout,
                    Mode &mode, Here here = Here::current()) const;
};

struct TransformerOptions {
  int64_t heads = 8, hidden = 2048;
  double dropout = 0.1;
  bool preNorm = false; ///< normalise inputs of parts, not sums with residuals (norm_first)
  bool decoder = false; ///< with cross attention
  /// A compiled function keeps the activation with which it was traced.
  std::function<Tensor(const Tensor &)> activation = [](const Tensor &x) { return relu(x); };
  double epsilon = 1e-5;
  Attention::Options attention = {}; ///< its dropout is replaced by `dropout`
  HEDDLE_PLAIN(heads, hidden, dropout, preNorm, decoder, epsilon, attention)
};

/// The values that a decoder attends to, and the name of their positions.
struct Memory {
  Tensor memory;
  Name from;
  Attend attend = {};
};

/// Attention, cross attention in a decoder, and a feed-forward network, each with a residual and a
/// normalisation (Vaswani et al., 2017; torch.nn.TransformerEncoderLayer and
/// TransformerDecoderLayer).
struct TransformerLayer {
  Attention attention;
  std::optional<Attention> cross;
  FeedForward feed;
  std::vector<LayerNorm> norms; ///< of these parts, in this order
  HEDDLE_FIELDS(attention, cross, feed, norms)
  TransformerOptions options = {};
  static TransformerLayer make(const Extent &feature, const Tensor &key,
                               const TransformerOptions &options = {}, Here here = Here::current());
  /// `count` layers that differ only in their random weights.
  static std::vector<TransformerLayer> stack(int64_t count, const Extent &feature,
                                             const Tensor &key,
                                             const TransformerOptions &options = {},
                                             Here here = Here::current());
  /// Throws Error for a decoder without a memory, and for a memory without a decoder.
  Tensor operator()(const Tensor &x, const Name &time, const Name &feature, Mode &mode,
                    const Attend &attend = {}, const std::optional<Memory> &memory = {},
                    Here here = Here::current()) const;
};

/// Positions as sines and cosines (Vaswani et al., 2017): feature 2i is sin(t / 10000^(2i / size)),
/// feature 2i + 1 the cosine. `first`: the position of the first coordinate of `time`.
Tensor sinusoids(const Extent &time, const Extent &feature, const Tensor &first = {},
                 Here here = Here::current());

} // namespace heddle::nn

#endif // HEDDLE_NN_TRANSFORMER_H
