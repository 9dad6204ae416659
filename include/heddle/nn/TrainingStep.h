//===- TrainingStep.h - one step of training --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The function that a trainer compiles, for programs with a loop of their own:
//
//     nn::TrainingState state = nn::TrainingState::make(network, choice);
//     auto step = jit(nn::trainingStep(network, {.optimizer = choice, .clip = 1}),
//                     {.name = "train"});
//     nn::StepResult result = step(state, fields, 1e-3);
//     double loss = result.outcome.loss.item();
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_TRAININGSTEP_H
#define HEDDLE_NN_TRAININGSTEP_H

#include "heddle/Mesh.h"
#include "heddle/nn/AnyOptimizer.h"
#include "heddle/nn/Gradients.h"
#include "heddle/nn/Network.h"

namespace heddle::nn {

/// All tensors that a step changes. Their paths are those of a struct with members net, mode and
/// adam (or the name of another optimiser): "net.layers.0.weight", "adam.mean.layers.0.weight".
struct TrainingState {
  ByPath net;
  Mode mode;
  AnyOptimizer optimizer;
  /// If set, steps scale the loss by it and skip updates by gradients that are not finite. For
  /// products of f16.
  std::optional<LossScale> scale = {};
  /// If set, steps update it with the decay StepOptions::average.
  std::optional<MovingAverage> moving = {};
  auto heddleFields() {
    return std::tuple_cat(std::tie(net, mode), optimizer.heddleFields(), std::tie(scale, moving));
  }
  static const char *heddleFieldNames();
  HEDDLE_PLAIN()

  /// The state before the first step. If not `inMemory`, it has types only, which suffice to print
  /// or save a program. `products`: JitOptions::products of the step.
  static TrainingState make(const Network &network, const OptimizerChoice &optimizer,
                            bool inMemory = true, std::optional<ElementType> products = {},
                            Here here = Here::current());
};

struct StepOptions {
  OptimizerChoice optimizer = nn::optimizer<Adam>();
  double clip = 0; ///< limit of clipByNorm; 0: no clipping
  bool checkGradients = false;
  /// The axes that split gradients over a mesh, by the paths of their parameters.
  std::map<std::string, std::vector<NameAxes>> gradients = {};
  double clipByValue = 0; ///< limit of clipByValue; 0: no clipping
  double average = 0;     ///< the decay of TrainingState::moving
};

struct StepResult {
  Outcome outcome; ///< before the update
  /// The index in Network::order of the first parameter whose gradient is not finite, or -1; empty
  /// unless gradients are checked. With a loss scale it is -1 until the scale has reached its
  /// minimum, since a gradient that is not finite lowers the scale.
  Tensor bad;
  HEDDLE_FIELDS(outcome, bad)
};

using StepFunction = std::function<StepResult(TrainingState &, const Fields &, const Tensor &rate)>;
/// A training step: loss, gradients and the optimiser's update.
StepFunction trainingStep(const Network &network, const StepOptions &options);

using PartsFunction = std::function<StepResult(TrainingState &, const std::vector<Fields> &parts,
                                               const Tensor &rate)>;
/// The same for a batch in parts: gradient and outcome are means over the parts, weighted by counts
/// (Outcome::counts). Samples draw the same random numbers as in the whole batch. One program has
/// all parts, so that stages of a network on different ranks work on different parts at the same
/// time.
PartsFunction trainingStepInParts(const Network &network, const StepOptions &options);

/// The accumulated gradient of a batch's parts.
struct BatchSum {
  GradientSum gradient;
  Tensor samples,
      drawn; ///< i64: samples in the parts so far; RandomState::drawn before the first part
  HEDDLE_FIELDS(gradient, samples, drawn)

  static BatchSum make(TrainingState &state, Here here = Here::current());
};
using AccumulateFunction = std::function<Outcome(TrainingState &, BatchSum &, const Fields &)>;
/// Adds the gradient of a part of a batch, weighted by the count of its loss; does not change the
/// parameters.
AccumulateFunction accumulateGradients(const Network &network, const StepOptions &options);
/// Updates the parameters by the mean gradient and sets the sum to zero. Returns StepResult::bad.
using UpdateFunction = std::function<Tensor(TrainingState &, BatchSum &, const Tensor &rate)>;
UpdateFunction updateByGradients(const Network &network, const StepOptions &options);

/// The part of a TrainingState that evaluation uses, with the same paths.
struct TrainedState {
  ByPath net;
  Mode mode; ///< for evaluation
  HEDDLE_FIELDS(net, mode)
};

/// Loads the parameters and moments of a trainer's file, checkpoint.safetensors or
/// best.safetensors. Throws Error as loadTree does.
void loadTrained(const std::string &path, TrainedState &state, Here here = Here::current());

/// The results of a network for a batch.
struct Evaluation {
  Outcome outcome;
  /// The last tensor that the network passed to Mode::seen; empty if there is none.
  Tensor output;
  HEDDLE_FIELDS(outcome, output)
};
using EvaluationFunction = std::function<Evaluation(const TrainedState &, const Fields &)>;
EvaluationFunction evaluation(const Network &network);

} // namespace heddle::nn

#endif // HEDDLE_NN_TRAININGSTEP_H
