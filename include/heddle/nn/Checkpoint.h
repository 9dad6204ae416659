//===- Checkpoint.h - trees of tensors in files -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of a run is one tree (heddle/Tree.h) and a few notes. It is saved atomically in the
// safetensors format, each tensor under its path:
//
//     saveTree("checkpoint.safetensors", state, {{"step", "4000"}});
//     Notes notes = loadTree("checkpoint.safetensors", state);
//
// A path that ends in ".index.json" is an index of several files. Tensors are written and read one
// by one; loading replaces the tensors of the tree once all new ones have been read.
//
// With several ranks (heddle/Mesh.h) each one writes its shards into a directory; any number of
// ranks, also a single one, can load it (io/ShardDirectory.h):
//
//     saveTree("checkpoint.shards", state, notes, {.ranks = ranks});    // all ranks call it
//     loadTree("checkpoint.shards", state);
//     io::exportShards("checkpoint.shards", "model.safetensors");
//
// The layout of a tensor is not saved: the program that reads it converts it to its own, and the
// values have the same bits.
//
// Files of other programs use other names, and their axes have none. A map says from which array
// each tensor is loaded, and names the axes of the array, in the file's order:
//
//     loadTree("model.safetensors", net, {.names = {
//         // ours, theirs, their axes
//         {"layers.*.query.weight", "encoder.layer.*.query.weight", {"head feature", "in"}},
//         {"layers.*.query.bias", "encoder.layer.*.query.bias", {"head feature"}}}});
//
// An axis of several names is split, the last name varying fastest; "gate=2 hidden" takes part 2
// (from 0) of an axis along which several tensors are concatenated.
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
/// The values of a tensor, its axes sorted by name. Computes them if necessary.
io::HostArray arrayOf(const Tensor &tensor, Here here = Here::current());

using Notes = std::map<std::string, std::string>;

struct SaveOptions {
  int64_t bytesPerFile = int64_t(4) << 30; ///< the largest size of each file of an index
  /// The ranks that save the tree together: the path is a directory, and each rank writes its
  /// shards. If one rank fails, all of them throw, and the directory keeps the previous save.
  std::optional<Ranks> ranks = {};
};

/// Loads the tensor at `path` from the array `name`. Both may have a *, which stands for the same
/// text in both; the first source that matches a path is used.
struct TensorSource {
  std::string path, name;
  std::vector<std::string> axes = {}; ///< names of the array's axes; empty: as the file has them
};

struct LoadOptions {
  std::vector<TensorSource> names = {};  ///< empty: the name is the path
  std::vector<std::string> ignored = {}; ///< patterns of names of arrays that are not loaded
  bool convert = false;                  ///< convert between float types of different widths
};

namespace detail {
void save(const std::string &path, const Leaves &leaves, const Notes &notes,
          const SaveOptions &options, Here here);
/// The tensors for all leaves, in order.
std::vector<Tensor> load(const std::string &path, const Leaves &leaves, const LoadOptions &options,
                         Notes &notes, Here here);
} // namespace detail

/// Saves all tensors of a tree by their paths. Throws Error that names the file; an old file at
/// `path` is then unchanged.
template <typename T>
void saveTree(const std::string &path, T &tree, const Notes &notes = {},
              const SaveOptions &options = {}, Here here = Here::current()) {
  detail::save(path, leavesOf(tree), notes, options, here);
}

/// Loads a tree from a file or a directory and returns the notes. Of a tensor that is split over
/// ranks only this rank's block is read. Names, sizes and element types must match. Throws Error
/// that lists all tensors that are missing, left over or of another type (with both types), and for
/// a tensor whose bytes do not have their checksum; the tree is then unchanged. Files without
/// checksums are not verified.
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
