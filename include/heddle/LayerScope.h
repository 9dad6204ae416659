//===- LayerScope.h - which layer operations belong to ----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A layer marks its operations, so that memory plans, profiles and timelines name it:
//
//     struct Dense {
//       Tensor weight, bias;
//       HEDDLE_FIELDS(weight, bias)
//       Tensor operator()(const Tensor &x, const Name &in) const {
//         LayerScope layer(*this);                    // "layers.3.dense: reduce"
//         return sum(x * weight, in) + bias;
//       }
//     };
//
// The path is that of the layer within the tree that the traced function takes. All layers of nn
// have such a scope.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LAYERSCOPE_H
#define HEDDLE_LAYERSCOPE_H

#include "heddle/Tree.h"

namespace heddle {

namespace detail {
/// The path of the tree of which `tensor` is the member `member`: "net.first" for the formal
/// "net.first.weight" (or what is made of it alone, such as a cast) as the member "weight". Empty
/// if the tensor is not a formal, or if the tree is the whole argument.
std::string pathAround(const Tensor &tensor, const std::string &member);
/// Names the operation that made a traced tensor; plans find it by this name.
void nameSeen(const Tensor &tensor, const std::string &name);
} // namespace detail

/// While it lives, operations that this thread makes, and their gradients, belong to a layer. Of
/// nested scopes the innermost one that has a path decides.
class LayerScope {
public:
  explicit LayerScope(std::string path);
  /// Takes the path from the first traced tensor of the layer.
  template <HasFields T>
  explicit LayerScope(const T &layer) : LayerScope(pathOf(const_cast<T &>(layer))) {}
  ~LayerScope();
  LayerScope(const LayerScope &) = delete;
  LayerScope &operator=(const LayerScope &) = delete;
  /// The path of the innermost scope of this thread; empty outside of any.
  static const std::string &current();

private:
  std::string outer;

  template <typename T>
  static std::string pathOf(T &layer) {
    std::string path;
    forEachTensor(layer, [&](const std::string &member, Tensor &tensor) {
      if (path.empty())
        path = detail::pathAround(tensor, member);
    });
    return path;
  }
};

} // namespace heddle

#endif // HEDDLE_LAYERSCOPE_H
