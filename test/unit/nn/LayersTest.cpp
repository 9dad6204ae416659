//===- LayersTest.cpp - layers --------------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values are compared with plain loops in double, gradients with differences of the compiled
// function itself.
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Layers.h"
#include "heddle/Compositions.h"
#include "heddle/Jit.h"
#include "heddle/nn/Initializers.h"
#include "test/unit/Refused.h"
#include "test/unit/nn/Compare.h"
#include "test/unit/support/io/Files.h"

#include <cmath>

using namespace heddle;
using namespace heddle::test;

namespace {
const Name n("n"), row("row"), column("column"), channel("channel"), out("out"), classes("class");
} // namespace

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

struct Activation {
  const char *name;
  Tensor (*function)(const Tensor &);
  double (*wanted)(double);
};
static void PrintTo(const Activation &activation, std::ostream *out) { *out << activation.name; }

class Activations : public testing::TestWithParam<Activation> {};
INSTANTIATE_TEST_SUITE_P(
    All, Activations,
    testing::Values(
        Activation{"relu", [](const Tensor &x) { return relu(x); },
                   [](double x) { return std::max(x, 0.0); }},
        Activation{"tanh", [](const Tensor &x) { return tanh(x); },
                   [](double x) { return std::tanh(x); }},
        Activation{"sigmoid", [](const Tensor &x) { return sigmoid(x); },
                   [](double x) { return 1 / (1 + std::exp(-x)); }},
        Activation{"gelu", [](const Tensor &x) { return nn::gelu(x); },
                   [](double x) { return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0))); }},
        Activation{"geluTanh", [](const Tensor &x) { return nn::geluTanh(x); },
                   [](double x) {
                     return 0.5 * x *
                            (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
                   }},
        Activation{"silu", [](const Tensor &x) { return nn::silu(x); },
                   [](double x) { return x / (1 + std::exp(-x)); }}),
    [](const auto &info) { return std::string(info.param.name); });

TEST_P(Activations, ValueAndGradient) {
  std::vector<float> values = numbers(23, 1);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = values[i] * 6 + (std::abs(values[i]) < 0.01f ? 0.1f : 0); // not at relu's corner
  Tensor x = tensor(values, {{n, 23}});
  expectNear(GetParam().function(x).to<float>({n}), mapped(values, GetParam().wanted), 1e-5);
  expectGradient([](const std::vector<Tensor> &x) { return GetParam().function(x[0]); }, {x});
}

TEST(Activations, SigmoidAndSiluDoNotOverflow) {
  Tensor x = Tensor::of<float>({-200, 200}, {{n, 2}});
  EXPECT_EQ(sigmoid(x).to<float>({n}), (std::vector<float>{0, 1}));
  EXPECT_EQ(nn::silu(x).to<float>({n})[1], 200);
}

TEST(Activations, SoftmaxIsStable) {
  Tensor x = Tensor::of<float>({1000, 1001, -1000, 2, 2, 2}, {{n, 2}, {classes, 3}});
  double e = std::exp(1.0), third = 1 / 3.0;
  expectNear(nn::softmax(x, over(classes)).to<float>({n, classes}),
             {1 / (1 + e), e / (1 + e), 0, third, third, third});
  auto logs = nn::logSoftmax(x, over(classes)).to<float>({n, classes});
  EXPECT_NEAR(logs[0], -std::log(1 + e), 1e-4);
  EXPECT_NEAR(logs[5], std::log(third), 1e-5);
  expectGradient([](const std::vector<Tensor> &x) { return nn::softmax(x[0], over(classes)); },
                 {random({{n, 3}, {classes, 4}}, 2)});
  expectGradient([](const std::vector<Tensor> &x) { return nn::logSoftmax(x[0], over(classes)); },
                 {random({{n, 3}, {classes, 4}}, 3)});
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

TEST(Linear, SumsOverSeveralNames) {
  nn::Linear layer = nn::Linear::make({{row, 3}, {channel, 2}}, {out, 4}, key(1));
  auto w = layer.weight.to<float>({row, channel, out});
  for (float value : w)
    EXPECT_LE(std::abs(value), 1 / std::sqrt(6.0f));
  auto first = layer.bias->to<float>({out});
  EXPECT_LE(std::abs(first[0]), 1 / std::sqrt(6.0f));
  EXPECT_NE(first[0], first[1]);
  EXPECT_NE(first, std::vector<float>(w.begin(), w.begin() + 4)); // has a key of its own
  layer.bias = random({{out, 4}}, 4);
  auto b = layer.bias->to<float>({out}), x = numbers(5 * 3 * 2, 5);
  std::vector<double> wanted;
  for (size_t i = 0; i < 5; ++i)
    for (size_t o = 0; o < 4; ++o) {
      double sum = b[o];
      for (size_t k = 0; k < 6; ++k)
        sum += double(x[i * 6 + k]) * w[k * 4 + o];
      wanted.push_back(sum);
    }
  Tensor input = tensor(x, {{n, 5}, {row, 3}, {channel, 2}});
  expectNear(layer(input, over(row, channel)).to<float>({n, out}), wanted);
  expectGradient(
      [](const std::vector<Tensor> &x) { return nn::Linear{x[1], x[2]}(x[0], over(row, channel)); },
      {input, layer.weight, *layer.bias});
}

/// (x - mean) / sqrt(variance + 1e-5) * scale + shift over the first axis of `values` [count,
/// width].
static std::vector<double> normalised(const std::vector<double> &values, size_t count, size_t width,
                                      const std::vector<float> &scale,
                                      const std::vector<float> &shift,
                                      std::vector<double> *means = nullptr,
                                      std::vector<double> *variances = nullptr) {
  std::vector<double> result(values.size());
  for (size_t c = 0; c < width; ++c) {
    double mean = 0, variance = 0;
    for (size_t i = 0; i < count; ++i)
      mean += values[i * width + c] / double(count);
    for (size_t i = 0; i < count; ++i)
      variance += std::pow(values[i * width + c] - mean, 2) / double(count);
    for (size_t i = 0; i < count; ++i)
      result[i * width + c] =
          (values[i * width + c] - mean) / std::sqrt(variance + 1e-5) * scale[c] + shift[c];
    if (means) {
      means->push_back(mean);
      variances->push_back(variance);
    }
  }
  return result;
}

TEST(BatchNorm, NormalisesEachChannelAndKeepsTheMoments) {
  auto values = numbers(6 * 5 * 3, 8);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = values[i] * float(1 + i % 3) + 2;
  Tensor x = tensor(values, {{n, 6}, {row, 5}, {channel, 3}});
  nn::BatchNorm norm = nn::BatchNorm::make({channel, 3});
  norm.scale = random({{channel, 3}}, 9), norm.shift = random({{channel, 3}}, 10);
  nn::Mode mode = nn::Mode::training(norm, key(1), n);
  std::vector<double> means, variances;
  auto wanted = normalised({values.begin(), values.end()}, 30, 3, norm.scale.to<float>({channel}),
                           norm.shift.to<float>({channel}), &means, &variances);
  Tensor y = norm(x, over(n, row), mode);
  expectNear(y.to<float>({n, row, channel}), wanted, 1e-4);
  nn::RunningMoments &running = mode.moments.at("");
  for (size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(running.mean.to<float>({channel})[c], 0.1 * means[c], 1e-5);
    EXPECT_NEAR(running.variance.to<float>({channel})[c], 0.9 + 0.1 * variances[c] * 30 / 29, 1e-5);
  }
  // With the moments of this batch, training and evaluation agree.
  running.mean = mean(x, over(n, row));
  running.variance = variance(x, over(n, row));
  nn::Mode evaluation = mode.evaluation();
  expectNear(norm(x, over(n, row), evaluation).to<float>({n, row, channel}), wanted, 1e-4);
  expectGradient(
      [&](const std::vector<Tensor> &x) {
        nn::BatchNorm moved = norm;
        moved.scale = x[1], moved.shift = x[2];
        nn::Mode inner = mode;
        return moved(x[0], over(n, row), inner);
      },
      {x, norm.scale, norm.shift});
}

TEST(LayerNorm, NormalisesEachSampleOverItsNames) {
  auto values = numbers(3 * 4 * 2, 12);
  Tensor x =
      tensor(values, {{row, 4}, {channel, 2}, {n, 3}}); // the sample last, as `normalised` wants
  nn::LayerNorm norm{random({{row, 4}, {channel, 2}}, 13), random({{row, 4}, {channel, 2}}, 14)};
  std::vector<float> one(3, 1), zero(3, 0);
  auto plain = normalised({values.begin(), values.end()}, 8, 3, one, zero);
  auto scale = norm.scale.to<float>({row, channel}), shift = norm.shift.to<float>({row, channel});
  for (size_t i = 0; i < plain.size(); ++i)
    plain[i] = plain[i] * scale[i / 3] + shift[i / 3];
  expectNear(norm(x, over(row, channel)).to<float>({row, channel, n}), plain, 1e-4);
  expectGradient(
      [](const std::vector<Tensor> &x) {
        return nn::LayerNorm{x[1], x[2]}(x[0], over(row, channel));
      },
      {x, norm.scale, norm.shift});
  nn::LayerNorm made = nn::LayerNorm::make({{row, 4}});
  EXPECT_EQ(made.scale.to<float>({row}), std::vector<float>(4, 1));
}

/// The mean of equal elements, rounded, is not one of them; a variance of zero would magnify that.
TEST(Norms, EqualElementsAreTheShift) {
  Tensor x = zeros({{n, 21}, {channel, 4}}) + 0.1;
  auto expectZeros = [](const Tensor &y) {
    for (float value : valuesOf(y))
      EXPECT_NEAR(value, 0, 1e-9);
  };
  nn::BatchNorm batch = nn::BatchNorm::make({channel, 4});
  nn::Mode mode = nn::Mode::training(batch, key(1), n);
  auto training =
      jit([](nn::BatchNorm norm, nn::Mode mode, Tensor x) { return norm(x, over(n), mode); });
  expectZeros(training(batch, mode, x));
  nn::LayerNorm layer = nn::LayerNorm::make({{n, 21}, {channel, 4}});
  expectZeros(
      jit([](nn::LayerNorm norm, Tensor x) { return norm(x, over(n, channel)); })(layer, x));
  nn::GroupNorm group = nn::GroupNorm::make({channel, 4}, 2);
  expectZeros(jit([](nn::GroupNorm norm, Tensor x) { return norm(x, channel, n); })(group, x));
}

TEST(Layers, SumsOfNothingAreTheBias) {
  Tensor x = zeros({{n, 2}, {channel, 0}});
  nn::Linear layer = nn::Linear::make({{channel, 0}}, {out, 3}, key(1));
  for (float value : layer(x, over(channel)).to<float>({n, out}))
    EXPECT_LE(std::abs(value), 1);
  nn::Conv conv = nn::Conv::make({{n, {.size = 1}}}, {channel, 0}, {out, 3}, key(1));
  for (float value : conv(x, over(n), channel, out).to<float>({n, channel}))
    EXPECT_LE(std::abs(value), 1);
}

TEST(Layers, MistakesNameTheCallersPlace) {
  nn::Linear layer = nn::Linear::make({{channel, 2}}, {out, 3}, key(1));
  std::string message = messageOf([&] { layer(zeros({{n, 4}, {channel, 5}}), over(channel)); });
  expectHas(message, {"LayersTest.cpp", "'channel'", "size 5", "size 2"});
  nn::GroupNorm norm = nn::GroupNorm::make({channel, 4}, 2);
  message = messageOf([&] { norm(zeros({{n, 3}, {channel, 4}}), channel, row); });
  expectHas(message, {"unknown name 'row'", "!nd.tensor<f32, channel: 4, n: 3>"});
}

//===----------------------------------------------------------------------===//
// Mistakes
//===----------------------------------------------------------------------===//

TEST(Misuse, NamesThatALayerNormalisesOver) {
  Tensor x = zeros({{n, 2}, {channel, 6}, {row, 5}});
  nn::LayerNorm layer = nn::LayerNorm::make({{channel, 6}});
  refused([&] { layer(x, row); }, {"the layer was made for, 'channel', got 'row'"});
  nn::RmsNorm rms = nn::RmsNorm::make({{channel, 6}, {row, 5}});
  refused([&] { rms(x, row); }, {"'channel', 'row', got 'row'"});
  nn::BatchNorm batch = nn::BatchNorm::make({channel, 6});
  nn::Mode mode;
  refused([&] { batch(x, over(n, channel), mode); }, {"names without 'channel'"});
  refused([] { nn::LayerNorm::make({{channel, 6}}, -1); }, {"an epsilon of at least 0, got -1"});
  refused([] { nn::BatchNorm::make({channel, 6}, 7); }, {"a momentum from 0 to 1, got 7"});
  refused([&] { nn::maxPool(x, over(row, row), {.size = 2}); }, {"'row' twice"});
}

TEST(Misuse, OptionsOutOfRange) {
  refused([] { nn::Recurrent::make({channel, 3}, {out, 2}, key(1), {.dropout = 3}); },
          {"a rate of dropout from 0 to below 1, got 3"});
  refused([] { nn::Attention::make({channel, 4}, 2, key(1), {.dropout = 2}); }, {"got 2"});
  refused([] { nn::Attention::make({channel, 4}, 2, key(1), {.reach = -3}); },
          {"a reach of relative positions of at least 0, got -3"});
  refused([] { nn::uniform(key(1), {{n, 2}}, 2, 1); }, {"bounds from low to high"});
  refused([] { nn::normal(key(1), {{n, 2}}, 0, -1); }, {"a deviation of at least 0"});
}

TEST(Misuse, ATransposedConvolutionOfNegativeSize) {
  auto conv = nn::Conv::make({row, {.size = 1, .padding = nn::padded(5)}}, {channel, 2}, {out, 4},
                             key(1), {.transposed = true});
  refused([&] { conv(zeros({{channel, 2}, {row, 3}}), row, channel, out); },
          {"expected a size of 0 to 2^60 for 'row', got -7"});
}

/// Samples may be along names that are spelled like those of a layer's weights.
TEST(Layers, RecurrentWeightsHaveNamesOfTheirOwn) {
  Name time("time");
  nn::Mode mode;
  for (nn::Cell cell : {nn::Cell::Lstm, nn::Cell::Gru, nn::Cell::Tanh}) {
    int64_t gates = cell == nn::Cell::Lstm ? 4 : cell == nn::Cell::Gru ? 3 : 1;
    auto net = nn::Recurrent::make({channel, 3}, {out, 2}, key(1), {.cell = cell});
    Tensor x = random({{n, gates}, {time, 4}, {channel, 3}}, 2);
    auto wanted = net(x, time, channel, out, mode).all.to<float>({n, time, out});
    for (const char *spelling : {"gate", "from"}) {
      Name other(spelling);
      Tensor y = net(x.rename({{n, other}}), time, channel, out, mode).all;
      auto got = y.to<float>({other, time, out});
      ASSERT_EQ(got.size(), wanted.size()) << spelling;
      for (size_t i = 0; i < got.size(); ++i)
        EXPECT_NEAR(got[i], wanted[i], 1e-6) << spelling;
    }
    refused([&] { net(random({{out, 2}, {time, 4}, {channel, 3}}, 2), time, channel, out, mode); },
            {"an x without 'out', which the layer produces"});
  }
}

TEST(Misuse, NamesThatMeet) {
  nn::Linear linear = nn::Linear::make({{row, 3}, {column, 2}}, {out, 4}, key(1));
  EXPECT_EQ(linear(random({{n, 5}, {row, 3}, {column, 2}}, 1), over(row, column)).type(),
            "!nd.tensor<f32, n: 5, out: 4>");
  refused([&] { linear(random({{out, 4}, {row, 3}, {column, 2}}, 1), over(row, column)); },
          {"an x without 'out', which the layer produces", "out: 4, row: 3>",
           "x.rename({{out, ...}})"});
  refused([&] { linear(random({{n, 5}, {row, 3}}, 1), over(row, column)); },
          {"an x with the name 'column', which the layer sums over, got !nd.tensor<f32, n: 5"});
  refused([] { nn::Linear::make({{row, 3}}, {row, 3}, key(1)); },
          {"got 'row' for both", "y.rename({{..., row}})"});
  // A layer for each head: heads are zipped, the produced name is new.
  nn::Linear heads{random({{n, 2}, {row, 3}, {out, 4}}, 2), random({{n, 2}, {out, 4}}, 3)};
  EXPECT_EQ(heads(random({{n, 2}, {row, 3}}, 4), over(row)).type(),
            "!nd.tensor<f32, n: 2, out: 4>");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // sanitizers abort
TEST(Misuse, MoreThanThereIsMemory) {
  refused([] { nn::LayerNorm::make({{n, int64_t(1) << 45}}); },
          {"out of memory: 35184372088832 floats for !nd.tensor<f32, n: 35184372088832>"});
}
#endif
