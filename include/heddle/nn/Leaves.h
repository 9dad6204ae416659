//===- Leaves.h - the tensors of a tree by their paths ----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Optimisers and checkpoints see a tree as a list of paths and tensors, and select from it by
// patterns of paths.
//
//     matches("*.bias", "layers.3.attention.bias")      // true: * is any text, dots included
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_LEAVES_H
#define HEDDLE_NN_LEAVES_H

#include "heddle/Tree.h"

namespace heddle::nn {

/// The tensors of a tree, in order, with their paths.
using Leaves = std::vector<std::pair<std::string, Tensor *>>;
template <typename T>
Leaves leavesOf(T &tree) {
  Leaves leaves;
  forEachTensor(tree,
                [&](const std::string &path, Tensor &leaf) { leaves.emplace_back(path, &leaf); });
  return leaves;
}

/// Tensors by the paths of parameters: a part of a state that does not depend on the order of a
/// network's members.
using ByPath = std::map<std::string, Tensor>;

/// All names of a tensor.
Names namesOf(const Tensor &tensor);

/// True if `path` is of the form `pattern`, in which * stands for any text, ? for a character and
/// [ab] for one of several.
bool matches(const std::string &pattern, const std::string &path);

} // namespace heddle::nn

#endif // HEDDLE_NN_LEAVES_H
