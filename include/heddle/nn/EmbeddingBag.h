//===- EmbeddingBag.h - reduced embeddings of several entries ---*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A bag is a few entries of a table, whose rows are reduced to one. Bags have different sizes.
// Either they are padded to the largest, along a name of their own, and have lengths:
//
//     nn::EmbeddingBag bags = nn::EmbeddingBag::make({word, 30000}, {feature, 64}, key(1),
//                                                    nn::BagMode::Mean);
//     Tensor y = bags(tokens, word, position, {.lengths = count});  // tokens: batch, position
//
// or they are concatenated in a list, with the offset of each bag or with their lengths:
//
//     Tensor z = bags.ofList(tokens, word, item,                    // tokens: item
//                            {.bag = batch, .offsets = begins});
//     Tensor same = bags.ofList(tokens, word, item, {.bag = batch, .lengths = count});
//
// An index that belongs to no bag may have any value: it is not looked up and has no gradient.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_EMBEDDINGBAG_H
#define HEDDLE_NN_EMBEDDINGBAG_H

#include "heddle/Ops.h"
#include "heddle/Tree.h"

namespace heddle::nn {

enum class BagMode { Sum, Mean, Max };

struct BagOptions {
  Tensor lengths = {}; ///< of bags (integers); empty: bags have the whole size of `position`
  Tensor weight = {};  ///< of each index: a factor of its row; for Sum only
};

/// A list of bags. Either `offsets`, the position of each bag's first item, or `lengths` is given.
/// A bag ends where the next one begins, the last one at the end of the list. Offsets must not
/// decrease; items before the first offset, or after the last bag's length, belong to no bag.
/// (PyTorch's include_last_offset has one more offset: slice it off.)
struct BagList {
  Name bag;
  Tensor offsets = {}, lengths = {};
  Tensor weight = {}; ///< as above
};

/// The sum, the mean or the largest elements of the rows of a bag; zeros for an empty bag
/// (torch.nn.EmbeddingBag). Of equal largest elements the first gets the gradient. Tables of narrow
/// floats are summed in f32.
struct EmbeddingBag {
  Tensor table;
  HEDDLE_FIELDS(table)
  BagMode mode = BagMode::Sum;
  std::optional<int64_t> padding; ///< an entry that reductions leave out (padding_idx)
  /// Draws rows from the standard normal distribution; the row of `padding` is zero.
  static EmbeddingBag make(const Extent &entries, const Extent &feature, const Tensor &key,
                           BagMode mode = BagMode::Mean, std::optional<int64_t> padding = {},
                           Here here = Here::current());
  /// Bags along `position`, a name of `index`. A length below 0 or above the size gives NaN;
  /// JitOptions::check reports it, and an index out of range. Throws Error for an index or lengths
  /// of floats, and for weights in other modes than Sum.
  Tensor operator()(const Tensor &index, const Name &entries, const Name &position,
                    const BagOptions &options = {}, Here here = Here::current()) const;
  /// Bags concatenated along `item`, a name of `index`. Offsets or lengths that do not fit the list
  /// give NaN in all bags; JitOptions::check reports them.
  Tensor ofList(const Tensor &index, const Name &entries, const Name &item, const BagList &list,
                Here here = Here::current()) const;
};

} // namespace heddle::nn

#endif // HEDDLE_NN_EMBEDDINGBAG_H
