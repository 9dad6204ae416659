//===- DataTest.cpp - the data of the models ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/data/Loader.h"
#include "models/zoo/data/Made.h"
#include "models/zoo/data/Text.h"
#include "test/unit/Refused.h"
#include "test/unit/support/io/Files.h"

#include <cmath>
#include <set>

using namespace heddle;
using namespace heddle::test;

namespace {
template <typename T>
std::vector<T> valuesOf(const io::HostArray &array) {
  auto all = array.values<T>();
  return {all.begin(), all.end()};
}
using Numbers = std::vector<int32_t>;

/// Data sets have samples of the types that they state, and an example has the same fields.
void expectConsistent(const zoo::Data &data) {
  for (const nn::DatasetPtr &part : {data.train(), data.test()}) {
    ASSERT_GT(part->count(), 0);
    nn::Loader loader(*part, {.batch = 2}); // checks types
    ASSERT_TRUE(loader.next());
  }
  nn::Fields example = data.example(2);
  for (const nn::Field &field : data.train()->fields()) {
    ASSERT_TRUE(example.contains(field.name)) << field.name;
    std::vector<std::string> names = field.names;
    names.push_back("batch");
    std::sort(names.begin(), names.end());
    Names got = example[field.name].names();
    EXPECT_EQ(std::vector<std::string>(got.begin(), got.end()), names) << field.name;
    EXPECT_EQ(example[field.name].elementType(), field.element) << field.name;
  }
}
} // namespace

TEST(ZooData, SpacedWords) {
  EXPECT_EQ(zoo::spaced("  Don't\tGO!\n(1 of 2) "), "don't go ! ( 1 of 2 )");
  EXPECT_EQ(zoo::spaced("\xc3\xa9t\xc3\xa9."), "\xc3\xa9t\xc3\xa9 .");
  EXPECT_EQ(zoo::spaced(" \n"), "");
}

//===----------------------------------------------------------------------===//
// Fortunes
//===----------------------------------------------------------------------===//

TEST(ZooData, EveryTenthFortuneIsForTests) {
  TemporaryDirectory directory;
  std::string many, few;
  for (int i = 0; i < 25; ++i)
    many += "text " + std::to_string(i) + "\n%\n";
  directory.write("b", many);
  directory.write("a", many + " \n%\nlast"); // an empty one; no line at the end
  directory.write("few", "one\n%\ntwo\n%\n");
  directory.write("a.dat", many);
  zoo::Fortunes all = zoo::readFortunes(directory.path.string());
  EXPECT_EQ(all.files, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(all.test.size(), 5u);
  EXPECT_EQ(all.train.size(), 46u);
  EXPECT_EQ(all.test[0].text, "text 9");
  EXPECT_EQ(all.train[23].text, "last"); // number 25 of the first file's 26
  EXPECT_EQ(all.test[2].text, "text 3"); // number 29 of all
  EXPECT_EQ(all.test[2].file, 1);
  EXPECT_EQ(all.text(true).substr(0, 14), "text 9\n%\ntext ");
  refused([&] { zoo::readFortunes(directory / "none"); },
          {"none", "install Debian's packages fortunes and fortunes-min"});
}

TEST(ZooData, InstalledFortunes) {
  zoo::Fortunes all = zoo::readFortunes();
  EXPECT_EQ(all.files.size(), 40u);
  EXPECT_GT(all.text(false).size(), 2'000'000u);
  expectConsistent(zoo::fortuneBytes(256, 128));
  expectConsistent(zoo::fortuneWords(1000, 20));
  expectConsistent(zoo::maskedFortunes(1000, 20, 3));
  expectConsistent(zoo::fortuneFiles(1000, 20));
  // Bytes of the first file, which is called art.
  nn::Sample first = zoo::fortuneBytes(256, 5).train()->read(0);
  std::string text = all.train[0].text;
  EXPECT_EQ(valuesOf<int32_t>(first[0]), Numbers(text.begin(), text.begin() + 5));
  EXPECT_EQ(valuesOf<int32_t>(first[1]), Numbers(text.begin() + 1, text.begin() + 6));
  // The most frequent word has the number 1, and in padded texts 2.
  nn::DatasetPtr kinds = zoo::fortuneFiles(1000, 20).test();
  EXPECT_EQ(kinds->count(), int64_t(all.test.size()));
  EXPECT_EQ(valuesOf<int32_t>(kinds->read(kinds->count() - 1)[1]), Numbers{39});
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

TEST(ZooData, NumbersInWords) {
  EXPECT_EQ(zoo::inEnglish(0), "zero");
  EXPECT_EQ(zoo::inEnglish(13), "thirteen");
  EXPECT_EQ(zoo::inEnglish(40), "forty");
  EXPECT_EQ(zoo::inEnglish(100), "one hundred");
  EXPECT_EQ(zoo::inEnglish(342), "three hundred and forty two");
  EXPECT_EQ(zoo::inEnglish(21006), "twenty one thousand and six");
  EXPECT_EQ(zoo::inEnglish(999100), "nine hundred and ninety nine thousand one hundred");
  EXPECT_EQ(zoo::inFrench(0), "z\xc3\xa9ro");
  EXPECT_EQ(zoo::inFrench(17), "dix sept");
  EXPECT_EQ(zoo::inFrench(21), "vingt et un");
  EXPECT_EQ(zoo::inFrench(70), "soixante dix");
  EXPECT_EQ(zoo::inFrench(71), "soixante et onze");
  EXPECT_EQ(zoo::inFrench(79), "soixante dix neuf");
  EXPECT_EQ(zoo::inFrench(80), "quatre vingts");
  EXPECT_EQ(zoo::inFrench(81), "quatre vingt un");
  EXPECT_EQ(zoo::inFrench(91), "quatre vingt onze");
  EXPECT_EQ(zoo::inFrench(100), "cent");
  EXPECT_EQ(zoo::inFrench(200), "deux cents");
  EXPECT_EQ(zoo::inFrench(201), "deux cent un");
  EXPECT_EQ(zoo::inFrench(1000), "mille");
  EXPECT_EQ(zoo::inFrench(80000), "quatre vingt mille");
  EXPECT_EQ(zoo::inFrench(200000), "deux cent mille");
  EXPECT_EQ(zoo::inFrench(777777), "sept cent soixante dix sept mille sept cent soixante dix sept");
}

TEST(ZooData, NumbersForTestsAreOthers) {
  zoo::Data data = zoo::numbers(48, 16, 2000);
  expectConsistent(data);
  auto sourcesOf = [](const nn::Dataset &part) {
    std::set<Numbers> sources;
    for (int64_t i = 0; i < part.count(); ++i) {
      nn::Sample sample = part.read(i);
      Numbers source = valuesOf<int32_t>(sample[0]), token = valuesOf<int32_t>(sample[1]);
      Numbers next = valuesOf<int32_t>(sample[2]);
      EXPECT_EQ(token.front(), 1); // the beginning
      EXPECT_EQ(next.back(), 2);   // the end
      EXPECT_EQ(Numbers(token.begin() + 1, token.end()), Numbers(next.begin(), next.end() - 1));
      for (int32_t word : source) { // all words are known
        EXPECT_GT(word, 3);
        EXPECT_LT(word, 48);
      }
      sources.insert(source);
    }
    return sources;
  };
  nn::DatasetPtr train = data.train(), test = data.test();
  EXPECT_EQ(train->count(), 2000);
  std::set<Numbers> seen = sourcesOf(*train);
  EXPECT_GT(test->count(), 100);
  for (const Numbers &source : sourcesOf(*test))
    EXPECT_FALSE(seen.contains(source));
}

TEST(ZooData, VersesAreWhatDiathekePrints) {
  TemporaryDirectory directory;
  std::string path = directory.write("diatheke", R"(#!/bin/sh
case $2 in
engKJV2006eb) printf 'Genesis 1:1: \302\266 In the beginning.\nGenesis 1:2: And: so\n\nJohn 3:16: For God\n(engKJV2006eb)\n' ;;
spaRV1909eb) printf 'Genesis 1:1: EN el principio\nJohn 3:16: Porque\nJohn 3:17: No\n' ;;
esac
)");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  std::vector<zoo::Verse> verses = zoo::readVerses(path);
  ASSERT_EQ(verses.size(), 2u);
  EXPECT_EQ(verses[0].english, "in the beginning .");
  EXPECT_EQ(verses[0].spanish, "en el principio");
  EXPECT_EQ(verses[1].spanish, "porque");
  std::string half =
      directory.write("half", "#!/bin/sh\n[ $2 = spaRV1909eb ] && echo 'A 1:1: b'\n");
  std::filesystem::permissions(half, std::filesystem::perms::owner_all);
  refused([&] { zoo::readVerses(half); },
          {"no verse of 'engKJV2006eb'", "packages diatheke and sword-text-kjv"});
  refused([&] { zoo::readVerses(directory / "none"); }, {"diatheke and sword-text-sparv"});
}

//===----------------------------------------------------------------------===//
// Made data
//===----------------------------------------------------------------------===//

TEST(ZooData, SpeechWithoutNoiseIsAStraightLineForEachToken) {
  zoo::SpeechOptions options{.tokens = 5, .bands = 3, .frames = 60, .noise = 0, .count = 40};
  zoo::Data data = zoo::speech(options);
  expectConsistent(data);
  nn::DatasetPtr train = data.train();
  std::map<int32_t, std::vector<float>> first; // of each token's sound
  for (int64_t i = 0; i < train->count(); ++i) {
    nn::Sample sample = train->read(i);
    Numbers text = valuesOf<int32_t>(sample[1]);
    std::vector<float> frames = valuesOf<float>(sample[0]);
    ASSERT_GE(text.size(), 4u);
    ASSERT_LE(text.size(), 12u);
    ASSERT_LE(sample[0].shape[0], 60);
    ASSERT_GE(sample[0].shape[0], int64_t(4 * text.size()));
    ASSERT_LE(sample[0].shape[0], int64_t(7 * text.size()));
    for (int32_t token : text)
      ASSERT_TRUE(token >= 1 && token < 5) << token;
    std::vector<float> start(frames.begin(), frames.begin() + 3);
    auto known = first.emplace(text[0], start).first->second;
    EXPECT_EQ(start, known);
    for (int band = 0; band < 3; ++band) // of the first token there are at least four frames
      EXPECT_NEAR(frames[band] - frames[band + 3], frames[band + 3] - frames[band + 6], 1e-5);
  }
  EXPECT_EQ(first.size(), 4u);
}

TEST(ZooData, SamplesDependOnTheirNumberAlone) {
  zoo::Data data = zoo::speech({.count = 30});
  nn::Sample early = data.train()->read(7), again = data.train()->read(7);
  EXPECT_EQ(early[0], again[0]);
  EXPECT_NE(early[0], data.train()->read(8)[0]);
  EXPECT_NE(data.train()->read(0)[0], data.test()->read(0)[0]);
  EXPECT_EQ(zoo::speech({.count = 7}).test()->read(0)[0], early[0]); // after the training samples
}

TEST(ZooData, MostNeighboursAreAlike) {
  zoo::CitationOptions options{.nodes = 50, .count = 20};
  zoo::Data data = zoo::citations(options);
  expectConsistent(data);
  double alike = 0, all = 0, hinted = 0, words = 0;
  for (int64_t i = 0; i < 20; ++i) {
    nn::Sample sample = data.train()->read(i);
    std::vector<float> bits = valuesOf<float>(sample[0]);
    Numbers neighbour = valuesOf<int32_t>(sample[1]), degree = valuesOf<int32_t>(sample[2]);
    Numbers label = valuesOf<int32_t>(sample[3]);
    for (size_t node = 0; node < 50; ++node) {
      ASSERT_TRUE(label[node] >= 0 && label[node] < 5);
      ASSERT_TRUE(degree[node] >= 1 && degree[node] <= 8);
      EXPECT_EQ(neighbour[node * 8], int32_t(node));
      for (size_t slot = 1; slot < size_t(degree[node]); ++slot, ++all)
        alike += label[size_t(neighbour[node * 8 + slot])] == label[node];
      for (size_t word = 0; word < 48; ++word)
        if (int32_t(word % 5) == label[node])
          hinted += bits[node * 48 + word], ++words;
    }
  }
  EXPECT_NEAR(alike / all, 0.7 + 0.3 / 5, 0.03);
  EXPECT_NEAR(hinted / words, 0.3, 0.03);
}

TEST(ZooData, ClicksFollowTheirLaw) {
  zoo::Data data = zoo::clicks({.count = 4000});
  expectConsistent(data);
  std::map<int32_t, int> rows;
  double clicked = 0;
  for (int64_t i = 0; i < 4000; ++i) {
    nn::Sample sample = data.train()->read(i);
    for (int32_t row : valuesOf<int32_t>(sample[1]))
      ++rows[row];
    clicked += valuesOf<float>(sample[2])[0];
  }
  EXPECT_EQ(rows.begin()->first, 0);
  EXPECT_LE(rows.rbegin()->first, 99);
  EXPECT_NEAR(rows[0] / (4000.0 * 26), std::sqrt(0.01), 0.005); // place^2 < 1 / 100
  EXPECT_GT(clicked / 4000, 0.2);
  EXPECT_LT(clicked / 4000, 0.5);
}
