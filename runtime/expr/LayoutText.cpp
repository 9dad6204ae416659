//===- LayoutText.cpp - layouts as text -----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/expr/Layout.h"

#include <charconv>

using namespace heddle;

std::string Layout::Factor::namesText() const {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return names.size() == 1 ? text : "(" + text + ")";
}

std::string Layout::str() const {
  std::string text = "[";
  for (const Factor &factor : factors) {
    if (text.size() > 1)
      text += ", ";
    text += factor.namesText();
    if (factor.low || factor.high)
      text += " pad(" + std::to_string(factor.low) + ", " + std::to_string(factor.high) + ")";
    if (factor.divisor != 1)
      text += " floordiv " + std::to_string(factor.divisor);
    if (factor.modulus != 0)
      text += " mod " + std::to_string(factor.modulus);
  }
  text += "]";
  if (alignment != Layout().alignment)
    text += ", align " + std::to_string(alignment);
  if (zeroPadded)
    text += ", zero_padded";
  if (swizzle != Swizzle())
    text += ", swizzle(" + std::to_string(swizzle.bits) + ", " + std::to_string(swizzle.base) +
            ", " + std::to_string(swizzle.shift) + ")";
  return text;
}

namespace {
class Reader {
public:
  Reader(std::string_view text) : text(text) {}
  std::string error;

  bool fail(const std::string &expected) {
    std::string_view rest = text.substr(at), part = rest.substr(0, rest.find_first_of(",)] \n", 1));
    if (error.empty())
      error = "expected " + expected + " at column " + std::to_string(at + 1) +
              " of the layout, got " + (rest.empty() ? "its end" : "'" + std::string(part) + "'");
    return false;
  }
  void skip() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n'))
      ++at;
  }
  bool peek(std::string_view token) {
    skip();
    return text.substr(at, token.size()) == token;
  }
  bool eat(std::string_view token) {
    if (!peek(token))
      return false;
    at += token.size();
    return true;
  }
  bool expect(std::string_view token) { return eat(token) || fail("'" + std::string(token) + "'"); }
  bool atEnd() {
    skip();
    return at == text.size();
  }
  bool name(std::string &result) {
    skip();
    size_t end = at;
    while (end < text.size() && (isalnum((unsigned char)text[end]) || text[end] == '_' ||
                                 text[end] == '$' || text[end] == '.'))
      ++end;
    result = text.substr(at, end - at);
    if (!isValidName(result))
      return fail("a name");
    at = end;
    return true;
  }
  bool integer(int64_t &result, int64_t least) {
    skip();
    auto [end, failure] = std::from_chars(text.data() + at, text.data() + text.size(), result);
    if (failure != std::errc() || result < least)
      return fail("an integer of at least " + std::to_string(least));
    at = size_t(end - text.data());
    return true;
  }

private:
  std::string_view text;
  size_t at = 0;
};
} // namespace

static bool parseFactor(Reader &reader, Layout::Factor &factor) {
  if (reader.eat("(")) {
    do {
      if (!reader.name(factor.names.emplace_back()))
        return false;
    } while (reader.eat(","));
    if (!reader.expect(")"))
      return false;
  } else if (!reader.name(factor.names.emplace_back())) {
    return false;
  }
  if (reader.eat("pad(") && !(reader.integer(factor.low, 0) && reader.expect(",") &&
                              reader.integer(factor.high, 0) && reader.expect(")")))
    return false;
  if (reader.eat("floordiv ") && !reader.integer(factor.divisor, 1))
    return false;
  return !reader.eat("mod ") || reader.integer(factor.modulus, 1);
}

std::optional<Layout> Layout::parse(std::string_view text, std::string *error) {
  Reader reader(text);
  Layout layout;
  bool good = reader.expect("[");
  if (good && !reader.eat("]")) {
    do
      good = parseFactor(reader, layout.factors.emplace_back());
    while (good && reader.eat(","));
    good = good && reader.expect("]");
  }
  while (good && reader.eat(",")) {
    if (reader.eat("align"))
      good = reader.integer(layout.alignment, 1);
    else if (reader.eat("zero_padded"))
      layout.zeroPadded = true;
    else if (reader.eat("swizzle("))
      good = reader.integer(layout.swizzle.bits, 0) && reader.expect(",") &&
             reader.integer(layout.swizzle.base, 0) && reader.expect(",") &&
             reader.integer(layout.swizzle.shift, 0) && reader.expect(")");
    else
      good = reader.fail("'align', 'zero_padded' or 'swizzle('");
  }
  if (good && !reader.atEnd())
    good = reader.fail("the end of the layout");
  if (good && (layout.alignment & (layout.alignment - 1)))
    good = reader.fail("an alignment that is a power of two");
  if (good)
    return layout;
  if (error)
    *error = reader.error;
  return std::nullopt;
}
