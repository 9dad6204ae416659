//===- main.cpp - train a classifier of clothes ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/runtime_c.h"
#include "models/fashion/Train.h"

#include <CLI/CLI.hpp>

#include <csignal>

using fashion::Options;

int main(int argc, char **argv) {
  CLI::App app("Trains a convolutional network on Fashion-MNIST, saves a checkpoint and a program "
               "file, writes a report.");
  app.set_version_flag("--version", heddle_runtime_version());
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  Options options;
  auto usually = [](auto value) { return " (" + std::to_string(value) + ")"; };
  app.add_option("--epochs", options.epochs,
                 "Passes over the training images" + usually(Options::defaultEpochs))
      ->check(CLI::Range(0, 100000));
  app.add_option("--batch", options.batch, "Images in a step" + usually(Options::defaultBatch))
      ->check(CLI::Range(1, 60000));
  app.add_option("--seed", options.seed,
                 "Seed of initial weights, order of images and dropout" +
                     usually(Options::defaultSeed));
  app.add_option("--threads", options.threads, "Threads; 0 for all cores (0)")
      ->check(CLI::Range(0, 1024));
  app.add_option("--device", options.device, "Train there: cpu, auto, or a device such as opencl:0")
      ->capture_default_str();
  app.add_option("--rate", options.rate, "Highest learning rate, of SGD with momentum 0.9 (0.05)")
      ->check(CLI::PositiveNumber);
  app.add_flag("--resume", options.resume,
               "Continue from the last checkpoint, with its options; start if there is none");
  app.add_option("--log", options.log,
                 "Write one JSON object a line, of epochs and steps, to this file");
  app.add_option("--log-every", options.logEvery, "Log every so many steps; 0: only epochs")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000000000));
  app.add_option("--save-every", options.saveEvery,
                 "Steps between checkpoints within an epoch; 0: only after epochs")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000000000));
  app.add_option("--steps", options.steps, "Stop after this many steps, with a checkpoint")
      ->check(CLI::Range(1, 1000000000));
  app.add_option("--data", options.data,
                 "Directory of the IDX files; empty: where Debian's package puts them");
  app.add_option("--output", options.output, "Directory for checkpoint, program and report")
      ->capture_default_str();
  app.add_option("--plugin", options.plugins,
                 "Load this plugin into the compiler; may be given several times")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  heddle::nn::addMeshFlags(app, options.mesh);
  app.add_option("--limit", options.limit, "Use only this many images")->group("");
  CLI11_PARSE(app, argc, argv);
  // Exceeding the limit of file sizes makes a write fail instead of killing the process.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return fashion::train(options);
  } catch (const std::exception &error) {
    fflush(stdout);
    fprintf(stderr, "fashion: %s\n", error.what());
    options.mesh.fail(error.what());
    return 1;
  }
}
