//===- LossesTest.cpp - losses against loops in double --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Losses.h"
#include "heddle/nn/Layers.h"
#include "test/unit/Refused.h"
#include "test/unit/nn/Compare.h"
#include "test/unit/support/io/Files.h"

using namespace heddle;
using namespace heddle::test;

namespace {
const Name n("n"), row("row"), classes("class"), position("position"), moment("time");

Tensor labels(std::initializer_list<int32_t> values, const Name &name = n) {
  return Tensor::of<int32_t>(values, {{name, int64_t(values.size())}});
}
/// One loss of two numbers.
struct Pointwise {
  const char *name;
  Tensor (*function)(const Tensor &, const Tensor &);
  double (*wanted)(double, double);
  float low, high; ///< of the first number
};
void PrintTo(const Pointwise &loss, std::ostream *out) { *out << loss.name; }
double logistic(double x) { return 1 / (1 + std::exp(-x)); }
class PointwiseLosses : public testing::TestWithParam<Pointwise> {};
} // namespace

INSTANTIATE_TEST_SUITE_P(
    All, PointwiseLosses,
    testing::Values(
        Pointwise{"squaredError",
                  [](const Tensor &x, const Tensor &y) { return nn::squaredError(x, y); },
                  [](double x, double y) { return (x - y) * (x - y); }, -3, 3},
        Pointwise{"absoluteError",
                  [](const Tensor &x, const Tensor &y) { return nn::absoluteError(x, y); },
                  [](double x, double y) { return std::abs(x - y); }, -3, 3},
        Pointwise{"huber", [](const Tensor &x, const Tensor &y) { return nn::huber(x, y, 0.7); },
                  [](double x, double y) {
                    double d = std::abs(x - y);
                    return d < 0.7 ? d * d / 2 : 0.7 * (d - 0.35);
                  },
                  -3, 3},
        Pointwise{"binaryCrossEntropy",
                  [](const Tensor &x, const Tensor &y) { return nn::binaryCrossEntropy(x, y); },
                  [](double x, double y) { return -(y * std::log(x) + (1 - y) * std::log(1 - x)); },
                  0.05f, 0.95f},
        Pointwise{"binaryCrossEntropyOfLogits",
                  [](const Tensor &x, const Tensor &y) {
                    return nn::binaryCrossEntropyOfLogits(x, y, 2.5);
                  },
                  [](double x, double y) {
                    return -(2.5 * y * std::log(logistic(x)) + (1 - y) * std::log(1 - logistic(x)));
                  },
                  -4, 4},
        Pointwise{"klDivergence",
                  [](const Tensor &x, const Tensor &y) { return nn::klDivergence(x, y); },
                  [](double x, double y) { return y > 0 ? y * (std::log(y) - x) : 0; }, -4, 0}),
    [](const auto &info) { return std::string(info.param.name); });

TEST_P(PointwiseLosses, ValueAndGradient) {
  for (size_t count : {1, 13}) {
    auto x = numbers(count, 1, 0), y = numbers(count, 2, 0);
    std::vector<double> wanted;
    for (size_t i = 0; i < count; ++i) {
      x[i] = GetParam().low + (GetParam().high - GetParam().low) * x[i];
      wanted.push_back(GetParam().wanted(x[i], y[i]));
    }
    Tensor a = tensor(x, {{n, int64_t(count)}}), b = tensor(y, {{n, int64_t(count)}});
    expectNear(GetParam().function(a, b).to<float>({n}), wanted);
    expectGradient([&](const std::vector<Tensor> &x) { return GetParam().function(x[0], b); }, {a});
  }
}

TEST(Losses, CertainAnswersStayFinite) {
  Tensor wanted = Tensor::of<float>({0, 1, 0, 1}, {{n, 4}});
  // As in PyTorch, logarithms are clamped to at least -100.
  EXPECT_EQ(
      nn::binaryCrossEntropy(Tensor::of<float>({0, 1, 1, 0}, {{n, 4}}), wanted).to<float>({n}),
      (std::vector<float>{0, 0, 100, 100}));
  EXPECT_EQ(
      nn::binaryCrossEntropyOfLogits(Tensor::of<float>({-500, 500, 500, -500}, {{n, 4}}), wanted)
          .to<float>({n}),
      (std::vector<float>{0, 0, 500, 500}));
  EXPECT_EQ(
      nn::klDivergence(Tensor::of<float>({-INFINITY}, {{n, 1}}), zeros({{n, 1}})).to<float>({n}),
      std::vector<float>{0});
  refused([&] { nn::huber(wanted, wanted, 0); }, {"above 0"});
  // Gradients too; that of a saturated sigmoid is 0.
  Tensor logits = Tensor::of<float>({-200, 200, 200, -200, 0}, {{n, 5}});
  Tensor five = Tensor::of<float>({0, 1, 0, 1, 1}, {{n, 5}});
  auto loss = [&](const Tensor &x) { return sum(nn::binaryCrossEntropy(sigmoid(x), five), n); };
  EXPECT_EQ(grad(loss, logits).to<float>({n}), (std::vector<float>{0, 0, 0, 0, -0.5f}));
  auto certain = [&](const Tensor &p) { return sum(nn::binaryCrossEntropy(p, wanted), n); };
  EXPECT_EQ(grad(certain, Tensor::of<float>({0, 1, 1, 0}, {{n, 4}})).to<float>({n}),
            (std::vector<float>{1, -1, 0, 0}));
}

TEST(Losses, BinaryCrossEntropyTakesEachLogarithmOnce) {
  Tensor p = Tensor::of<float>({0.5f, 1e-38f}, {{n, 2}}),
         wanted = Tensor::of<float>({1, 1}, {{n, 2}});
  std::string ir =
      jit([](Tensor p, Tensor y) { return nn::binaryCrossEntropy(p, y); }).ir(p, wanted);
  for (const char *logarithm : {"math.log ", "math.log1p "}) {
    size_t at = ir.find(logarithm);
    ASSERT_NE(at, std::string::npos) << ir;
    EXPECT_EQ(ir.find(logarithm, at + 1), std::string::npos) << ir;
  }
  // Also where the gradient has become 0.
  EXPECT_NEAR(nn::binaryCrossEntropy(p, wanted).to<float>({n})[1], 38 * std::log(10), 1e-3);
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

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

namespace {
/// -log softmax of `logits` [count, width].
std::vector<double> surprises(const std::vector<float> &logits, size_t width) {
  std::vector<double> result(logits.size());
  for (size_t i = 0; i < logits.size(); i += width) {
    double total = 0;
    for (size_t c = 0; c < width; ++c)
      total += std::exp(double(logits[i + c]));
    for (size_t c = 0; c < width; ++c)
      result[i + c] = std::log(total) - logits[i + c];
  }
  return result;
}
} // namespace

TEST(CrossEntropy, WeightsIgnoredLabelsAndSmoothing) {
  auto logits = numbers(5 * 3, 17), weight = numbers(3, 18, 0);
  std::vector<int32_t> label{2, -100, 0, 1, 2};
  auto surprise = surprises(logits, 3);
  std::vector<double> wanted;
  double sum = 0, weights = 0;
  for (size_t i = 0; i < 5; ++i) {
    double even = 0;
    for (size_t c = 0; c < 3; ++c)
      even += weight[c] * surprise[i * 3 + c] / 3;
    size_t own = size_t(label[i]);
    wanted.push_back(label[i] < 0 ? 0 : 0.9 * weight[own] * surprise[i * 3 + own] + 0.1 * even);
    sum += wanted.back();
    weights += label[i] < 0 ? 0 : weight[own];
  }
  Tensor x = tensor(logits, {{n, 5}, {classes, 3}}), w = tensor(weight, {{classes, 3}});
  Tensor y = Tensor::of<int32_t>(std::span<const int32_t>(label), {{n, 5}});
  nn::CrossEntropyOptions options{.weight = w, .ignored = -100, .smoothing = 0.1};
  expectNear(nn::crossEntropy(x, y, classes, options).to<float>({n}), wanted);
  EXPECT_NEAR(nn::crossEntropyMean(x, y, classes, over(n), options).item(), sum / weights, 1e-5);
  expectGradient(
      [&](const std::vector<Tensor> &x) {
        return nn::crossEntropyMean(x[0], y, classes, over(n),
                                    {.weight = x[1], .ignored = -100, .smoothing = 0.1});
      },
      {x, w});
  // A label that all samples share is weighted once for each sample.
  EXPECT_NEAR(
      nn::crossEntropyMean(x, constant(1, ElementType::I32), classes, over(n), {.weight = w})
          .item(),
      (surprise[1] + surprise[4] + surprise[7] + surprise[10] + surprise[13]) / 5, 1e-5);
  refused([&] { nn::crossEntropy(x, y, classes, {.smoothing = 1.5}); }, {"smoothing from 0 to 1"});
  refused([&] { nn::crossEntropy(x, y, classes, {.weight = zeros({{Name("other"), 3}})}); },
          {"a weight of each class", "other: 3"});
}

TEST(CrossEntropy, LabelsMayBeProbabilities) {
  auto logits = numbers(4 * 3, 19), target = numbers(4 * 3, 20, 0), weight = numbers(3, 21, 0);
  auto surprise = surprises(logits, 3);
  double sum = 0;
  std::vector<double> wanted(4, 0.0);
  for (size_t i = 0; i < 12; ++i)
    wanted[i / 3] += weight[i % 3] * (0.8 * target[i] + 0.2 / 3) * surprise[i];
  for (double each : wanted)
    sum += each;
  Tensor x = tensor(logits, {{n, 4}, {classes, 3}}), y = tensor(target, {{n, 4}, {classes, 3}});
  nn::CrossEntropyOptions options{.weight = tensor(weight, {{classes, 3}}), .smoothing = 0.2};
  expectNear(nn::crossEntropy(x, y, classes, options).to<float>({n}), wanted);
  EXPECT_NEAR(nn::crossEntropyMean(x, y, classes, over(n), options).item(), sum / 4, 1e-5);
  refused([&] { nn::crossEntropy(x, y, classes, {.ignored = 1}); },
          {"no ignored label where labels are probabilities, got 1"});
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

//===----------------------------------------------------------------------===//
// Margins
//===----------------------------------------------------------------------===//

TEST(Margins, AgainstLoops) {
  auto scores = numbers(4 * 5, 22, 0);
  std::vector<int> label{3, 0, 4, 1};
  std::vector<double> hinges(4, 0.0), squares(4, 0.0), capsules(4, 0.0);
  for (size_t i = 0; i < 4; ++i)
    for (size_t c = 0; c < 5; ++c) {
      double own = scores[i * 5 + size_t(label[i])], other = scores[i * 5 + c];
      bool isOwn = int(c) == label[i];
      double lack = isOwn ? 0 : std::max(0.0, 0.4 - (own - other));
      hinges[i] += lack;
      squares[i] += lack * lack;
      capsules[i] += isOwn ? std::pow(std::max(0.0, 0.9 - other), 2)
                           : 0.5 * std::pow(std::max(0.0, other - 0.1), 2);
    }
  Tensor x = tensor(scores, {{n, 4}, {classes, 5}}), y = labels({3, 0, 4, 1});
  expectNear(nn::hinge(x, y, classes, 0.4).to<float>({n}), hinges);
  expectNear(nn::hinge(x, y, classes, 0.4, 2).to<float>({n}), squares);
  expectNear(nn::spread(x, y, classes, constant(0.4)).to<float>({n}), squares);
  expectNear(nn::margin(x, y, classes).to<float>({n}), capsules);
  for (auto loss :
       {+[](const Tensor &x, const Tensor &y) { return nn::hinge(x, y, classes); },
        +[](const Tensor &x, const Tensor &y) { return nn::spread(x, y, classes, 0.4); },
        +[](const Tensor &x, const Tensor &y) { return nn::margin(x, y, classes); }}) {
    expectGradient([&](const std::vector<Tensor> &x) { return loss(x[0], y); }, {x});
    for (float value : loss(x, labels({-1, 5, 6, -7})).to<float>({n}))
      EXPECT_TRUE(std::isnan(value));
  }
  refused([&] { nn::hinge(x, y, classes, 1, 3); }, {"power of 1 or 2, got 3"});
}

/// Biases and last layers often start at zero: a wrong derivative there stops the training.
TEST(Losses, SmoothFunctionsHaveTheirSlopeAtZero) {
  auto slopeAtZero = [](const std::function<Tensor(const Tensor &)> &function) {
    auto slope = jit([&](Tensor x) { return grad([&](Tensor x) { return function(x); }, x); });
    return slope(Tensor::of<float>({0.0f}, {})).item();
  };
  EXPECT_FLOAT_EQ(slopeAtZero([](const Tensor &x) { return nn::elu(x, 0.75); }), 0.75);
  EXPECT_FLOAT_EQ(slopeAtZero([](const Tensor &x) { return nn::softplus(x); }), 0.5);
  EXPECT_FLOAT_EQ(slopeAtZero([](const Tensor &x) { return nn::PRelu{constant(0.25)}(x); }), 0.25);
  for (double wanted : {0.0, 0.25, 1.0})
    EXPECT_FLOAT_EQ(slopeAtZero([&](const Tensor &x) {
                      return nn::binaryCrossEntropyOfLogits(x, constant(wanted));
                    }),
                    0.5 - wanted);
}
