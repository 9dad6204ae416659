//===- Text.cpp - datasets of text ----------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/data/Text.h"

#include "heddle/nn/data/Combinators.h"
#include "lib/support/io/File.h"

#include <algorithm>
#include <numeric>
#include <random>

using namespace heddle;
using namespace heddle::nn;

std::string nn::readText(const std::string &path, Here here) {
  return io::located(here, [&] {
    io::InputFile file(path);
    if (file.size() == 0)
      io::fail(path, "expected a text, got an empty file");
    std::string text(size_t(file.size()), 0);
    file.read(0, text.data(), file.size(), "the text");
    return text;
  });
}

std::vector<int32_t> nn::bytes(std::string_view text) {
  std::vector<int32_t> tokens;
  for (char c : text)
    tokens.push_back(uint8_t(c));
  return tokens;
}

/// Calls visit(word) for each word between white space.
template <typename V>
static void forEachWord(std::string_view text, V &&visit) {
  static constexpr const char *space = " \t\n\v\f\r";
  for (size_t begin = text.find_first_not_of(space); begin != text.npos;) {
    size_t end = std::min(text.find_first_of(space, begin), text.size());
    visit(text.substr(begin, end - begin));
    begin = text.find_first_not_of(space, end);
  }
}

Vocabulary::Vocabulary(std::string_view text, int64_t most, int64_t least) : words{"?"} {
  std::map<std::string, int64_t, std::less<>> counts;
  forEachWord(text, [&](std::string_view word) { ++counts[std::string(word)]; });
  std::vector<std::pair<int64_t, std::string>> sorted;
  for (const auto &[word, count] : counts)
    if (count >= least)
      sorted.emplace_back(-count, word);
  std::sort(sorted.begin(), sorted.end());
  sorted.resize(size_t(std::clamp<int64_t>(most, 0, int64_t(sorted.size()))));
  for (auto &[count, word] : sorted) {
    numbers.emplace(word, int32_t(words.size()));
    words.push_back(word);
  }
}

std::vector<int32_t> Vocabulary::operator()(std::string_view text) const {
  std::vector<int32_t> tokens;
  forEachWord(text, [&](std::string_view word) {
    auto found = numbers.find(word);
    tokens.push_back(found == numbers.end() ? 0 : found->second);
  });
  return tokens;
}

const std::string &Vocabulary::word(int32_t token, Here here) const {
  if (token < 0 || token >= size())
    throw Error("expected a word from 0 to " + std::to_string(size() - 1) + ", got " +
                    std::to_string(token),
                here);
  return words[size_t(token)];
}

//===----------------------------------------------------------------------===//
// Windows and lines
//===----------------------------------------------------------------------===//

TextWindows::TextWindows(std::vector<int32_t> given, int64_t length, int64_t givenStride,
                         int64_t classes, Here here)
    : tokens(std::move(given)), size(length), stride(givenStride ? givenStride : length) {
  if (size < 1 || stride < 1)
    throw Error("expected windows of at least one token, got a length of " + std::to_string(size) +
                    " and a stride of " + std::to_string(stride),
                here);
  if (int64_t(tokens.size()) <= size)
    throw Error("expected a text of more than " + std::to_string(size) + " tokens, got " +
                    std::to_string(tokens.size()),
                here);
  for (size_t i = 0; classes > 0 && i < tokens.size(); ++i)
    if (tokens[i] < 0 || tokens[i] >= classes)
      throw Error("expected tokens from 0 to " + std::to_string(classes - 1) + ", got " +
                      std::to_string(tokens[i]) + " at " + std::to_string(i),
                  here);
}

int64_t TextWindows::count() const { return (int64_t(tokens.size()) - 1 - size) / stride + 1; }

std::vector<Field> TextWindows::fields() const {
  return {{"token", ElementType::I32, {size}, {"time"}},
          {"next", ElementType::I32, {size}, {"time"}}};
}

Sample TextWindows::read(int64_t index) const {
  requireIndex(index);
  std::span<const int32_t> all(tokens);
  auto window = [&](int64_t begin) {
    return io::HostArray::of(all.subspan(size_t(begin), size_t(size)), {size});
  };
  return {window(index * stride), window(index * stride + 1)};
}

TextLines::TextLines(std::string_view text, const Tokenizer &tokenizer,
                     const TextLinesOptions &options, Here here) {
  if (!tokenizer)
    throw Error("expected a tokenizer, got an empty function", here);
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = options.separator.empty() ? text.npos : text.find(options.separator, begin);
    end = std::min(end, text.size());
    std::vector<int32_t> tokens = tokenizer(text.substr(begin, end - begin));
    if (options.longest > 0 && int64_t(tokens.size()) > options.longest)
      tokens.resize(size_t(options.longest));
    if (!tokens.empty())
      lines.push_back(std::move(tokens));
    begin = end + std::max<size_t>(options.separator.size(), 1);
  }
  if (lines.empty())
    throw Error("expected a text with at least one line, got " + std::to_string(text.size()) +
                    " bytes without",
                here);
}

std::vector<Field> TextLines::fields() const {
  return {{"text", ElementType::I32, {anySize}, {"time"}}};
}

int64_t TextLines::length(int64_t index) const {
  requireIndex(index);
  return int64_t(lines[size_t(index)].size());
}

Sample TextLines::read(int64_t index) const {
  requireIndex(index);
  const std::vector<int32_t> &line = lines[size_t(index)];
  return {io::HostArray::of(std::span<const int32_t>(line), {int64_t(line.size())})};
}

//===----------------------------------------------------------------------===//
// Masks and pairs
//===----------------------------------------------------------------------===//

DatasetPtr nn::maskTokens(DatasetPtr data, const MaskOptions &options, Here here) {
  std::vector<Field> fields = data->fields();
  auto found = std::find_if(fields.begin(), fields.end(),
                            [](const Field &field) { return field.name == "token"; });
  if (found == fields.end() || found->element != ElementType::I32 || found->shape.size() != 1 ||
      found->shape[0] < options.count || options.count < 1)
    throw Error("expected a field 'token', i32, of at least " + std::to_string(options.count) +
                    " tokens, and a token to hide, got " +
                    (found == fields.end() ? "no such field" : found->describe()),
                here);
  if (options.classes < 1)
    throw Error("expected at least one class for random tokens, got " +
                    std::to_string(options.classes),
                here);
  auto hide = [=, number = size_t(found - fields.begin())](Sample sample, int64_t index) -> Sample {
    io::HostArray tokens = std::move(sample[number]);
    std::span<int32_t> all = tokens.values<int32_t>();
    std::vector<int32_t> places(all.size()), labels;
    std::iota(places.begin(), places.end(), 0);
    // Its numbers are the same on all platforms.
    std::mt19937_64 random(options.seed * 0x9e3779b97f4a7c15ull + uint64_t(index));
    for (size_t i = 0; i < size_t(options.count); ++i)
      std::swap(places[i], places[i + random() % (places.size() - i)]);
    places.resize(size_t(options.count));
    std::sort(places.begin(), places.end());
    for (int32_t place : places) {
      int32_t &token = all[size_t(place)];
      labels.push_back(token);
      if (uint64_t chance = random() % 10; chance < 8)
        token = options.mask;
      else if (chance == 8)
        token = int32_t(random() % uint64_t(options.classes));
    }
    auto array = [&](const std::vector<int32_t> &values) {
      return io::HostArray::of(std::span<const int32_t>(values), {options.count});
    };
    return {std::move(tokens), array(places), array(labels)};
  };
  return transform(std::move(data), hide,
                   {*found,
                    {"place", ElementType::I32, {options.count}, {"masked"}},
                    {"label", ElementType::I32, {options.count}, {"masked"}}});
}

TextPairs::TextPairs(std::vector<Pair> given, const PairOptions &options, Here here)
    : pairs(std::move(given)), options(options) {
  if (pairs.empty())
    throw Error("expected at least one pair of texts, got none", here);
}

std::vector<Field> TextPairs::fields() const {
  return {{"source", ElementType::I32, {anySize}, {"from"}},
          {"token", ElementType::I32, {anySize}, {"time"}},
          {"next", ElementType::I32, {anySize}, {"time"}}};
}

Sample TextPairs::read(int64_t index) const {
  requireIndex(index);
  const auto &[source, target] = pairs[size_t(index)];
  std::vector<int32_t> token = target, next = target;
  token.insert(token.begin(), options.begin);
  next.push_back(options.end);
  auto array = [](const std::vector<int32_t> &values) {
    return io::HostArray::of(std::span<const int32_t>(values), {int64_t(values.size())});
  };
  return {array(source), array(token), array(next)};
}

int64_t TextPairs::length(int64_t index) const {
  requireIndex(index);
  const auto &[source, target] = pairs[size_t(index)];
  return int64_t(std::max(source.size(), target.size() + 1));
}
