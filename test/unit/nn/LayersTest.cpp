//===- LayersTest.cpp - layers, losses, optimisers ------------------------===//
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
#include "heddle/nn/Checkpoint.h"
#include "heddle/nn/Optimizers.h"
#include "test/unit/Refused.h"
#include "test/unit/io/Files.h"
#include "test/unit/nn/Compare.h"

#include <sys/resource.h>

#include <cmath>
#include <csignal>

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
  EXPECT_EQ(layer.bias->to<float>({out}), std::vector<float>(4, 0));
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
  // With the moments of this batch both ways agree.
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

TEST(CrossEntropy, IsTheNegativeLogLikelihood) {
  auto logits = numbers(4 * 5, 16);
  std::vector<int32_t> labels{3, 0, 4, 1};
  std::vector<double> wanted;
  for (size_t i = 0; i < 4; ++i) {
    double total = 0;
    for (size_t c = 0; c < 5; ++c)
      total += std::exp(double(logits[i * 5 + c]));
    wanted.push_back(std::log(total) - logits[i * 5 + size_t(labels[i])]);
  }
  Tensor x = tensor(logits, {{n, 4}, {classes, 5}});
  Tensor label = Tensor::of<int32_t>(std::span<const int32_t>(labels), {{n, 4}});
  expectNear(nn::crossEntropy(x, label, classes).to<float>({n}), wanted);
  expectGradient(
      [&](const std::vector<Tensor> &x) { return nn::crossEntropy(x[0], label, classes); }, {x});
  Tensor huge = nn::crossEntropy(x * 1e4, label, classes);
  for (float value : huge.to<float>({n}))
    EXPECT_TRUE(std::isfinite(value));
}

TEST(Layers, MistakesNameTheCallersPlace) {
  nn::Linear layer = nn::Linear::make({{channel, 2}}, {out, 3}, key(1));
  std::string message = messageOf([&] { layer(zeros({{n, 4}, {channel, 5}}), over(channel)); });
  expectHas(message, {"LayersTest.cpp", "'channel'", "size 5", "size 2"});
}

//===----------------------------------------------------------------------===//
// Optimisers
//===----------------------------------------------------------------------===//

namespace {
struct Weights {
  Tensor a, steps, b; ///< `steps` is an integer, which has no gradient
  HEDDLE_FIELDS(a, steps, b)
};
Weights initial() {
  return {Tensor::of<float>({1, -2, 0.5f}, {{n, 3}}), Tensor::of<int64_t>({7}, {}),
          Tensor::of<float>({3}, {})};
}
/// d/da = 2 a, d/db = b.
Tensor lossOf(const Weights &w) { return sum(w.a * w.a, over(n)) + w.b * w.b * 0.5; }
template <typename Optimizer>
struct OptimizerState {
  Weights weights;
  Optimizer optimizer;
  HEDDLE_FIELDS(weights, optimizer)
};
} // namespace

TEST(Optimizers, SgdFollowsItsFormula) {
  OptimizerState<nn::Sgd> state{initial(), {}};
  state.optimizer = nn::Sgd::make(state.weights);
  auto step = jit([](OptimizerState<nn::Sgd> &s, Tensor rate) {
    auto [loss, gradient] = valueAndGrad(lossOf, s.weights);
    s.optimizer.update(s.weights, gradient, rate, {.momentum = 0.8, .decay = 0.1});
    return loss;
  });
  double p[4] = {1, -2, 0.5, 3}, v[4] = {};
  for (int i = 0; i < 5; ++i) {
    double rate = 0.1 / (i + 1);
    step(state, Tensor::of<float>({float(rate)}, {}));
    for (int j = 0; j < 4; ++j) {
      v[j] = 0.8 * v[j] + (j < 3 ? 2 : 1) * p[j] + 0.1 * p[j];
      p[j] -= rate * v[j];
    }
  }
  expectNear(state.weights.a.to<float>({n}), {p[0], p[1], p[2]});
  EXPECT_NEAR(state.weights.b.item(), p[3], 1e-5);
  EXPECT_EQ(state.weights.steps.item(), 7);
}

TEST(Optimizers, AdamFollowsItsFormula) {
  OptimizerState<nn::Adam> state{initial(), {}};
  state.optimizer = nn::Adam::make(state.weights);
  auto step = jit([](OptimizerState<nn::Adam> &s) {
    auto [loss, gradient] = valueAndGrad(lossOf, s.weights);
    s.optimizer.update(s.weights, gradient, 0.05, {.decay = 0.01});
    return loss;
  });
  double p[4] = {1, -2, 0.5, 3}, m[4] = {}, s[4] = {};
  for (int i = 1; i <= 5; ++i) {
    step(state);
    for (int j = 0; j < 4; ++j) {
      double g = (j < 3 ? 2 : 1) * p[j];
      m[j] = 0.9 * m[j] + 0.1 * g;
      s[j] = 0.999 * s[j] + 0.001 * g * g;
      double mean = m[j] / (1 - std::pow(0.9, i)), square = s[j] / (1 - std::pow(0.999, i));
      p[j] -= 0.05 * (mean / (std::sqrt(square) + 1e-8) + 0.01 * p[j]);
    }
  }
  expectNear(state.weights.a.to<float>({n}), {p[0], p[1], p[2]}, 1e-4);
  EXPECT_NEAR(state.weights.b.item(), p[3], 1e-4);
  EXPECT_EQ(state.optimizer.steps.item(), 5);
}

namespace {
struct Stack {
  std::vector<Tensor> layers;
  HEDDLE_FIELDS(layers)
};
Stack stackOf(size_t count, int64_t size = 3) {
  Stack stack;
  for (size_t i = 0; i < count; ++i)
    stack.layers.push_back(random({{n, size}}, i));
  return stack;
}
template <typename Optimizer>
void refusesTreesOfOtherLengths() {
  Stack three = stackOf(3), two = stackOf(2), wide = stackOf(3, 4);
  std::string place = std::string(__FILE__) + ":";
  auto expectRefused = [&](Optimizer optimizer, Stack parameters, Stack gradient,
                           const std::string &message) {
    try {
      optimizer.update(parameters, gradient, 0.1);
      FAIL() << "expected: " << message;
    } catch (const Error &error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
      EXPECT_EQ(std::string(error.what()).find(place), 0u) << error.what();
    }
  };
  expectRefused(Optimizer::make(three), three, two,
                "the gradient lacks 'layers.2' (expected 3 tensors, got 2)");
  expectRefused(Optimizer::make(two), two, three,
                "no parameter belongs to the gradient's 'layers.2' (expected 2 tensors, got 3)");
  expectRefused(Optimizer::make(two), three, three,
                "the optimiser was made without 'layers.2' (expected 3 tensors, got 2)");
  expectRefused(
      Optimizer::make(three), two, two,
      "the optimiser was made for more parameters than these (expected 2 tensors, got 3)");
  expectRefused(Optimizer::make(three), wide, wide,
                "the optimiser's state of 'layers.0' to be !nd.tensor<f32, n: 4>, got "
                "!nd.tensor<f32, n: 3>");
  expectRefused(Optimizer::make(three), three, wide,
                "the gradient of 'layers.0' to be !nd.tensor<f32, n: 3>, got "
                "!nd.tensor<f32, n: 4>");
}
} // namespace

TEST(Optimizers, TreesOfOtherLengthsAreRefused) {
  refusesTreesOfOtherLengths<nn::Sgd>();
  refusesTreesOfOtherLengths<nn::Adam>();
}

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

TEST(Checkpoint, ATreeComesBackToTheBit) {
  TemporaryDirectory directory;
  std::string path = directory / "tree.safetensors";
  OptimizerState<nn::Adam> state{initial(), {}}, back{initial(), {}};
  state.optimizer = nn::Adam::make(state.weights);
  back.optimizer = nn::Adam::make(back.weights);
  state.weights.a = random({{n, 3}}, 20);
  state.optimizer.square[0] = (state.weights.a * 3.0).cast(ElementType::F32);
  nn::saveTree(path, state, {{"epoch", "3"}, {"text", "line\nline"}});
  nn::Notes notes;
  nn::loadTree(path, back, &notes);
  EXPECT_EQ(back.weights.a.to<float>({n}), state.weights.a.to<float>({n}));
  EXPECT_EQ(back.optimizer.square[0].to<float>({n}), state.optimizer.square[0].to<float>({n}));
  EXPECT_EQ(back.weights.steps.item(), 7);
  EXPECT_EQ(notes, (nn::Notes{{"epoch", "3"}, {"text", "line\nline"}}));
}

TEST(Checkpoint, WhatDoesNotFitIsNamedAndLeavesTheTreeAlone) {
  TemporaryDirectory directory;
  std::string path = directory / "tree.safetensors";
  Weights saved = initial();
  nn::saveTree(path, saved);
  Weights other{zeros({{n, 4}}), Tensor::of<int64_t>({1}, {}), zeros({})};
  expectHas(messageOf([&] { nn::loadTree(path, other); }), {path, "'a'", "n: 3", "n: 4"});
  EXPECT_EQ(other.a.size(n), 4);
  // Only the last tensor does not fit.
  Weights last{zeros({{n, 3}}), Tensor::of<int64_t>({1}, {}), zeros({{n, 2}})};
  expectHas(messageOf([&] { nn::loadTree(path, last); }), {path, "'b'", "n: 2"});
  EXPECT_EQ(last.a.to<float>({n}), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(last.steps.item(), 1);
  std::pair<Weights, Tensor> bigger{initial(), zeros({})};
  expectHas(messageOf([&] { nn::loadTree(path, bigger); }), {path, "no tensor '0.a'"});
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 5);
  expectHas(messageOf([&] { nn::loadTree(path, saved); }), {path});
  directory.write("tree.safetensors", "x");
  expectHas(messageOf([&] { nn::loadTree(path, saved); }), {path});
  expectHas(messageOf([&] { nn::loadTree(directory / "none", saved); }), {"none", "No such file"});
  auto unnamed = io::HostArray::of<float>({1, 2}, {2});
  expectHas(messageOf([&] { nn::tensorOf(unnamed); }), {"have names", "f32 [2]"});
}

TEST(Checkpoint, PlacesAreThoseOfTheUser) {
  TemporaryDirectory directory;
  Weights state = initial(), copy = state;
  jit([](Weights &w) { return w.a = w.a * 2.0; })(state);
  expectHas(messageOf([&] { nn::saveTree(directory / "tree.safetensors", copy); }),
            {"LayersTest.cpp", "given up"});
  EXPECT_EQ(directory.entries(), 0u);
  std::string line = "LayersTest.cpp:" + std::to_string(__LINE__ + 1), none = directory / "none/a";
  std::string text = messageOf([&] { nn::loadTree(none, state); });
  expectHas(text, {line, "'" + none + "': can't open: No such file"});
  expectHas(messageOf([&] { nn::saveTree(none, state); }),
            {"LayersTest.cpp:", "can't write '" + none + "'"});
}

TEST(Checkpoint, AFileThatMayNotGrowLeavesTheOldOne) {
  TemporaryDirectory directory;
  std::string path = directory / "tree.safetensors";
  Weights old = initial();
  nn::saveTree(path, old);
  Tensor large = zeros({{n, 100000}});
  (void)large.to<float>({n});
  rlimit before, small;
  getrlimit(RLIMIT_FSIZE, &before);
  small = before;
  small.rlim_cur = 4096;
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  std::string message = messageOf([&] { nn::saveTree(path, large); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  expectHas(message, {path, "File too large"});
  Weights back = initial();
  nn::loadTree(path, back);
  EXPECT_EQ(back.a.to<float>({n}), old.a.to<float>({n}));
  EXPECT_EQ(directory.entries(), 1u);
}

//===----------------------------------------------------------------------===//
// Mistakes
//===----------------------------------------------------------------------===//

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

TEST(Misuse, Labels) {
  Tensor logits = random({{n, 3}, {classes, 4}}, 1);
  auto label = [](ElementType type, const Name &name, int64_t size) {
    return iota({name, size}).cast(type);
  };
  auto loss = [&](const Tensor &label) { return nn::crossEntropy(logits, label, classes); };
  refused([&] { nn::crossEntropy(logits, label(ElementType::F32, n, 3), classes); },
          {"labels of integers", "!nd.tensor<f32, n: 3>", "!nd.tensor<f32, class: 4, n: 3>"});
  refused([&] { nn::crossEntropy(logits, label(ElementType::I32, row, 3), classes); },
          {"labels with names of the logits, without 'class'", "row: 3"});
  refused([&] { nn::crossEntropy(logits, label(ElementType::I32, classes, 4), classes); },
          {"labels with names of the logits, without 'class'"});
  // One label for all samples is allowed, too.
  EXPECT_EQ(loss(constant(1, ElementType::I64)).type(), "!nd.tensor<f32, n: 3>");
  // The loss of a label that is not a class is NaN; there may be more classes than labels count.
  for (ElementType type : {ElementType::I8, ElementType::I32, ElementType::I64}) {
    auto values = valuesOf(loss((iota({n, 3}) * 4.0 - 4.0).cast(type)));
    EXPECT_TRUE(std::isnan(values[0]) && !std::isnan(values[1]) && std::isnan(values[2]));
  }
  Tensor many = random({{classes, 300}}, 2), wide = nn::logSoftmax(many, over(classes));
  for (int64_t wanted : {5, 255}) {
    Tensor narrow = constant(double(wanted), ElementType::UI8);
    EXPECT_NEAR(nn::crossEntropy(many, narrow, classes).item(),
                -wide.slice(classes, wanted, 1).to<float>({classes})[0], 1e-5);
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // sanitizers abort
TEST(Misuse, MoreThanThereIsMemory) {
  refused([] { nn::LayerNorm::make({{n, int64_t(1) << 45}}); },
          {"out of memory: 35184372088832 floats for !nd.tensor<f32, n: 35184372088832>"});
}
#endif

TEST(Misuse, Paths) {
  Tensor x = random({{n, 3}}, 1);
  refused([&] { nn::saveTensors("unwritten", {{"a", x}, {"a", x}}); },
          {"two tensors have the name 'a'"});
}
