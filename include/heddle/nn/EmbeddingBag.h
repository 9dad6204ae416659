//===- EmbeddingBag.h - embeddings of many entries at once ------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A bag is a few entries of a table, which become one row. Bags have different sizes. Either they
// lie along a name of their own, each filled up to the largest, with lengths:
//
//     nn::EmbeddingBag bags = nn::EmbeddingBag::make({word, 30000}, {feature, 64}, key(1),
//                                                    nn::BagMode::Mean);
//     Tensor y = bags(tokens, word, position, {.lengths = count});  // tokens: batch, position
//
// or one after the other in a list, with the place where each begins, or with their lengths:
//
//     Tensor z = bags.ofList(tokens, word, item, {.bag = batch, .offsets = begins});  // tokens: item
//     Tensor same = bags.ofList(tokens, word, item, {.bag = batch, .lengths = count});
//
// An entry that belongs to no bag may be any index: it is not looked up, and has no gradient.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_EMBEDDINGBAG_H
#define HEDDLE_NN_EMBEDDINGBAG_H

#include "heddle/Ops.h"
#include "heddle/Tree.h"

namespace heddle::nn {

enum class BagMode { Sum, Mean, Max };

struct BagOptions {
  Tensor lengths = {}; ///< of bags (integers); empty: all have the size of their name
  Tensor weight = {};  ///< of each index, by which its row is multiplied; in sums only
};

/// A list of bags. Either `offsets`, the index of each bag's first item, or `lengths` is given. A
/// bag ends where the next one begins, the last one with the list. Offsets must not fall; items
/// before the first offset, or behind all lengths, belong to no bag. (PyTorch's include_last_offset
/// is one offset more: slice it off.)
struct BagList {
  Name bag;
  Tensor offsets = {}, lengths = {};
  Tensor weight = {}; ///< as above
};

/// The sum, the mean or the largest elements of the rows of a bag; zeros for an empty bag
/// (torch.nn.EmbeddingBag). Of equal largest elements the first has the gradient. Tables of less
/// than 32 bits are summed in f32.
struct EmbeddingBag {
  Tensor table;
  HEDDLE_FIELDS(table)
  BagMode mode = BagMode::Sum;
  std::optional<int64_t> padding; ///< an entry that counts as no entry (padding_idx)
  /// Rows drawn from the normal distribution, that of the padding zero.
  static EmbeddingBag make(const Extent &entries, const Extent &feature, const Tensor &key,
                           BagMode mode = BagMode::Mean, std::optional<int64_t> padding = {},
                           Here here = Here::current());
  /// Bags along `position`, a name of `index`. Lengths that are none (below 0, above the size) give
  /// NaN; JitOptions::check finds them, and an index that is no entry. Throws Error for an index or
  /// lengths of floats, and for weights of other modes than Sum.
  Tensor operator()(const Tensor &index, const Name &entries, const Name &position,
                    const BagOptions &options = {}, Here here = Here::current()) const;
  /// Bags one after the other along `item`, a name of `index`. Offsets or lengths that do not fit
  /// the list give NaN in all bags; JitOptions::check finds them.
  Tensor ofList(const Tensor &index, const Name &entries, const Name &item, const BagList &list,
                Here here = Here::current()) const;
};

} // namespace heddle::nn

#endif // HEDDLE_NN_EMBEDDINGBAG_H
