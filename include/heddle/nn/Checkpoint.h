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
//     std::map<std::string, std::string> notes;
//     loadTree("checkpoint.safetensors", state, &notes);
//
// The layout of a tensor is not saved: the program that reads it converts it to its own, and the
// values have the same bits.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_CHECKPOINT_H
#define HEDDLE_NN_CHECKPOINT_H

#include "heddle/Tree.h"
#include "heddle/io/HostArray.h"

#include <map>

namespace heddle::nn {

/// An array whose axes have names as a tensor. Throws Error if they have none.
Tensor tensorOf(const io::HostArray &array, Here here = Here::current());
/// The values of a tensor, its axes sorted by name. Evaluates if need be.
io::HostArray arrayOf(const Tensor &tensor, Here here = Here::current());

using Notes = std::map<std::string, std::string>;

/// Writes tensors under names. Throws Error; an old file of that name is then untouched.
void saveTensors(const std::string &path,
                 const std::vector<std::pair<std::string, Tensor>> &tensors,
                 const Notes &notes = {}, Here here = Here::current());
/// Reads a file that `saveTensors` wrote. Throws Error that names the file and the tensor.
std::map<std::string, Tensor> loadTensors(const std::string &path, Notes *notes = nullptr,
                                          Here here = Here::current());

/// Saves all tensors of a tree by their paths.
template <typename T>
void saveTree(const std::string &path, T &tree, const Notes &notes = {},
              Here here = Here::current()) {
  std::vector<std::pair<std::string, Tensor>> tensors;
  forEachTensor(
      tree, [&](const std::string &name, Tensor &tensor) { tensors.emplace_back(name, tensor); });
  saveTensors(path, tensors, notes, here);
}

/// Fills a tree from a file; names, sizes and element types must match. The tree is unchanged if
/// they don't.
template <typename T>
void loadTree(const std::string &path, T &tree, Notes *notes = nullptr,
              Here here = Here::current()) {
  auto tensors = loadTensors(path, notes, here);
  T filled = tree;
  forEachTensor(filled, [&](const std::string &name, Tensor &tensor) {
    auto found = tensors.find(name);
    if (found == tensors.end())
      throw Error("'" + path + "' has no tensor '" + name + "'", here);
    if (found->second.type() != tensor.type(here))
      throw Error("'" + path + "': the tensor '" + name + "' is " + found->second.type() +
                      ", expected " + tensor.type(here),
                  here);
    tensor = found->second;
  });
  tree = filled;
}

} // namespace heddle::nn

#endif // HEDDLE_NN_CHECKPOINT_H
