//===- DatasetsTest.cpp - arrays, combinators, text, records --------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/data/Combinators.h"
#include "heddle/nn/data/Loader.h"
#include "heddle/nn/data/Records.h"
#include "heddle/nn/data/Text.h"
#include "test/unit/Refused.h"
#include "test/unit/support/io/Files.h"

using namespace heddle;
using namespace heddle::nn;
using namespace heddle::test;

namespace {
/// A field "x" with the numbers from `first` on.
DatasetPtr ramp(int32_t first, int64_t count, const std::string &field = "x") {
  auto array = io::HostArray::zeros(ElementType::I32, {count}, {"sample"});
  for (int32_t &value : array.values<int32_t>())
    value = first++;
  return std::make_shared<Arrays>(
      std::vector<std::pair<std::string, io::HostArray>>{{field, array}}, "sample");
}
std::vector<int32_t> valuesOf(const Dataset &data, size_t field = 0) {
  std::vector<int32_t> values;
  for (int64_t i = 0; i < data.count(); ++i) {
    Sample sample = data.read(i);
    for (int32_t value : sample.at(field).values<int32_t>())
      values.push_back(value);
  }
  return values;
}
using Values = std::vector<int32_t>;
} // namespace

TEST(Arrays, SamplesLieAlongANamedAxis) {
  auto pairs = io::HostArray::of<int32_t>({1, 2, 3, 4, 5, 6}, {2, 3}, {"side", "sample"});
  auto labels = io::HostArray::of<int32_t>({7, 8, 9}, {3}, {"sample"});
  Arrays data({{"pair", pairs}, {"label", labels}}, "sample");
  EXPECT_EQ(data.count(), 3);
  EXPECT_EQ(data.fields()[0].describe(), "pair: i32 [side: 2]");
  EXPECT_EQ(valuesOf(data), (Values{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(valuesOf(data, 1), (Values{7, 8, 9}));
  refused([&] { Arrays({{"pair", pairs}}, "batch"); }, {"'pair'", "axis 'batch'", "side: 2"});
  refused([&] { Arrays({{"label", labels}, {"pair", pairs}}, "side"); }, {"'label'"});
  auto four = io::HostArray::zeros(ElementType::F32, {4}, {"sample"});
  refused([&] { Arrays({{"pair", pairs}, {"x", four}}, "sample"); },
          {"3 samples in 'x', as in 'pair'", "sample: 4"});
  refused([] { Arrays({}, "sample"); }, {"at least one array"});
}

TEST(Combinators, ConcatMergeSpanSubset) {
  auto all = concat({ramp(0, 3), ramp(10, 0), ramp(20, 2)});
  EXPECT_EQ(valuesOf(*all), (Values{0, 1, 2, 20, 21}));
  auto both = merge({all, ramp(5, 5, "y")});
  EXPECT_EQ(both->fields()[1].name, "y");
  EXPECT_EQ(valuesOf(*both, 1), (Values{5, 6, 7, 8, 9}));
  EXPECT_EQ(valuesOf(*span(all, 2, 2)), (Values{2, 20}));
  EXPECT_EQ(span(all, 5, 0)->count(), 0);
  EXPECT_EQ(valuesOf(*subset(all, {4, 0, 0})), (Values{21, 0, 0}));
  refused([] { concat({}); }, {"at least one dataset"});
  refused([&] { concat({all, ramp(0, 1, "y")}); }, {"same fields", "{x: i32 []}", "{y: i32 []}"});
  refused([&] { merge({all, ramp(0, 4, "y")}); }, {"as many samples, got 5 and 4"});
  refused([&] { merge({all, ramp(0, 5)}); }, {"'x' twice"});
  refused([&] { span(all, 3, 3); }, {"5 samples", "3 from 3"});
  refused([&] { span(all, -1, 3); }, {"from -1"});
  refused([&] { subset(all, {5}); }, {"0 to 4, got 5"});
  for (const DatasetPtr &data : {all, span(all, 1, 3), concat({all, all})})
    for (int64_t beyond : {int64_t(-1), data->count()})
      expectHas(messageOf([&] { data->read(beyond); }), {"expected a sample from 0 to"});
  refused([] { span(nullptr, 0, 1); }, {"got a null pointer"});
  refused([&] { concat({all, nullptr}); }, {"got a null pointer"});
}

TEST(Combinators, Resample) {
  auto data = ramp(0, 4);
  auto drawn = resample(data, 4000, 7);
  EXPECT_EQ(valuesOf(*drawn), valuesOf(*resample(data, 4000, 7)));
  EXPECT_NE(valuesOf(*drawn), valuesOf(*resample(data, 4000, 8)));
  Values counts(4), weighted(4);
  for (int32_t value : valuesOf(*drawn))
    ++counts[size_t(value)];
  for (int32_t count : counts)
    EXPECT_NEAR(count, 1000, 5 * std::sqrt(4000 * 0.25 * 0.75));
  for (int32_t value : valuesOf(*resample(data, 4000, 9, {1, 0, 3, 0})))
    ++weighted[size_t(value)];
  EXPECT_NEAR(weighted[0], 1000, 5 * std::sqrt(4000 * 0.25 * 0.75));
  EXPECT_EQ(weighted[1] + weighted[3], 0);
  refused([&] { resample(data, 1, 1, {0, 0, 0, 0}); }, {"of weight 0"});
  refused([&] { resample(data, 1, 1, {1, -1, 0, 0}); }, {"at least 0", "sample 1"});
  refused([&] { resample(data, 1, 1, {1, INFINITY, 0, 0}); }, {"finite weights", "sample 1"});
  refused([&] { resample(data, 1, 1, {1}); }, {"each of 4 samples, got 1"});
  refused([&] { resample(data, -1, 1); }, {"at least 0 samples to draw, got -1"});
  refused([&] { resample(data, 1, 1, {1e308, 1e308, 1, 1}); }, {"a finite sum"});
  refused([&] { resample(ramp(0, 0), 1, 1); }, {"can't draw 1 samples from 0"});
}

TEST(Combinators, Transform) {
  auto doubled = transform(ramp(1, 3), [](Sample sample, int64_t index) {
    int32_t &value = sample[0].values<int32_t>()[0];
    value = 2 * value + 100 * int32_t(index);
    return sample;
  });
  EXPECT_EQ(valuesOf(*doubled), (Values{2, 104, 206}));
  auto grown = transform(ramp(1, 3),
                         [](Sample sample, int64_t) {
                           int32_t value = sample[0].values<int32_t>()[0];
                           return Sample{io::HostArray::of<int32_t>({value, -value}, {2})};
                         },
                         {{"pair", ElementType::I32, {2}, {"side"}}});
  Loader loader(*grown, {.batch = 3});
  EXPECT_EQ(loader.next()->array("pair"),
            io::HostArray::of<int32_t>({1, -1, 2, -2, 3, -3}, {3, 2}, {"batch", "side"}));
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

TEST(Text, WordsByHowOftenTheyOccur) {
  Vocabulary words("the cat and the dog and the bird\n", 3);
  EXPECT_EQ(words.size(), 4);
  EXPECT_EQ(words(" the\tfish and  bird "), (Values{1, 0, 2, 3}));
  EXPECT_EQ(words.word(3), "bird"); // of bird, cat and dog
  EXPECT_EQ(words.word(0), "?");
  EXPECT_EQ(Vocabulary("a b a", 9, 2).size(), 2);
  refused([&] { words.word(4); }, {"0 to 3, got 4"});
  EXPECT_EQ(bytes("a\xff"), (Values{97, 255}));
}

TEST(Text, Windows) {
  TextWindows windows({1, 2, 3, 4, 5, 6, 7}, 3);
  EXPECT_EQ(windows.count(), 2);
  EXPECT_EQ(valuesOf(windows), (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(valuesOf(windows, 1), (Values{2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(TextWindows({1, 2, 3, 4, 5, 6, 7}, 3, 1).count(), 4);
  EXPECT_EQ(valuesOf(TextWindows({1, 2, 3, 4}, 3)), (Values{1, 2, 3}));
  refused([] { TextWindows({1, 2, 3}, 3); }, {"more than 3 tokens, got 3"});
  refused([] { TextWindows({}, 1); }, {"got 0"});
  refused([] { TextWindows({1, 2}, 0); }, {"at least one token"});
  refused([] { TextWindows({0, 9, 1}, 1, 0, 9); }, {"tokens from 0 to 8, got 9 at 1"});
}

TEST(Text, LinesOfAnyLength) {
  TemporaryDirectory directory;
  std::string path = directory.write("text", "one\n\nthree\nno");
  TextLines lines(readText(path), bytes, {.longest = 4});
  EXPECT_EQ(lines.count(), 3);
  EXPECT_EQ(lines.length(1), 4);
  Loader loader(lines, {.batch = 3});
  auto batch = loader.next();
  EXPECT_EQ(batch->array("text").describe(), "i32 [batch: 3, time: 4]");
  EXPECT_EQ(batch->lengths("text"), io::HostArray::of<int32_t>({3, 4, 2}, {3}, {"batch"}));
  EXPECT_EQ(batch->array("text").values<int32_t>()[7], 'e');
  EXPECT_EQ(TextLines("a b%%c", Vocabulary("a b c"), {.separator = "%%"}).length(0), 2);
  refused([] { TextLines("\n\n", bytes); }, {"at least one line, got 2 bytes"});
  refused([&] { readText(directory / "none"); }, {"none", "No such file"});
  refused([&] { readText(directory.write("empty", "")); }, {"an empty file"});
}

TEST(Text, MaskedTokens) {
  std::vector<int32_t> all;
  for (int32_t i = 0; i <= 4000; ++i)
    all.push_back(10 + i % 80);
  auto windows = std::make_shared<TextWindows>(all, 20);
  MaskOptions options{.count = 5, .mask = 99, .classes = 99, .seed = 3};
  DatasetPtr masked = maskTokens(windows, options);
  EXPECT_EQ(masked->fields()[1].describe(), "place: i32 [masked: 5]");
  int hidden = 0, kept = 0, random = 0;
  for (int64_t i = 0; i < masked->count(); ++i) {
    Sample sample = masked->read(i);
    auto token = sample[0].values<int32_t>(), place = sample[1].values<int32_t>(),
         label = sample[2].values<int32_t>();
    auto whole = windows->read(i)[0];
    for (size_t j = 0, at = 0; j < 20; ++j) {
      int32_t original = whole.values<int32_t>()[j];
      if (at == 5 || place[at] != int32_t(j)) {
        EXPECT_EQ(token[j], original); // places are rising, so none is left over
        continue;
      }
      EXPECT_EQ(label[at++], original);
      (token[j] == 99 ? hidden : token[j] == original ? kept : random)++;
      EXPECT_EQ(at == 5 || place[at] > int32_t(j), true);
    }
  }
  EXPECT_EQ(hidden + kept + random, 1000);
  EXPECT_NEAR(hidden, 800, 50);
  EXPECT_NEAR(kept, 100, 40);
  EXPECT_EQ(masked->read(7), maskTokens(windows, options)->read(7));
  EXPECT_NE(masked->read(7)[1], masked->read(8)[1]);
  options.seed = 4;
  EXPECT_NE(masked->read(7)[1], maskTokens(windows, options)->read(7)[1]);
  options.count = 21;
  refused([&] { maskTokens(windows, options); }, {"at least 21 tokens", "token: i32 [time: 20]"});
  refused([&] { maskTokens(ramp(0, 3), {}); }, {"no such field"});
  refused([&] { maskTokens(windows, {.classes = 0}); }, {"one class", "got 0"});
}

TEST(Text, Pairs) {
  TextPairs pairs({{{7, 8, 9}, {5}}, {{7}, {5, 6, 4}}}, {.begin = 1, .end = 2});
  EXPECT_EQ(pairs.length(0), 3);
  EXPECT_EQ(pairs.length(1), 4);
  Loader loader(pairs, {.batch = 2});
  auto batch = loader.next();
  EXPECT_EQ(batch->array("source"),
            io::HostArray::of<int32_t>({7, 8, 9, 7, 0, 0}, {2, 3}, {"batch", "from"}));
  EXPECT_EQ(batch->array("token"),
            io::HostArray::of<int32_t>({1, 5, 0, 0, 1, 5, 6, 4}, {2, 4}, {"batch", "time"}));
  EXPECT_EQ(batch->array("next"),
            io::HostArray::of<int32_t>({5, 2, 0, 0, 5, 6, 4, 2}, {2, 4}, {"batch", "time"}));
  refused([] { TextPairs(std::vector<TextPairs::Pair>()); }, {"at least one pair"});
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

TEST(Records, ComeBackAsTheyWere) {
  TemporaryDirectory directory;
  std::string path = directory / "a.records";
  auto lines = std::make_shared<TextLines>("one\nfour\nx", bytes);
  auto both = merge({lines, ramp(7, 3, "label")});
  EXPECT_EQ(writeRecords(path, *both), 3);
  Records records(path);
  EXPECT_EQ(records.fields(), both->fields());
  EXPECT_EQ(valuesOf(records), valuesOf(*both));
  EXPECT_EQ(valuesOf(records, 1), (Values{7, 8, 9}));
  EXPECT_GT(records.length(1), records.length(0));
  EXPECT_EQ(writeRecords(path, *ramp(0, 0)), 0);
  EXPECT_EQ(Records(path).count(), 0);
}

TEST(Records, SamplesThatLackAFieldKeepTheOldFile) {
  struct Short : Dataset {
    int64_t count() const override { return 2; }
    std::vector<Field> fields() const override { return ramp(0, 2)->fields(); }
    Sample read(int64_t index) const override {
      return index == 0 ? ramp(0, 2)->read(0) : Sample();
    }
  };
  TemporaryDirectory directory;
  std::string path = directory / "a.records";
  writeRecords(path, *ramp(0, 3));
  expectHas(messageOf([&] { writeRecords(path, Short()); }),
            {"sample 1: expected 1 arrays, got 0"});
  EXPECT_EQ(Records(path).count(), 3);
}

TEST(Records, DamageIsFound) {
  TemporaryDirectory directory;
  std::string path = directory / "a.records";
  auto lines = std::make_shared<TextLines>("one\nfour\nx", bytes);
  writeRecords(path, *lines);
  std::string whole = contentsOf(path);
  // Any changed byte is an error when the file is opened, or when a sample is read.
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = char(changed[at] ^ 4);
    directory.write("a.records", changed);
    try {
      Records records(path);
      if (records.fields() != lines->fields() || records.count() != 3)
        continue; // a name of a field
      Values all = valuesOf(records);
      EXPECT_TRUE(at < 8) << "byte " << at; // the word at the beginning is for people
    } catch (const Error &error) {
      EXPECT_NE(std::string(error.what()).find("a.records"), std::string::npos) << error.what();
    }
  }
  for (size_t size = 0; size < whole.size(); ++size) {
    directory.write("a.records", whole.substr(0, size));
    expectHas(messageOf([&] { Records records(path); }), {"a.records"});
  }
  std::string changed = whole;
  changed[17] ^= 1; // a letter of the first
  directory.write("a.records", changed);
  Records records(path);
  EXPECT_THROW(records.read(0), DamagedSample);
  Loader loader(records, {.batch = 3, .skipDamaged = true});
  EXPECT_EQ(loader.next()->samples, 2);
  for (int64_t beyond : {-1, 3})
    expectHas(messageOf([&] { records.read(beyond); }), {"a sample from 0 to 2, got"});
}
