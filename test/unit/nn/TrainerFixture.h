//===- TrainerFixture.h - a small network to train --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_NN_TRAINERFIXTURE_H
#define HEDDLE_TEST_UNIT_NN_TRAINERFIXTURE_H

#include "heddle/io/Safetensors.h"
#include "heddle/nn/Layers.h"
#include "heddle/nn/Losses.h"
#include "heddle/nn/Trainer.h"
#include "test/unit/support/io/Files.h"

#include <csignal>

namespace heddle::test {

inline const Name batch("batch"), in("in"), hidden("hidden"), classes("class");

/// Points in the plane; the class is the side of a curve.
struct Points : nn::Dataset {
  int64_t size;
  mutable int64_t reads = 0;
  int64_t signalAt = -1; ///< the read during which the process gets the signal
  int signal = SIGINT;
  explicit Points(int64_t size) : size(size) {}
  int64_t count() const override { return size; }
  std::vector<nn::Field> fields() const override {
    return {{"point", ElementType::F32, {2}, {"in"}}, {"label", ElementType::I32, {}, {}}};
  }
  nn::Sample read(int64_t index) const override {
    if (++reads == signalAt)
      raise(signal);
    float x = float(index % 7) / 7 - 0.5f, y = float(index * 5 % 11) / 11 - 0.5f;
    return {io::HostArray::of<float>({x, y}, {2}),
            io::HostArray::of<int32_t>({y > x * x ? 1 : 0}, {})};
  }
};

struct Net {
  nn::Linear first;
  nn::BatchNorm norm;
  nn::Linear last;
  HEDDLE_FIELDS(first, norm, last)
  static Net make(int64_t units = 5) {
    return {nn::Linear::make({{in, 2}}, {hidden, units}, key(1)),
            nn::BatchNorm::make({hidden, units}),
            nn::Linear::make({{hidden, units}}, {classes, 2}, key(2))};
  }
};

inline nn::Outcome lossOf(const Net &net, const nn::Fields &fields, nn::Mode &mode) {
  Tensor x = relu(net.norm(net.first(fields.at("point"), over(in)), over(batch), mode));
  Tensor logits = net.last(nn::dropout(x, 0.2, hidden, mode), over(hidden));
  const Tensor &label = fields.at("label");
  return {nn::sampleMean(nn::crossEntropy(logits, label, classes), fields),
          {{"accuracy", nn::sampleMean(nn::isRight(logits, label, classes), fields)}}};
}

class Trainer : public testing::Test {
protected:
  TemporaryDirectory directory;
  Points data{30}, test{11};
  nn::Training training{.epochs = 3,
                        .batch = 8,
                        .rate = 0.05,
                        .schedule = nn::triangle,
                        .clip = 1,
                        .goal = {"accuracy", true}};

  nn::TrainerOptions options(const std::string &output, int64_t steps = 0) const {
    return {.output = directory / output,
            .resume = true,
            .saveEvery = 2,
            .steps = steps,
            .threads = 2,
            .quiet = true};
  }
  nn::Trainer<Net> make(const nn::TrainerOptions &options) const {
    return nn::Trainer<Net>(Net::make(), lossOf, key(3), training, options);
  }
  std::string file(const std::string &output, const std::string &name) const {
    return contentsOf(directory / (output + "/" + name));
  }
  /// The files of an uninterrupted run.
  void makeWhole() {
    EXPECT_EQ(make(options("whole")).train(data, &test), nn::Ending::Finished);
    EXPECT_FALSE(file("whole", "checkpoint.safetensors").empty());
    EXPECT_FALSE(file("whole", "best.safetensors").empty());
  }
  void expectWhole(const std::string &output) const {
    for (const char *name : {"checkpoint.safetensors", "best.safetensors"})
      EXPECT_TRUE(file(output, name) == file("whole", name)) << name;
  }
};

} // namespace heddle::test

#endif // HEDDLE_TEST_UNIT_NN_TRAINERFIXTURE_H
