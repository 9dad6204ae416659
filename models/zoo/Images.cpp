//===- Images.cpp - shared code of image models ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "models/zoo/Images.h"

#include "heddle/io/Png.h"
#include "heddle/nn/data/Combinators.h"
#include "heddle/nn/data/ImageFolder.h"
#include "heddle/nn/data/Images.h"

#include <random>

using namespace heddle;
using namespace heddle::zoo;

static std::vector<nn::Field> fieldsOf(const Images &images) {
  return {{"image",
           ElementType::F32,
           {images.side, images.side, images.channels},
           {"row", "column", "channel"}},
          {"label", ElementType::I32, {}, {}}};
}

/// Pads an image of one channel on all sides.
static io::HostArray padded(const io::HostArray &image, int64_t side, float value) {
  int64_t rows = image.shape[0], columns = image.shape[1];
  auto result = io::HostArray::zeros(ElementType::F32, {side, side, 1});
  std::ranges::fill(result.values<float>(), value);
  int64_t top = (side - rows) / 2, left = (side - columns) / 2;
  for (int64_t r = 0; r < rows; ++r)
    std::copy_n(image.values<float>().data() + r * columns, columns,
                result.values<float>().data() + (r + top) * side + left);
  return result;
}

/// Reverses the columns of the image.
static nn::Sample mirrored(nn::Sample sample, int64_t) {
  io::HostArray &image = sample[0];
  int64_t columns = image.shape[1], channels = image.shape[2];
  std::span<float> values = image.values<float>();
  for (auto row = values.begin(); row != values.end(); row += columns * channels)
    for (int64_t left = 0, right = columns - 1; left < right; ++left, --right)
      std::swap_ranges(row + left * channels, row + (left + 1) * channels, row + right * channels);
  return sample;
}

static nn::DatasetPtr fashion(const Images &images, bool train) {
  auto data = std::make_shared<nn::LabelledImages>(nn::fashionMnist(train));
  data->normalise(images.mean, images.deviation);
  nn::DatasetPtr result = data;
  bool pads = images.side > data->rows() && images.side < data->rows() + 8;
  if (images.side != data->rows())
    result = nn::transform(
        data,
        [=](nn::Sample sample, int64_t) {
          sample[0] = pads ? padded(sample[0], images.side, -images.mean / images.deviation)
                           : nn::resized(sample[0], images.side, images.side);
          return sample;
        },
        fieldsOf(images));
  return train && images.mirrored ? nn::concat({result, nn::transform(result, mirrored)}) : result;
}

namespace {
/// Random images and labels that depend only on the sample's index.
struct RandomImages : nn::Dataset {
  Images images;
  explicit RandomImages(const Images &images) : images(images) {}
  int64_t count() const override { return 1024; }
  std::vector<nn::Field> fields() const override { return fieldsOf(images); }
  nn::Sample read(int64_t index) const override {
    std::mt19937_64 random{uint64_t(index)};
    auto image =
        io::HostArray::zeros(ElementType::F32, {images.side, images.side, images.channels});
    for (float &pixel : image.values<float>())
      pixel = float(random() >> 40) * 0x1p-23f - 1;
    return {image, io::HostArray::of<int32_t>({int32_t(random() % uint64_t(images.classes))}, {})};
  }
};
} // namespace

Data zoo::dataOf(const Images &images) {
  Images usual;
  bool isFashion = images.channels == usual.channels && images.classes == usual.classes;
  auto read = [=](bool train) -> nn::DatasetPtr {
    if (isFashion)
      return fashion(images, train);
    return std::make_shared<RandomImages>(images);
  };
  auto example = [=](int64_t samples) -> nn::Fields {
    std::vector<Extent> extents{
        {batch, samples}, {row, images.side}, {column, images.side}, {channel, images.channels}};
    return {{"image", randomNormal(key(1), extents)},
            {"label",
             randomIntegers(key(2), 0, images.classes, {{batch, samples}}).cast(ElementType::I32)}};
  };
  return {[=] { return read(true); }, [=] { return read(false); }, example};
}

static nn::DatasetPtr withNoise(const nn::DatasetPtr &images, int64_t steps) {
  std::vector<nn::Field> fields = images->fields();
  fields.push_back({"noise", ElementType::F32, fields[0].shape, fields[0].names});
  fields.push_back({"step", ElementType::I32, {}, {}});
  auto change = [steps](nn::Sample sample, int64_t index) {
    std::mt19937_64 random{uint64_t(index)};
    std::normal_distribution<float> normal;
    sample.push_back(io::HostArray::zeros(ElementType::F32, sample[0].shape));
    for (float &value : sample.back().values<float>())
      value = normal(random);
    sample.push_back(io::HostArray::of<int32_t>({int32_t(random() % uint64_t(steps))}, {}));
    return sample;
  };
  return nn::transform(images, change, fields);
}

Data zoo::withNoise(const Data &images, int64_t steps) {
  auto example = [=](int64_t samples) {
    nn::Fields fields = images.example(samples);
    fields["noise"] = randomNormal(key(3), fields.at("image").extents());
    fields["step"] = randomIntegers(key(4), 0, steps, {{batch, samples}}).cast(ElementType::I32);
    return fields;
  };
  return {[=] { return ::withNoise(images.train(), steps); },
          [=] { return ::withNoise(images.test(), steps); }, example};
}

/// 16 images of a batch in a 4 x 4 grid, with pixels clamped to black and white.
static io::HostArray grid(const Images &images, const Tensor &x) {
  int64_t side = images.side, colours = images.channels;
  std::vector<float> values = x.to<float>({batch, row, column, channel});
  auto all = io::HostArray::zeros(ElementType::UI8,
                                  colours == 1 ? std::vector<int64_t>{4 * side, 4 * side}
                                               : std::vector<int64_t>{4 * side, 4 * side, colours});
  for (int64_t n = 0, from = 0; n < 16; ++n)
    for (int64_t r = 0; r < side; ++r)
      for (int64_t i = 0; i < side * colours; ++i, ++from) {
        float value = values[size_t(from)] * images.deviation + images.mean;
        int64_t line = n / 4 * side + r, at = line * 4 * side + n % 4 * side;
        all.values<uint8_t>()[size_t(at * colours + i)] =
            uint8_t(std::clamp(value, 0.0f, 1.0f) * 255 + 0.5f);
      }
  return all;
}

std::string zoo::drawn(const Images &images, int64_t steps, const Denoise &denoise) {
  Tensor x = randomNormal(
      key(1), {{batch, 16}, {row, images.side}, {column, images.side}, {channel, images.channels}});
  auto number = [](int64_t value) { return Tensor::of<int32_t>({int32_t(value)}, {}); };
  for (int64_t i = 50; i > 0; --i)
    x = denoise(x, number(i * steps / 50 - 1), number((i - 1) * steps / 50 - 1));
  return "<h2>Samples</h2><img style='width:512px;image-rendering:pixelated' "
         "src='data:image/png;base64," +
         io::encodeBase64(io::encodePng(grid(images, x))) + "' alt='sixteen images'>";
}

nn::Outcome zoo::classified(const Tensor &logits, const nn::Fields &fields) {
  const Tensor &label = fields.at("label");
  return {nn::sampleMean(nn::crossEntropy(logits, label, classes), fields),
          {{"accuracy", nn::sampleMean(nn::isRight(logits, label, classes), fields)}}};
}

nn::Training zoo::trained(int64_t epochs, double rate, double accuracy) {
  return {.epochs = epochs,
          .rate = rate,
          .schedule = nn::triangle,
          .goal = {"accuracy", /*larger=*/true, accuracy}};
}

nn::Windows zoo::windowsOf(int64_t size, int64_t stride) {
  return {place, {.size = size, .stride = stride, .padding = nn::padded(size / 2)}};
}

nn::Conv zoo::convolution(const nn::Windows &windows, int64_t in, int64_t outs, const Tensor &key,
                          bool bias) {
  auto conv = nn::Conv::make(windows, {channel, in}, {out, outs}, key, {.bias = bias});
  conv.weight = nn::kaimingNormal(key, conv.weight.extents(), over(out, "row_k", "column_k"));
  return conv;
}

ConvNorm ConvNorm::make(const nn::Windows &windows, int64_t in, int64_t outs, const Tensor &key,
                        double epsilon) {
  return {convolution(windows, in, outs, key, /*bias=*/false),
          nn::BatchNorm::make({channel, outs}, 0.1, epsilon)};
}

Tensor ConvNorm::operator()(const Tensor &x, nn::Mode &mode) const {
  return norm(conv(x, place, channel, out), over(batch, row, column), mode);
}

Classifier Classifier::make(int64_t channels, int64_t grid, int64_t units, int64_t outs,
                            double rate, size_t dropped, const Tensor &key) {
  Extent wide{hidden, units};
  return {
      {nn::Linear::make({{channel, channels}, {row, grid}, {column, grid}}, wide, fold(key, 0.0)),
       nn::Linear::make({wide}, {out, units}, fold(key, 1.0)),
       nn::Linear::make({wide}, {classes, outs}, fold(key, 2.0))},
      grid,
      0,
      0};
}

Tensor Classifier::operator()(const Tensor &x, nn::Mode &mode) const {
  Tensor y = nn::adaptiveAveragePool(x, place, grid);
  for (size_t i = 0; i < layers.size(); ++i) {
    Names in = i == 0 ? over(channel, row, column) : Names(hidden);
    if (i == dropped || i == dropped + 1)
      y = nn::dropout(y, rate, in, mode);
    y = layers[i](y, in);
    if (i == 1)
      y = y.rename({{out, hidden}});
    if (i < 2)
      y = relu(y);
    y = mode.seen("classifier." + std::to_string(i), y);
  }
  return y;
}
