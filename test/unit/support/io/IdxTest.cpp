//===- IdxTest.cpp - arrays in the format of the MNIST family -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/io/Idx.h"

#include "Files.h"

#include <zlib.h>

using namespace heddle;
using namespace heddle::io;
using namespace heddle::test;
using namespace std::string_literals;

static std::string gzip(const std::string &bytes) {
  TemporaryDirectory directory;
  gzFile file = gzopen((directory / "a").c_str(), "wb");
  gzwrite(file, bytes.data(), unsigned(bytes.size()));
  gzclose(file);
  return contentsOf(directory / "a");
}
static HostArray parse(const std::string &bytes) {
  TemporaryDirectory directory;
  return readIdx(directory.write("a.idx", bytes));
}
static std::string refusal(const std::string &bytes) {
  std::string text = messageOf([&] { parse(bytes); });
  expectHas(text, {"a.idx'"});
  return text;
}

static const std::string six = "\0\0\x08\2\0\0\0\2\0\0\0\3\1\2\3\4\5\xff"s;

TEST(Idx, plain_and_compressed_files_are_read) {
  auto expected = HostArray::of<uint8_t>({1, 2, 3, 4, 5, 255}, {2, 3});
  EXPECT_EQ(parse(six), expected);
  EXPECT_EQ(parse(gzip(six)), expected);
}

TEST(Idx, every_type_is_read_big_endian) {
  EXPECT_EQ(parse("\0\0\x09\1\0\0\0\1\xff"s), (HostArray::of<int8_t>({-1}, {1})));
  EXPECT_EQ(parse("\0\0\x0b\1\0\0\0\2\1\2\xff\xfe"s), (HostArray::of<int16_t>({258, -2}, {2})));
  EXPECT_EQ(parse("\0\0\x0c\1\0\0\0\1\1\2\3\4"s), (HostArray::of<int32_t>({0x01020304}, {1})));
  EXPECT_EQ(parse("\0\0\x0d\1\0\0\0\1\x3f\x80\0\0"s), (HostArray::of<float>({1}, {1})));
  EXPECT_EQ(parse("\0\0\x0e\1\0\0\0\1\x40\x04\0\0\0\0\0\0"s), (HostArray::of<double>({2.5}, {1})));
}

TEST(Idx, empty_array_is_read) { EXPECT_EQ(parse("\0\0\x08\1\0\0\0\0"s).count(), 0); }

TEST(Idx, truncated_files_are_refused) {
  for (size_t size = 0; size < six.size(); ++size)
    expectHas(refusal(six.substr(0, size)), {"truncated", "expected", "got"});
  expectHas(refusal(six.substr(0, 15)), {"expected 6 bytes for ui8 [2, 3], got 3"});
  std::string packed = gzip(six);
  for (size_t size = 0; size < packed.size(); ++size)
    refusal(packed.substr(0, size));
}

TEST(Idx, damaged_compressed_data_are_refused) {
  std::string large = "\0\0\x08\1\0\1\0\0"s;
  for (int i = 0; i < 65536; ++i)
    large.push_back(char(i * i / 7));
  std::string packed = gzip(large);
  ASSERT_EQ(parse(packed).count(), 65536);
  packed[packed.size() - 6] = char(packed[packed.size() - 6] ^ 1); // in the checksum
  expectHas(refusal(packed), {"damaged compressed data"});
}

TEST(Idx, files_that_go_on_are_refused) {
  expectHas(refusal(six + "x"), {"has bytes after", "expected 6 bytes for ui8 [2, 3]"});
  expectHas(refusal(gzip(six + "x")), {"has bytes after"});
}

TEST(Idx, wrong_magic_numbers_are_refused) {
  expectHas(refusal("\x89PNG\r\n\x1a\n"s), {"not an IDX file", "got 89 50 4E 47"});
  expectHas(refusal("\0\0\x0a\1\0\0\0\0"s), {"not an IDX file", "got 00 00 0A 01"});
}

TEST(Idx, sizes_beyond_memory_are_refused_without_asking_for_it) {
  expectHas(refusal("\0\0\x08\2\0\1\0\0\xff\xff\xff\xff xyz"s), {"truncated", "got 4"});
  expectHas(refusal("\0\0\x08\3\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"s),
            {"at most 2^60"});
}

TEST(Idx, missing_file_is_refused) {
  expectHas(messageOf([] { readIdx("no/such/file"); }), {"'no/such/file'", "No such file"});
}
