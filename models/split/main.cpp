//===- main.cpp - trains the networks of this folder ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/MeshFlags.h"
#include "heddle/nn/TrainingStep.h"
#include "heddle/nn/data/Dataset.h"
#include "heddle/runtime_c.h"
#include "models/split/Split.h"

#include <CLI/CLI.hpp>

using namespace heddle;

/// Fields "token" and "next", i32 {time}: arithmetic sequences of tokens, whose step depends on the
/// sample.
static nn::Arrays madeTokens(int64_t samples) {
  std::vector<int32_t> token, next;
  for (int64_t i = 0; i < samples; ++i)
    for (int64_t t = 0; t < split::length; ++t) {
      int64_t step = 1 + i % 3, first = i * 7 % split::words;
      token.push_back(int32_t((first + t * step) % split::words));
      next.push_back(int32_t((first + (t + 1) * step) % split::words));
    }
  auto arrayOf = [&](const std::vector<int32_t> &values) {
    return io::HostArray::of(std::span<const int32_t>(values), {samples, split::length},
                             {"sample", "time"});
  };
  return nn::Arrays({{"token", arrayOf(token)}, {"next", arrayOf(next)}}, "sample");
}

/// The IR of a training step, for types only: no tensor is allocated.
static std::string stepIr(const nn::Network &network, const nn::Training &training) {
  nn::TrainingState state = nn::TrainingState::make(network, training.optimizer, false);
  auto step = jit(nn::trainingStep(network, {training.optimizer}), {.name = "train"});
  Tensor tokens =
      zeros({{Name("batch"), training.batch}, {Name("time"), split::length}}, ElementType::I32);
  nn::Fields batch{{"token", tokens},
                   {"next", tokens},
                   {"weight", zeros({{Name("batch"), training.batch}})},
                   {"progress", zeros({})}};
  return step.ir(state, batch, training.rate);
}

int main(int argc, char **argv) {
  CLI::App app("Trains a small network on one process, or split over several by the names of its "
               "tensors, and prints the loss.");
  app.set_version_flag("--version", heddle_runtime_version());
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  std::string which;
  app.add_option("network", which, "sequence, experts or layers")
      ->required()
      ->check(CLI::IsMember({"sequence", "experts", "layers"}));
  nn::Training training{.epochs = 10, .batch = 6, .rate = 1e-2, .goal = {"accuracy", true}};
  nn::TrainerOptions options{.steps = 40};
  nn::MeshFlags mesh;
  app.add_option("--steps", options.steps, "Stop after this many steps")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000000));
  app.add_option("--batch", training.batch, "Samples of a step")->capture_default_str();
  app.add_option("--log", options.log,
                 "Write one JSON object a line, of epochs and steps, to this file");
  app.add_option("--log-every", options.logEvery, "Log every so many steps; 0: none")
      ->capture_default_str();
  app.add_option("--threads", options.threads, "Threads; 0 for all cores (0)");
  app.add_option("--device", options.device, "Train there: cpu, auto, or such as opencl:0")
      ->capture_default_str();
  bool ir = false;
  app.add_flag("--ir", ir, "Print the nd IR of the step instead of training");
  nn::addMeshFlags(app, mesh);
  CLI11_PARSE(app, argc, argv);
  try {
    nn::Network network = which == "experts"  ? split::experts()
                          : which == "layers" ? split::layers()
                                              : split::sequence();
    if (ir) {
      printf("%s", stepIr(network, training).c_str());
      return 0;
    }
    mesh.apply(training, options);
    nn::AnyTrainer trainer(std::move(network), training, options, Here());
    bool isStopped = trainer.train(madeTokens(96), nullptr, Here()) == nn::Ending::Interrupted;
    return isStopped ? 128 + trainer.signal() : 0;
  } catch (const std::exception &error) {
    fflush(stdout);
    fprintf(stderr, "heddle-split: %s\n", error.what());
    mesh.fail(error.what());
    return 1;
  }
}
