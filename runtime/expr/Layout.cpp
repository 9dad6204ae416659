//===- Layout.cpp - where the elements of a named tensor lie --------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/expr/Layout.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <set>

using namespace heddle;

Layout Layout::rowMajor(const std::vector<std::string> &names) {
  Layout layout;
  for (const std::string &name : names)
    layout.factors.push_back({{name}});
  return layout;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string Layout::str() const {
  std::string text = "[";
  for (const Factor &factor : factors) {
    if (text.size() > 1)
      text += ", ";
    std::string group;
    for (const std::string &name : factor.names)
      group += (group.empty() ? "" : ", ") + name;
    text += factor.names.size() == 1 ? group : "(" + group + ")";
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
    text += ", swizzle(" + std::to_string(swizzle.bits) + ", " + std::to_string(swizzle.base) + ", " +
            std::to_string(swizzle.shift) + ")";
  return text;
}

namespace {
class Reader {
public:
  Reader(std::string_view text) : text(text) {}
  std::string error;

  bool fail(const std::string &expected) {
    if (error.empty())
      error = "expected " + expected + " at column " + std::to_string(at + 1) + " of '" + std::string(text) + "'";
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
    while (end < text.size() && (isalnum((unsigned char)text[end]) || text[end] == '_' || text[end] == '$' ||
                                 text[end] == '.'))
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
  if (reader.eat("pad(") &&
      !(reader.integer(factor.low, 0) && reader.expect(",") && reader.integer(factor.high, 0) && reader.expect(")")))
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
      good = reader.integer(layout.swizzle.bits, 0) && reader.expect(",") && reader.integer(layout.swizzle.base, 0) &&
             reader.expect(",") && reader.integer(layout.swizzle.shift, 0) && reader.expect(")");
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

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// The merged index of a factor's names, border included, and its extent.
static std::pair<Expr, int64_t> mergedIndex(const Layout::Factor &factor, const Sizes &sizes) {
  Expr index;
  int64_t extent = 1;
  for (const std::string &name : factor.names) {
    int64_t size = sizes.find(name)->second;
    index = index * Expr(size) + Expr::name(name);
    extent *= size;
  }
  return {index + Expr(factor.low), extent + factor.low + factor.high};
}

std::vector<int64_t> Layout::extents(const Sizes &sizes) const {
  std::vector<int64_t> result;
  for (const Factor &factor : factors) {
    int64_t extent = mergedIndex(factor, sizes).second;
    extent = (extent + factor.divisor - 1) / factor.divisor;
    if (factor.modulus)
      extent = factor.modulus;
    result.push_back(extent);
  }
  return result;
}

std::vector<Expr> Layout::indices(const Sizes &sizes) const {
  std::vector<Expr> result;
  Ranges ranges;
  for (const auto &[name, size] : sizes)
    ranges[name] = {0, std::max<int64_t>(size - 1, 0)};
  for (const Factor &factor : factors) {
    Expr index = mergedIndex(factor, sizes).first.floordiv(factor.divisor);
    if (factor.modulus)
      index = index.mod(factor.modulus);
    result.push_back(index.simplify(ranges));
  }
  return result;
}

Expr Layout::address(const Sizes &sizes) const {
  Expr result;
  std::vector<int64_t> counts = extents(sizes);
  std::vector<Expr> index = indices(sizes);
  for (size_t i = 0; i < counts.size(); ++i)
    result = result * Expr(counts[i]) + index[i];
  return result;
}

int64_t Layout::elements(const Sizes &sizes) const {
  for (const auto &[name, size] : sizes)
    if (size == 0)
      return 0;
  int64_t count = 1;
  for (int64_t extent : extents(sizes))
    count *= extent;
  return count;
}

bool Layout::hasPadding(const Sizes &sizes) const {
  int64_t count = 1;
  for (const auto &[name, size] : sizes)
    count *= size;
  return elements(sizes) != count;
}

Layout Layout::rename(const std::map<std::string, std::string, std::less<>> &to) const {
  Layout result = *this;
  for (Factor &factor : result.factors)
    for (std::string &name : factor.names)
      if (auto found = to.find(name); found != to.end())
        name = found->second;
  return result;
}

int64_t Layout::offset(const Sizes &sizes, const Sizes &position) const {
  auto lookup = [&](const std::string &name) -> std::optional<int64_t> {
    auto found = position.find(name);
    return found == position.end() ? std::nullopt : std::optional<int64_t>(found->second);
  };
  int64_t place = *address(sizes).evaluate(lookup);
  if (swizzle.bits) {
    int64_t mask = ((int64_t(1) << swizzle.bits) - 1) << swizzle.base;
    place ^= (place >> swizzle.shift) & mask;
  }
  return place;
}

std::string Layout::verify(const Sizes &sizes) const {
  // Each group of names is covered by a chain of factors from its most significant part down to step 1:
  // `floordiv 16` then `mod 16`, or `floordiv 64`, `floordiv 16 mod 4`, `mod 16`, in any place of the list.
  std::map<std::vector<std::string>, std::vector<Factor>> chains;
  std::set<std::string> seen;
  for (const Factor &factor : factors) {
    for (const std::string &name : factor.names)
      if (!sizes.count(name))
        return "the layout mentions '" + name + "', which the tensor does not have";
    chains[factor.names].push_back(factor);
  }
  for (auto &[names, chain] : chains) {
    for (const std::string &name : names)
      if (!seen.insert(name).second)
        return "the layout has '" + name + "' in two different groups";
    std::sort(chain.begin(), chain.end(), [](const Factor &a, const Factor &b) { return a.divisor > b.divisor; });
    for (size_t i = 0; i < chain.size(); ++i) {
      if (chain[i].low != chain[0].low || chain[i].high != chain[0].high)
        return "the factors of '" + names[0] + "' have different borders";
      int64_t extent = mergedIndex(chain[i], sizes).second;
      int64_t above = i == 0 ? 0 : chain[i - 1].divisor;
      int64_t reach = chain[i].modulus == 0 ? 0 : chain[i].divisor * chain[i].modulus;
      bool covers = above == 0 ? reach == 0 || reach >= extent : reach == above;
      if (!covers)
        return "the layout does not give every element of '" + names[0] + "' a place of its own: expected factors that "
               "continue at " + std::to_string(above == 0 ? extent : above) + ", got " + std::to_string(reach);
    }
    if (chain.back().divisor != 1)
      return "the layout lacks '" + names[0] + " mod " + std::to_string(chain.back().divisor) + "'";
  }
  for (const auto &[name, size] : sizes)
    if (!seen.count(name))
      return "the layout lacks '" + name + "'";
  return "";
}
