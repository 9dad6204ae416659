//===- Compare.cpp - a model beside its PyTorch twin ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both begin with the same weights and see the same batches, without dropout. The twin reads them
// from files and writes its losses and its last weights (compare.py).
//
//===----------------------------------------------------------------------===//

#include "heddle/io/Safetensors.h"
#include "models/zoo/Commands.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

using namespace heddle;
using namespace heddle::zoo;

/// Batches of the training data, or the example again and again where there are none.
static std::vector<nn::Fields> batchesOf(const Model &model, int64_t count) {
  std::vector<nn::Fields> batches;
  const nn::Training &training = model.training;
  nn::DatasetPtr data = model.data.train ? model.data.train() : nullptr;
  for (uint64_t epoch = 0; data && int64_t(batches.size()) < count; ++epoch) {
    nn::Loader loader(*data, {.batch = training.batch,
                              .shuffle = true,
                              .seed = training.seed,
                              .epoch = epoch,
                              .batchName = model.data.batch,
                              .last = nn::Last::Drop,
                              .similar = training.similar,
                              .multipleOf = training.multipleOf});
    while (int64_t(batches.size()) < count)
      if (std::optional<nn::Batch> batch = loader.next())
        batches.push_back(nn::fieldsOf(*batch));
      else
        break;
  }
  if (!data)
    batches.assign(size_t(count), model.example(training.batch));
  return batches;
}

/// Runs a program to its end. Throws Error unless it succeeds.
static void run(std::vector<std::string> words) {
  std::string text = words[0];
  for (size_t i = 1; i < words.size(); ++i)
    text += " " + words[i];
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = fork();
  if (child == 0) {
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
      WEXITSTATUS(status) != 0)
    throw Error("'" + text + "' failed; it needs Python with PyTorch (--python)");
}

static double largest(const std::vector<float> &values) {
  double most = 0;
  for (float value : values)
    most = std::max(most, double(std::abs(value)));
  return most;
}

/// The largest difference in units of the largest magnitude.
static double difference(const Tensor &ours, const Tensor &theirs) {
  std::vector<float> a = ours.to<float>(nn::namesOf(ours)), b = theirs.to<float>(nn::namesOf(ours));
  double most = largest(b);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] -= b[i];
  return largest(a) / std::max(most, 1e-12);
}

static nn::OptimizerChoice optimizerCalled(const std::string &name) {
  if (name == "adam")
    return nn::optimizer<nn::Adam>({.epsilon = 1e-6});
  if (name == "sgd")
    return nn::optimizer<nn::Sgd>({.momentum = 0.9});
  throw Error("unknown optimiser '" + name + "', expected adam or sgd");
}

/// Trains the model; gives the losses and leaves the last weights in `state`.
static std::vector<double> trainHere(const Model &model, nn::TrainingState &state,
                                     const std::vector<nn::Fields> &batches,
                                     const nn::OptimizerChoice &choice, const Options &options) {
  auto step = jit(nn::trainingStep(model.network, {.optimizer = choice}),
                  {.name = "train", .threads = options.threads});
  std::vector<double> losses;
  for (const nn::Fields &fields : batches)
    losses.push_back(step(state, fields, model.training.rate).outcome.loss.item());
  return losses;
}

/// Prints how far the two are apart; false if the losses are by more than 1 %.
static bool printDifferences(const std::vector<double> &losses, nn::TrainingState &state,
                             const io::Safetensors &twin) {
  auto theirs = twin.at("losses").values<float>();
  double most = 0;
  size_t at = 0;
  for (size_t i = 0; i < losses.size(); ++i)
    if (double d = std::abs(losses[i] - theirs[i]) / std::max(std::abs(double(theirs[i])), 1e-12);
        !(d <= most)) {
      most = d;
      at = i;
    }
  printf("loss: %.6g to %.6g, PyTorch %.6g to %.6g; largest relative difference %.3g at step %zu\n",
         losses.front(), losses.back(), theirs.front(), theirs.back(), most, at + 1);
  std::string worst;
  double worstDifference = -1;
  for (const auto &[path, tensor] : state.net)
    if (auto found = twin.arrays.find("parameter." + path); found != twin.arrays.end())
      if (double d = difference(tensor, nn::tensorOf(found->second)); !(d <= worstDifference)) {
        worstDifference = d;
        worst = path;
      }
  printf("worst tensor after %zu steps: '%s', different by %.3g of its largest magnitude\n",
         losses.size(), worst.c_str(), worstDifference);
  return most <= 0.01;
}

int zoo::compare(const Options &options) {
  Model model = modelOf(options);
  nn::OptimizerChoice choice = optimizerCalled(options.optimizer);
  std::string folder = options.directory() + "-compare";
  std::filesystem::create_directories(folder);
  std::vector<nn::Fields> batches = batchesOf(model, options.steps ? options.steps : 10);
  nn::TrainingState state = nn::TrainingState::make(model.network, choice);
  state.mode = state.mode.withoutDropout();
  nn::saveTree(folder + "/weights.safetensors", state.net, {}, {}, Here());
  nn::saveTree(folder + "/batches.safetensors", batches, {}, {}, Here());
  const Entry &entry = modelCalled(options.name);
  std::filesystem::path script = std::filesystem::path(entry.file).parent_path() / "compare.py";
  std::vector<double> losses = trainHere(model, state, batches, choice, options);
  run({options.python, script, options.name, options.size, folder,
       std::to_string(model.training.rate), options.optimizer});
  bool alike = printDifferences(losses, state, io::readSafetensors(folder + "/twin.safetensors"));
  return alike ? 0 : 1;
}
