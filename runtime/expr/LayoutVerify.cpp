//===- LayoutVerify.cpp - layouts that give each element an offset --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/expr/Layout.h"

#include <algorithm>
#include <set>
#include <tuple>

using namespace heddle;

/// A chain of factors covers each group of names from its most significant part down to step 1:
/// `floordiv 16` then `mod 16`, or `floordiv 64`, `floordiv 16 mod 4`, `mod 16`, at any positions
/// of the list.
static std::string verifyChain(std::vector<Layout::Factor> chain, const Sizes &sizes) {
  std::string names = chain[0].namesText(), group = "'" + names + "'";
  std::sort(chain.begin(), chain.end(), [](const Layout::Factor &a, const Layout::Factor &b) {
    return std::tie(b.divisor, a.modulus, a.low, a.high) <
           std::tie(a.divisor, b.modulus, b.low, b.high);
  });
  int64_t extent = chain[0].elements(sizes);
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
             (reach ? block + "mod " + std::to_string(factor.modulus) : names) + "'";
    }
  }
  if (chain.back().divisor != 1)
    return "the layout lacks '" + names + " mod " + std::to_string(chain.back().divisor) + "'";
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
      return "the layout has a number beyond 2^48 in a factor of '" + factor.namesText() + "'";
    chains[factor.names].push_back(factor);
  }
  for (const auto &[names, chain] : chains) {
    for (const std::string &name : names)
      if (!seen.insert(name).second)
        return "the layout has '" + name + "' in two different groups";
    if (std::string message = verifyChain(chain, sizes); !message.empty())
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
           "1 and at most 40 bits";
  return "";
}
