//===- Shards.h - tensors that are sharded over ranks -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor is sharded over the ranks of a mesh by lists of axes for its names. A name that is split
// into n parts has blocks of ceil(size / n) elements; the last ones may be shorter or empty:
//
//     MeshSpec mesh{{{"data", 4}, {"model", 2}}};                 // ranks 0 to 7
//     Shards shards(mesh, {{"batch", {"data"}}}, {{"batch", 5}, {"row", 3}});
//     shards.blockSizes()              // batch: 2, row: 3, on every rank
//     shards.heldBy(4)                 // batch: 1 from 4, row: 3 from 0
//     shards.heldBy(6)                 // batch: none,     row: 3 from 0
//     shards.firstHolder(5)            // 4: ranks along `model` hold the same block
//
// A tensor may have a place, coordinates on one axis: ranks elsewhere hold nothing.
//
//     Shards last({{{"stage", 2}}}, {}, {{"row", 3}}, {{"stage", 1}});
//     last.holds(0)                    // false: its tensor has no elements
//
// Of several axes the first is the slowest. "data(2)4" is a part of an axis: 4 parts after a
// division into 2; on 8 ranks it is `coordinate floordiv 1 mod 4` (dialects/mesh).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_SHARDS_H
#define HEDDLE_RUNTIME_PROGRAM_SHARDS_H

#include "runtime/memory/RuntimeTensor.h"

namespace heddle {

/// Shards a tensor of these sizes over all parts of `axes` such that blocks have the fewest
/// elements. Ties are broken by the fewest names, then by the longest. Several names share the axes
/// if no name is long enough, or none divides evenly:
///
///     leastPadding({{{"data", 8}}}, {"data"}, {{"in", 4}, {"out", 6}})
///         {in: data(2)4, out: data(1)2}, of 1 x 3 elements, not {out: data}, of 4 x 1
///
/// Empty if no name has at least 2 elements.
Sharding leastPadding(const MeshSpec &mesh, const AxisList &axes, const Sizes &sizes);

/// The row-major layout over the sorted names, and a tensor in it, or in another layout. Its
/// elements are undefined.
Layout denseLayout(const Sizes &sizes);
TensorRef denseTensor(ElementType element, const Sizes &sizes,
                      std::optional<Layout> layout = std::nullopt);

class Shards {
public:
  /// Throws Error for axes that `verifyShards` rejects, a name that `whole` lacks, a negative size,
  /// and a place that is not on one axis of the mesh.
  Shards(MeshSpec mesh, Sharding axes, Sizes whole, Place place = {});

  const MeshSpec &mesh() const { return ranks; }
  const Sharding &axes() const { return split; }
  const Sizes &wholeSizes() const { return whole; }
  const Place &place() const { return at; }
  bool holds(int64_t rank) const;
  /// True if every rank has the whole tensor.
  bool isWhole() const { return split.empty() && at.empty(); }
  /// The same shards on all ranks.
  Shards withoutPlace() const { return Shards(ranks, split, whole); }
  bool operator==(const Shards &other) const {
    return ranks == other.ranks && split == other.split && whole == other.whole && at == other.at;
  }
  /// The sizes of the block on each rank that holds one.
  const Sizes &blockSizes() const { return block; }
  /// True if some rank holds less than the whole tensor.
  bool isSplit() const { return blocks() > 1 || !at.empty(); }

  struct Interval {
    int64_t begin = 0, count = 0;
    bool operator==(const Interval &) const = default;
  };
  using Intervals = std::map<std::string, Interval, std::less<>>;
  /// The interval of coordinates that a rank holds, by name. An empty interval begins at the size.
  Intervals heldBy(int64_t rank) const;
  /// The number of blocks, including empty ones.
  int64_t blocks() const;
  /// The first rank that holds the same block as `rank`.
  int64_t firstHolder(int64_t rank) const;
  /// The first rank of each block, ascending.
  std::vector<int32_t> firstHolders() const;
  /// The tensor on a rank that holds nothing.
  static TensorRef absent(ElementType element);
  /// The axes of the mesh along which the ranks' blocks differ, in the order of the mesh.
  AxisList splittingAxes() const;

  /// The block of a rank, in `layout` (default: row-major over the sorted names). Elements beyond
  /// the tensor are zero. Throws Error unless `tensor` has the whole sizes, or if the copy fails.
  TensorRef cut(const RuntimeTensor &tensor, int64_t rank,
                std::optional<Layout> layout = std::nullopt) const;
  /// A rank's block without the elements beyond the tensor, row-major over the sorted names; and
  /// the block for such a tensor.
  TensorRef withoutFilling(const RuntimeTensor &held, int64_t rank) const;
  TensorRef withFilling(const RuntimeTensor &part, int64_t rank) const;
  /// Copies a rank's block to its position in the whole tensor.
  void put(const RuntimeTensor &held, int64_t rank, RuntimeTensor &tensor) const;

private:
  MeshSpec ranks;
  Sharding split;
  Sizes whole, block;
  Place at;

  int64_t firstOfPlace() const;
  std::map<std::string, std::vector<MeshSpec::Digit>> digits; ///< by split name
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_SHARDS_H
