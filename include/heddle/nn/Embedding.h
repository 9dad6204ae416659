//===- Embedding.h - positions and large vocabularies -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     x = x + positions(time, x.size(time));                 // learned, one row for each position
//     nn::AdaptiveSoftmax output = nn::AdaptiveSoftmax::make({feature, 512}, {word, 100000},
//                                                            {2000, 10000}, key(1));
//     Tensor logs = output(x, feature, word);
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_EMBEDDING_H
#define HEDDLE_NN_EMBEDDING_H

#include "heddle/nn/Linear.h"

namespace heddle::nn {

/// A row for each position (torch.nn.Embedding of 0, 1, ...).
struct PositionEmbedding {
  Tensor table;
  HEDDLE_FIELDS(table)
  static PositionEmbedding make(const Extent &time, const Extent &feature, const Tensor &key,
                                Here here = Here::current());
  /// The rows of `size` positions from `first` on (an integer tensor; empty: 0). Without `first`, a
  /// `size` beyond the table throws Error; with it, positions outside of the table give NaN.
  Tensor operator()(const Name &time, const Size &size, const Tensor &first = {},
                    Here here = Here::current()) const;
};

/// Log-probabilities of classes that are sorted by decreasing frequency: classes below the first
/// cutoff have a score each; the others form clusters between cutoffs, whose scores are computed
/// from fewer features, cluster by cluster (Grave et al., 2017;
/// torch.nn.AdaptiveLogSoftmaxWithLoss).
struct AdaptiveSoftmax {
  struct Cluster {
    Linear down, up;
    HEDDLE_FIELDS(down, up)
  };
  Linear head;
  std::vector<Cluster> clusters;
  HEDDLE_FIELDS(head, clusters)
  /// Throws Error unless the cutoffs increase and lie between 1 and the number of classes - 1.
  static AdaptiveSoftmax make(const Extent &feature, const Extent &classes,
                              const std::vector<int64_t> &cutoffs, const Tensor &key,
                              double divisor = 4, Here here = Here::current());
  Tensor operator()(const Tensor &x, const Name &feature, const Name &classes,
                    Here here = Here::current()) const;
};

} // namespace heddle::nn

#endif // HEDDLE_NN_EMBEDDING_H
