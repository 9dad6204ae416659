//===- Tree.h - trees of tensors --------------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parameters and optimiser state are ordinary structs whose tensors have paths:
//
//     struct Linear { Tensor weight, bias; HEDDLE_FIELDS(weight, bias) };      // Fields.h
//     struct Net { Linear first, second; HEDDLE_FIELDS(first, second) };
//
//     forEachTensor(net, [](const std::string &path, Tensor &t) { ... });   // "first.weight", ...
//
// A tree is a Tensor, a struct with HEDDLE_FIELDS, or a vector, array, map (by string), pair, tuple
// or optional of trees.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TREE_H
#define HEDDLE_TREE_H

#include "heddle/Fields.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace heddle {

/// True for types that are trees of tensors.
template <typename T>
struct IsTree : std::bool_constant<HasFields<T>> {};
template <>
struct IsTree<Tensor> : std::true_type {};
template <typename T>
struct IsTree<std::vector<T>> : IsTree<T> {};
template <typename T>
struct IsTree<std::optional<T>> : IsTree<T> {};
template <typename T>
struct IsTree<std::map<std::string, T>> : IsTree<T> {};
template <typename T, size_t N>
struct IsTree<std::array<T, N>> : IsTree<T> {};
template <typename A, typename B>
struct IsTree<std::pair<A, B>> : std::bool_constant<IsTree<A>::value && IsTree<B>::value> {};
template <typename... T>
struct IsTree<std::tuple<T...>> : std::bool_constant<(IsTree<T>::value && ...)> {};

/// Calls visit(path, node) for every tensor and every struct of a tree, a struct before its
/// members, which come in their order. A path is the names or positions of members, joined by dots;
/// "" for the tree itself.
template <typename T, typename V>
void forEachNode(T &tree, V &&visit, const std::string &path = "") {
  auto at = [&](const std::string &member) { return path.empty() ? member : path + "." + member; };
  if constexpr (std::is_same_v<T, Tensor>) {
    visit(path, tree);
  } else if constexpr (HasFields<T>) {
    static_assert(detail::requireComplete<T>());
    visit(path, tree);
    std::apply(
        [&](auto &...value) {
          [[maybe_unused]] std::string_view names = T::heddleFieldNames();
          (forEachNode(value, visit, at(std::string(detail::nextField(names)))), ...);
        },
        tree.heddleFields());
  } else if constexpr (requires {
                         tree.has_value();
                         *tree;
                       }) {
    if (tree)
      forEachNode(*tree, visit, path);
  } else if constexpr (requires { typename T::mapped_type; }) {
    for (auto &[member, value] : tree)
      forEachNode(value, visit, at(member));
  } else if constexpr (requires { tree.begin(); }) {
    size_t index = 0;
    for (auto &value : tree)
      forEachNode(value, visit, at(std::to_string(index++)));
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    std::apply(
        [&](auto &...value) {
          size_t index = 0;
          (forEachNode(value, visit, at(std::to_string(index++))), ...);
        },
        tree);
  } else {
    static_assert(detail::isNever<T>,
                  "expected a tree of tensors: a Tensor, a struct that lists its members with "
                  "HEDDLE_FIELDS(first, second), or a vector, array, map from strings, pair, tuple "
                  "or optional of trees, not const; a number becomes a Tensor with constant(x)");
  }
}

/// Calls visit(path, tensor) for every tensor of a tree, in the order of its members.
template <typename T, typename V>
void forEachTensor(T &tree, V &&visit, const std::string &path = "") {
  forEachNode(
      tree,
      [&]<typename N>(const std::string &at, N &node) {
        if constexpr (std::is_same_v<N, Tensor>)
          visit(at, node);
      },
      path);
}

} // namespace heddle

#endif // HEDDLE_TREE_H
