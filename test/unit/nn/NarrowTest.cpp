//===- NarrowTest.cpp - layers, losses and updates of narrow floats -------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts, factors, epsilons and rates keep their precision, and sums their range: results are those
// of plain loops in double, rounded once.
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Layers.h"
#include "heddle/nn/Losses.h"
#include "heddle/nn/Optimizers.h"
#include "test/unit/nn/Compare.h"

using namespace heddle;
using namespace heddle::test;

namespace {
const Name row("row"), batch("batch"), classes("class");

struct Parameter {
  Tensor p;
  HEDDLE_FIELDS(p)
};

class NarrowLayers : public testing::TestWithParam<ElementType> {
protected:
  /// The size of a rounding, relative to the number.
  double step() const { return GetParam() == ElementType::F16 ? 0x1p-11 : 0x1p-8; }
  Tensor narrow(const Tensor &x) const { return x.cast(GetParam()); }
  static std::vector<double> doubles(const Tensor &x) {
    return x.cast(ElementType::F64).to<double>(orderOf(x));
  }
  void expectRounded(const Tensor &got, const std::vector<double> &wanted, const std::string &what,
                     double roundings = 1.01) const {
    ASSERT_EQ(got.elementType(), GetParam()) << what;
    std::vector<double> values = doubles(got);
    ASSERT_EQ(values.size(), wanted.size()) << what;
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(values[i], wanted[i], roundings * step() * std::abs(wanted[i]) + 6e-8)
          << what << " at " << i;
  }
  /// Parameters after `steps` updates with a constant gradient.
  template <typename O>
  Tensor updated(const Tensor &p, const Tensor &g, double rate, int steps,
                 const typename O::Options &options) const {
    Parameter parameters{narrow(p)}, gradient{narrow(g)};
    auto optimizer = O::make(parameters, options);
    auto step =
        jit([&](O &o, Parameter &p, Parameter g, Tensor rate) { o.update(p, g, rate, options); });
    for (int i = 0; i < steps; ++i)
      step(optimizer, parameters, gradient, constant(rate));
    return parameters.p;
  }
};
} // namespace
INSTANTIATE_TEST_SUITE_P(Types, NarrowLayers, testing::Values(ElementType::F16, ElementType::BF16),
                         [](const auto &info) { return std::string(spelling(info.param)); });

TEST_P(NarrowLayers, NormsOfLargeNumbers) {
  // Squares are beyond f16's largest number, and an epsilon of 1e-8 is 0 there.
  std::vector<float> values, tiny;
  for (int i = 0; i < 600; ++i) {
    values.push_back(i % 2 ? 300 : -300);
    tiny.push_back(i % 2 ? 0x1p-14f : -0x1p-14f);
  }
  Tensor x = narrow(tensor(values, {{row, 600}})), small = narrow(tensor(tiny, {{row, 600}}));
  auto like = [](const std::vector<float> &from, double size, double epsilon) {
    return mapped(from, [=](double v) { return v / std::sqrt(size * size + epsilon); });
  };
  expectRounded(nn::LayerNorm::make({{row, 600}})(x, row), like(values, 300, 1e-5), "layer norm");
  expectRounded(nn::RmsNorm::make({{row, 600}})(x, row), like(values, 300, 1e-5),
                "root mean square");
  expectRounded(nn::RmsNorm::make({{row, 600}}, 1e-8)(small, row), like(tiny, 0x1p-14, 1e-8),
                "epsilon");
  nn::BatchNorm norm = nn::BatchNorm::make({batch, 1});
  nn::Mode mode = nn::Mode::training(norm, key(1), row);
  expectRounded(norm(x.broadcast({{batch, 1}}), row, mode), like(values, 300, 1e-5), "batch norm");
  double unbiased = 90000.0 * 600 / 599;
  EXPECT_NEAR(mode.running(norm.slot).variance.item(), 0.9 + 0.1 * unbiased, 0.05);
  nn::WeightNorm weight = nn::WeightNorm::make(x.broadcast({{batch, 1}}), row);
  expectRounded(weight.length, {300 * std::sqrt(600.0)}, "length");
  expectRounded(weight(row), mapped(values, [](double v) { return v; }), "weight norm", 2);
}

TEST_P(NarrowLayers, SoftmaxOfMany) {
  Tensor zero = narrow(zeros({{classes, 100000}}));
  std::vector<double> shares(100000, 1e-5), logs(100000, -std::log(1e5));
  expectRounded(nn::softmax(zero, classes), shares, "softmax");
  expectRounded(nn::logSoftmax(zero, classes), logs, "its logarithm");
  Tensor label = Tensor::of<int32_t>({7}, {{batch, 1}});
  expectRounded(nn::crossEntropy(zero.broadcast({{batch, 1}}), label, classes), {std::log(1e5)},
                "cross entropy");
}

TEST_P(NarrowLayers, MeansOfLossesCountTheirSamples) {
  // The count of 771 samples needs 10 bits; the logits of class 1 are 0, 1, 2, ... / 512.
  std::vector<float> values;
  std::vector<int32_t> labels;
  double loss = 0;
  for (int i = 0; i < 1028; ++i) {
    values.push_back(0);
    values.push_back(float(i % 8) / 8);
    labels.push_back(i % 4 == 3 ? -1 : 1);
    if (i % 4 != 3)
      loss += std::log(1 + std::exp(-double(values.back()))) / 771;
  }
  Tensor logits = narrow(tensor(values, {{batch, 1028}, {classes, 2}}));
  Tensor label = Tensor::of<int32_t>(labels, {{batch, 1028}});
  for (double smoothing : {0.0, 0.1}) {
    nn::CrossEntropyOptions options{.ignored = -1, .smoothing = smoothing};
    double wanted = loss;
    if (smoothing > 0) {
      wanted = 0;
      for (int i = 0; i < 1028; ++i)
        if (i % 4 != 3) {
          double x = values[size_t(2 * i + 1)], one = std::log(1 + std::exp(-x)), other = one + x;
          wanted += (0.9 * one + 0.1 * (one + other) / 2) / 771;
        }
    }
    expectRounded(nn::crossEntropyMean(logits, label, classes, batch, options), {wanted}, "mean");
  }
}

TEST_P(NarrowLayers, PoolsAndClippedGradients) {
  std::vector<float> ones(1000, 1), large(1000, 30000);
  Tensor pooled = nn::adaptiveAveragePool(narrow(tensor(ones, {{row, 1000}})), row, 3);
  expectRounded(pooled, {1, 1, 1}, "pool");
  // The factor of a length of 9e5 is below f16's smallest normal number.
  for (float each : {1.0f, 30000.0f}) {
    Parameter g{narrow(zeros({{row, 1000}}) + double(each))};
    Tensor length = nn::clipByNorm(g, 1.0);
    double value = doubles(narrow(constant(each)))[0];
    EXPECT_NEAR(length.item(), value * std::sqrt(1000.0), 1e-6 * value * 32);
    expectRounded(g.p, std::vector<double>(1000, 1 / std::sqrt(1000.0)), "clipped");
  }
  Parameter g{narrow(tensor(large, {{row, 1000}}))};
  nn::clipByValue(g, constant(1e5));
  expectRounded(g.p, std::vector<double>(1000, doubles(narrow(constant(30000)))[0]), "unclipped");
}

TEST_P(NarrowLayers, ScaledGradients) {
  nn::LossScale scale = nn::LossScale::make({.first = 1 << 20});
  Parameter gradient{narrow(zeros({{row, 2}}) + 512.0)}, state{narrow(zeros({{row, 2}}))};
  scale.update(gradient, [&] { state.p = gradient.p; }, state);
  expectRounded(state.p, std::vector<double>(2, 0x1p-11), "unscaled");
  // The mean of three gradients with the weight 100 each.
  nn::GradientSum sum = nn::GradientSum::make(state);
  for (int i = 0; i < 3; ++i)
    sum.add(Parameter{narrow(zeros({{row, 2}}) + 1.0)}, 100.0);
  expectRounded(sum.take(state).p, {1, 1}, "mean of gradients");
}

TEST_P(NarrowLayers, UpdatesOfParameters) {
  Tensor p = zeros({{row, 1}}) + 1.0, tiny = zeros({{row, 1}}) + 0x1p-14;
  // The square of the gradient underflows in f16, and 0.999 is 1 in bf16.
  nn::Adam::Options adam{.beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8};
  expectRounded(updated<nn::Adam>(p, tiny, 0.25, 1, adam), {0.75}, "Adam");
  expectRounded(updated<nn::Adam>(p, tiny, 0.25, 3, adam), {0.25}, "Adam, three steps", 3);
  expectRounded(updated<nn::AdamW>(p, tiny, 0.25, 1, adam), {0.75}, "AdamW");
  expectRounded(updated<nn::RmsProp>(p, tiny, 0.01, 1, {.alpha = 0.99, .epsilon = 1e-8}),
                {1 - 0.01 * 0x1p-14 / (0.1 * 0x1p-14 + 1e-8)}, "RMSprop");
  expectRounded(updated<nn::Adagrad>(p, tiny, 0.25, 1, {}), {0.75}, "Adagrad");
  expectRounded(updated<nn::NovoGrad>(p, tiny, 0.25, 1, {}), {0.75}, "NovoGrad");
  expectRounded(updated<nn::Lamb>(p, tiny, 0.25, 1, {}), {0.75}, "LAMB");
  // A factor of 0.1 of the rate, and 2 / 3 of the velocity, over 8 steps from 0.
  Tensor zero = zeros({{row, 1}}), one = zeros({{row, 1}}) + 1.0;
  double velocity = 0, wanted = 0;
  for (int i = 0; i < 8; ++i) {
    velocity = velocity * (2.0 / 3) + 1;
    wanted -= 0.1 * velocity;
  }
  expectRounded(updated<nn::Sgd>(zero, one, 0.1, 8, {.momentum = 2.0 / 3}), {wanted}, "SGD", 4);
}
