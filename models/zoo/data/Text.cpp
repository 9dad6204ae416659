//===- Text.cpp - fortunes as data ----------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "models/zoo/data/Text.h"

#include "heddle/nn/data/Combinators.h"
#include "heddle/nn/data/Text.h"
#include "models/zoo/data/Random.h"

#include <algorithm>
#include <filesystem>

using namespace heddle;
using namespace heddle::zoo;

std::string zoo::spaced(std::string_view text) {
  std::string result;
  for (char c : text) {
    bool isWord = isalnum(uint8_t(c)) || c == '\'' || uint8_t(c) >= 0x80;
    if (isWord)
      result += char(tolower(uint8_t(c)));
    else
      result += isspace(uint8_t(c)) ? std::string(" ") : std::string{' ', c, ' '};
  }
  result.erase(std::unique(result.begin(), result.end(),
                           [](char a, char b) { return a == ' ' && b == ' '; }),
               result.end());
  size_t begin = result.find_first_not_of(' '), end = result.find_last_not_of(' ');
  return begin == result.npos ? "" : result.substr(begin, end + 1 - begin);
}

//===----------------------------------------------------------------------===//
// Fortunes
//===----------------------------------------------------------------------===//

static constexpr std::string_view separator = "\n%\n";

/// The texts of a file, separated by lines of a percent sign.
static std::vector<std::string> textsOf(const std::string &file) {
  std::vector<std::string> texts;
  for (size_t begin = 0; begin < file.size();) {
    size_t end = std::min(file.find(separator, begin), file.size());
    std::string text = file.substr(begin, end - begin);
    if (!spaced(text).empty())
      texts.push_back(std::move(text));
    begin = end + separator.size();
  }
  return texts;
}

Fortunes zoo::readFortunes(const std::string &directory, Here here) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto &entry : std::filesystem::directory_iterator(directory, ignored))
    if (entry.is_regular_file() && !entry.is_symlink() && !entry.path().has_extension())
      names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  Fortunes all;
  int64_t count = 0;
  for (const std::string &name : names) {
    std::vector<std::string> texts = textsOf(nn::readText(directory + "/" + name, here));
    if (texts.size() < 20)
      continue;
    for (std::string &text : texts)
      (count++ % 10 == 9 ? all.test : all.train)
          .push_back({std::move(text), int32_t(all.files.size())});
    all.files.push_back(name);
  }
  if (all.files.empty())
    throw Error("there are no fortunes in '" + directory +
                    "'; install Debian's packages fortunes and fortunes-min",
                here);
  return all;
}

std::string Fortunes::text(bool isTest) const {
  std::string joined;
  for (const Fortune &fortune : isTest ? test : train)
    joined.append(fortune.text).append(separator);
  return joined;
}

/// The fortunes, read once.
static const Fortunes &fortunes() {
  static const Fortunes all = readFortunes();
  return all;
}

static nn::Fields windowExample(int64_t batch, int64_t classes, int64_t length) {
  return {{"token", randomTokens(1, classes, batch, {{Name("time"), length}})},
          {"next", randomTokens(2, classes, batch, {{Name("time"), length}})}};
}

static nn::DatasetPtr windowsOf(std::vector<int32_t> tokens, int64_t length) {
  try {
    return std::make_shared<nn::TextWindows>(std::move(tokens), length, 0, 0, Here());
  } catch (const Error &error) {
    throw Error(std::string("the texts of Debian's fortunes: ") + error.what());
  }
}

Data zoo::fortuneBytes(int64_t classes, int64_t length) {
  auto windows = [=](bool isTest) -> nn::DatasetPtr {
    std::vector<int32_t> tokens = nn::bytes(fortunes().text(isTest));
    for (int32_t &token : tokens)
      token %= int32_t(std::min<int64_t>(classes, 256));
    return windowsOf(std::move(tokens), length);
  };
  return {[=] { return windows(false); }, [=] { return windows(true); },
          [=](int64_t batch) { return windowExample(batch, classes, length); }};
}

static nn::DatasetPtr wordWindows(int64_t words, int64_t length, bool isTest) {
  nn::Vocabulary vocabulary(spaced(fortunes().text(false)), words - 1);
  return windowsOf(vocabulary(spaced(fortunes().text(isTest))), length);
}

Data zoo::fortuneWords(int64_t classes, int64_t length) {
  return {[=] { return wordWindows(classes, length, false); },
          [=] { return wordWindows(classes, length, true); },
          [=](int64_t batch) { return windowExample(batch, classes, length); }};
}

Data zoo::maskedFortunes(int64_t classes, int64_t length, int64_t masked) {
  auto windows = [=](bool isTest) {
    int32_t mask = int32_t(classes - 1);
    return nn::maskTokens(wordWindows(classes - 1, length, isTest),
                          {.count = masked, .mask = mask, .classes = mask, .seed = isTest});
  };
  return {[=] { return windows(false); }, [=] { return windows(true); },
          [=](int64_t batch) -> nn::Fields {
            Extent places{Name("masked"), masked};
            return {{"token", randomTokens(1, classes, batch, {{Name("time"), length}})},
                    {"place", randomTokens(2, length, batch, {places})},
                    {"label", randomTokens(3, classes, batch, {places})}};
          }};
}

Data zoo::fortuneFiles(int64_t words, int64_t longest, int64_t files) {
  auto texts = [=](bool isTest) {
    nn::Vocabulary vocabulary(spaced(fortunes().text(false)), words - 2);
    std::string joined;
    std::vector<int32_t> labels;
    for (const auto &[text, file] : isTest ? fortunes().test : fortunes().train) {
      if (file >= files)
        continue;
      joined += spaced(text) + "\n";
      labels.push_back(file);
    }
    auto numbered = [&](std::string_view line) { // 0 is padding
      std::vector<int32_t> tokens = vocabulary(line);
      for (int32_t &token : tokens)
        ++token;
      return tokens;
    };
    auto label =
        io::HostArray::of(std::span<const int32_t>(labels), {int64_t(labels.size())}, {"sample"});
    return nn::merge(
        {std::make_shared<nn::TextLines>(joined, numbered,
                                         nn::TextLinesOptions{.longest = longest}),
         std::make_shared<nn::Arrays>(
             std::vector<std::pair<std::string, io::HostArray>>{{"label", label}}, "sample")});
  };
  return {[=] { return texts(false); }, [=] { return texts(true); },
          [=](int64_t batch) -> nn::Fields {
            return {{"text", randomTokens(1, words, batch, {{Name("time"), longest}})},
                    {"text_length", randomLengths(2, longest, batch)},
                    {"label", randomTokens(3, files, batch, {})}};
          }};
}
