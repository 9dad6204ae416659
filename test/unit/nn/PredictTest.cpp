//===- PredictTest.cpp - outputs for all samples of a data set ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/nn/TrainerFixture.h"

using namespace heddle;
using namespace heddle::test;

namespace {
class Predict : public Trainer {};

Tensor scoresOf(const Net &net, const nn::Fields &fields, nn::Mode &mode) {
  Tensor x = relu(net.norm(net.first(fields.at("point"), over(in)), over(batch), mode));
  return net.last(nn::dropout(x, 0.2, hidden, mode), over(hidden));
}
Tensor sumOf(const Net &net, const nn::Fields &, nn::Mode &) {
  return sum(net.first.weight, over(in, hidden));
}
} // namespace

TEST_F(Predict, GivesTheOutputsOfAllSamplesInTheirOrder) {
  nn::Trainer<Net> trainer = make(options("a"));
  trainer.train(data, &test);
  Tensor scores = trainer.predict(test, scoresOf); // of two batches
  EXPECT_EQ(scores.type(), "!nd.tensor<f32, batch: 11, class: 2>");
  std::vector<float> got = scores.to<float>({batch, classes});
  // The same of one batch, each operation by itself.
  nn::Loader loader(test, {.batch = 11});
  nn::Mode mode = trainer.mode();
  std::vector<float> wanted =
      scoresOf(trainer.net(), nn::fieldsOf(*loader.next()), mode).to<float>({batch, classes});
  ASSERT_EQ(got.size(), wanted.size());
  double right = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], wanted[i], 1e-5) << i;
    if (i % 2 == 1)
      right += (got[i] > got[i - 1]) == test.read(int64_t(i) / 2)[1].values<int32_t>()[0];
  }
  EXPECT_NEAR(right / 11, trainer.evaluate(test).at("accuracy"), 1e-6);
  // Without the network's struct.
  auto ofPaths = [](const nn::ByPath &net, const nn::Fields &fields, nn::Mode &) {
    return fields.at("label").cast(ElementType::F32) *
           sum(net.at("first.weight"), over(in, hidden));
  };
  EXPECT_EQ(trainer.predict(data, ofPaths).type(), "!nd.tensor<f32, batch: 30>");
}

TEST_F(Predict, WhatIsNoOutputOfASampleIsRefused) {
  nn::Trainer<Net> trainer = make(options(""));
  expectHas(messageOf([&] { trainer.predict(test, sumOf); }),
            {"PredictTest.cpp:", "expected an output for each of the 8 samples of a batch",
             "along 'batch', got !nd.tensor<f32>"});
  expectHas(messageOf([&] { trainer.predict(Points{0}, scoresOf); }), {"with samples, got none"});
  /// Sample i has i + 1 numbers.
  struct Growing : nn::Dataset {
    int64_t count() const override { return 16; }
    std::vector<nn::Field> fields() const override {
      return {{"text", ElementType::F32, {nn::anySize}, {"time"}}};
    }
    nn::Sample read(int64_t index) const override {
      return {io::HostArray::zeros(ElementType::F32, {index + 1})};
    }
  };
  auto each = [](const Net &net, const nn::Fields &fields, nn::Mode &mode) {
    return fields.at("text") * sumOf(net, fields, mode);
  };
  expectHas(messageOf([&] { trainer.predict(Growing(), each); }),
            {"PredictTest.cpp:", "expected outputs of the same sizes in all batches",
             "f32 [batch: 8, time: 8], then f32 [batch: 8, time: 16]"});
}

TEST_F(Predict, ADamagedSampleHasNoOutput) {
  struct Damaged : Points {
    using Points::Points;
    nn::Sample read(int64_t index) const override {
      if (index == 3)
        throw nn::DamagedSample("sample 3 is damaged");
      return Points::read(index);
    }
  } damaged{11};
  training.skipDamaged = true;
  expectHas(messageOf([&] { make(options("")).predict(damaged, scoresOf); }),
            {"sample 3 is damaged"});
}
