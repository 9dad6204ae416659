//===- Members.h - the members of a struct ----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// C++20 has no reflection, but an aggregate without bases reveals its members: the largest number
// of values that its braces accept is their number, and a structured binding reads them.
//
//     struct Options { int64_t groups = 1; bool bias = true; };
//     std::get<1>(detail::membersOf(options))                  // options.bias
//     detail::memberName<Options, 1>()                         // "bias"
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_MEMBERS_H
#define HEDDLE_MEMBERS_H

#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace heddle::detail {

/// Converts to the type of any member.
struct AnyMember {
  AnyMember(size_t) {}
  template <typename M>
  operator M &() const;
  template <typename M>
  operator M &&() const;
};
/// Converts to the type of a base alone.
template <typename T>
struct AnyBase {
  template <typename B>
    requires(std::is_base_of_v<B, T> && !std::is_same_v<B, T>)
  operator B &() const;
};

template <typename T, size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return requires { T{AnyMember(I)...}; };
}
template <typename T, size_t... I>
constexpr bool takesBase(std::index_sequence<I...>) {
  return requires { T{AnyBase<T>(), AnyMember(I)...}; };
}

inline constexpr size_t mostMembers = 26;

/// The number of members of an aggregate; `mostMembers` + 1 if they can't be counted. Fewer values
/// than members may be rejected, since a member without a value may have no default.
template <typename T, size_t count = 0, bool found = false>
constexpr size_t countMembers() {
  if constexpr (count > mostMembers)
    return count;
  else if constexpr (takes<T>(std::make_index_sequence<count>()))
    return countMembers<T, count + 1, true>();
  else if constexpr (found)
    return count - 1;
  else
    return countMembers<T, count + 1>();
}

/// True for a type whose members `membersOf` returns. AnyMember can't convert to a type that can't
/// be copied.
template <typename T>
constexpr bool isOpen() {
  if constexpr (!std::is_aggregate_v<T> || std::is_array_v<T> || std::is_union_v<T> ||
                !std::is_copy_constructible_v<T>)
    return false;
  else if constexpr (constexpr size_t count = countMembers<T>(); count > mostMembers)
    return false;
  else if constexpr (count == 0)
    return true;
  else
    return !takesBase<T>(std::make_index_sequence<count - 1>());
}

/// References to the members, in order.
template <typename T>
constexpr auto membersOf(T &value) {
  constexpr size_t count = countMembers<std::remove_const_t<T>>();
#define HEDDLE_MEMBERS(number, ...)                                                                \
  if constexpr (count == number) {                                                                 \
    auto &[__VA_ARGS__] = value;                                                                   \
    return std::tie(__VA_ARGS__);                                                                  \
  } else
  HEDDLE_MEMBERS(1, a)
  HEDDLE_MEMBERS(2, a, b)
  HEDDLE_MEMBERS(3, a, b, c)
  HEDDLE_MEMBERS(4, a, b, c, d)
  HEDDLE_MEMBERS(5, a, b, c, d, e)
  HEDDLE_MEMBERS(6, a, b, c, d, e, f)
  HEDDLE_MEMBERS(7, a, b, c, d, e, f, g)
  HEDDLE_MEMBERS(8, a, b, c, d, e, f, g, h)
  HEDDLE_MEMBERS(9, a, b, c, d, e, f, g, h, i)
  HEDDLE_MEMBERS(10, a, b, c, d, e, f, g, h, i, j)
  HEDDLE_MEMBERS(11, a, b, c, d, e, f, g, h, i, j, k)
  HEDDLE_MEMBERS(12, a, b, c, d, e, f, g, h, i, j, k, l)
  HEDDLE_MEMBERS(13, a, b, c, d, e, f, g, h, i, j, k, l, m)
  HEDDLE_MEMBERS(14, a, b, c, d, e, f, g, h, i, j, k, l, m, n)
  HEDDLE_MEMBERS(15, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
  HEDDLE_MEMBERS(16, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
  HEDDLE_MEMBERS(17, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
  HEDDLE_MEMBERS(18, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r)
  HEDDLE_MEMBERS(19, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s)
  HEDDLE_MEMBERS(20, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t)
  HEDDLE_MEMBERS(21, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u)
  HEDDLE_MEMBERS(22, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v)
  HEDDLE_MEMBERS(23, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w)
  HEDDLE_MEMBERS(24, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x)
  HEDDLE_MEMBERS(25, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y)
  HEDDLE_MEMBERS(26, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z)
#undef HEDDLE_MEMBERS
  return std::tuple<>();
}

template <typename T>
using MembersOf = decltype(membersOf(std::declval<T &>()));

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif
/// A value of any type whose address is a constant. It has no definition.
template <typename T>
struct Sample {
  struct Held {
    T value;
  };
  static const Held held;
};

template <typename T, size_t index>
consteval auto sampleMember() {
  return &std::get<index>(membersOf(Sample<T>::held.value));
}
#ifdef __clang__
#pragma clang diagnostic pop
#endif

/// A compiler spells a template argument in the name of a function: `&held.value.bias`.
template <auto member>
constexpr std::string_view spelledMember() {
  std::string_view text = __PRETTY_FUNCTION__;
#ifndef __clang__
  text = text.substr(0, text.rfind(';')); // GCC appends what string_view is
#endif
  constexpr std::string_view word =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$";
  text = text.substr(0, text.find_last_of(word) + 1);
  return text.substr(text.find_last_not_of(word) + 1);
}
template <typename T, size_t index>
constexpr std::string_view memberName() {
  return spelledMember<sampleMember<T, index>()>();
}

} // namespace heddle::detail

#endif // HEDDLE_MEMBERS_H
