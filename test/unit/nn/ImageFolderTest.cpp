//===- ImageFolderTest.cpp - PNG and JPEG files ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/data/ImageFolder.h"
#include "heddle/io/Png.h"
#include "heddle/nn/data/Loader.h"
#include "test/unit/Refused.h"
#include "test/unit/support/io/Files.h"

#include <cstdio> // jpeglib.h needs it
#include <jpeglib.h>

using namespace heddle;
using namespace heddle::nn;
using namespace heddle::test;

namespace {
/// A gradient of colour, different in each channel.
io::HostArray slope(int64_t rows, int64_t columns, int64_t channels = 3) {
  auto image = io::HostArray::zeros(ElementType::UI8, {rows, columns, channels},
                                    {"row", "column", "channel"});
  for (int64_t i = 0; i < image.count(); ++i)
    image.values<uint8_t>()[size_t(i)] =
        uint8_t(2 * (i / channels / columns) + 3 * (i / channels % columns) + 40 * (i % channels));
  return image;
}
std::string jpegOf(const io::HostArray &image) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char *memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_height = JDIMENSION(image.shape[0]);
  info.image_width = JDIMENSION(image.shape[1]);
  info.input_components = int(image.shape[2]);
  info.in_color_space = image.shape[2] == 3 ? JCS_RGB : JCS_GRAYSCALE;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 100, TRUE);
  jpeg_start_compress(&info, TRUE);
  for (int64_t row = 0; row < image.shape[0]; ++row) {
    auto *line = const_cast<JSAMPLE *>(reinterpret_cast<const JSAMPLE *>(image.bytes.data())) +
                 row * image.shape[1] * image.shape[2];
    jpeg_write_scanlines(&info, &line, 1);
  }
  jpeg_finish_compress(&info);
  std::string bytes(reinterpret_cast<char *>(memory), size);
  jpeg_destroy_compress(&info);
  free(memory);
  return bytes;
}
void expectNear(const io::HostArray &got, const io::HostArray &wanted, int tolerance) {
  ASSERT_EQ(got.describe(), wanted.describe());
  for (size_t i = 0; i < size_t(got.count()); ++i)
    ASSERT_NEAR(got.values<uint8_t>()[i], wanted.values<uint8_t>()[i], tolerance) << i;
}
} // namespace

TEST(ReadImage, PngAndJpeg) {
  TemporaryDirectory directory;
  std::string png = directory.write("a.png", io::encodePng(slope(7, 11)));
  EXPECT_EQ(readImage(png), slope(7, 11));
  std::string jpeg = directory.write("a.jpg", jpegOf(slope(17, 11)));
  expectNear(readImage(jpeg), slope(17, 11), 3);
  // Grey is 0.299 red, 0.587 green, 0.114 blue; libpng computes it from linear light, libjpeg from
  // the stored values.
  io::HostArray grey = readImage(jpeg, 1);
  EXPECT_EQ(grey.describe(), "ui8 [row: 17, column: 11, channel: 1]");
  EXPECT_NEAR(grey.values<uint8_t>()[0], 0.587 * 40 + 0.114 * 80, 2);
  auto one = slope(5, 3, 1);
  std::string single = directory.write(
      "b.png", io::encodePng(io::HostArray::of<uint8_t>(one.values<uint8_t>(), {5, 3})));
  EXPECT_EQ(readImage(single, 1), one);
  EXPECT_EQ(readImage(single, 3).values<uint8_t>()[5], one.values<uint8_t>()[1]);
  refused([&] { readImage(png, 2); }, {"1 or 3 channels, got 2"});
}

TEST(ReadImage, DamageIsFound) {
  TemporaryDirectory directory;
  for (std::string whole : {io::encodePng(slope(9, 9)), jpegOf(slope(33, 33))})
    for (size_t size : {size_t(0), size_t(3), whole.size() / 2, whole.size() - 40}) {
      std::string path = directory.write("a", whole.substr(0, size));
      refused([&] { readImage(path); }, {"'" + path + "': damaged image: "});
      EXPECT_THROW(readImage(path), DamagedSample);
    }
  std::string flipped = io::encodePng(slope(9, 9));
  flipped[flipped.size() / 2] ^= 8; // the checksum detects it
  EXPECT_THROW(readImage(directory.write("a", flipped)), DamagedSample);
  // A missing file is not a damaged sample.
  refused([&] { readImage(directory / "none"); }, {"none", "No such file"});
}

TEST(Resized, MeansOfPixels) {
  auto image = io::HostArray::of<float>({0, 4, 8, 12}, {1, 4, 1});
  // Each new pixel: weights 1 3 3 1 over the old ones around it, those beyond the end left out.
  auto half = resized(image, 1, 2);
  EXPECT_NEAR(half.values<float>()[0], (3 * 0 + 3 * 4 + 1 * 8) / 7.0, 1e-5);
  EXPECT_NEAR(half.values<float>()[1], (1 * 4 + 3 * 8 + 3 * 12) / 7.0, 1e-5);
  auto twice = resized(image, 2, 8); // bilinear
  std::vector<float> wanted{0, 1, 3, 5, 7, 9, 11, 12};
  for (size_t i = 0; i < 16; ++i)
    EXPECT_NEAR(twice.values<float>()[i], wanted[i % 8], 1e-5);
  EXPECT_EQ(resized(slope(6, 4), 6, 4), slope(6, 4));
  EXPECT_EQ(resized(io::HostArray::of<uint8_t>({7, 7, 7, 7, 7, 7}, {1, 2, 3}), 5, 3),
            io::HostArray::of<uint8_t>(std::vector<uint8_t>(45, 7), {5, 3, 3}));
  refused([&] { resized(image, 0, 3); }, {"at least 1", "0 x 3"});
}

TEST(ImageFolder, ClassesAreFolders) {
  TemporaryDirectory directory;
  for (const char *name : {"dog", "cat", "empty"})
    std::filesystem::create_directory(directory / name);
  directory.write("dog/b.PNG", io::encodePng(slope(8, 8)));
  directory.write("dog/notes.txt", "no image");
  directory.write("cat/a.jpg", jpegOf(slope(4, 4)));
  directory.write("cat/z.png", "damaged");
  directory.write("stray.png", "in no class");
  ImageFolder pets(directory.path, {.rows = 4, .columns = 4, .mean = 0.5, .deviation = 0.25});
  EXPECT_EQ(pets.classes(), (std::vector<std::string>{"cat", "dog", "empty"}));
  ASSERT_EQ(pets.count(), 3);
  Sample dog = pets.read(2);
  EXPECT_EQ(dog[1], io::HostArray::of<int32_t>({1}, {}));
  EXPECT_EQ(dog[0].describe(), "f32 [row: 4, column: 4, channel: 3]");
  // Inside, the mean of a linear slope is its middle: rows 4 and 5, columns 4 and 5.
  EXPECT_NEAR(dog[0].values<float>()[(2 * 4 + 2) * 3 + 1],
              ((2 * 4.5 + 3 * 4.5 + 40) / 255 - 0.5) / 0.25, 1e-4);
  Loader loader(pets, {.batch = 3, .threads = 2, .skipDamaged = true});
  auto batch = loader.next();
  EXPECT_EQ(batch->damaged, 1);
  EXPECT_EQ(batch->array("label"), io::HostArray::of<int32_t>({0, 1, 0}, {3}, {"batch"}));
  Loader strict(pets, {.batch = 3});
  expectHas(messageOf([&] { strict.next(); }), {"cat/z.png': damaged image: neither"});
}

TEST(ImageFolder, WhatCanNotBeReadIsNamed) {
  TemporaryDirectory directory;
  std::string path = directory.path;
  refused([&] { ImageFolder(path, {.rows = 4, .columns = 4}); }, {path, "found no folder"});
  std::filesystem::create_directory(directory / "cat");
  refused([&] { ImageFolder(path, {.rows = 4, .columns = 4}); }, {"no such file in its folders"});
  refused([&] { ImageFolder(path + "/none", {.rows = 4, .columns = 4}); }, {"none", "can't read"});
  refused([&] { ImageFolder(path, {}); }, {"size that images are brought to, got 0 x 0"});
}
