//===- Train.h - a training run ---------------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs nn::Trainer with the options of the command line. Options that are not given are those of
// the resumed checkpoint.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_MODELS_FASHION_TRAIN_H
#define HEDDLE_MODELS_FASHION_TRAIN_H

#include "heddle/nn/MeshFlags.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fashion {

struct Options {
  std::optional<int64_t> epochs, batch, limit;
  std::optional<uint64_t> seed;
  std::optional<double> rate;
  int threads = 0;
  std::string device = "cpu";
  bool resume = false;
  int64_t saveEvery = 250; ///< steps between checkpoints within an epoch; 0: none
  int64_t logEvery = 50;   ///< log every so many steps; 0: only epochs
  int64_t steps = 0;       ///< stop after so many steps of the run; 0: no limit
  std::string data, output = "fashion-output", log;
  std::vector<std::string> plugins; ///< JitOptions::plugins
  heddle::nn::MeshFlags mesh;

  // The defaults.
  static constexpr int64_t defaultEpochs = 4, defaultBatch = 64;
  static constexpr uint64_t defaultSeed = 1;
  static constexpr double defaultRate = 0.05;
};

/// Trains, saves checkpoints, compiles the classifier, runs it again without the compiler, writes a
/// report. Returns the exit status of the process: 128 + N if the signal N ended the run, else 0.
/// Throws heddle::Error.
int train(const Options &options);

} // namespace fashion

#endif // HEDDLE_MODELS_FASHION_TRAIN_H
