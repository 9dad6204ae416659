//===- Train.cpp - a training run -----------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "models/fashion/Train.h"

#include "heddle/nn/Trainer.h"
#include "models/fashion/Classify.h"
#include "models/fashion/Network.h"
#include "models/fashion/Report.h"

#include <cstdio>
#include <sstream>

using namespace heddle;
using namespace fashion;

static constexpr int64_t testBatch = 250;

/// An option that is not given takes the value of the resumed checkpoint; one that is given must
/// agree with it.
template <typename T>
static T adopted(const std::optional<T> &given, T usual, const char *name,
                 const std::optional<nn::Notes> &notes) {
  T kept = usual;
  if (!notes || !notes->count(name) || !(std::istringstream(notes->at(name)) >> kept))
    return given.value_or(usual);
  if (given && *given != kept)
    throw Error("'checkpoint.safetensors' is of a run with --" + std::string(name) + " " +
                notes->at(name) + ", expected --" + name + " " +
                (std::ostringstream() << *given).str() + "; omit the option or --resume");
  return kept;
}

/// The class of each image by the compiled classifier.
template <typename F>
static std::vector<int> predict(const F &classifier, const Net &net,
                                const nn::LabelledImages &images) {
  std::vector<int> predicted;
  nn::Loader loader(images, {.batch = testBatch});
  while (std::optional<nn::Batch> batch = loader.next()) {
    Prediction prediction = classifier(net, {nn::tensorOf(batch->array("image"))});
    auto labels = prediction.label.template to<int64_t>({names().batch});
    predicted.insert(predicted.end(), labels.begin(), labels.begin() + batch->samples);
  }
  return predicted;
}

/// Compiles the classifier, runs it again without the compiler, and writes the report.
static void finish(nn::Trainer<Net> &trainer, const nn::LabelledImages &images) {
  const nn::TrainerOptions &options = trainer.options();
  std::string program = options.output + "/classifier.heddle",
              weights = options.output + "/classifier.safetensors";
  auto classifier = jit(
      &classify,
      {.name = "classify", .threads = options.threads, .kept = {0}, .plugins = options.plugins});
  Net net = trainer.net();
  // Gathers the tensors on all ranks; then rank 0 continues alone.
  forEachTensor(net, [](const std::string &, Tensor &tensor) { tensor.data(); });
  if (options.ranks && !options.ranks->isFirst())
    return;
  std::vector<int> predicted = predict(classifier, net, images);
  nn::saveTree(weights, net);
  nn::Loader shape(images, {.batch = testBatch, .ahead = 0});
  classifier.save(program, net, {nn::tensorOf(shape.next()->array("image"))});
  std::vector<int> again = classifyWithRuntime(program, weights, images, options.threads);
  int64_t right = countRight(images, predicted), rightAgain = countRight(images, again);
  if (again != predicted)
    throw Error("the program file '" + program +
                "' classifies a different number of images right than this session: expected " +
                std::to_string(right) + ", got " + std::to_string(rightAgain));
  printf("test accuracy %.2f %%; the program file '%s' run without the compiler classifies the "
         "same %lld of %lld images right\n",
         100 * double(right) / double(images.count()), program.c_str(), (long long)rightAgain,
         (long long)images.count());
  trainer.report("Fashion-MNIST with Heddle", reportSections(images, again), Here());
  printf("report: %s/report.html\n", options.output.c_str());
}

int fashion::train(const Options &options) {
  nn::LabelledImages trainImages = nn::fashionMnist(true, options.data, Here()),
                     testImages = nn::fashionMnist(false, options.data, Here());
  std::optional<nn::Notes> notes;
  if (options.resume)
    notes = nn::AnyTrainer::savedNotes(options.output, Here());
  int64_t limit = adopted(options.limit, trainImages.count(), "limit", notes);
  uint64_t seed = adopted(options.seed, Options::defaultSeed, "seed", notes);
  nn::Training training{// A different number of epochs changes the schedule.
                        .epochs = options.epochs
                                      ? *options.epochs
                                      : adopted({}, Options::defaultEpochs, "epochs", notes),
                        .batch = adopted(options.batch, Options::defaultBatch, "batch", notes),
                        .optimizer = nn::optimizer<nn::Sgd>({.momentum = 0.9}),
                        .rate = adopted(options.rate, Options::defaultRate, "rate", notes),
                        .schedule = nn::triangle,
                        .goal = {"accuracy", /*larger=*/true},
                        .seed = seed,
                        .testBatch = testBatch};
  nn::TrainerOptions where{.output = options.output,
                           .resume = options.resume,
                           .saveEvery = options.saveEvery,
                           .steps = options.steps,
                           .log = options.log,
                           .logEvery = options.logEvery,
                           .threads = options.threads,
                           .device = options.device,
                           .unit = "images",
                           .notes = {{"limit", std::to_string(limit)}},
                           .plugins = options.plugins};
  options.mesh.apply(training, where);
  nn::Trainer<Net> trainer(initialNet(seed), lossOf, key(seed * 16 + 5), training, where,
                           names().batch, Here());
  trainImages.limit(limit);
  testImages.limit(limit);
  nn::Ending ending = trainer.train(trainImages, &testImages, Here());
  if (ending == nn::Ending::Finished)
    finish(trainer, testImages);
  return ending == nn::Ending::Interrupted ? 128 + trainer.signal() : 0;
}
