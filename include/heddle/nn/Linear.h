//===- Linear.h - linear maps and embeddings --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     nn::Linear last = nn::Linear::make({{row, 7}, {column, 7}}, {classes, 10}, key(1));
//     Tensor scores = last(x, over(row, column));       // x: batch, row, column
//
//     nn::Embedding words = nn::Embedding::make({word, 30000}, {feature, 512}, key(2));
//     Tensor y = words(tokens, word);                   // tokens: batch, time; y: feature too
//     Tensor logits = sum(y * words.table, feature);    // the same table for the output
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_LINEAR_H
#define HEDDLE_NN_LINEAR_H

#include "heddle/Ops.h"
#include "heddle/Tree.h"

#include <functional>

namespace heddle::nn {

/// y[out] = sum over in of x[in] * weight[in, out] + bias[out] (torch.nn.Linear). Throws Error for
/// an x that lacks a name of `in` or already has `out` (equal names are one dimension: rename one).
struct Linear {
  Tensor weight;
  std::optional<Tensor> bias;
  HEDDLE_FIELDS(weight, bias)
  /// Draws weights and bias from [-b, b) with b = 1/sqrt(inputs), as PyTorch.
  static Linear make(const std::vector<Extent> &in, const std::vector<Extent> &out,
                     const Tensor &key, bool bias = true, Here here = Here::current());
  static Linear make(const std::vector<Extent> &in, const Extent &out, const Tensor &key,
                     bool bias = true, Here here = Here::current()) {
    return make(in, std::vector<Extent>{out}, key, bias, here);
  }
  /// `in`: the names that are summed over.
  Tensor operator()(const Tensor &x, const Names &in, Here here = Here::current()) const;
  /// The layer with some of its names replaced.
  Linear renamed(const std::vector<Rename> &renames) const;
};

/// A multilayer perceptron: linear maps with an activation between each two.
///
///     nn::Perceptron top = nn::Perceptron::make({unit, 415}, {512, 256, 1}, key(3));
///     Tensor y = top(x, unit);                           // `unit` has the size 1
struct Perceptron {
  std::vector<Linear> layers;
  HEDDLE_FIELDS(layers)
  HEDDLE_PLAIN()
  /// A compiled function keeps the activation with which it was traced.
  std::function<Tensor(const Tensor &)> activation = [](const Tensor &x) { return relu(x); };
  /// `sizes`: the output size of each layer. Throws Error for an empty list.
  static Perceptron make(const Extent &in, const std::vector<int64_t> &sizes, const Tensor &key,
                         bool bias = true, Here here = Here::current());
  /// The result has the name `in` with the last of `sizes`.
  Tensor operator()(const Tensor &x, const Name &in, Here here = Here::current()) const;
};

/// A table with one row for each entry (torch.nn.Embedding).
struct Embedding {
  Tensor table;
  HEDDLE_FIELDS(table)
  std::optional<int64_t> padding; ///< an entry whose row is zero and stays so (padding_idx)
  /// Draws rows from the standard normal distribution.
  static Embedding make(const Extent &entries, const Extent &feature, const Tensor &key,
                        std::optional<int64_t> padding = {}, Here here = Here::current());
  /// The rows of the entries in `index`, an integer tensor. An index out of range is clamped;
  /// JitOptions::check reports it. Throws Error for an index of floats.
  Tensor operator()(const Tensor &index, const Name &entries, Here here = Here::current()) const;
};

} // namespace heddle::nn

#endif // HEDDLE_NN_LINEAR_H
