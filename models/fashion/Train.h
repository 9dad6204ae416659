//===- Train.h - a training run ---------------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A run is a function of its options alone: the same options give the same
// losses to the bit, whatever the number of threads, and also when the run was
// killed and resumed. For that a checkpoint holds all that a step depends on
// (parameters, velocities, epoch, step, what the epoch has summed up so far);
// the order of the images and the random numbers follow from seed and step. What
// was measured (images a second, memory) is not in it: equal runs write equal
// checkpoints, byte for byte, and a resumed run tells it of its own epochs alone.
// A run on a directory that another process writes into is refused.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_MODELS_FASHION_TRAIN_H
#define HEDDLE_MODELS_FASHION_TRAIN_H

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
  bool resume = false;
  int64_t saveEvery = 250; ///< steps between checkpoints within an epoch; 0: none
  int64_t steps = 0;       ///< stop after so many steps of the run; 0: never
  std::string data, output = "fashion-output", log;
  std::vector<std::string> plugins; ///< of the compiler

  // The defaults.
  static constexpr int64_t defaultEpochs = 4, defaultBatch = 64;
  static constexpr uint64_t defaultSeed = 1;
  static constexpr double defaultRate = 0.05;
};

/// The learning rate of a step: it rises to `peak` over the first tenth of all steps and then falls
/// to zero in a straight line.
double rateAt(double peak, int64_t step, int64_t steps);

/// Trains, saves checkpoints, compiles the classifier, runs it again without the compiler, writes a
/// report. Throws heddle::Error.
void train(const Options &options);

} // namespace fashion

#endif // HEDDLE_MODELS_FASHION_TRAIN_H
