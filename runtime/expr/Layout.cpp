//===- Layout.cpp - the order of elements in memory -----------------------===//
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
#include <tuple>

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

//===----------------------------------------------------------------------===//
// Offsets
//===----------------------------------------------------------------------===//

/// The number of elements of a factor's merged names, including the border.
static int64_t mergedExtent(const Layout::Factor &factor, const Sizes &sizes) {
  int64_t extent = 1;
  for (const std::string &name : factor.names)
    extent *= sizes.find(name)->second;
  return extent + factor.low + factor.high;
}

std::vector<int64_t> Layout::extents(const Sizes &sizes) const {
  std::vector<int64_t> result;
  for (const Factor &factor : factors)
    result.push_back(factor.modulus
                         ? factor.modulus
                         : (mergedExtent(factor, sizes) + factor.divisor - 1) / factor.divisor);
  return result;
}

std::vector<Expr> Layout::extentsOver(const ExprMap &sizes) const {
  std::vector<Expr> result;
  for (const Factor &factor : factors) {
    Expr extent(1);
    for (const std::string &name : factor.names)
      extent = extent * sizes.find(name)->second;
    extent = (extent + Expr(factor.low + factor.high)).ceildiv(factor.divisor);
    result.push_back(factor.modulus ? Expr(factor.modulus) : extent);
  }
  return result;
}

std::vector<Expr> Layout::indices(const Sizes &sizes) const {
  return indicesOver(ExprMap(sizes.begin(), sizes.end()));
}

std::vector<Expr> Layout::indicesOver(const ExprMap &sizes) const {
  std::vector<Expr> result;
  Ranges ranges;
  for (const auto &[name, size] : sizes)
    if (auto known = size.constant())
      ranges[name] = {0, std::max<int64_t>(*known - 1, 0)};
  for (const Factor &factor : factors) {
    Expr index;
    for (const std::string &name : factor.names)
      index = index * sizes.find(name)->second + Expr::name(name);
    index = (index + Expr(factor.low)).floordiv(factor.divisor);
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
  if (swizzle.bits) {
    // A swizzle permutes within blocks of this many elements; the last block must be complete.
    int64_t block = int64_t(1) << (swizzle.base + swizzle.bits);
    count = (count + block - 1) / block * block;
  }
  return count;
}

Expr Layout::elementsOver(const ExprMap &sizes) const {
  Sizes known;
  for (const auto &[name, size] : sizes)
    if (auto number = size.constant())
      known[name] = *number;
  if (known.size() == sizes.size())
    return Expr(elements(known));
  Expr count(1);
  for (const Expr &extent : extentsOver(sizes))
    count = count * extent;
  int64_t block = int64_t(1) << (swizzle.bits ? swizzle.base + swizzle.bits : 0);
  return count.ceildiv(block) * Expr(block);
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
  int64_t offset = 0;
  std::vector<int64_t> counts = extents(sizes);
  for (size_t i = 0; i < factors.size(); ++i) {
    const Factor &factor = factors[i];
    int64_t index = 0;
    for (const std::string &name : factor.names)
      index = index * sizes.find(name)->second + position.find(name)->second;
    index = (index + factor.low) / factor.divisor;
    offset = offset * counts[i] + (factor.modulus ? index % factor.modulus : index);
  }
  if (swizzle.bits) {
    int64_t mask = ((int64_t(1) << swizzle.bits) - 1) << swizzle.base;
    offset ^= (offset >> swizzle.shift) & mask;
  }
  return offset;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static std::string groupText(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return names.size() == 1 ? text : "(" + text + ")";
}

/// A chain of factors covers each group of names from its most significant part down to step 1:
/// `floordiv 16` then `mod 16`, or `floordiv 64`, `floordiv 16 mod 4`, `mod 16`, at any positions
/// of the list.
static std::string verifyChain(const std::vector<std::string> &names,
                               std::vector<Layout::Factor> chain, const Sizes &sizes) {
  std::string group = "'" + groupText(names) + "'";
  std::sort(chain.begin(), chain.end(), [](const Layout::Factor &a, const Layout::Factor &b) {
    return std::tie(b.divisor, a.modulus, a.low, a.high) <
           std::tie(a.divisor, b.modulus, b.low, b.high);
  });
  int64_t extent = mergedExtent(chain[0], sizes);
  auto border = [](const Layout::Factor &factor) {
    return std::to_string(factor.low) + ", " + std::to_string(factor.high);
  };
  for (size_t i = 0; i < chain.size(); ++i) {
    const Layout::Factor &factor = chain[i];
    if (factor.low != chain[0].low || factor.high != chain[0].high)
      return "the factors of " + group + " have different borders: expected pad(" +
             border(chain[0]) + "), got pad(" + border(factor) + ")";
    __int128 reach = __int128(factor.divisor) * factor.modulus;
    if (i == 0) {
      if (factor.modulus && reach < extent)
        return "the layout does not give every element of " + group +
               " an offset of its own: expected its factors to distinguish " +
               std::to_string(extent) + " elements, they distinguish " +
               std::to_string(int64_t(reach));
    } else if (reach != chain[i - 1].divisor) {
      std::string block =
          factor.divisor == 1 ? "" : "floordiv " + std::to_string(factor.divisor) + " ";
      return "the factors of " + group + " do not continue one another: below 'floordiv " +
             std::to_string(chain[i - 1].divisor) + "' expected one that ends there, such as '" +
             block + "mod " + std::to_string(chain[i - 1].divisor / factor.divisor) + "', got '" +
             (reach ? block + "mod " + std::to_string(factor.modulus) : groupText(names)) + "'";
    }
  }
  if (chain.back().divisor != 1)
    return "the layout lacks '" + groupText(names) + " mod " +
           std::to_string(chain.back().divisor) + "'";
  return "";
}

std::string Layout::verifyAll(const ExprMap &sizes) const {
  Sizes known;
  for (const auto &[name, size] : sizes)
    known[name] = size.constant().value_or(1);
  for (const Factor &factor : factors)
    for (const std::string &name : factor.names) {
      auto size = sizes.find(name);
      if (size == sizes.end() || size->second.isConstant() || !factor.modulus)
        continue;
      bool outermost = std::none_of(factors.begin(), factors.end(), [&](const Factor &other) {
        return other.names == factor.names && other.divisor > factor.divisor;
      });
      if (outermost)
        return "the layout distinguishes only " + std::to_string(factor.divisor * factor.modulus) +
               " elements of '" + name + "', whose size is " + size->second.str();
    }
  return verify(known);
}

std::string Layout::verify(const Sizes &sizes) const {
  constexpr int64_t limit = int64_t(1) << 48; // elements; beyond any machine's memory
  std::map<std::vector<std::string>, std::vector<Factor>> chains;
  std::set<std::string> seen;
  __int128 logical = 1;
  for (const auto &[name, size] : sizes)
    if ((logical *= std::max<int64_t>(size, 1)) > limit)
      return "the sizes multiply to more than 2^48 elements at '" + name + "'";
  for (const Factor &factor : factors) {
    for (const std::string &name : factor.names)
      if (!sizes.count(name))
        return "the layout mentions '" + name + "', which the tensor does not have";
    if (factor.low > limit || factor.high > limit || factor.modulus > limit ||
        factor.divisor > limit)
      return "the layout has a number beyond 2^48 in a factor of '" + groupText(factor.names) + "'";
    chains[factor.names].push_back(factor);
  }
  for (const auto &[names, chain] : chains) {
    for (const std::string &name : names)
      if (!seen.insert(name).second)
        return "the layout has '" + name + "' in two different groups";
    if (std::string message = verifyChain(names, chain, sizes); !message.empty())
      return message;
  }
  for (const auto &[name, size] : sizes)
    if (!seen.count(name))
      return "the layout lacks '" + name + "'";
  __int128 padded = 1;
  for (int64_t extent : extents(sizes))
    if ((padded *= std::max<int64_t>(extent, 1)) > limit)
      return "the layout takes more than 2^48 elements with its padding";
  if (swizzle.bits && (swizzle.shift < 1 || swizzle.base + swizzle.bits > 40 || swizzle.shift > 40))
    return "the layout's swizzle mixes address bits with themselves: expected a shift of at least "
           "1 "
           "and at most 40 bits";
  return "";
}
