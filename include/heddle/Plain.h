//===- Plain.h - plain members as text --------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A signature has the plain members (Fields.h) of arguments as text:
//
//     forEachPlain(norm, [](const std::string &path, const std::string &text) { ... });
//                                                                        // "epsilon", "1e-05"
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_PLAIN_H
#define HEDDLE_PLAIN_H

#include "heddle/Tree.h"

#include <charconv>

namespace heddle::detail {

/// Appends a text that differs from that of every other value of the type.
template <typename T>
void appendText(std::string &text, const T &value);

template <typename T>
void appendWord(std::string &text, const T &value) {
  if constexpr (std::is_same_v<T, bool>) {
    text += value ? "true" : "false";
  } else if constexpr (std::is_enum_v<T>) {
    appendWord(text, static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_pointer_v<T> && std::is_function_v<std::remove_pointer_t<T>>) {
    appendWord(text, reinterpret_cast<uintptr_t>(value));
  } else if constexpr (std::is_integral_v<T>) {
    text += std::to_string(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    char digits[128];
    text.append(digits, std::to_chars(digits, std::end(digits), value).ptr); // the shortest
  } else if constexpr (std::is_pointer_v<T>) {
    value ? appendWord(text, std::string_view(value)) : void(text += "none");
  } else if constexpr (std::is_convertible_v<const T &, std::string_view>) {
    text += '"';
    for (char c : std::string_view(value))
      (c == '"' || c == '\\' ? text += '\\' : text) += c;
    text += '"';
  } else {
    appendWord(text, std::string(value.str()));
  }
}

template <typename Values>
void appendList(std::string &text, const Values &values) {
  std::apply(
      [&](const auto &...each) {
        const char *before = "{";
        ((text += std::exchange(before, ", "), appendText(text, each)), ...);
        text += sizeof...(each) ? "}" : "{}";
      },
      values);
}

template <typename T>
void appendText(std::string &text, const T &value) {
  if constexpr (IsWord<T>) {
    appendWord(text, value);
  } else if constexpr (HasPlain<T>) {
    appendList(text, value.heddlePlain().second);
  } else if constexpr (IsOptional<T>) {
    value.has_value() ? appendText(text, *value) : void(text += "none");
  } else if constexpr (IsRange<T>) {
    const char *before = "";
    text += '[';
    for (const typename T::value_type &element : value) {
      text += std::exchange(before, ", ");
      appendText(text, element);
    }
    text += ']';
  } else if constexpr (IsTuple<T>) {
    appendList(text, value);
  } else if constexpr (IsVariant<T>) {
    text += std::to_string(value.index()) + ":";
    std::visit([&](const auto &held) { appendText(text, held); }, value);
  } else {
    appendList(text, membersOf(value));
  }
}

/// Calls visit(path, text) for the plain members of a struct, and for theirs if they are structs.
template <typename T, typename V>
void forEachPlainMember(const T &value, V &&visit, const std::string &path) {
  auto at = [&]<typename M>(std::string_view name, const M &member) {
    std::string whole = path.empty() ? std::string(name) : path + "." + std::string(name);
    if constexpr (HasPlain<M> ||
                  !(IsWord<M> || IsOptional<M> || IsRange<M> || IsTuple<M> || IsVariant<M>)) {
      forEachPlainMember(member, visit, whole);
    } else {
      std::string text;
      appendText(text, member);
      visit(whole, text);
    }
  };
  if constexpr (HasPlain<T>) {
    std::apply(
        [&](const auto &...member) {
          [[maybe_unused]] std::string_view names = T::heddlePlainNames();
          static_assert(((kindOf<decltype(member)>() == Kind::Plain) && ...),
                        "expected plain members in HEDDLE_PLAIN: numbers, enumerations, strings, "
                        "names, pointers to functions, and structs, vectors, optionals, ... of "
                        "those");
          (at(nextField(names), member), ...);
        },
        value.heddlePlain().second);
  } else {
    using Members = MembersOf<const T>;
    auto visitMember = [&]<size_t index>(const Members &members) {
      if constexpr (kindOf<std::tuple_element_t<index, Members>>() == Kind::Plain)
        at(memberName<T, index>(), std::get<index>(members));
    };
    [&]<size_t... I>(std::index_sequence<I...>) {
      [[maybe_unused]] Members members = membersOf(value);
      (visitMember.template operator()<I>(members), ...);
    }(std::make_index_sequence<std::tuple_size_v<Members>>());
  }
}

/// Calls visit(path, text) for every plain member of the structs of a tree.
template <typename T, typename V>
void forEachPlain(T &tree, V &&visit) {
  forEachNode(tree, [&]<typename N>(const std::string &path, N &node) {
    if constexpr (!std::is_same_v<N, Tensor>)
      forEachPlainMember(node, visit, path);
  });
}

} // namespace heddle::detail

#endif // HEDDLE_PLAIN_H
