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

/// Outcome and gradient of the (scaled) loss; the gradient is split as the options say.
static std::pair<Outcome, ByPath> gradientOf(const Network &network, const StepOptions &options,
                                             TrainingState &state, const Fields &fields) {
  auto [result, gradient] = nn::valueAndGrad(
      [&](const ByPath &net, Mode &mode) {
        Outcome outcome = network.loss(net, fields, mode);
        if (outcome.loss.empty() || !isFloat(outcome.loss.elementType()))
          throw Error("expected a loss of floats from the network's loss function, got " +
                      (outcome.loss.empty() ? "none" : outcome.loss.type()));
        Tensor loss = state.scale ? state.scale->scaled(outcome.loss) : outcome.loss;
        return std::pair(loss, std::pair(outcome.measures, outcome.counts));
      },
      state.net, state.mode);
  for (auto &[path, tensor] : gradient)
    if (auto names = options.gradients.find(path);
        names != options.gradients.end() && !tensor.empty())
      tensor = shard(tensor, names->second);
  Tensor loss = state.scale ? state.scale->unscaled(result.first) : result.first;
  return {{loss, result.second.first, result.second.second}, gradient};
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
  // A gradient that is not finite is reported only when it can't lower the scale any more.
  if (options.checkGradients)
    bad = select(state.scale->scale <= 1 / state.scale->options.most, bad, -1.0);
  state.scale->update(gradient, update, state.net, state.optimizer, state.moving);
  return bad;
}

StepFunction nn::trainingStep(const Network &given, const StepOptions &options) {
  Network network = given;
  network.parameters.clear(); // the state has their memory
  return [network, options](TrainingState &state, const Fields &fields, const Tensor &rate) {
    auto [outcome, gradient] = gradientOf(network, options, state, fields);
    Tensor bad = updateBy(network, options, state, gradient, rate);
    return StepResult{outcome, bad};
  };
}

/// The count of a mean of the outcome.
static Tensor countIn(const Outcome &outcome, const std::string &name, const Fields &fields) {
  if (auto found = outcome.counts.find(name); found != outcome.counts.end())
    return found->second.cast(ElementType::F32);
  const Tensor &weight = fields.at("weight");
  return heddle::sum(weight, namesOf(weight));
}

/// Outcome and gradient of a part of a batch. `first`, the position of the part's first sample, and
/// `drawn`, the number of draws before the batch, make samples draw the same numbers as in the
/// whole batch.
static std::pair<Outcome, ByPath> gradientOfPart(const Network &network, const StepOptions &options,
                                                 TrainingState &state, const Fields &fields,
                                                 const Tensor &first, const Tensor &drawn) {
  std::optional<RandomState> &random = state.mode.random;
  if (random) {
    random->drawn = drawn;
    random->first = first;
  }
  auto result = gradientOf(network, options, state, fields);
  if (random)
    random->first.reset();
  return result;
}

/// The number of samples of a batch, with padding.
static Tensor sizeOf(const Fields &fields) {
  const Tensor &weight = fields.at("weight");
  return heddle::countOf(weight, namesOf(weight), ElementType::I64);
}

static Tensor drawnBy(const TrainingState &state) {
  return state.mode.random ? state.mode.random->drawn : constant(0, ElementType::I64);
}

PartsFunction nn::trainingStepInParts(const Network &given, const StepOptions &options) {
  Network network = given;
  network.parameters.clear();
  return [network, options](TrainingState &state, const std::vector<Fields> &parts,
                            const Tensor &rate) {
    Outcome sums; // of value * count, and of counts
    ByPath gradients;
    Tensor first = constant(0, ElementType::I64), drawn = drawnBy(state);
    auto add = [](Tensor &sum, const Tensor &more) { sum = sum.empty() ? more : sum + more; };
    auto wide = [](const Tensor &x) { return x.cast(nn::detail::sumType(x.elementType())); };
    auto times = [&](const Tensor &x, const Tensor &count) {
      return wide(x) * count.cast(wide(x).elementType());
    };
    for (const Fields &fields : parts) {
      auto [outcome, gradient] = gradientOfPart(network, options, state, fields, first, drawn);
      first = first + sizeOf(fields);
      auto addMean = [&](const std::string &name, Tensor &sum, const Tensor &value) {
        Tensor count = countIn(outcome, name, fields);
        add(sum, times(value, count));
        add(sums.counts[name], count);
        return count;
      };
      Tensor count = addMean("loss", sums.loss, outcome.loss);
      for (const auto &[name, value] : outcome.measures)
        addMean(name, sums.measures[name], value);
      for (const auto &[path, tensor] : gradient)
        if (Tensor &sum = gradients[path]; !tensor.empty())
          add(sum, times(tensor, count));
    }
    auto divide = [&](Tensor &sum, const std::string &name) {
      const Tensor &count = sums.counts.at(name);
      sum = sum / select(notEqual(count, 0.0), count, 1.0).cast(sum.elementType());
    };
    divide(sums.loss, "loss");
    for (auto &[name, value] : sums.measures)
      divide(value, name);
    for (auto &[path, tensor] : gradients)
      if (!tensor.empty()) {
        divide(tensor, "loss");
        tensor = tensor.cast(state.net.at(path).elementType());
      }
    Tensor bad = updateBy(network, options, state, gradients, rate);
    return StepResult{sums, bad};
  };
}

BatchSum BatchSum::make(TrainingState &state, Here here) {
  auto none = [&] { return Tensor::of<int64_t>({0}, {}, here); };
  return {GradientSum::make(state.net, here), none(), none()};
}

AccumulateFunction nn::accumulateGradients(const Network &given, const StepOptions &options) {
  Network network = given;
  network.parameters.clear();
  return [network, options](TrainingState &state, BatchSum &sum, const Fields &fields) {
    sum.drawn = select(equal(sum.samples, 0.0), drawnBy(state), sum.drawn);
    auto [outcome, gradient] =
        gradientOfPart(network, options, state, fields, sum.samples, sum.drawn);
    sum.samples = sum.samples + sizeOf(fields);
    sum.gradient.add(gradient, countIn(outcome, "loss", fields));
    return outcome;
  };
}

UpdateFunction nn::updateByGradients(const Network &given, const StepOptions &options) {
  Network network = given;
  network.parameters.clear();
  return [network, options](TrainingState &state, BatchSum &sum, const Tensor &rate) {
    ByPath gradient = sum.gradient.take(state.net);
    sum.samples = constant(0, ElementType::I64);
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
