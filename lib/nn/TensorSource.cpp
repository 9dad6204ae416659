//===- TensorSource.cpp - tensors from files of other programs ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorSource.h"

#include <charconv>
#include <sstream>

using namespace heddle;
using namespace heddle::nn;

/// Matches `path` with `pattern` and appends the texts that the stars match to `texts`; the first
/// star matches as little as possible.
static bool takeApart(std::string_view pattern, std::string_view path,
                      std::vector<std::string> &texts) {
  size_t star = pattern.find('*');
  if (star == pattern.npos)
    return pattern == path;
  if (path.substr(0, star) != pattern.substr(0, star))
    return false;
  path.remove_prefix(star);
  for (size_t length = 0; length <= path.size(); ++length) {
    texts.emplace_back(path.substr(0, length));
    if (takeApart(pattern.substr(star + 1), path.substr(length), texts))
      return true;
    texts.pop_back();
  }
  return false;
}

std::optional<std::string> nn::translated(const std::string &pattern, const std::string &path,
                                          const std::string &name) {
  std::vector<std::string> texts;
  if (!takeApart(pattern, path, texts))
    return std::nullopt;
  std::string result;
  size_t next = 0;
  for (char c : name)
    if (c == '*')
      result += next < texts.size() ? texts[next++] : "";
    else
      result += c;
  return result;
}

namespace {
/// A name of an axis: a dimension of the result, or a selected coordinate.
struct Factor {
  std::string name;
  int64_t size; ///< -1: the quotient of the axis and the other sizes
  int64_t chosen = -1;
};
} // namespace

/// The factors of an axis of size `whole`, with their sizes; none if they don't fit.
static std::optional<std::vector<Factor>> factorsOf(const std::string &axis, int64_t whole,
                                                    const Sizes &wanted) {
  std::vector<Factor> factors;
  std::istringstream words(axis);
  int64_t known = 1;
  Factor *open = nullptr;
  factors.reserve(axis.size() / 2 + 1);
  for (std::string word; words >> word;) {
    size_t equals = word.find('=');
    if (equals != word.npos) {
      int64_t chosen = -1;
      const char *number = word.data() + equals + 1, *end = word.data() + word.size();
      auto [stop, error] = std::from_chars(number, end, chosen);
      if (open || chosen < 0 || error != std::errc() || stop != end)
        return std::nullopt;
      open = &factors.emplace_back(word.substr(0, equals), -1, chosen);
      continue;
    }
    auto found = wanted.find(word);
    if (found == wanted.end())
      return std::nullopt;
    factors.push_back({word, found->second});
    known *= found->second;
  }
  if (open) {
    open->size = known > 0 && whole % known == 0 ? whole / known : 0;
    known *= open->size;
    if (open->chosen >= open->size)
      return std::nullopt;
  }
  return known == whole ? std::optional(factors) : std::nullopt;
}

Selection nn::select(const io::HostArray &array, const std::vector<std::string> &axes,
                     const Sizes &wanted) {
  Selection result;
  result.header.element = array.element;
  auto refuse = [&](const std::string &problem) {
    result.problem = "; " + problem;
    return result;
  };
  if (axes.size() != array.shape.size())
    return refuse("its " + std::to_string(array.shape.size()) + " axes have " +
                  std::to_string(axes.size()) + " names");
  int64_t stride = 1;
  Sizes covered;
  for (size_t i = axes.size(); i-- > 0;) {
    auto factors = factorsOf(axes[i], array.shape[i], wanted);
    if (!factors)
      return refuse("the axis '" + axes[i] + "' of size " + std::to_string(array.shape[i]) +
                    " does not fit");
    for (size_t j = factors->size(); j-- > 0;) {
      const Factor &factor = (*factors)[j];
      if (factor.chosen >= 0) {
        result.offset += factor.chosen * stride;
      } else {
        if (!covered.emplace(factor.name, factor.size).second)
          return refuse("the name '" + factor.name + "' occurs twice");
        result.header.names.insert(result.header.names.begin(), factor.name);
        result.header.shape.insert(result.header.shape.begin(), factor.size);
        result.strides.insert(result.strides.begin(), stride);
      }
      stride *= factor.size;
    }
  }
  for (const auto &[name, size] : wanted)
    if (!covered.contains(name))
      return refuse("no axis is called '" + name + "'");
  return result;
}

io::HostArray nn::selected(io::HostArray array, const Selection &selection) {
  const io::HostArray &header = selection.header;
  if (header.count() == array.count()) { // the whole array, only split
    array.shape = header.shape;
    array.names = header.names;
    return array;
  }
  auto result = io::HostArray::zeros(array.element, header.shape, header.names, Here());
  size_t bytes = size_t(byteSize(array.element)), rank = header.shape.size();
  std::vector<int64_t> at(rank, 0);
  for (std::byte *to = result.bytes.data(), *end = to + result.bytes.size(); to < end;
       to += bytes) {
    int64_t from = selection.offset;
    for (size_t i = 0; i < rank; ++i)
      from += at[i] * selection.strides[i];
    std::memcpy(to, array.bytes.data() + size_t(from) * bytes, bytes);
    for (size_t i = rank; i-- > 0 && ++at[i] == header.shape[i];)
      at[i] = 0;
  }
  return result;
}
