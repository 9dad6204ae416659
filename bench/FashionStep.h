//===- FashionStep.h - the training step of models/fashion ------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_BENCH_FASHIONSTEP_H
#define HEDDLE_BENCH_FASHIONSTEP_H

#include "bench/Bench.h"

#include "heddle/nn/TrainingStep.h"
#include "models/fashion/Network.h"

namespace heddle::bench {

/// A state before the first step, a batch of random images, and the step with momentum.
struct FashionStep {
  nn::TrainingState state;
  nn::Fields fields;
  nn::StepFunction step;
  Tensor rate = Tensor::of<float>({0.02f}, {});

  explicit FashionStep(int64_t batch) {
    const fashion::ModelNames &n = fashion::names();
    nn::OptimizerChoice sgd = nn::optimizer<nn::Sgd>();
    nn::Network network = nn::networkOf(fashion::initialNet(1), fashion::lossOf, key(5), n.batch);
    state = nn::TrainingState::make(network, sgd);
    step = nn::trainingStep(network, {.optimizer = sgd});
    std::vector<int32_t> labels;
    for (int64_t i = 0; i < batch; ++i)
      labels.push_back(int32_t(i % 10));
    std::vector<float> ones(size_t(batch), 1.0f);
    fields = {
        {"image", randomTensor({{n.batch, batch}, {n.row, 28}, {n.column, 28}, {n.channel, 1}})},
        {"label", Tensor::of<int32_t>(std::span<const int32_t>(labels), {{n.batch, batch}})},
        {"weight", Tensor::of<float>(std::span<const float>(ones), {{n.batch, batch}})}};
  }
};

} // namespace heddle::bench

#endif // HEDDLE_BENCH_FASHIONSTEP_H
