//===- Plain.h - plain members as text --------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A signature has the plain members (Fields.h) of arguments as text:
//
//     PlainMembers members;
//     collectPlain(norm, "norm", members);                    // {"norm.epsilon", "1e-05"}
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_PLAIN_H
#define HEDDLE_PLAIN_H

#include "heddle/Tree.h"

namespace heddle::detail {

/// Plain members as text, by their paths.
using PlainMembers = std::vector<std::pair<std::string, std::string>>;

/// Append a text that differs from that of every other value of the type.
void appendNumber(std::string &text, bool value);
void appendNumber(std::string &text, int64_t value);
void appendNumber(std::string &text, uint64_t value);
void appendNumber(std::string &text, float value);
void appendNumber(std::string &text, double value);
void appendNumber(std::string &text, long double value);
void appendQuoted(std::string &text, std::string_view value);
template <typename T>
void appendText(std::string &text, const T &value);

template <typename T>
void appendWord(std::string &text, const T &value) {
  if constexpr (std::is_enum_v<T>)
    appendWord(text, static_cast<std::underlying_type_t<T>>(value));
  else if constexpr (std::is_pointer_v<T> && std::is_function_v<std::remove_pointer_t<T>>)
    appendNumber(text, reinterpret_cast<uintptr_t>(value));
  else if constexpr (std::is_same_v<T, bool> || std::is_floating_point_v<T>)
    appendNumber(text, value);
  else if constexpr (std::is_signed_v<T>)
    appendNumber(text, int64_t(value));
  else if constexpr (std::is_unsigned_v<T>)
    appendNumber(text, uint64_t(value));
  else if constexpr (std::is_pointer_v<T>)
    value ? appendQuoted(text, value) : void(text += "none");
  else if constexpr (std::is_convertible_v<const T &, std::string_view>)
    appendQuoted(text, value);
  else
    appendQuoted(text, value.str());
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

template <typename T>
void collectPlain(const T &value, const std::string &path, PlainMembers &members);

/// Adds a member, or its members if it is a struct.
template <typename M>
void collectMember(const M &member, const std::string &path, std::string_view name,
                   PlainMembers &members) {
  std::string whole = path.empty() ? std::string(name) : path + "." + std::string(name);
  if constexpr (HasPlain<M> ||
                !(IsWord<M> || IsOptional<M> || IsRange<M> || IsTuple<M> || IsVariant<M>))
    collectPlain(member, whole, members);
  else
    appendText(members.emplace_back(std::move(whole), "").second, member);
}

/// Adds the plain members of a struct, and theirs if they are structs.
template <typename T>
void collectPlain(const T &value, const std::string &path, PlainMembers &members) {
  if constexpr (HasPlain<T>) {
    std::apply(
        [&](const auto &...member) {
          [[maybe_unused]] std::string_view names = T::heddlePlainNames();
          static_assert(((kindOf<decltype(member)>() == Kind::Plain) && ...),
                        "expected plain members in HEDDLE_PLAIN: numbers, enumerations, strings, "
                        "names, pointers to functions, and structs, vectors, optionals, ... of "
                        "those");
          (collectMember(member, path, nextField(names), members), ...);
        },
        value.heddlePlain().second);
  } else {
    using Members = MembersOf<const T>;
    auto collect = [&]<size_t index>(const Members &all) {
      if constexpr (kindOf<std::tuple_element_t<index, Members>>() == Kind::Plain)
        collectMember(std::get<index>(all), path, memberName<T, index>(), members);
    };
    [&]<size_t... I>(std::index_sequence<I...>) {
      [[maybe_unused]] Members all = membersOf(value);
      (collect.template operator()<I>(all), ...);
    }(std::make_index_sequence<std::tuple_size_v<Members>>());
  }
}

} // namespace heddle::detail

#endif // HEDDLE_PLAIN_H
