//===- Images.h - grey images with labels -----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The MNIST family: grey images of one size and a class for each, in a pair of
// IDX files.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_DATA_IMAGES_H
#define HEDDLE_NN_DATA_IMAGES_H

#include "heddle/nn/data/Dataset.h"

namespace heddle::nn {

/// Samples of an "image", f32 {row, column, channel: 1}, scaled to (pixel / 255 - mean) /
/// deviation, and a "label", i32.
class LabelledImages : public Dataset {
public:
  /// Reads `images` [n, row, column] and `labels` [n], both of bytes. Throws Error that names the
  /// file if one is damaged, if the numbers of images and labels differ, or if a label is not below
  /// `classes`.
  LabelledImages(const std::string &images, const std::string &labels, int classes,
                 Here here = Here::current());

  int64_t count() const override { return samples; }
  std::vector<Field> fields() const override;
  Sample read(int64_t index) const override;

  int64_t rows() const { return pixels.shape[1]; }
  int64_t columns() const { return pixels.shape[2]; }
  int label(int64_t index) const { return classes.values<uint8_t>()[size_t(index)]; }
  /// The pixels of an image, row by row.
  std::span<const uint8_t> image(int64_t index) const;
  /// Keeps only the first `count` samples.
  void limit(int64_t count) { samples = std::min(samples, count); }
  void normalise(float newMean, float newDeviation) {
    mean = newMean;
    deviation = newDeviation;
  }

private:
  io::HostArray pixels, classes;
  int64_t samples;
  float mean = 0, deviation = 1;
};

/// Fashion-MNIST (Zalando): 60,000 training and 10,000 test images in ten classes, scaled to mean 0
/// and deviation 1. An empty `directory` is that of Debian's package dataset-fashion-mnist. Files
/// may be compressed (".gz"). Throws Error that names the package if the files are missing.
LabelledImages fashionMnist(bool train, std::string directory = "", Here here = Here::current());

} // namespace heddle::nn

#endif // HEDDLE_NN_DATA_IMAGES_H
