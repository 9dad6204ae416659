//===- Images.cpp - grey images with labels -------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/data/Images.h"

#include "heddle/Error.h"
#include "heddle/io/Idx.h"

#include <filesystem>

using namespace heddle;
using namespace heddle::nn;

LabelledImages::LabelledImages(const std::string &images, const std::string &labels, int most,
                               Here here)
    : pixels(io::readIdx(images, here)), classes(io::readIdx(labels, here)) {
  if (pixels.element != ElementType::UI8 || pixels.shape.size() != 3)
    throw Error(
        "'" + images + "': expected bytes [images, rows, columns], got " + pixels.describe(), here);
  if (classes.element != ElementType::UI8 || classes.shape.size() != 1)
    throw Error("'" + labels + "': expected bytes [labels], got " + classes.describe(), here);
  samples = pixels.shape[0];
  if (classes.shape[0] != samples)
    throw Error("'" + images + "' has " + std::to_string(samples) + " images and '" + labels +
                    "' has " + std::to_string(classes.shape[0]) + " labels",
                here);
  for (int64_t i = 0; i < samples; ++i)
    if (label(i) >= most)
      throw Error("'" + labels + "': label " + std::to_string(i) + " is " +
                      std::to_string(label(i)) + ", expected 0 to " + std::to_string(most - 1),
                  here);
}

std::vector<Field> LabelledImages::fields() const {
  return {{"image", ElementType::F32, {rows(), columns(), 1}, {"row", "column", "channel"}},
          {"label", ElementType::I32, {}, {}}};
}

std::span<const uint8_t> LabelledImages::image(int64_t index) const {
  size_t size = size_t(rows() * columns());
  return pixels.values<uint8_t>().subspan(size_t(index) * size, size);
}

Sample LabelledImages::read(int64_t index) const {
  requireIndex(index);
  std::span<const uint8_t> from = image(index);
  auto scaled = io::HostArray::zeros(ElementType::F32, {rows(), columns(), 1});
  std::span<float> to = scaled.values<float>();
  float scale = 1 / (255 * deviation), shift = mean / deviation;
  for (size_t i = 0; i < from.size(); ++i)
    to[i] = float(from[i]) * scale - shift;
  return {std::move(scaled), io::HostArray::of<int32_t>({label(index)}, {})};
}

LabelledImages nn::fashionMnist(bool train, std::string directory, Here here) {
  if (directory.empty())
    directory = "/usr/share/datasets/fashion-mnist";
  auto find = [&](const std::string &name) {
    std::string plain = directory + (train ? "/train-" : "/t10k-") + name;
    for (const std::string &path : {plain, plain + ".gz"})
      if (std::filesystem::exists(path))
        return path;
    throw Error("there is no Fashion-MNIST in '" + directory + "': '" + plain +
                    ".gz' is missing; install Debian's package dataset-fashion-mnist, or say where "
                    "the files are",
                here);
  };
  LabelledImages images(find("images-idx3-ubyte"), find("labels-idx1-ubyte"), 10, here);
  images.normalise(0.2860f, 0.3530f); // of the training images
  return images;
}
