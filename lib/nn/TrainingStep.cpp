//===- TrainingStep.cpp - one step of training ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/TrainingStep.h"

using namespace heddle;
using namespace heddle::nn;

const char *TrainingState::heddleFieldNames() {
  static const std::string names = std::string("net, mode, ") + AnyOptimizer::heddleFieldNames();
  return names.c_str();
}

TrainingState TrainingState::make(const Network &network, const OptimizerChoice &optimizer,
                                  bool inMemory, Here here) {
  TrainingState state{network.parameters, network.mode, {}};
  state.optimizer = AnyOptimizer::make(state.net, optimizer, inMemory, here);
  return state;
}

StepFunction nn::trainingStep(const Network &given, const StepOptions &options) {
  Network network = given;
  network.parameters.clear(); // their memory is the state's
  return [network, options](TrainingState &state, const Fields &fields, const Tensor &rate) {
    auto [result, gradient] = nn::valueAndGrad(
        [&](const ByPath &net, Mode &mode) {
          Outcome outcome = network.loss(net, fields, mode);
          return std::pair(outcome.loss, outcome.measures);
        },
        state.net, state.mode);
    StepResult step{{result.first, result.second}, {}};
    Leaves leaves = network.leaves(gradient);
    if (options.checkGradients)
      step.bad = nn::detail::firstNotFinite(leaves);
    if (options.clip > 0)
      nn::detail::clipByNorm(leaves, options.clip);
    state.optimizer.update(state.net, gradient, rate, options.optimizer);
    return step;
  };
}

EvaluationFunction nn::evaluation(const Network &network) {
  return [loss = network.loss](const TrainedState &state, const Fields &fields) {
    Mode mode = state.mode.observing();
    Evaluation result{loss(state.net, fields, mode), {}};
    if (!mode.outputPaths.empty())
      result.output = mode.outputs.at(mode.outputPaths.back());
    return result;
  };
}
