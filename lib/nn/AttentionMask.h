//===- AttentionMask.h - pairs of a query and a key -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention multiplies weights of pairs of a query and a key with values. A pair that is hidden has
// the weight 0, but 0 * NaN is NaN. Three kinds of conditions hide pairs.
//
// - Conditions of keys alone are lengths, and all conditions where there is a single query. Keys
//   and values are replaced by zeros where they are read.
// - Conditions of positions (`causal`): the factors of products are finite. The first value of each
//   feature that is not makes NaN of what the queries from its position on get.
// - Conditions of pairs (masks, biases): the factors are finite, and a value that is not makes
//   those scores NaN that see it. Selecting in the products of all pairs would take a third longer.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_NN_ATTENTIONMASK_H
#define HEDDLE_LIB_NN_ATTENTIONMASK_H

#include "heddle/nn/Attention.h"

namespace heddle::nn {

/// The positions of queries: 0, 1, ... from `first` on.
Tensor positionsOf(const Tensor &x, const Name &time, const Tensor &first);

/// Refuses a mask or a bias of another type than they have.
void requireMask(const Tensor &mask, const Tensor &bias, Here here);

/// The keys that queries see.
class Seen {
public:
  /// `place`: the positions of keys.
  Seen(const Tensor &query, const Tensor &key, const Tensor &value, const Tensor &place,
       const AttentionOptions &options);
  /// Hides the keys for which `condition` is false.
  void restrict(const Tensor &condition);

  /// The pairs (i1) that count; empty if all do.
  const Tensor &pairs() const { return seen; }
  /// Keys or values, with zeros where a condition of keys alone hides them.
  Tensor shown(const Tensor &x) const { return keys.empty() ? x : select(keys, x, 0.0); }
  /// sum of query * key over `feature`.
  Tensor products(const Tensor &query, const Tensor &key, const Names &feature, Here here) const;
  /// Makes the scores NaN that see a value that is not finite, if conditions of pairs hide it from
  /// others.
  Tensor badScores(const Tensor &value, const Tensor &score) const;
  /// sum of weights * value over `past`.
  Tensor sum(const Tensor &weights, const Tensor &value, const Name &past, Here here) const;

private:
  enum class Conditions { OfKeys, OfPositions, OfPairs } conditions = Conditions::OfKeys;
  Tensor seen, keys;
  Tensor place, now; ///< positions of keys and, with `causal`, of queries
};

/// `x`, with zeros where no pair of `seen` has its coordinates.
Tensor whereSeen(const Tensor &x, const Tensor &seen);

/// `query`, times the scale of its scores.
Tensor scaledQuery(const Tensor &query, const Name &past, const Names &feature,
                   const AttentionOptions &options, Here here);

/// Adds biases to scores, in the type of sums.
Tensor biased(const Tensor &score, const std::vector<Tensor> &biases);

} // namespace heddle::nn

#endif // HEDDLE_LIB_NN_ATTENTIONMASK_H
