//===- DataTest.cpp - loaders, grey images --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/data/Images.h"
#include "heddle/nn/data/Loader.h"
#include "test/unit/Refused.h"
#include "test/unit/runtime/InChild.h"
#include "test/unit/support/io/Files.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <set>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

using namespace heddle;
using namespace heddle::nn;
using namespace heddle::test;

namespace {
/// Sample i is the number 10 i and the pair (i, -i).
struct Numbers : Dataset {
  int64_t size;
  int64_t broken = -1;
  mutable std::atomic<int64_t> reads{0};
  mutable std::atomic<pid_t> reader{0}; ///< the thread that read last
  explicit Numbers(int64_t size, int64_t broken = -1) : size(size), broken(broken) {}

  int64_t count() const override { return size; }
  std::vector<Field> fields() const override {
    return {{"number", ElementType::I32, {}, {}}, {"pair", ElementType::F32, {2}, {"side"}}};
  }
  Sample read(int64_t index) const override {
    reader = pid_t(syscall(SYS_gettid));
    ++reads;
    if (index == broken)
      throw Error("sample " + std::to_string(index) + " is broken");
    return {io::HostArray::of<int32_t>({int32_t(10 * index)}, {}),
            io::HostArray::of<float>({float(index), -float(index)}, {2})};
  }
};

/// The state of a thread of this process: 'S' if it sleeps, 'R' if it runs; ' ' if it has ended.
char stateOf(pid_t thread) {
  std::string line = contentsOf("/proc/self/task/" + std::to_string(thread) + "/stat");
  size_t name = line.rfind(") ");
  return thread == getpid() || name == line.npos ? ' ' : line[name + 2];
}

std::vector<int32_t> numbersOf(const Batch &batch) {
  auto values = batch.array("number").values<int32_t>();
  return {values.begin(), values.end()};
}

/// Two IDX files of `count` images 2 x 3, image i filled with i, label i mod 10.
void writeImages(const TemporaryDirectory &directory, const std::string &stem, uint8_t count) {
  std::string images("\0\0\x08\x03\0\0\0", 7), labels("\0\0\x08\x01\0\0\0", 7);
  images += std::string(1, char(count)) + std::string("\0\0\0\2\0\0\0\3", 8);
  labels += char(count);
  for (uint8_t i = 0; i < count; ++i) {
    images += std::string(6, char(i));
    labels += char(i % 10);
  }
  directory.write(stem + "-images-idx3-ubyte", images);
  directory.write(stem + "-labels-idx1-ubyte", labels);
}
} // namespace

TEST(Shuffled, IsAPermutationThatSeedAndEpochDecide) {
  auto order = shuffled(1000, 3, 4);
  EXPECT_EQ(std::set<int64_t>(order.begin(), order.end()).size(), 1000u);
  EXPECT_EQ(*std::max_element(order.begin(), order.end()), 999);
  EXPECT_EQ(order, shuffled(1000, 3, 4));
  EXPECT_NE(order, shuffled(1000, 3, 5));
  EXPECT_NE(order, shuffled(1000, 4, 4));
  EXPECT_TRUE(shuffled(0, 1, 1).empty());
}

class LoaderAhead : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ahead, LoaderAhead, testing::Values(0, 1, 3));

TEST_P(LoaderAhead, FillsUpTheLastBatchWithWeightZero) {
  Numbers numbers(7);
  Loader loader(numbers, {.batch = 3, .batchName = "n", .ahead = GetParam()});
  EXPECT_EQ(loader.batches(), 3);
  EXPECT_EQ(numbersOf(*loader.next()), (std::vector<int32_t>{0, 10, 20}));
  EXPECT_EQ(numbersOf(*loader.next()), (std::vector<int32_t>{30, 40, 50}));
  auto last = loader.next();
  EXPECT_EQ(numbersOf(*last), (std::vector<int32_t>{60, 60, 60}));
  EXPECT_EQ(last->samples, 1);
  EXPECT_EQ(last->weight, io::HostArray::of<float>({1, 0, 0}, {3}, {"n"}));
  EXPECT_EQ(last->array("pair"),
            io::HostArray::of<float>({6, -6, 6, -6, 6, -6}, {3, 2}, {"n", "side"}));
  EXPECT_FALSE(loader.next());
  EXPECT_FALSE(loader.next());
  expectHas(messageOf([&] { last->array("image"); }), {"'image'", "'number', 'pair'"});
}

TEST_P(LoaderAhead, ShufflesAndSkips) {
  Numbers numbers(20);
  LoaderOptions options{.batch = 6, .shuffle = true, .seed = 5, .epoch = 2, .ahead = GetParam()};
  std::vector<std::vector<int32_t>> all;
  for (Loader loader(numbers, options); auto batch = loader.next();)
    all.push_back(numbersOf(*batch));
  ASSERT_EQ(all.size(), 4u);
  auto order = shuffled(20, 5, 2);
  for (size_t i = 0; i < 20; ++i)
    EXPECT_EQ(all[i / 6][i % 6], 10 * order[i]);
  options.skip = 2; // continues where another one stopped
  Loader rest(numbers, options);
  EXPECT_EQ(numbersOf(*rest.next()), all[2]);
  EXPECT_EQ(numbersOf(*rest.next()), all[3]);
  EXPECT_FALSE(rest.next());
}

TEST_P(LoaderAhead, WhatReadingThrowsIsThrownByNext) {
  Numbers numbers(9, 4);
  Loader loader(numbers, {.batch = 3, .ahead = GetParam()});
  EXPECT_EQ(numbersOf(*loader.next()), (std::vector<int32_t>{0, 10, 20}));
  EXPECT_EQ(messageOf([&] { loader.next(); }), "sample 4 is broken");
}

TEST_P(LoaderAhead, MayBeLeftEarly) {
  int ahead = GetParam();
  Numbers numbers(1000);
  {
    Loader loader(numbers, {.batch = 2, .ahead = ahead});
    EXPECT_EQ(numbersOf(*loader.next()), (std::vector<int32_t>{0, 10}));
  }
  // At most the returned batches and the prefetched ones; no more are read.
  EXPECT_GE(numbers.reads, 2);
  EXPECT_LE(numbers.reads, 2 * (1 + ahead));
  while (stateOf(numbers.reader) != ' ') // the reading thread has ended
    std::this_thread::yield();
}

TEST_P(LoaderAhead, ReadsAheadButNotFarther) {
  int ahead = GetParam();
  Numbers numbers(20);
  Loader loader(numbers, {.batch = 1, .ahead = ahead});
  for (int64_t handedOut = 0; handedOut < 20; ++handedOut) {
    int64_t expected = std::min<int64_t>(handedOut + ahead, 20);
    // Until the thread waits for its batches to be taken.
    while (numbers.reads < expected ||
           (ahead > 0 && expected < 20 && stateOf(numbers.reader) != 'S'))
      std::this_thread::yield();
    EXPECT_EQ(numbers.reads, expected);
    loader.next();
  }
  EXPECT_EQ(numbers.reads, 20);
}

TEST_P(LoaderAhead, AChildOfForkGoesOnWhereItsParentIs) {
  Numbers numbers(7);
  Loader loader(numbers, {.batch = 2, .skip = 1, .ahead = GetParam()});
  EXPECT_EQ(numbersOf(*loader.next()), (std::vector<int32_t>{20, 30}));
  auto rest = [&] {
    std::string text;
    while (auto batch = loader.next())
      text += std::to_string(numbersOf(*batch)[0]) + " ";
    return text;
  };
  EXPECT_EQ(inChild(rest), "40 60 ");
  EXPECT_EQ(inChild([&] { return rest() + rest(); }), "40 60 ");
  EXPECT_EQ(inChild([&] { // without reading
              Loader own(numbers, {.batch = 2, .ahead = GetParam()});
              return inChild([&] { return std::to_string(own.batches()); });
            }),
            "4");
  EXPECT_EQ(rest(), "40 60 ");
  EXPECT_EQ(inChild(rest), ""); // the end is the end in the child, too
}

TEST_P(LoaderAhead, KeepsOrDropsTheLastBatch) {
  Numbers numbers(7);
  Loader kept(numbers, {.batch = 3, .ahead = GetParam(), .last = Last::Keep});
  EXPECT_EQ(kept.batches(), 3);
  kept.next();
  kept.next();
  auto last = kept.next();
  EXPECT_EQ(numbersOf(*last), std::vector<int32_t>{60});
  EXPECT_EQ(last->weight, io::HostArray::of<float>({1}, {1}, {"batch"}));
  EXPECT_FALSE(kept.next());
  Loader dropped(numbers, {.batch = 3, .ahead = GetParam(), .last = Last::Drop});
  EXPECT_EQ(dropped.batches(), 2);
  dropped.next();
  EXPECT_EQ(numbersOf(*dropped.next()), (std::vector<int32_t>{30, 40, 50}));
  EXPECT_FALSE(dropped.next());
  refused([&] { Loader(numbers, {.batch = 8, .last = Last::Drop}); },
          {"at least one batch of 8 samples, got 7 samples"});
}

namespace {
/// Sample i is a text of i % 5 letters; samples with a smaller i take longer to read.
struct Texts : Dataset {
  int64_t size, slow;
  mutable std::atomic<int> running{0}, together{0};
  explicit Texts(int64_t size, int64_t slow = 0) : size(size), slow(slow) {}
  int64_t count() const override { return size; }
  int64_t length(int64_t index) const override { return index % 5; }
  std::vector<Field> fields() const override {
    return {{"text", ElementType::I32, {2, anySize, 2}, {"side", "time", "pair"}}};
  }
  Sample read(int64_t index) const override {
    int now = ++running, before = together;
    while (before < now && !together.compare_exchange_weak(before, now))
      ;
    if (slow)
      std::this_thread::sleep_for(std::chrono::microseconds(slow * (size - index)));
    auto text = io::HostArray::zeros(ElementType::I32, {2, length(index), 2});
    int32_t next = int32_t(100 * index);
    for (int32_t &value : text.values<int32_t>())
      value = next++;
    --running;
    return {text};
  }
};
} // namespace

TEST(Loader, PadsFieldsOfAnySize) {
  Texts texts(6); // of 0 to 4 and 0 letters
  Loader loader(texts, {.batch = 3, .multipleOf = 3});
  auto batch = loader.next();
  EXPECT_EQ(batch->array("text").describe(), "i32 [batch: 3, side: 2, time: 3, pair: 2]");
  EXPECT_EQ(batch->lengths("text"), io::HostArray::of<int32_t>({0, 1, 2}, {3}, {"batch"}));
  auto values = batch->array("text").values<int32_t>();
  std::vector<int32_t> wanted{100, 101, 0,   0,   0, 0, 102, 103, 0,   0,   0, 0,
                              200, 201, 202, 203, 0, 0, 204, 205, 206, 207, 0, 0};
  EXPECT_EQ(std::vector<int32_t>(values.begin(), values.begin() + 12), std::vector<int32_t>(12, 0));
  EXPECT_EQ(std::vector<int32_t>(values.begin() + 12, values.end()), wanted);
  batch = loader.next();
  EXPECT_EQ(batch->array("text").shape[2], 6);
  EXPECT_EQ(batch->lengths("text"), io::HostArray::of<int32_t>({3, 4, 0}, {3}, {"batch"}));
  expectHas(messageOf([&] { batch->lengths("image"); }), {"'image'", "'text'"});
}

TEST(Loader, SimilarLengthsShareABatch) {
  Texts texts(60);
  int64_t places = 0, alone = 0;
  for (auto [similar, sum] : {std::pair(int64_t(5), &places), {int64_t(0), &alone}}) {
    std::multiset<int32_t> seen;
    std::vector<int64_t> longest;
    Loader loader(texts,
                  {.batch = 4, .shuffle = true, .seed = 2, .last = Last::Keep, .similar = similar});
    while (auto batch = loader.next()) {
      longest.push_back(batch->array("text").shape[2]);
      *sum += longest.back() * 4;
      for (int32_t length : batch->lengths("text").values<int32_t>())
        seen.insert(length);
    }
    for (int32_t length = 0; length < 5; ++length)
      EXPECT_EQ(seen.count(length), 12u);
    EXPECT_FALSE(std::is_sorted(longest.begin(), longest.end()));
  }
  // A group of more batches than there are is all of them.
  Loader whole(texts, {.batch = 4, .similar = INT64_MAX / 2});
  EXPECT_EQ(whole.next()->array("text").shape[2], 0);
  EXPECT_LT(places, 60 * 2 + 60); // 120 letters, with room for uneven ends of groups
  EXPECT_GT(alone, places);
}

TEST(Loader, SeveralThreadsKeepTheOrderOfOne) {
  Texts texts(40, 20);
  auto read = [&](int threads, int ahead) {
    std::vector<io::HostArray> batches;
    Loader loader(texts,
                  {.batch = 3, .shuffle = true, .seed = 4, .ahead = ahead, .threads = threads});
    while (auto batch = loader.next())
      batches.push_back(batch->array("text"));
    return batches;
  };
  auto wanted = read(1, 0);
  EXPECT_EQ(texts.together, 1);
  EXPECT_EQ(read(4, 8), wanted);
  EXPECT_GT(texts.together, 1);
}

TEST(Loader, DamagedSamplesAreLeftOutAndCounted) {
  struct Damaged : Numbers {
    using Numbers::Numbers;
    Sample read(int64_t index) const override {
      if (index % 3 == 1)
        throw DamagedSample("sample " + std::to_string(index) + " is damaged");
      return Numbers::read(index);
    }
  };
  Damaged numbers(7);
  Loader strict(numbers, {.batch = 4});
  EXPECT_EQ(messageOf([&] { strict.next(); }), "sample 1 is damaged");
  Loader loader(numbers, {.batch = 4, .skipDamaged = true});
  auto batch = loader.next();
  EXPECT_EQ(numbersOf(*batch), (std::vector<int32_t>{0, 20, 30, 0}));
  EXPECT_EQ(batch->weight, io::HostArray::of<float>({1, 1, 1, 0}, {4}, {"batch"}));
  EXPECT_EQ(batch->samples, 3);
  EXPECT_EQ(batch->damaged, 1);
  Loader all(numbers, {.batch = 1, .skip = 1, .skipDamaged = true});
  expectHas(messageOf([&] { all.next(); }), {"all 1 samples", "sample 1 is damaged"});
  // Other mistakes are never skipped.
  Numbers broken(3, 1);
  Loader other(broken, {.batch = 3, .skipDamaged = true});
  EXPECT_EQ(messageOf([&] { other.next(); }), "sample 1 is broken");
}

TEST(Loader, SamplesOfOtherTypesAreNamed) {
  struct Wrong : Numbers {
    using Numbers::Numbers;
    Sample read(int64_t index) const override {
      Sample sample = Numbers::read(index);
      sample[1] = io::HostArray::of<float>({1, 2, 3}, {3});
      return sample;
    }
  };
  Wrong numbers(1);
  Loader loader(numbers, {.batch = 1});
  EXPECT_EQ(messageOf([&] { loader.next(); }),
            "sample 0: expected pair: f32 [side: 2], got f32 [3]");
}

/// Expects that all parts of an epoch together have, in order, the samples that one process reads
/// in whole batches.
static void expectParts(const Dataset &data, LoaderOptions options, int64_t parts) {
  Loader whole(data, options);
  std::vector<std::unique_ptr<Loader>> loaders;
  options.parts = parts;
  for (options.part = 0; options.part < parts; ++options.part)
    loaders.push_back(std::make_unique<Loader>(data, options));
  while (std::optional<Batch> expected = whole.next()) {
    int64_t size = (expected->size + parts - 1) / parts, row = 0;
    for (auto &loader : loaders) {
      std::optional<Batch> got = loader->next();
      ASSERT_TRUE(got);
      EXPECT_EQ(got->samples, expected->samples);
      EXPECT_EQ(got->size, expected->size);
      for (size_t f = 0; f <= expected->fields.size(); ++f) {
        bool isWeight = f == expected->fields.size();
        const io::HostArray &mine = isWeight ? got->weight : got->arrays[f],
                            &all = isWeight ? expected->weight : expected->arrays[f];
        ASSERT_EQ(mine.shape[0], size);
        EXPECT_TRUE(std::equal(mine.shape.begin() + 1, mine.shape.end(), all.shape.begin() + 1));
        size_t bytes = all.bytes.size() / size_t(expected->size);
        for (int64_t i = 0; i < size; ++i)
          for (size_t k = 0; k < bytes; ++k) // zero beyond the batch
            ASSERT_EQ(mine.bytes[size_t(i) * bytes + k],
                      row + i < expected->size ? all.bytes[size_t(row + i) * bytes + k]
                                               : std::byte(0))
                << "part of " << parts << ", row " << row + i;
      }
      row += size;
    }
  }
  for (auto &loader : loaders)
    EXPECT_FALSE(loader->next());
}

TEST(Loader, PartsAreThoseOfTheBatchesOfOneProcess) {
  Numbers data(130);
  for (int64_t parts : {1, 2, 3, 4, 7})
    for (int64_t batch : {65, 64, 2, 1})
      for (Last last : {Last::Pad, Last::Keep, Last::Drop})
        expectParts(data, {.batch = batch, .shuffle = true, .seed = 3, .epoch = 1, .last = last},
                    parts);
  expectParts(Numbers(3), {.batch = 65}, 2); // all samples are in the first part
}

TEST(Loader, APartReadsNoOtherSamples) {
  Numbers data(130), broken(65, /*broken=*/0);
  Loader second(data, {.batch = 65, .shuffle = true, .ahead = 0, .part = 1, .parts = 2});
  EXPECT_EQ(second.next()->arrays[0].shape[0], 33);
  EXPECT_EQ(data.reads, 32);
  second.next();
  EXPECT_EQ(data.reads, 64);
  Loader none(broken, {.batch = 65, .ahead = 0, .part = 3, .parts = 4});
  EXPECT_EQ(none.next()->samples, 65);
}

TEST(Loader, PartsAgreeOnSizesThatDiffer) {
  for (int64_t parts : {2, 3})
    expectParts(Texts(10), {.batch = 4, .multipleOf = 2}, parts);
}

TEST(Loader, RefusesPartsThatDoNotExist) {
  Numbers data(3);
  refused([&] { Loader(data, {.part = 2, .parts = 2}); }, {"got part 2 of 2"});
  refused([&] { Loader(data, {.part = -1, .parts = 2}); }, {"got part -1 of 2"});
  refused([&] { Loader(data, {.parts = 0}); }, {"got part 0 of 0"});
  refused([&] { Loader(data, {.skip = -1}); },
          {"skip, similar, ahead and threads of at least 0", "got -1, 0"});
  refused([&] { Loader(data, {.multipleOf = 0}); }, {"multipleOf of at least 1"});
  Texts texts(3);
  refused([&] { Loader(texts, {.batchName = "time"}); },
          {"a name of the samples that no field has", "'time'", "text: i32"});
}

TEST(Loader, RefusesAnEmptyBatch) {
  Numbers numbers(1);
  expectHas(messageOf([&] { Loader(numbers, {.batch = 0}); }), {"at least one", "0"});
}

TEST(Loader, AnEmptySetHasNoBatches) {
  Numbers numbers(0);
  Loader loader(numbers, {});
  EXPECT_EQ(loader.batches(), 0);
  EXPECT_FALSE(loader.next());
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

TEST(Images, AreScaledAndLabelled) {
  TemporaryDirectory directory;
  writeImages(directory, "train", 12);
  LabelledImages images = fashionMnist(true, directory.path);
  EXPECT_EQ(images.count(), 12);
  EXPECT_EQ(images.rows(), 2);
  EXPECT_EQ(images.columns(), 3);
  Loader loader(images, {.batch = 4});
  loader.next();
  auto batch = loader.next();
  EXPECT_EQ(batch->array("label"), io::HostArray::of<int32_t>({4, 5, 6, 7}, {4}, {"batch"}));
  const io::HostArray &image = batch->array("image");
  EXPECT_EQ(image.describe(), "f32 [batch: 4, row: 2, column: 3, channel: 1]");
  EXPECT_NEAR(image.values<float>()[6], (5 / 255.0 - 0.286) / 0.353, 1e-6);
  images.limit(5);
  EXPECT_EQ(images.count(), 5);
}

TEST(Images, AMissingSetNamesThePackage) {
  TemporaryDirectory directory;
  expectHas(messageOf([&] { fashionMnist(true, directory.path); }),
            {"dataset-fashion-mnist", directory.path, "train-images-idx3-ubyte.gz"});
  expectHas(messageOf([&] { fashionMnist(false, directory.path); }), {"t10k-images-idx3-ubyte"});
}

TEST(Images, DamagedFilesAreNamed) {
  TemporaryDirectory directory;
  auto message = [&] { return messageOf([&] { fashionMnist(true, directory.path); }); };
  std::string images = directory / "train-images-idx3-ubyte",
              labels = directory / "train-labels-idx1-ubyte";
  writeImages(directory, "train", 12);
  std::filesystem::resize_file(images, 40); // half an image
  expectHas(message(), {"DataTest.cpp:" + std::to_string(__LINE__ - 5) + ":"});
  expectHas(message(), {images, "truncated", "72"});
  writeImages(directory, "train", 12);
  directory.write("train-labels-idx1-ubyte", "nonsense");
  expectHas(message(), {labels, "not an IDX file", "6E 6F 6E 73"});
  writeImages(directory, "train", 12);
  directory.write("train-labels-idx1-ubyte", std::string("\0\0\x08\1\0\0\0\2\0\1", 10));
  expectHas(message(), {images, "12 images", labels, "2 labels"});
  writeImages(directory, "train", 1);
  directory.write("train-labels-idx1-ubyte", std::string("\0\0\x08\1\0\0\0\1\x0b", 9));
  expectHas(message(), {labels, "label 0 is 11", "0 to 9"});
  directory.write("train-images-idx3-ubyte", contentsOf(labels));
  expectHas(message(), {images, "[images, rows, columns]", "ui8 [1]"});
}

TEST(Images, TheRealSetIsWhole) {
  if (!std::filesystem::exists("/usr/share/datasets/fashion-mnist"))
    GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  LabelledImages train = fashionMnist(true), test = fashionMnist(false);
  EXPECT_EQ(train.count(), 60000);
  EXPECT_EQ(test.count(), 10000);
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < 2000; ++i)
    for (uint8_t pixel : train.image(i)) {
      sum += pixel / 255.0;
      squares += pixel / 255.0 * pixel / 255.0;
    }
  double mean = sum / (2000 * 784);
  EXPECT_NEAR(mean, 0.286, 0.01);
  EXPECT_NEAR(std::sqrt(squares / (2000 * 784) - mean * mean), 0.353, 0.01);
}
