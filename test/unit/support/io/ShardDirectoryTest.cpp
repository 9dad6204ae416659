//===- ShardDirectoryTest.cpp - arrays in shards --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/io/ShardDirectory.h"
#include "test/unit/Refused.h"
#include "test/unit/support/io/Files.h"

#include <cctype>
#include <numeric>
#include <random>
#include <regex>

using namespace heddle;
using namespace heddle::io;
using namespace heddle::test;

namespace {

HostArray matrix() {
  std::vector<float> values(15);
  std::iota(values.begin(), values.end(), 1.0f);
  return HostArray::of<float>(std::span<const float>(values), {5, 3}, {"row", "column"});
}

Safetensors header() {
  Safetensors whole;
  whole.arrays["w"] = {ElementType::F32, {5, 3}, {"row", "column"}, {}};
  whole.arrays["steps"] = {ElementType::I64, {}, {}, {}};
  whole.metadata["step"] = "7";
  return whole;
}

HostArray sourceOf(const std::string &name, const ShardRange &range) {
  if (name == "steps")
    return HostArray::of<int64_t>({42}, {});
  HostArray whole = matrix(), part = HostArray::zeros(ElementType::F32, range.counts, whole.names);
  for (int64_t i = 0; i < range.counts[0]; ++i)
    for (int64_t j = 0; j < range.counts[1]; ++j)
      part.values<float>()[size_t(i * range.counts[1] + j)] =
          whole.values<float>()[size_t((range.begin[0] + i) * 3 + range.begin[1] + j)];
  return part;
}

/// As two processes would.
ShardManifest write(const std::string &directory, int64_t save = 1) {
  ShardManifest first{header(), {}}, second{header(), {}};
  writeShards(directory, shardFile(save, 0), first, {{"w", {{0, 0}, {3, 3}}}, {"steps", {}}},
              sourceOf);
  writeShards(directory, shardFile(save, 1), second, {{"w", {{3, 0}, {2, 3}}}}, sourceOf);
  first.addShards(second.shardsText());
  first.write(directory);
  return first;
}

TEST(ShardDirectory, ArraysAndRangesComeBack) {
  TemporaryDirectory directory;
  EXPECT_FALSE(isShardDirectory(directory.path));
  write(directory.path);
  EXPECT_TRUE(isShardDirectory(directory.path));
  EXPECT_EQ(directory.entries(), 3u);
  ShardDirectory reader(directory.path);
  EXPECT_EQ(reader.header().metadata.at("step"), "7");
  EXPECT_EQ(reader.read("w"), matrix());
  EXPECT_EQ(reader.read("steps").values<int64_t>()[0], 42);
  for (int64_t begin = 0; begin <= 5; ++begin)
    for (int64_t count = 0; begin + count <= 5; ++count)
      for (int64_t column = 0; column < 3; ++column) {
        ShardRange range{{begin, column}, {count, 3 - column}};
        EXPECT_EQ(reader.read("w", range), sourceOf("w", range)) << range.str();
      }
  // The metadata of a file state its ranges.
  Safetensors part = readSafetensors(directory / "save-00000001-rank-00001.safetensors");
  EXPECT_EQ(part.metadata.at("range:w"), "[3:5, 0:3] of 5,3");
  exportShards(directory.path, directory / "all.safetensors");
  Safetensors all = readSafetensors(directory / "all.safetensors");
  EXPECT_EQ(all.at("w"), matrix());
  EXPECT_TRUE(all.checksums);
}

TEST(ShardDirectory, AProcessWithoutRangesWritesNoFile) {
  TemporaryDirectory directory;
  ShardManifest manifest{header(), {}};
  writeShards(directory.path, shardFile(1, 3), manifest, {}, sourceOf);
  EXPECT_EQ(directory.entries(), 0u);
}

TEST(ShardDirectory, IncompleteManifestsAreNotWritten) {
  TemporaryDirectory directory;
  auto with = [&](std::map<std::string, ShardRange> ranges, const std::string &more) {
    ShardManifest manifest{header(), {}};
    ranges["steps"] = {};
    writeShards(directory.path, shardFile(1, 0), manifest, ranges, sourceOf);
    if (!more.empty())
      manifest.addShards(more);
    return messageOf([&] { manifest.write(directory.path); });
  };
  expectHas(with({}, ""), {"array 'w'", "all of its 15 elements, got 0"});
  expectHas(with({{"w", {{0, 0}, {3, 3}}}}, ""), {"array 'w'", "all of its 15 elements, got 9"});
  expectHas(with({{"w", {{0, 0}, {3, 3}}}},
                 R"({"w": [{"file": "a", "begin": [2, 0], "shape": [2, 3], "crc32": 0}]})"),
            {"array 'w'", "[0:3, 0:3] and [2:4, 0:3] overlap"});
  expectHas(with({{"w", {{0, 0}, {3, 3}}}},
                 R"({"w": [{"file": "a", "begin": [3, 0], "shape": [3, 3], "crc32": 0}]})"),
            {"array 'w'", "expected a range of f32 [row: 5, column: 3], got [3:6, 0:3]"});
  expectHas(with({}, R"({"v": []})"), {"array 'w'"});
  EXPECT_FALSE(isShardDirectory(directory.path));
}

TEST(ShardDirectory, LeftoversGoAndWhatIsListedStays) {
  TemporaryDirectory directory;
  write(directory.path, 4);
  directory.write("save-00000005-rank-00000.safetensors.part-3", "x");
  directory.write("save-00000005-rank-00002.safetensors", "x");
  directory.write("manifest.json.part-17-0", "x");
  EXPECT_EQ(nextSave(directory.path), 6);
  removeLeftovers(directory.path);
  EXPECT_EQ(directory.entries(), 3u);
  EXPECT_EQ(nextSave(directory.path), 5);
  EXPECT_EQ(ShardDirectory(directory.path).read("w"), matrix());
}

TEST(ShardDirectory, FilesOfTheUserStay) {
  TemporaryDirectory directory;
  std::vector<std::string> names = {"save-notes.txt",
                                    "save-7-my-notes.txt",
                                    "save-7-rank-0.safetensors",
                                    "save-00000007-rank-00000.safetensors.bak",
                                    "save-00000007-rank-00000.safetensors.part-list",
                                    "save-00000007-rank-00000.safetensors.part-",
                                    "save-00000007-rank--0001.safetensors",
                                    "save--0000007-rank-00001.safetensors",
                                    "save-9223372036854775807-rank-00000.safetensors",
                                    "save-00000007-rank-99999999999.safetensors",
                                    "manifest.json.part-list"};
  for (const std::string &name : names)
    directory.write(name, "mine");
  EXPECT_EQ(nextSave(directory.path), 1);
  removeLeftovers(directory.path);
  for (const std::string &name : names)
    EXPECT_TRUE(std::filesystem::exists(directory / name)) << name;
}

TEST(ShardDirectory, MissingAndDamagedFilesAreNamed) {
  TemporaryDirectory directory;
  write(directory.path);
  std::string second = "save-00000001-rank-00001.safetensors";
  auto message = [&] { return messageOf([&] { ShardDirectory(directory.path).read("w"); }); };
  std::string bytes = contentsOf(directory / second);
  std::string flipped = bytes;
  flipped[bytes.size() - 2] = char(flipped[bytes.size() - 2] ^ 4);
  directory.write(second, flipped);
  expectHas(message(), {second, "'w'", "its range [3:5, 0:3] is damaged: expected the checksum"});
  directory.write(second, bytes.substr(0, bytes.size() - 1));
  expectHas(message(), {second, "truncated"});
  std::filesystem::remove(directory / second);
  expectHas(message(), {second, "array '", "its range", "No such file", "ShardDirectoryTest.cpp:"});
  // The ranges of other files can be read.
  ShardRange range{{1, 0}, {2, 3}};
  EXPECT_EQ(ShardDirectory(directory.path).read("w", range), sourceOf("w", range));
  // The file of another save, in which the array has other ranges.
  ShardManifest other{header(), {}};
  writeShards(directory.path, second, other, {{"w", {{2, 0}, {3, 3}}}}, sourceOf);
  expectHas(message(), {second, "expected its range [3:5, 0:3], got f32 [row: 3, column: 3]"});
}

TEST(ShardDirectory, EachFlippedByteOfAManifestIsNoticed) {
  TemporaryDirectory directory;
  write(directory.path);
  std::string bytes = contentsOf(directory / "manifest.json");
  EXPECT_EQ(messageOf([&] { ShardDirectory(directory / "none"); }).find("manifest.json") !=
                std::string::npos,
            true);
  int silent = 0;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    std::string flipped = bytes;
    flipped[i] = char(flipped[i] ^ 1);
    directory.write("manifest.json", flipped);
    try { // spaces between words may change
      ShardDirectory reader(directory.path);
      silent += std::isspace(bytes[i]) == 0;
    } catch (const Error &error) {
      expectHas(error.what(), {"manifest.json"});
    }
  }
  EXPECT_EQ(silent, 0);
}

/// Reads the manifest `text` with the checksum that it should have: the message of the Error, or
/// nothing. The text has the checksum "0" where another one belongs.
std::string messageOfSealed(const TemporaryDirectory &directory, std::string text) {
  auto read = [&]() -> std::string {
    directory.write("manifest.json", text);
    try {
      ShardManifest::read(directory.path);
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  };
  std::string message = read(), before = "expected the checksum 0, got ";
  size_t at = message.find(before);
  if (at == std::string::npos)
    return message;
  std::string checksum;
  for (at += before.size(); at < message.size() && std::isdigit(message[at]); ++at)
    checksum += message[at];
  text.replace(text.find("\"0\""), 3, "\"" + checksum + "\"");
  return read();
}

TEST(ShardDirectory, ManifestsThatMakeNoSenseAreRefused) {
  TemporaryDirectory directory;
  auto message = [&](const std::string &shape, const std::string &names, const std::string &begin,
                     const std::string &counts) {
    return messageOfSealed(
        directory, R"({"checksum": "0", "format": "heddle-shards-1", "metadata": {}, "arrays": )"
                   R"({"w": {"type": "f32", "shape": )" +
                       shape + R"(, "names": )" + names +
                       R"(, "shards": [{"file": "a", "begin": )" + begin + R"(, "shape": )" +
                       counts + R"(, "crc32": 0}]}}})");
  };
  EXPECT_EQ(message("[2, 3]", "[]", "[0, 0]", "[2, 3]"), "");
  EXPECT_EQ(message("[2, 3]", R"(["a", "b"])", "[0, 0]", "[2, 3]"), "");
  expectHas(message("[2, 3]", R"(["a"])", "[9, 0]", "[2, 3]"),
            {"manifest.json", "array 'w': expected a name for each of 2 axes, got 1"});
  expectHas(message("[2, 3]", "[]", "[0, 0, 0, 0]", "[2]"),
            {"manifest.json",
             "array 'w': expected as many numbers in 'begin' as in 'shape', got 4 and 1"});
  expectHas(message("[2]", "[]", "[9223372036854775807]", "[9223372036854775807]"),
            {"array 'w': expected a range of f32 [2], got [9223372036854775807:"});
  expectHas(message("[-2]", "[]", "[0]", "[-2]"),
            {"manifest.json", "array 'w': expected sizes of at least 0, got -2"});
  expectHas(message("[4611686018427387904, 8]", "[]", "[0, 0]", "[4611686018427387904, 8]"),
            {"manifest.json", "array 'w': expected at most 2^60 elements"});
}

TEST(ShardDirectory, AnyChangeOfAManifestIsRefusedOrRead) {
  TemporaryDirectory directory;
  write(directory.path);
  std::string good = std::regex_replace(contentsOf(directory / "manifest.json"),
                                        std::regex(R"("checksum": "\d+")"), R"("checksum": "0")");
  std::vector<std::pair<size_t, size_t>> words; // numbers, texts, and lists of them
  for (const char *each : {R"(-?\d+)", R"("[^"]*"|\[[^\[\]{}]*\])"}) {
    std::regex word(each);
    for (std::sregex_iterator at(good.begin(), good.end(), word), end; at != end; ++at)
      words.emplace_back(at->position(), at->length());
  }
  ASSERT_GT(words.size(), 30u);
  const char *others[] = {"-1", "0",    "7",  "9223372036854775807", "1.5", R"("x")", "[1]",
                          "",   "null", "[]", "[1, 2, 3]",           "{}"};
  std::mt19937 random(1);
  EXPECT_EQ(messageOfSealed(directory, good), "");
  int refused = 0;
  for (size_t i = 0; i < words.size() * std::size(others); ++i) {
    std::string changed = good;
    auto [at, length] = words[i / std::size(others)];
    auto [more, moreLength] = words[random() % words.size()];
    if (random() % 2 == 0 && more > at + length) // a second one, behind the first
      changed.replace(more, moreLength, others[random() % std::size(others)]);
    changed.replace(at, length, others[i % std::size(others)]);
    std::string message = messageOfSealed(directory, changed);
    if (!message.empty())
      expectHas(message, {"manifest.json"});
    refused += !message.empty();
  }
  EXPECT_GT(refused, 100);
}

} // namespace
