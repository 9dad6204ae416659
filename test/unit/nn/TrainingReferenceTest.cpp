//===- TrainingReferenceTest.cpp - losses and optimisers compared with PyTorch -===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Losses, their gradients, parameters after ten steps, rates and clipped gradients are compared
// with the values that test/references/export.py wrote, to 1e-4 of the largest magnitude.
//
//===----------------------------------------------------------------------===//

#include "heddle/io/Safetensors.h"
#include "heddle/nn/Checkpoint.h"
#include "heddle/nn/Layers.h"
#include "heddle/nn/Losses.h"
#include "heddle/nn/Optimizers.h"
#include "heddle/nn/Schedules.h"
#include "test/unit/nn/Compare.h"

#include <filesystem>
#include <functional>

using namespace heddle;
using namespace heddle::test;

namespace {
const Name batch("batch"), classes("class"), n("n"), moment("time"), position("position");

Tensor reference(const std::string &name) {
  static const io::Safetensors all =
      io::readSafetensors(std::filesystem::path(__FILE__).parent_path() / ".." / ".." /
                          "references" / "training.safetensors");
  return nn::tensorOf(all.at(name));
}

void expectClose(const Tensor &got, const Tensor &wanted, const std::string &what) {
  ASSERT_EQ(got.type(), wanted.type()) << what;
  std::vector<float> a = valuesOf(got), b = valuesOf(wanted);
  float most = 0;
  for (float value : b)
    most = std::max(most, std::abs(value));
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], 1e-4f * most + 1e-6f) << what << " at " << i;
}

/// Compares loss(x, target) and its gradient.
void expectLoss(const std::string &name,
                const std::function<Tensor(const Tensor &, const Tensor &)> &loss) {
  auto both = jit([&](Tensor x, Tensor target) {
    return valueAndGrad([&](Tensor x) { return loss(x, target); }, x);
  });
  auto [value, gradient] = both(reference(name + ".x"), reference(name + ".target"));
  expectClose(value, reference(name + ".loss"), name);
  expectClose(gradient, reference(name + ".gradient"), "the gradient of " + name);
}

/// Ten steps from each start.
template <typename Optimizer>
void expectOptimizer(const std::string &name, double rate,
                     const typename Optimizer::Options &options) {
  struct State {
    std::vector<Tensor> all;
    Optimizer optimizer;
    nn::MovingAverage average;
    HEDDLE_FIELDS(all, optimizer, average)
  };
  for (std::string size : {"1.", "7."}) {
    State state;
    state.all = {reference(size + "start")};
    state.optimizer = Optimizer::make(state.all, options);
    state.average = nn::MovingAverage::make(state.all);
    auto step = jit([&](State &s, Tensor curvature) {
      std::vector<Tensor> gradient{s.all[0] * curvature};
      s.optimizer.update(s.all, gradient, rate, options);
      s.average.update(s.all, 0.8);
    });
    for (int i = 0; i < 10; ++i)
      step(state, reference(size + "curvature"));
    expectClose(state.all[0], reference(size + "end." + name), name);
    if (name == "adam")
      expectClose(state.average.of(state.all)[0], reference(size + "average"), "the average");
  }
}
} // namespace

TEST(TrainingReference, Losses) {
  Names all = over(batch, classes);
  for (std::string end : {".1", ".7"}) {
    expectLoss("mse" + end, [&](auto &x, auto &y) { return mean(nn::squaredError(x, y), all); });
    expectLoss("l1" + end, [&](auto &x, auto &y) { return mean(nn::absoluteError(x, y), all); });
    expectLoss("huber" + end, [&](auto &x, auto &y) { return mean(nn::huber(x, y, 0.7), all); });
    expectLoss("bce" + end,
               [&](auto &x, auto &y) { return mean(nn::binaryCrossEntropy(x, y), all); });
    expectLoss("bceLogits" + end, [&](auto &x, auto &y) {
      return mean(nn::binaryCrossEntropyOfLogits(x, y, 2.5), all);
    });
    expectLoss("kl" + end, [&](auto &x, auto &y) { return mean(nn::klDivergence(x, y), all); });
    expectLoss("entropy" + end, [&](auto &x, auto &y) {
      return nn::crossEntropyMean(x, y, classes, batch, {.smoothing = 0.1});
    });
    expectLoss("probabilities" + end, [&](auto &x, auto &y) {
      return nn::crossEntropyMean(x, y, classes, batch, {.smoothing = 0.2});
    });
    expectLoss("hinge" + end, [&](auto &x, auto &y) { // PyTorch divides by the classes
      return mean(nn::hinge(x, y, classes, 0.8, 2), batch) / countOf(x, classes);
    });
    expectLoss("spread" + end,
               [&](auto &x, auto &y) { return mean(nn::spread(x, y, classes, 0.6), batch); });
    expectLoss("margin" + end,
               [&](auto &x, auto &y) { return mean(nn::margin(x, y, classes), batch); });
    expectLoss("entropyWeighted" + end, [&](auto &x, auto &y) {
      return nn::crossEntropyMean(x, y, classes, batch,
                                  {.weight = reference("entropyWeighted" + end + ".weight"),
                                   .ignored = 3,
                                   .smoothing = 0.1});
    });
  }
}

TEST(TrainingReference, Ctc) {
  for (std::string name : {"ctc.1", "ctc.2"})
    expectLoss(name, [&](auto &x, auto &y) {
      Tensor lengths = reference(name + ".lengths");
      Tensor losses = nn::ctc(nn::logSoftmax(x, classes), reference(name + ".times"), y, lengths,
                              {moment, classes, position, int64_t(x.size(classes)) / 2});
      return mean(losses / lengths.cast(ElementType::F32), batch);
    });
}

TEST(TrainingReference, Optimizers) {
  expectOptimizer<nn::Sgd>("plain", 0.1, {.momentum = 0});
  expectOptimizer<nn::Sgd>("sgd", 0.1, {.momentum = 0.9, .dampening = 0.2, .decay = 0.1});
  expectOptimizer<nn::Sgd>("nesterov", 0.1, {.momentum = 0.9, .nesterov = true});
  expectOptimizer<nn::Adam>("adam", 0.1, {.decay = 0.1});
  expectOptimizer<nn::Adam>("amsgrad", 0.1, {.largest = true});
  expectOptimizer<nn::AdamW>("adamw", 0.1, {.decay = 0.1});
  expectOptimizer<nn::RmsProp>("rmsprop", 0.01, {.momentum = 0.5, .decay = 0.1, .centred = true});
  expectOptimizer<nn::Adagrad>("adagrad", 0.1, {.rateDecay = 0.1, .decay = 0.1});
  expectOptimizer<nn::Adadelta>("adadelta", 1, {.decay = 0.1});
  expectOptimizer<nn::NovoGrad>("novograd", 0.1, {.decay = 0.1});
  expectOptimizer<nn::Lamb>("lamb", 0.1, {.decay = 0.1});
}

TEST(TrainingReference, Schedules) {
  auto expectRates = [](const std::string &name, const nn::Schedule &schedule) {
    auto wanted = valuesOf(reference("rates." + name));
    for (size_t i = 0; i < wanted.size(); ++i)
      EXPECT_NEAR(schedule(int64_t(i)), wanted[i], 1e-6) << name << " at " << i;
  };
  expectRates("step", nn::stepwise(0.5, 7, 0.3));
  expectRates("steps", nn::stepwise(0.5, {2, 3, 11}, 0.3));
  expectRates("cosine", nn::cosine(0.5, 19, 0.1));
  expectRates("linear", nn::linearRate(0.5, 0.1, 13));
}

TEST(TrainingReference, Clipping) {
  std::pair<Tensor, Tensor> gradient{reference("clip.0"), reference("clip.1")};
  expectClose(nn::clipByNorm(gradient, 2.0), reference("clip.length"), "length");
  expectClose(gradient.first, reference("clip.0.end"), "first");
  expectClose(gradient.second, reference("clip.1.end"), "second");
  nn::clipByValue(gradient, 0.7);
  expectClose(gradient.first, reference("clip.0.byValue"), "first");
  expectClose(gradient.second, reference("clip.1.byValue"), "second");
}
