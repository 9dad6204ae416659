//===- SampleLossesTest.cpp - losses compared with PyTorch ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Activations.h"
#include "heddle/nn/Losses.h"
#include "test/unit/Refused.h"
#include "test/unit/nn/Recorded.h"

using namespace heddle;
using namespace heddle::test;

namespace {
const Name batch("batch"), row("row"), classes("class"), feature("feature"), n("n"),
    position("position");

const Recorded &recorded() {
  static const Recorded all("sample-losses");
  return all;
}

/// A loss by itself, and its mean over all names that it has.
void expectBoth(const std::string &name, const std::function<Tensor(const Given &)> &loss) {
  recorded().expect(name, loss);
  recorded().expect(name + "-mean", [&](const Given &x) {
    Tensor each = loss(x);
    return mean(each, orderOf(each));
  });
}

std::string numbered(const std::string &name, int i) { return name + "." + std::to_string(i); }
} // namespace

TEST(SampleLosses, NegativeLogLikelihood) {
  auto expectNll = [](const std::string &name, bool isWeighted, std::optional<int64_t> ignored) {
    auto options = [&](const Given &x) {
      return nn::NllOptions{isWeighted ? x.at("weight") : Tensor(), ignored};
    };
    recorded().expect(name, [&](const Given &x) {
      return nn::nll(x.at("x"), x.at("label"), classes, options(x));
    });
    recorded().expect(name + "-mean", [&](const Given &x) {
      const Tensor &label = x.at("label");
      return nn::nllMean(x.at("x"), label, classes, orderOf(label), options(x));
    });
  };
  for (int i : {0, 1, 2}) {
    expectNll(numbered("nll", i), false, {});
    expectNll(numbered("nll-weight", i), true, {});
    if (i == 1)
      continue;
    expectNll(numbered("nll-ignored", i), true, -100);
    expectNll(numbered("nll-first", i), true, 0);
  }
  expectNll("nll-rows", false, {});
}

/// Ignored samples with any values; and labels out of range.
TEST(SampleLosses, IgnoredSamplesAreNotSeen) {
  Tensor x = Tensor::of<float>({-1, -2, NAN, -INFINITY, -3, INFINITY}, {{batch, 3}, {classes, 2}});
  Tensor weight = Tensor::of<float>({NAN, 2}, {{classes, 2}});
  for (int32_t ignored : {0, -100, 7}) {
    auto label = Tensor::of<int32_t>({1, ignored, ignored}, {{batch, 3}});
    auto loss = [&](const Tensor &x) {
      return nn::nllMean(x, label, classes, batch, {.weight = weight, .ignored = ignored});
    };
    EXPECT_EQ(loss(x).item(), 2);
    EXPECT_EQ(grad(loss, x).to<float>({batch, classes}), (std::vector<float>{0, -1, 0, 0, 0, 0}));
  }
  Tensor wrong = Tensor::of<int32_t>({0, 2, -1}, {{batch, 3}});
  std::vector<float> y =
      nn::nll(zeros({{batch, 3}, {classes, 2}}), wrong, classes).to<float>(batch);
  EXPECT_EQ(y[0], 0);
  EXPECT_TRUE(std::isnan(y[1]) && std::isnan(y[2]));
  // One label for all samples counts once for each.
  Tensor one = constant(1, ElementType::I32);
  EXPECT_EQ(nn::nllMean(x.slice(batch, 0, 1), one, classes, batch, {.weight = weight}).item(), 2);
}

/// Neither 70,000 samples nor the sum of their losses is representable in f16.
TEST(SampleLosses, MeansDivideInF32) {
  const int64_t size = 70000;
  Tensor x = constant(-2, ElementType::F16, {{batch, size}, {classes, 1}});
  Tensor label = zeros({{batch, size}}, ElementType::I32);
  auto loss = [&](const Tensor &x) {
    return nn::nllMean(x, label, classes, batch, {.ignored = 3});
  };
  EXPECT_EQ(loss(x).cast(ElementType::F32).item(), 2);
  Tensor many = random({{feature, size}}, 1).cast(ElementType::F16);
  Tensor near = nn::tripletMargin(many, many, many + 1.0, feature, {.margin = 300});
  EXPECT_NEAR(near.cast(ElementType::F32).item(), 300 - std::sqrt(double(size)), 0.3);
  // 1e-8 is 0 in f16, and log(0) infinite.
  Tensor nothing = nn::poissonNll(zeros({}, ElementType::F16), constant(1, ElementType::F16),
                                  {.logarithm = false});
  EXPECT_NEAR(nothing.cast(ElementType::F32).item(), 8 * std::log(10), 0.02);
  Tensor scores = constant(0, ElementType::F16, {{classes, size}});
  Tensor soft = nn::multiLabelSoftMargin(scores, scores, classes);
  EXPECT_NEAR(soft.cast(ElementType::F32).item(), std::log(2), 1e-3);
}

TEST(SampleLosses, SeveralLabels) {
  for (int i : {0, 1, 2}) {
    auto soft = [](bool isWeighted) {
      return [=](const Given &x) {
        return nn::multiLabelSoftMargin(x.at("x"), x.at("wanted"), classes,
                                        isWeighted ? x.at("weight") : Tensor());
      };
    };
    expectBoth(numbered("soft-margin", i), soft(false));
    expectBoth(numbered("soft-margin-weight", i), soft(true));
    expectBoth(numbered("margin", i), [](const Given &x) {
      return nn::multiLabelMargin(x.at("x"), x.at("labels"), classes, position);
    });
  }
  // The label 5 is out of range; after the end of a list it is ignored.
  Tensor x = random({{batch, 2}, {classes, 5}}, 1);
  Tensor labels = Tensor::of<int32_t>({1, 5, -1, 1, -1, 5}, {{batch, 2}, {position, 3}});
  std::vector<float> y = nn::multiLabelMargin(x, labels, classes, position).to<float>(batch);
  EXPECT_TRUE(std::isnan(y[0]) && std::isfinite(y[1]));
  EXPECT_EQ(nn::multiLabelMargin(x.at(batch, 0), labels.at(batch, 1), classes, position).type(),
            "!nd.tensor<f32>");
}

TEST(SampleLosses, Distances) {
  std::map<std::string, nn::TripletOptions> ways{{"", {}},
                                                 {"-swap", {.margin = 2.5, .swap = true}},
                                                 {"-one", {.power = 1}},
                                                 {"-three", {.power = 3, .epsilon = 1e-2}},
                                                 {"-most", {.power = INFINITY}}};
  for (int i : {0, 1}) {
    for (const auto &[word, options] : ways)
      expectBoth(numbered("triplet" + word, i), [&](const Given &x) {
        return nn::tripletMargin(x.at("a"), x.at("p"), x.at("n"), feature, options);
      });
    for (double margin : {0.0, -0.5})
      expectBoth(numbered(margin < 0 ? "cosine-margin" : "cosine", i), [&](const Given &x) {
        return nn::cosineEmbedding(x.at("x"), x.at("y"), x.at("wanted"), feature, margin);
      });
  }
  recorded().expect("triplet-same", [](const Given &x) {
    return nn::tripletMargin(x.at("x"), x.at("x"), x.at("x"), feature, {.epsilon = 0});
  });
  recorded().expect("cosine-zero", [](const Given &x) {
    return nn::cosineEmbedding(x.at("x"), x.at("x") + 1.0, x.at("wanted"), feature);
  });
  Tensor zero = zeros({{batch, 2}, {feature, 3}});
  auto slope = grad(
      [&](Tensor x) {
        return sum(nn::tripletMargin(x, zero, zero, feature, {.power = 0.5, .epsilon = 0}), batch);
      },
      zero);
  EXPECT_EQ(valuesOf(slope), std::vector<float>(6, 0));
  Tensor wanted = Tensor::of<int32_t>({0, 1}, {{batch, 2}});
  EXPECT_TRUE(std::isnan(nn::cosineEmbedding(zero, zero, wanted, feature).to<float>(batch)[0]));
}

TEST(SampleLosses, Distributions) {
  for (int i : {0, 1})
    for (bool full : {false, true}) {
      std::string end = full ? "-full" : "";
      for (bool logarithm : {true, false})
        expectBoth(
            numbered((logarithm ? "poisson" : "poisson-rate") + end, i), [&](const Given &x) {
              return nn::poissonNll(x.at("x"), x.at("y"), {.logarithm = logarithm, .full = full});
            });
      expectBoth(numbered("gaussian" + end, i), [&](const Given &x) {
        return nn::gaussianNll(x.at("x"), x.at("y"), x.at("variance"),
                               {.full = full, .epsilon = full ? 1e-3 : 1e-6});
      });
    }
  recorded().expect("poisson-zero", [](const Given &x) {
    return nn::poissonNll(x.at("x"), x.at("y"), {.logarithm = false});
  });
  Tensor negative = nn::gaussianNll(constant(1), constant(1), constant(-1));
  EXPECT_TRUE(std::isnan(negative.item()));
  // Stirling's formula and its derivative are not evaluated for masked counts.
  Tensor counts = Tensor::of<float>({-1, 0, 1}, {{n, 3}});
  auto full = [&](Tensor y) { return sum(nn::poissonNll(zeros({{n, 3}}), y, {.full = true}), n); };
  EXPECT_EQ(grad(full, counts).to<float>(n), (std::vector<float>{0, 0, 0}));
}

TEST(Misuse, SampleLosses) {
  Tensor x = random({{batch, 2}, {classes, 3}}, 1), label = zeros({{batch, 2}}, ElementType::I32);
  refused([&] { nn::nll(x, zeros({{batch, 2}}), classes); }, {"labels of integers"});
  refused([&] { nn::nll(x, label, feature); }, {"an x with the name 'feature'"});
  refused([&] { nn::nll(x, label.rename({{batch, row}}), classes); },
          {"labels with names of the probabilities, without 'class'", "row: 2"});
  refused([&] { nn::nll(x, label, classes, {.weight = zeros({{row, 3}})}); },
          {"a weight of each class, along 'class'"});
  refused([&] { nn::tripletMargin(x, x, x, classes, {.power = 0}); }, {"a power above 0"});
  refused([&] { nn::tripletMargin(x, x, x, classes, {.margin = -1}); }, {"a margin above 0"});
  refused([&] { nn::cosineEmbedding(x, x, label, classes, 2); }, {"a margin"});
  refused([&] { nn::gaussianNll(x, x, x, {.epsilon = 0}); }, {"an epsilon above 0"});
  refused([&] { nn::multiLabelMargin(x, x, classes, batch); }, {"labels of integers"});
}
