//===- TrainingStep.cpp - one step of training ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/TrainingStep.h"

#include "heddle/Ops.h"

using namespace heddle;
using namespace heddle::nn;

const char *TrainingState::heddleFieldNames() {
  static const std::string names =
      std::string("net, mode, ") + AnyOptimizer::heddleFieldNames() + ", scale, moving";
  return names.c_str();
}

TrainingState TrainingState::make(const Network &network, const OptimizerChoice &optimizer,
                                  bool inMemory, std::optional<ElementType> products, Here here) {
  TrainingState state{network.parameters, network.mode, {}};
  state.optimizer = AnyOptimizer::make(state.net, optimizer, inMemory, here);
  if (products == ElementType::F16)
    state.scale = LossScale::make(here);
  return state;
}

/// The gradients of the loss, or of the scaled one, split as the options say.
static std::pair<Outcome, ByPath> gradientOf(const Network &network, const StepOptions &options,
                                             TrainingState &state, const Fields &fields) {
  auto [result, gradient] = nn::valueAndGrad(
      [&](const ByPath &net, Mode &mode) {
        Outcome outcome = network.loss(net, fields, mode);
        if (outcome.loss.empty() || !isFloat(outcome.loss.elementType()))
          throw Error("expected a loss of floats from the network's loss function, got " +
                      (outcome.loss.empty() ? "none" : outcome.loss.type()));
        Tensor loss = state.scale ? state.scale->scaled(outcome.loss) : outcome.loss;
        return std::pair(loss, outcome.measures);
      },
      state.net, state.mode);
  for (auto &[path, tensor] : gradient)
    if (auto names = options.gradients.find(path);
        names != options.gradients.end() && !tensor.empty())
      tensor = shard(tensor, names->second);
  Tensor loss = state.scale ? state.scale->unscaled(result.first) : result.first;
  return {{loss, result.second}, gradient};
}

/// Checks and clips the gradient, and updates the parameters. Returns StepResult::bad.
static Tensor updateBy(const Network &network, const StepOptions &options, TrainingState &state,
                       ByPath &gradient, const Tensor &rate) {
  Tensor bad;
  Leaves leaves = network.leaves(gradient);
  if (options.checkGradients)
    bad = nn::detail::firstNotFinite(leaves);
  auto update = [&] {
    if (options.clipByValue > 0)
      nn::detail::clipByValue(leaves, options.clipByValue, Here::current());
    if (options.clip > 0)
      nn::detail::clipByNorm(leaves, options.clip, Here::current());
    state.optimizer.update(state.net, gradient, rate, options.optimizer);
    if (state.moving)
      state.moving->update(state.net, options.average);
  };
  if (!state.scale) {
    update();
    return bad;
  }
  // A gradient that is not finite makes the scale smaller, as long as it can become smaller.
  if (options.checkGradients)
    bad = select(state.scale->scale <= 1 / state.scale->options.most, bad, -1.0);
  state.scale->update(gradient, update, state.net, state.optimizer, state.moving);
  return bad;
}

StepFunction nn::trainingStep(const Network &given, const StepOptions &options) {
  Network network = given;
  network.parameters.clear(); // their memory is the state's
  return [network, options](TrainingState &state, const Fields &fields, const Tensor &rate) {
    auto [outcome, gradient] = gradientOf(network, options, state, fields);
    Tensor bad = updateBy(network, options, state, gradient, rate);
    return StepResult{outcome, bad};
  };
}

/// The number of samples.
static Tensor samplesOf(const Fields &fields) {
  const Tensor &weight = fields.at("weight");
  return heddle::sum(weight, namesOf(weight));
}

PartsFunction nn::trainingStepInParts(const Network &given, const StepOptions &options) {
  Network network = given;
  network.parameters.clear();
  return [network, options](TrainingState &state, const std::vector<Fields> &parts,
                            const Tensor &rate) {
    Outcome sums;
    ByPath gradients;
    Tensor all;
    auto add = [](Tensor &sum, const Tensor &more) { sum = sum.empty() ? more : sum + more; };
    for (const Fields &fields : parts) {
      auto [outcome, gradient] = gradientOf(network, options, state, fields);
      Tensor count = samplesOf(fields);
      add(all, count);
      add(sums.loss, outcome.loss * count);
      for (const auto &[name, value] : outcome.measures)
        add(sums.measures[name], value * count);
      for (const auto &[path, tensor] : gradient)
        if (Tensor &sum = gradients[path]; !tensor.empty())
          add(sum, tensor * count.cast(tensor.elementType()));
    }
    for (auto &[path, tensor] : gradients)
      if (!tensor.empty())
        tensor = tensor / all.cast(tensor.elementType());
    sums.loss = sums.loss / all;
    for (auto &[name, value] : sums.measures)
      value = value / all;
    Tensor bad = updateBy(network, options, state, gradients, rate);
    return StepResult{sums, bad};
  };
}

AccumulateFunction nn::accumulateGradients(const Network &given, const StepOptions &options) {
  Network network = given;
  network.parameters.clear();
  return [network, options](TrainingState &state, GradientSum &sum, const Fields &fields) {
    auto [outcome, gradient] = gradientOf(network, options, state, fields);
    sum.add(gradient, samplesOf(fields));
    return outcome;
  };
}

UpdateFunction nn::updateByGradients(const Network &given, const StepOptions &options) {
  Network network = given;
  network.parameters.clear();
  return [network, options](TrainingState &state, GradientSum &sum, const Tensor &rate) {
    ByPath gradient = sum.take(state.net);
    return updateBy(network, options, state, gradient, rate);
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
