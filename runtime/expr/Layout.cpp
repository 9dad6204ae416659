//===- Layout.cpp - the order of elements in memory -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/expr/Layout.h"

#include <algorithm>

using namespace heddle;

Layout Layout::rowMajor(const std::vector<std::string> &names) {
  Layout layout;
  for (const std::string &name : names)
    layout.factors.push_back({{name}});
  return layout;
}

int64_t Layout::Factor::elements(const Sizes &sizes) const {
  int64_t count = 1;
  for (const std::string &name : names)
    count *= sizes.find(name)->second;
  return count + low + high;
}

std::vector<int64_t> Layout::extents(const Sizes &sizes) const {
  std::vector<int64_t> result;
  for (const Factor &factor : factors)
    result.push_back(factor.modulus
                         ? factor.modulus
                         : (factor.elements(sizes) + factor.divisor - 1) / factor.divisor);
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
