//===- Checkpoint.h - trees of tensors in files -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of a run is one tree (heddle/Tree.h) and a few notes. It is saved in the safetensors
// format, whole or not at all, each tensor under its path:
//
//     saveTree("checkpoint.safetensors", state, {{"step", "4000"}});
//     Notes notes = loadTree("checkpoint.safetensors", state);
//
// A path that ends in ".index.json" is an index of several files. Tensors are written and read one
// by one; while a tree is filled, its old tensors are kept until all new ones are there.
//
// Where several ranks run (heddle/Mesh.h), each of them writes what it holds into a directory; a
// directory is loaded by any number of ranks, also by one, as files are (io/ShardDirectory.h):
//
//     saveTree("checkpoint.shards", state, notes, {.ranks = ranks});    // all ranks call it
//     loadTree("checkpoint.shards", state);
//     io::exportShards("checkpoint.shards", "model.safetensors");
//
// The layout of a tensor is not saved: the program that reads it converts it to its own, and the
// values have the same bits.
//
// Files of other programs have names of their own, and axes without names. A map says which tensor
// is filled from which, and what its axes are, in the file's order:
//
//     loadTree("model.safetensors", net, {.names = {
//         // ours                   theirs                                        their axes
//         {"layers.*.query.weight", "encoder.layer.*.attention.query.weight", {"head feature", "in"}},
//         {"layers.*.query.bias", "encoder.layer.*.attention.query.bias", {"head feature"}}}});
//
// An axis of several names is split, the last name varying fastest; "gate=2 hidden" takes part 2 of
// an axis that holds several tensors, one after the other.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_CHECKPOINT_H
#define HEDDLE_NN_CHECKPOINT_H

#include "heddle/Ranks.h"
#include "heddle/io/HostArray.h"
#include "heddle/nn/Leaves.h"

#include <optional>

namespace heddle::nn {

/// An array whose axes have names as a tensor. Throws Error if they have none.
Tensor tensorOf(const io::HostArray &array, Here here = Here::current());
/// The values of a tensor, its axes sorted by name. Evaluates if need be.
io::HostArray arrayOf(const Tensor &tensor, Here here = Here::current());

using Notes = std::map<std::string, std::string>;

struct SaveOptions {
  int64_t bytesPerFile = int64_t(4) << 30; ///< of several files
  /// All of them save one tree: the path is a directory, and each rank writes what it holds. If one
  /// fails, all of them throw, and the directory holds what it held before.
  std::optional<Ranks> ranks = {};
};

/// Where a tensor comes from. Both names may have a *, which stands for the same text in both; of
/// several that fit a path the first one counts.
struct TensorSource {
  std::string path, name;
  std::vector<std::string> axes = {}; ///< of the file's array; none: those that the file names
};

struct LoadOptions {
  std::vector<TensorSource> names = {};  ///< none: each path is the name
  std::vector<std::string> ignored = {}; ///< patterns of names that no tensor is filled from
  bool convert = false;                  ///< floats to floats of another width
};

namespace detail {
void save(const std::string &path, const Leaves &leaves, const Notes &notes,
          const SaveOptions &options, Here here);
/// The tensors for all leaves, in order.
std::vector<Tensor> load(const std::string &path, const Leaves &leaves, const LoadOptions &options,
                         Notes &notes, Here here);
} // namespace detail

/// Saves all tensors of a tree by their paths. Throws Error; an old file of that name is then
/// untouched.
template <typename T>
void saveTree(const std::string &path, T &tree, const Notes &notes = {},
              const SaveOptions &options = {}, Here here = Here::current()) {
  detail::save(path, leavesOf(tree), notes, options, here);
}

/// Fills a tree from a file or a directory and gives the notes; a tensor that is split is filled with
/// this rank's block, all others whole. Names, sizes and element types must match. Throws
/// Error that lists all tensors that are missing, that are surplus or that have another type, with
/// both types, and names one whose bytes do not have the checksum that was saved with them; the tree
/// is then unchanged. Files without checksums are loaded as they are.
template <typename T>
Notes loadTree(const std::string &path, T &tree, const LoadOptions &options = {},
               Here here = Here::current()) {
  Notes notes;
  Leaves leaves = leavesOf(tree);
  std::vector<Tensor> loaded = detail::load(path, leaves, options, notes, here);
  for (size_t i = 0; i < leaves.size(); ++i)
    *leaves[i].second = loaded[i];
  return notes;
}

} // namespace heddle::nn

#endif // HEDDLE_NN_CHECKPOINT_H
