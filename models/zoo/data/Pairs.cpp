//===- Pairs.cpp - verses and numbers in two languages --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/data/Text.h"
#include "models/zoo/data/Random.h"
#include "models/zoo/data/Text.h"

#include <algorithm>
#include <cstdio>

using namespace heddle;
using namespace heddle::zoo;

//===----------------------------------------------------------------------===//
// Pairs of sentences
//===----------------------------------------------------------------------===//

namespace {
/// Sentences in two languages, words with spaces between them.
struct Sentences {
  std::vector<std::pair<std::string, std::string>> train, test;
};
} // namespace

/// The words of a sentence, numbered after the four reserved numbers; 3 is any unknown word.
static std::vector<int32_t> numbered(const nn::Vocabulary &vocabulary, const std::string &text) {
  std::vector<int32_t> tokens = vocabulary(text);
  for (int32_t &token : tokens)
    token += 3;
  return tokens;
}

static nn::DatasetPtr pairsOf(const Sentences &sentences, int64_t words, int64_t longest,
                              bool isTest) {
  std::string sources, targets;
  for (const auto &[source, target] : sentences.train) {
    sources += source + "\n";
    targets += target + "\n";
  }
  nn::Vocabulary first(sources, words - 4), second(targets, words - 4);
  std::vector<nn::TextPairs::Pair> pairs;
  for (const auto &[source, target] : isTest ? sentences.test : sentences.train) {
    nn::TextPairs::Pair pair{numbered(first, source), numbered(second, target)};
    if (int64_t(pair.first.size()) <= longest && int64_t(pair.second.size()) < longest)
      pairs.push_back(std::move(pair));
  }
  return std::make_shared<nn::TextPairs>(std::move(pairs));
}

/// `sentences` reads or makes the sentences once; later calls return the same.
static Data pairData(const std::function<const Sentences &()> &sentences, int64_t words,
                     int64_t longest) {
  return {[=] { return pairsOf(sentences(), words, longest, false); },
          [=] { return pairsOf(sentences(), words, longest, true); },
          [=](int64_t batch) -> nn::Fields {
            return {{"source", randomTokens(1, words, batch, {{Name("from"), longest}})},
                    {"source_length", randomLengths(2, longest, batch)},
                    {"token", randomTokens(3, words, batch, {{Name("time"), longest}})},
                    {"next", randomTokens(4, words, batch, {{Name("time"), longest}})}};
          }};
}

//===----------------------------------------------------------------------===//
// Verses
//===----------------------------------------------------------------------===//

/// Returns the standard output of a command.
static std::string outputOf(const std::string &command) {
  std::string output;
  char part[4096];
  if (FILE *pipe = popen((command + " 2>/dev/null").c_str(), "r")) {
    while (size_t count = fread(part, 1, sizeof part, pipe))
      output.append(part, count);
    pclose(pipe);
  }
  return output;
}

/// The verses of a text with their references ("Genesis 1:1"), in order.
static std::vector<std::pair<std::string, std::string>> versesOf(const std::string &diatheke,
                                                                 const std::string &module,
                                                                 const std::string &package,
                                                                 Here here) {
  std::vector<std::pair<std::string, std::string>> result;
  std::string output = outputOf(diatheke + " -b " + module + " -f plain -k Genesis-Revelation");
  for (size_t begin = 0; begin < output.size();) {
    size_t end = std::min(output.find('\n', begin), output.size());
    std::string line = output.substr(begin, end - begin);
    begin = end + 1;
    size_t chapter = line.find(':'), text = line.find(": ", chapter + 1);
    if (chapter == line.npos || text == line.npos || !isdigit(uint8_t(line[text - 1])))
      continue; // a heading, or a verse's second paragraph
    static const std::string paragraph = "\u00b6";
    if (size_t mark = line.find(paragraph, text); mark != line.npos)
      line.erase(mark, paragraph.size());
    std::string words = spaced(line.substr(text + 2));
    if (!words.empty())
      result.emplace_back(line.substr(0, text), std::move(words));
  }
  if (result.empty())
    throw Error("'" + diatheke + "' prints no verse of '" + module +
                    "'; install Debian's packages diatheke and " + package,
                here);
  return result;
}

std::vector<Verse> zoo::readVerses(const std::string &diatheke, Here here) {
  std::map<std::string, std::string> spanish;
  for (auto &[place, text] : versesOf(diatheke, "spaRV1909eb", "sword-text-sparv", here))
    spanish.emplace(place, std::move(text));
  std::vector<Verse> verses;
  for (auto &[place, text] : versesOf(diatheke, "engKJV2006eb", "sword-text-kjv", here))
    if (auto found = spanish.find(place); found != spanish.end())
      verses.push_back({std::move(text), found->second});
  return verses;
}

static const Sentences &verseSentences() {
  static const Sentences all = [] {
    Sentences sentences;
    int64_t count = 0;
    for (const Verse &verse : readVerses())
      (count++ % 10 == 9 ? sentences.test : sentences.train)
          .emplace_back(verse.english, verse.spanish);
    return sentences;
  }();
  return all;
}

Data zoo::verses(int64_t words, int64_t longest) {
  return pairData(verseSentences, words, longest);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static std::string joined(const std::string &a, const std::string &b) {
  return a.empty() || b.empty() ? a + b : a + " " + b;
}

std::string zoo::inEnglish(int64_t number) {
  static const char *const small[] = {"zero",    "one",     "two",       "three",    "four",
                                      "five",    "six",     "seven",     "eight",    "nine",
                                      "ten",     "eleven",  "twelve",    "thirteen", "fourteen",
                                      "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
  static const char *const tens[] = {"",      "",      "twenty",  "thirty", "forty",
                                     "fifty", "sixty", "seventy", "eighty", "ninety"};
  if (number < 20)
    return small[number];
  if (number < 100)
    return joined(tens[number / 10], number % 10 ? small[number % 10] : "");
  int64_t unit = number < 1000 ? 100 : 1000, rest = number % unit;
  std::string text = inEnglish(number / unit) + (unit == 100 ? " hundred" : " thousand");
  if (rest == 0)
    return text;
  return text + (rest < 100 ? " and " : " ") + inEnglish(rest);
}

/// `isLast`: no word follows, so that "cent" and "quatre-vingt" take the plural.
static std::string french(int64_t number, bool isLast) {
  static const char *const small[] = {"zéro",  "un",     "deux",     "trois",  "quatre", "cinq",
                                      "six",   "sept",   "huit",     "neuf",   "dix",    "onze",
                                      "douze", "treize", "quatorze", "quinze", "seize"};
  static const char *const tens[] = {
      "",          "",         "vingt",    "trente",       "quarante",
      "cinquante", "soixante", "soixante", "quatre vingt", "quatre vingt"};
  if (number < 17)
    return small[number];
  if (number < 20)
    return joined("dix", small[number - 10]);
  if (number < 100) { // seventy is sixty and ten, ninety is four times twenty and ten
    int64_t ten = number / 10, rest = number % 10 + (ten == 7 || ten == 9 ? 10 : 0);
    if (number == 80)
      return isLast ? "quatre vingts" : "quatre vingt";
    bool hasAnd = ten < 8 && (rest == 1 || rest == 11);
    std::string text = joined(tens[ten], hasAnd ? "et" : "");
    return rest ? joined(text, french(rest, isLast)) : text;
  }
  int64_t unit = number < 1000 ? 100 : 1000, many = number / unit, rest = number % unit;
  std::string text = unit == 100 ? "cent" : "mille";
  if (many > 1)
    text = french(many, false) + " " + text + (unit == 100 && rest == 0 && isLast ? "s" : "");
  return rest ? joined(text, french(rest, isLast)) : text;
}

std::string zoo::inFrench(int64_t number) { return french(number, true); }

/// Random numbers with 1 to 6 digits. A tenth of the numbers is for tests; no number is in both
/// sets.
static Sentences numberSentences(int64_t count) {
  Sentences sentences;
  Random random(11);
  while (int64_t(sentences.train.size()) < count) {
    int64_t most = 10;
    for (int64_t more = random.below(6); more > 0; --more)
      most *= 10;
    int64_t number = random.below(most);
    bool isTest = Random(uint64_t(number)).below(10) == 9;
    auto &part = isTest ? sentences.test : sentences.train;
    if (!isTest || int64_t(part.size()) < std::max<int64_t>(count / 10, 1))
      part.emplace_back(inEnglish(number), inFrench(number));
  }
  return sentences;
}

Data zoo::numbers(int64_t words, int64_t longest, int64_t count) {
  return pairData(
      [count]() -> const Sentences & {
        static std::map<int64_t, Sentences> made;
        auto found = made.find(count);
        return found != made.end() ? found->second
                                   : made.emplace(count, numberSentences(count)).first->second;
      },
      words, longest);
}
