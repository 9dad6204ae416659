//===- Fields.h - what the members of a struct are --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// HEDDLE_FIELDS lists all members of a struct that hold tensors; a list without one of them does
// not compile. Other members are plain: numbers, truth values, enumerations, strings, names,
// pointers to functions, and structs, vectors, optionals, ... of those. Plain members of an
// argument are part of the signature of a function that `jit` compiles.
//
//     struct Norm { Tensor scale; HEDDLE_FIELDS(scale) double epsilon = 1e-5; };
//
// The members of some classes can't be enumerated: those with a base, a constructor, private
// members, or members that are neither trees nor plain, such as a std::function. They list their
// plain members; traced functions must depend on no other member that changes:
//
//     struct Net {
//       Linear first, last;  double rate = 0.1;
//       std::function<Tensor(Tensor)> activation;              // stays as it was when traced
//       HEDDLE_FIELDS(first, last) HEDDLE_PLAIN(rate)
//     };
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_FIELDS_H
#define HEDDLE_FIELDS_H

#include "heddle/Members.h"
#include "heddle/Tensor.h"

#include <algorithm>
#include <variant>

namespace heddle {

/// Makes a struct a tree of the listed members. The struct may be local to a function.
#define HEDDLE_FIELDS(...)                                                                         \
  auto heddleFields() { return ::std::tie(__VA_ARGS__); }                                          \
  static constexpr const char *heddleFieldNames() { return #__VA_ARGS__; }

/// Lists the plain members of a class; a change of other members causes no new trace. Beside
/// HEDDLE_FIELDS it also permits tensors in members that neither of the two lists.
#define HEDDLE_PLAIN(...)                                                                          \
  auto heddlePlain() const { return ::std::pair(this, ::std::tie(__VA_ARGS__)); }                  \
  static constexpr const char *heddlePlainNames() { return #__VA_ARGS__; }

template <typename T>
concept HasFields = requires(T &tree) {
  tree.heddleFields();
  T::heddleFieldNames();
};
/// HEDDLE_PLAIN of a base does not count, since it says nothing about the members of T.
template <typename T>
concept HasPlain = requires(const T &value) {
  requires std::is_same_v<decltype(value.heddlePlain().first), const T *>;
};

namespace detail {
/// Always false, and dependent on T: for a static_assert in code that must not be instantiated.
template <typename T>
inline constexpr bool isNever = false;

/// Moves `names`, a list such as "a, b", to its second word and returns the first.
constexpr std::string_view nextField(std::string_view &names) {
  std::string_view name = names.substr(0, names.find(','));
  names.remove_prefix(std::min(names.size(), name.size() + 2));
  return name;
}

/// A type of which a signature has each value as one word.
template <typename T>
concept IsWord = std::is_arithmetic_v<T> || std::is_enum_v<T> ||
                 std::is_convertible_v<const T &, std::string_view> ||
                 (std::is_pointer_v<T> && std::is_function_v<std::remove_pointer_t<T>>) ||
                 requires(const T &value) {
                   { value.str() } -> std::convertible_to<std::string>;
                 };
template <typename T>
concept IsOptional = requires(const T &value) {
  value.has_value();
  *value;
};
template <typename T>
concept IsRange = requires(const T &value) {
  typename T::value_type;
  value.begin();
};
template <typename T>
concept IsTuple = requires { std::tuple_size<T>::value; };
template <typename T>
concept IsVariant = requires { std::variant_size<T>::value; };

/// The kind of a type: plain, unknown, or one whose values hold tensors.
enum class Kind { Plain, Unknown, Tensors };
template <typename M>
constexpr Kind kindOf();
template <template <typename...> typename List, typename... M>
constexpr Kind kindOfAll(std::type_identity<List<M...>>) {
  return std::max({Kind::Plain, kindOf<M>()...});
}

template <typename M>
constexpr Kind kindOf() {
  using T = std::remove_cvref_t<M>;
  if constexpr (std::is_same_v<T, Tensor>)
    return Kind::Tensors;
  else if constexpr (HasFields<T>)
    return std::tuple_size_v<decltype(std::declval<T &>().heddleFields())> ? Kind::Tensors
                                                                           : Kind::Plain;
  else if constexpr (HasPlain<T> || IsWord<T>)
    return Kind::Plain;
  else if constexpr (IsOptional<T>)
    return kindOf<decltype(*std::declval<const T &>())>();
  else if constexpr (IsRange<T>)
    return kindOf<typename T::value_type>();
  else if constexpr (IsVariant<T> || IsTuple<T>)
    return kindOfAll(std::type_identity<T>());
  else if constexpr (requires(const T &pointer) { *pointer; })
    return std::max(Kind::Unknown, kindOf<decltype(*std::declval<const T &>())>());
  else if constexpr (isOpen<T>())
    return kindOfAll(std::type_identity<MembersOf<T>>());
  else
    return Kind::Unknown;
}

/// Refuse a member; the compiler's message has its name.
template <typename T, auto member>
constexpr bool refuseForgotten() {
  static_assert(isNever<T>,
                "a member that holds tensors is not listed: expected HEDDLE_FIELDS with all of "
                "them, or, to leave one out on purpose, HEDDLE_PLAIN beside it, which lists the "
                "plain members");
  return true;
}
template <typename T, auto member>
constexpr bool refuseUnknown() {
  static_assert(isNever<T>,
                "a member is neither a tree of tensors nor plain (a number, enumeration, string, "
                "name, pointer to a function, or a struct, vector, optional, ... of those): "
                "expected HEDDLE_PLAIN(first, second) beside HEDDLE_FIELDS, with the plain members "
                "that functions depend on");
  return true;
}

constexpr bool lists(std::string_view names, std::string_view name) {
  while (!names.empty())
    if (nextField(names) == name)
      return true;
  return false;
}
template <typename T, size_t index>
constexpr bool requireMember() {
  constexpr Kind kind = kindOf<std::tuple_element_t<index, MembersOf<T>>>();
  if constexpr (kind == Kind::Plain)
    return true;
  else if constexpr (lists(T::heddleFieldNames(), memberName<T, index>()))
    return true;
  else if constexpr (kind == Kind::Tensors)
    return refuseForgotten<T, sampleMember<T, index>()>();
  else
    return refuseUnknown<T, sampleMember<T, index>()>();
}
/// Refuses a struct with HEDDLE_FIELDS unless all its members are listed or plain.
template <typename T>
constexpr bool requireComplete() {
  if constexpr (HasPlain<T>) {
    return true;
  } else if constexpr (isOpen<T>()) {
    return []<size_t... I>(std::index_sequence<I...>) {
      return (requireMember<T, I>() && ...);
    }(std::make_index_sequence<std::tuple_size_v<MembersOf<T>>>());
  } else {
    static_assert(isNever<T>,
                  "a struct's members can't be enumerated, since it has a base, a constructor, "
                  "over 26 members, or private ones or ones that can't be copied: expected "
                  "HEDDLE_PLAIN(first, second) beside HEDDLE_FIELDS, with its plain members that "
                  "functions depend on");
    return true;
  }
}
} // namespace detail

} // namespace heddle

#endif // HEDDLE_FIELDS_H
