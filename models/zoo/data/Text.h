//===- Text.h - fortunes, verses and numbers --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Texts from Debian packages, and generated texts, as the data of models:
//
//     zoo::Data data = zoo::fortuneBytes(256, 128);         // "token" and "next", i32 {time: 128}
//     nn::Loader loader(*data.train(), {.batch = 32, .shuffle = true});
//
// Every tenth text is for tests. Words are in lower case, and a punctuation mark is a word;
// vocabularies are those of the training texts. Throws Error that names the package if one is
// missing.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_MODELS_ZOO_DATA_TEXT_H
#define HEDDLE_MODELS_ZOO_DATA_TEXT_H

#include "models/zoo/Zoo.h"

namespace heddle::zoo {

/// Lower-case words and punctuation marks, separated by spaces: "Don't go!" becomes "don't go !".
std::string spaced(std::string_view text);

/// Short texts, grouped by file.
struct Fortunes {
  struct Fortune {
    std::string text;
    int32_t file;
  };
  std::vector<std::string> files; ///< their names, in alphabetical order
  std::vector<Fortune> train, test;
  /// All training or test texts, separated by the lines that separate them in the files.
  std::string text(bool isTest) const;
};
/// The files of Debian's packages fortunes and fortunes-min with at least 20 texts (40 files, 2.5
/// MB). Throws Error that names the packages if there are none in the directory.
Fortunes readFortunes(const std::string &directory = "/usr/share/games/fortunes",
                      Here here = Here::current());

/// Fields "token" and "next", i32 {time}, of all fortunes: bytes modulo `classes`, or the `classes`
/// - 1 most frequent words with 0 for all others.
Data fortuneBytes(int64_t classes, int64_t length);
Data fortuneWords(int64_t classes, int64_t length);
/// Windows of words, `masked` of which are replaced by the word `classes` - 1 (nn::maskTokens):
/// fields "token", i32 {time}, "place" and "label", i32 {masked}.
Data maskedFortunes(int64_t classes, int64_t length, int64_t masked);
/// Fields "text", i32 {time: any}, at most `longest` words of a fortune, padded by 0, and "label",
/// i32, the index of its file; of the first `files` files.
Data fortuneFiles(int64_t words, int64_t longest, int64_t files = 40);

/// A verse in two languages.
struct Verse {
  std::string english, spanish;
};
/// The verses that Debian's packages sword-text-kjv (1769) and sword-text-sparv (Reina-Valera,
/// 1909) both have, in order, as the program `diatheke` prints them. Throws Error that names the
/// package if the program or a text is missing.
std::vector<Verse> readVerses(const std::string &diatheke = "diatheke",
                              Here here = Here::current());
/// Fields "source", i32 {from: any}, "token" and "next", i32 {time: any}: nn::TextPairs of the
/// verses with at most `longest` words in both languages (fewer by one for "token"); of each
/// language the `words` - 4 most frequent words. 0 is padding, 1 and 2 begin and end a text, 3 is
/// any unknown word.
Data verses(int64_t words, int64_t longest);

/// A number from 0 to 999,999 in words, separated by spaces: "twenty one thousand and six"; "vingt
/// et un mille six" (the French spelling of 1990 has hyphens instead).
std::string inEnglish(int64_t number);
std::string inFrench(int64_t number);
/// `count` random numbers of random length in English and French, with the fields of `verses`; no
/// number is in both the training and the test samples.
Data numbers(int64_t words, int64_t longest, int64_t count);

} // namespace heddle::zoo

#endif // HEDDLE_MODELS_ZOO_DATA_TEXT_H
