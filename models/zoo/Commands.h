//===- Commands.h - the commands of heddle-models ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_MODELS_ZOO_COMMANDS_H
#define HEDDLE_MODELS_ZOO_COMMANDS_H

#include "heddle/nn/MeshFlags.h"
#include "models/zoo/Zoo.h"

namespace heddle::zoo {

/// Options of the commands; defaults are those of the model's setting.
struct Options {
  std::string name, size = "small";
  std::optional<int64_t> epochs, batch, patience, layers;
  std::optional<uint64_t> seed;
  std::optional<double> rate;
  std::string products; ///< type of the factors; empty: that of the parameters
  int64_t steps = 0;
  int threads = 0, readers = 1;
  std::string device = "cpu";
  bool resume = false, ir = false, recipe = false, check = false, oneBatch = false;
  int64_t saveEvery = 250;
  std::string output;               ///< directory; empty: NAME-SIZE
  std::string log;                  ///< empty: log.jsonl in the output
  int64_t logEvery = 50;            ///< log every so many steps; 0: none
  std::string checkpoint;           ///< empty: best.safetensors in the output, else the last one
  std::vector<std::string> plugins; ///< JitOptions::plugins
  std::string python = "python3";
  std::string optimizer = "adam"; ///< of comparisons
  int noisy = 3;                  ///< runs of the twin that measure the effect of rounding
  Generation generation;
  nn::MeshFlags mesh;

  std::string directory() const;
};

/// The chosen model, with the options applied to its training. Throws Error that lists the known
/// names for an unknown model or size.
Model modelOf(const Options &options);

/// Each returns the exit code of the process, and throws Error.
int list();
int train(const Options &options);
int evaluate(const Options &options);
/// Writes program files of a training step and of evaluation, and the tensors for both.
int exportPrograms(const Options &options);
int generate(const Options &options);
/// Trains the model and its PyTorch twin from the same weights on the same batches (Compare.cpp).
int compare(const Options &options);

} // namespace heddle::zoo

#endif // HEDDLE_MODELS_ZOO_COMMANDS_H
