//===- PngTest.cpp - images as PNG ----------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/io/Png.h"

#include "Files.h"

#include <zlib.h>

using namespace heddle;
using namespace heddle::io;
using namespace heddle::test;
using namespace std::string_literals;

static uint32_t bigEndian(const std::string &bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i)
    value = value << 8 | uint8_t(bytes.at(at + i));
  return value;
}

/// Kinds and data of the chunks; expects valid lengths and checksums.
static std::vector<std::pair<std::string, std::string>> chunksOf(const std::string &png) {
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  std::vector<std::pair<std::string, std::string>> chunks;
  for (size_t at = 8; at < png.size();) {
    uint32_t length = bigEndian(png, at);
    std::string body = png.substr(at + 4, 4 + length);
    uLong sum = crc32(0, reinterpret_cast<const Bytef *>(body.data()), uInt(body.size()));
    EXPECT_EQ(bigEndian(png, at + 8 + length), sum);
    chunks.emplace_back(body.substr(0, 4), body.substr(4));
    at += 12 + length;
  }
  return chunks;
}

static std::string inflated(const std::string &data, size_t size) {
  std::string lines(size, 0);
  uLongf length = size;
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef *>(lines.data()), &length,
                       reinterpret_cast<const Bytef *>(data.data()), data.size()),
            Z_OK);
  EXPECT_EQ(length, size);
  return lines;
}

TEST(Png, grey_image_has_header_lines_and_end) {
  auto chunks = chunksOf(encodePng(HostArray::of<uint8_t>({1, 2, 3, 4, 5, 6}, {2, 3})));
  ASSERT_EQ(chunks.size(), 3u);
  EXPECT_EQ(chunks[0], std::pair("IHDR"s, "\0\0\0\3\0\0\0\2\x08\0\0\0\0"s));
  EXPECT_EQ(chunks[1].first, "IDAT");
  EXPECT_EQ(inflated(chunks[1].second, 8), "\0\1\2\3\0\4\5\6"s);
  EXPECT_EQ(chunks[2], std::pair("IEND"s, ""s));
}

TEST(Png, colours_are_told_by_the_last_axis) {
  auto rgb = chunksOf(encodePng(HostArray::of<uint8_t>({1, 2, 3, 4, 5, 6}, {1, 2, 3})));
  EXPECT_EQ(rgb[0].second[9], 2);
  EXPECT_EQ(inflated(rgb[1].second, 7), "\0\1\2\3\4\5\6"s);
  auto rgba = chunksOf(encodePng(HostArray::of<uint8_t>({1, 2, 3, 4}, {1, 1, 4})));
  EXPECT_EQ(rgba[0].second[9], 6);
}

TEST(Png, other_arrays_are_refused) {
  for (HostArray array :
       {HostArray::zeros(ElementType::F32, {2, 2}), HostArray::zeros(ElementType::UI8, {4}),
        HostArray::zeros(ElementType::UI8, {2, 2, 2}), HostArray::zeros(ElementType::UI8, {0, 2}),
        HostArray::zeros(ElementType::UI8, {1, 1, 1, 1})})
    expectHas(messageOf([&] { encodePng(array); }), {"expected an image", array.describe()});
}

TEST(Base64, test_vectors_of_rfc_4648) {
  EXPECT_EQ(encodeBase64(""), "");
  EXPECT_EQ(encodeBase64("f"), "Zg==");
  EXPECT_EQ(encodeBase64("fo"), "Zm8=");
  EXPECT_EQ(encodeBase64("foo"), "Zm9v");
  EXPECT_EQ(encodeBase64("foob"), "Zm9vYg==");
  EXPECT_EQ(encodeBase64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(encodeBase64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(encodeBase64("\xff\xfe\xfd"), "//79");
}
