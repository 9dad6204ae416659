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
//     auto step = jit(nn::trainingStep(network, {.optimizer = choice, .clip = 1}), {.name = "train"});
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

/// All tensors that a step changes, with the paths that a struct of the members net, mode and adam
/// (or another optimiser) gives them: "net.layers.0.weight", "adam.mean.layers.0.weight".
struct TrainingState {
  ByPath net;
  Mode mode;
  AnyOptimizer optimizer;
  /// Where there is one, steps scale the loss by it, and skip updates by gradients that are not
  /// finite. For products of f16.
  std::optional<LossScale> scale = {};
  /// Where there is one, steps move it with StepOptions::average as decay.
  std::optional<MovingAverage> moving = {};
  auto heddleFields() {
    return std::tuple_cat(std::tie(net, mode), optimizer.heddleFields(), std::tie(scale, moving));
  }
  static const char *heddleFieldNames();
  HEDDLE_PLAIN()

  /// Before the first step. `inMemory`: as Optimizer::make; if not, the state only has types, which
  /// is enough to print or save a program. `products`: JitOptions::products of the step.
  static TrainingState make(const Network &network, const OptimizerChoice &optimizer,
                            bool inMemory = true, std::optional<ElementType> products = {},
                            Here here = Here::current());
};

struct StepOptions {
  OptimizerChoice optimizer = nn::optimizer<Adam>();
  double clip = 0; ///< the gradients' common length is at most this (clipByNorm); 0: any
  bool checkGradients = false;
  /// How gradients are split over a mesh, by the paths of their parameters.
  std::map<std::string, std::vector<NameAxes>> gradients = {};
  double clipByValue = 0; ///< each element is within this of 0 (clipByValue); 0: any
  double average = 0;     ///< the decay of TrainingState::moving
};

struct StepResult {
  Outcome outcome; ///< before the update
  /// The number in Network::order of the first parameter whose gradient is not finite, or -1; empty
  /// unless gradients are checked. With a loss scale, which then falls, only when it can't fall on.
  Tensor bad;
  HEDDLE_FIELDS(outcome, bad)
};

using StepFunction = std::function<StepResult(TrainingState &, const Fields &, const Tensor &rate)>;
/// Loss, gradients and the update by the optimiser.
StepFunction trainingStep(const Network &network, const StepOptions &options);

using PartsFunction = std::function<StepResult(TrainingState &, const std::vector<Fields> &parts,
                                               const Tensor &rate)>;
/// The same for a batch in parts: the gradient is the mean of theirs, each as often as the loss counts
/// (Outcome::counts), and so is each value of the outcome. Samples draw the random numbers that they
/// draw in the whole batch. All parts are in one program, so that stages of a network that are on
/// different ranks work on different parts at the same time.
PartsFunction trainingStepInParts(const Network &network, const StepOptions &options);

/// The sums over the parts of a batch.
struct BatchSum {
  GradientSum gradient;
  Tensor samples,
      drawn; ///< i64: those of the parts so far; RandomState::drawn before the first part
  HEDDLE_FIELDS(gradient, samples, drawn)

  static BatchSum make(TrainingState &state, Here here = Here::current());
};
using AccumulateFunction = std::function<Outcome(TrainingState &, BatchSum &, const Fields &)>;
/// Adds the gradient of a part of a batch, as often as its loss counts; the parameters stay.
AccumulateFunction accumulateGradients(const Network &network, const StepOptions &options);
/// Updates by the mean gradient, which is then zero again. The result is StepResult::bad.
using UpdateFunction = std::function<Tensor(TrainingState &, BatchSum &, const Tensor &rate)>;
UpdateFunction updateByGradients(const Network &network, const StepOptions &options);

/// The part of a TrainingState that evaluation needs, with the same paths.
struct TrainedState {
  ByPath net;
  Mode mode; ///< for evaluation
  HEDDLE_FIELDS(net, mode)
};

/// Takes the parameters and moments of a trainer's file, checkpoint.safetensors or best.safetensors.
/// Throws Error as loadTree does.
void loadTrained(const std::string &path, TrainedState &state, Here here = Here::current());

/// The results of a network for a batch.
struct Evaluation {
  Outcome outcome;
  /// The last tensor that the network showed by Mode::seen; empty if it shows none.
  Tensor output;
  HEDDLE_FIELDS(outcome, output)
};
using EvaluationFunction = std::function<Evaluation(const TrainedState &, const Fields &)>;
EvaluationFunction evaluation(const Network &network);

} // namespace heddle::nn

#endif // HEDDLE_NN_TRAININGSTEP_H
