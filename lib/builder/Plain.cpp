//===- Plain.cpp - plain members as text, names of arguments --------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/Plain.h"

#include "heddle/Jit.h"

#include <charconv>

using namespace heddle;
using namespace heddle::detail;

/// Appends a number; of a float the shortest text that is parsed as the same number.
template <typename T>
static void append(std::string &text, T value) {
  char digits[128];
  text.append(digits, std::to_chars(digits, std::end(digits), value).ptr);
}
void detail::appendNumber(std::string &text, bool value) { text += value ? "true" : "false"; }
void detail::appendNumber(std::string &text, int64_t value) { append(text, value); }
void detail::appendNumber(std::string &text, uint64_t value) { append(text, value); }
void detail::appendNumber(std::string &text, float value) { append(text, value); }
void detail::appendNumber(std::string &text, double value) { append(text, value); }
void detail::appendNumber(std::string &text, long double value) { append(text, value); }

void detail::appendQuoted(std::string &text, std::string_view value) {
  text += '"';
  for (char c : value)
    (c == '"' || c == '\\' ? text += '\\' : text) += c;
  text += '"';
}

static std::string_view pathOf(const Leaf &leaf) { return leaf.path; }
static std::string_view pathOf(const PlainMembers::value_type &member) { return member.first; }

/// The name of the tensor or member at `path` of an argument: the path, prefixed by the argument's
/// name if one of the first `count` of `others` has the same path.
template <typename T>
static std::string nameOf(const std::string &argument, const std::string &path,
                          const std::vector<T> &others, size_t count) {
  bool taken = path.empty() || (path[0] >= '0' && path[0] <= '9');
  for (size_t i = 0; i < count && !taken; ++i)
    taken = pathOf(others[i]) == path;
  return !taken ? path : path.empty() ? argument : argument + "." + path;
}

void Inputs::add(const std::string &argument, std::vector<Leaf> ownLeaves, PlainMembers ownPlain) {
  size_t before = leaves.size();
  for (Leaf &leaf : ownLeaves) {
    leaf.path = nameOf(argument, leaf.path, leaves, before);
    leaves.push_back(std::move(leaf));
  }
  before = plain.size();
  for (auto &[path, text] : ownPlain)
    plain.emplace_back(nameOf(argument, path, plain, before), std::move(text));
}
