//===- Text.h - datasets of text --------------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A text is a sequence of tokens: bytes, or words of a `Vocabulary`. Datasets read it in windows of
// one length, for language models, or line by line:
//
//     TextWindows windows(bytes(readText("verses.txt")), 128); // "token" and "next", {time: 128}
//     TextLines lines(readText("names.txt"), bytes);           // "text", {time: any}
//     Loader loader(lines, {.batch = 32, .shuffle = true, .similar = 10});
//
// or with masked tokens, for models such as BERT, or in pairs, for translation:
//
//     DatasetPtr blanks = maskTokens(windows, {.count = 19, .mask = 999, .classes = 999});
//     TextPairs pairs({{english("two cats"), french("deux chats")}}, {.begin = 1, .end = 2});
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_DATA_TEXT_H
#define HEDDLE_NN_DATA_TEXT_H

#include "heddle/nn/data/Dataset.h"

#include <functional>
#include <map>

namespace heddle::nn {

/// A file's contents. Throws Error that names the file if it can't be read or is empty.
std::string readText(const std::string &path, Here here = Here::current());

using Tokenizer = std::function<std::vector<int32_t>(std::string_view)>;
/// Each byte is a token, 0 to 255.
std::vector<int32_t> bytes(std::string_view text);

/// The words of a text, separated by white space, numbered by decreasing frequency from 1 on; words
/// of equal frequency are in alphabetical order. 0 stands for unknown words.
class Vocabulary {
public:
  /// Has at most `most` words, which occur at least `least` times.
  explicit Vocabulary(std::string_view text, int64_t most = INT32_MAX - 1, int64_t least = 1);
  /// The number of words, the unknown word included.
  int64_t size() const { return int64_t(words.size()); }
  std::vector<int32_t> operator()(std::string_view text) const;
  /// The word with a number; "?" for the unknown one. Throws Error for a number out of range.
  const std::string &word(int32_t token, Here here = Here::current()) const;

private:
  std::vector<std::string> words;
  std::map<std::string, int32_t, std::less<>> numbers;
};

/// Windows of `length` tokens that begin every `stride` tokens (0: `length`): fields "token", and
/// "next" with the token after each, both i32 {time}.
class TextWindows : public Dataset {
public:
  /// Throws Error for a length below 1 or a negative stride, for a text that has not more tokens
  /// than a window, and for a token outside [0, classes), unless `classes` is 0.
  TextWindows(std::vector<int32_t> tokens, int64_t length, int64_t stride = 0, int64_t classes = 0,
              Here here = Here::current());
  int64_t count() const override;
  std::vector<Field> fields() const override;
  Sample read(int64_t index) const override;

private:
  std::vector<int32_t> tokens;
  int64_t size, stride;
};

struct TextLinesOptions {
  int64_t longest = 0; ///< the tokens of a line to keep; 0: all
  std::string separator = "\n";
};

/// The non-empty lines of a text, or its parts between other separators: a field "text", i32 {time:
/// any}.
class TextLines : public Dataset {
public:
  /// Throws Error for a text without lines.
  TextLines(std::string_view text, const Tokenizer &tokenizer, const TextLinesOptions &options = {},
            Here here = Here::current());
  int64_t count() const override { return int64_t(lines.size()); }
  std::vector<Field> fields() const override;
  Sample read(int64_t index) const override;
  int64_t length(int64_t index) const override;

private:
  std::vector<std::vector<int32_t>> lines;
};

struct MaskOptions {
  int64_t count = 1;   ///< the number of masked positions of each sample
  int32_t mask = 0;    ///< the token that replaces others
  int64_t classes = 1; ///< random tokens are below this
  uint64_t seed = 1;
};
/// Masks tokens as BERT does (Devlin et al., 2019, section 3.1): of `count` random positions of
/// each sample 80 % get the mask, 10 % a random token, and the others keep theirs. Samples have the
/// field "token" of `data`, i32 {time}, with masked tokens; "place", i32 {masked}, the positions in
/// ascending order; and "label", i32 {masked}, the original tokens. A sample has the same mask in
/// each epoch. Throws Error if `data` has no such field, and for more positions than tokens.
DatasetPtr maskTokens(DatasetPtr data, const MaskOptions &options, Here here = Here::current());

struct PairOptions {
  int32_t begin = 1, end = 2; ///< tokens around the second text
};
/// Pairs of texts for translation: fields "source", i32 {from: any}, the first text; "token", i32
/// {time: any}, `begin` and the second text; and "next", i32 {time: any}, the second text and
/// `end`: the token after each of "token". A loader pads with 0, so 0 should not be a token.
class TextPairs : public Dataset {
public:
  using Pair = std::pair<std::vector<int32_t>, std::vector<int32_t>>;
  /// Throws Error for an empty list.
  explicit TextPairs(std::vector<Pair> pairs, const PairOptions &options = {},
                     Here here = Here::current());
  int64_t count() const override { return int64_t(pairs.size()); }
  std::vector<Field> fields() const override;
  Sample read(int64_t index) const override;
  /// The longer of the two.
  int64_t length(int64_t index) const override;

private:
  std::vector<Pair> pairs;
  PairOptions options;
};

} // namespace heddle::nn

#endif // HEDDLE_NN_DATA_TEXT_H
