//===- ImageFolder.cpp - image files, a folder for each class -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/data/ImageFolder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

using namespace heddle;
using namespace heddle::nn;

//===----------------------------------------------------------------------===//
// Size
//===----------------------------------------------------------------------===//

namespace {
/// The old pixels, and their weights, that form a new pixel.
struct Taps {
  int64_t first;
  std::vector<float> weights;
};
} // namespace

static std::vector<Taps> tapsOf(int64_t from, int64_t to) {
  std::vector<Taps> all;
  double scale = double(from) / double(to), reach = std::max(scale, 1.0);
  for (int64_t i = 0; i < to; ++i) {
    double centre = (double(i) + 0.5) * scale, total = 0;
    int64_t first = std::max<int64_t>(0, int64_t(centre - reach + 0.5));
    int64_t last = std::min(from, int64_t(centre + reach + 0.5));
    Taps taps{first, {}};
    std::vector<double> weights;
    for (int64_t j = first; j < last; ++j) {
      weights.push_back(std::max(0.0, 1 - std::abs(double(j) + 0.5 - centre) / reach));
      total += weights.back();
    }
    for (double weight : weights)
      taps.weights.push_back(float(weight / total));
    all.push_back(std::move(taps));
  }
  return all;
}

/// Resizes the middle one of three axes to `wanted`; the others have the sizes `outer` and `inner`.
static std::vector<float> along(const std::vector<float> &from, int64_t outer, int64_t size,
                                int64_t inner, int64_t wanted) {
  std::vector<Taps> taps = tapsOf(size, wanted);
  std::vector<float> result(size_t(outer * wanted * inner));
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < wanted; ++i)
      for (size_t t = 0; t < taps[size_t(i)].weights.size(); ++t) {
        const float *line = &from[size_t((o * size + taps[size_t(i)].first + int64_t(t)) * inner)];
        float *to = &result[size_t((o * wanted + i) * inner)];
        for (int64_t k = 0; k < inner; ++k)
          to[k] += taps[size_t(i)].weights[t] * line[k];
      }
  return result;
}

io::HostArray nn::resized(const io::HostArray &image, int64_t rows, int64_t columns, Here here) {
  bool isBytes = image.element == ElementType::UI8;
  if (image.shape.size() != 3 || (!isBytes && image.element != ElementType::F32) ||
      image.count() == 0 || rows < 1 || columns < 1)
    throw Error("expected an image [row, column, channel] of ui8 or f32 and a size of at least 1, "
                "got " +
                    image.describe() + " and " + std::to_string(rows) + " x " +
                    std::to_string(columns),
                here);
  if (image.shape[0] == rows && image.shape[1] == columns)
    return image;
  std::vector<float> values;
  if (isBytes)
    values.assign(image.values<uint8_t>().begin(), image.values<uint8_t>().end());
  else
    values.assign(image.values<float>().begin(), image.values<float>().end());
  int64_t channels = image.shape[2];
  values = along(values, image.shape[0], image.shape[1], channels, columns);
  values = along(values, 1, image.shape[0], columns * channels, rows);
  auto result = io::HostArray::zeros(image.element, {rows, columns, channels}, image.names, here);
  if (isBytes)
    std::transform(values.begin(), values.end(), result.values<uint8_t>().begin(),
                   [](float value) { return uint8_t(std::clamp(std::lround(value), 0l, 255l)); });
  else
    std::copy(values.begin(), values.end(), result.values<float>().begin());
  return result;
}

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

/// Returns the entries of a folder, sorted.
static std::vector<std::filesystem::path> entriesOf(const std::filesystem::path &folder,
                                                    Here here) {
  std::error_code error;
  std::vector<std::filesystem::path> entries;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error))
    entries.push_back(it->path());
  if (error)
    throw Error("'" + folder.string() + "': can't read the folder: " + error.message(), here);
  std::sort(entries.begin(), entries.end());
  return entries;
}

ImageFolder::ImageFolder(const std::string &folder, const ImageFolderOptions &options, Here here)
    : options(options) {
  if (options.rows < 1 || options.columns < 1)
    throw Error("expected the size that images are brought to, got " +
                    std::to_string(options.rows) + " x " + std::to_string(options.columns),
                here);
  if ((options.channels != 1 && options.channels != 3) || !(options.deviation > 0))
    throw Error("expected 1 or 3 channels and a deviation above 0, got " +
                    std::to_string(options.channels) + " and " + std::to_string(options.deviation),
                here);
  for (const auto &sub : entriesOf(folder, here)) {
    if (!std::filesystem::is_directory(sub))
      continue;
    for (const auto &file : entriesOf(sub, here)) {
      std::string ending = file.extension().string();
      std::transform(ending.begin(), ending.end(), ending.begin(), ::tolower);
      if (ending == ".png" || ending == ".jpg" || ending == ".jpeg")
        files.push_back({file.string(), int32_t(names.size())});
    }
    names.push_back(sub.filename().string());
  }
  if (files.empty())
    throw Error("'" + folder + "': expected folders of .png, .jpg and .jpeg files, found " +
                    (names.empty() ? "no folder" : "no such file in its folders"),
                here);
}

std::vector<Field> ImageFolder::fields() const {
  return {{"image",
           ElementType::F32,
           {options.rows, options.columns, options.channels},
           {"row", "column", "channel"}},
          {"label", ElementType::I32, {}, {}}};
}

Sample ImageFolder::read(int64_t index) const {
  requireIndex(index);
  const File &file = files[size_t(index)];
  io::HostArray pixels = readImage(file.path, options.channels, Here());
  auto image = io::HostArray::zeros(ElementType::F32, pixels.shape, pixels.names, Here());
  float scale = 1 / (255 * options.deviation), shift = options.mean / options.deviation;
  std::transform(pixels.values<uint8_t>().begin(), pixels.values<uint8_t>().end(),
                 image.values<float>().begin(),
                 [&](uint8_t pixel) { return float(pixel) * scale - shift; });
  return {resized(image, options.rows, options.columns, Here()),
          io::HostArray::of<int32_t>({file.label}, {})};
}
