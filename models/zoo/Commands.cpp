//===- Commands.cpp - the commands of heddle-models -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "models/zoo/Commands.h"

#include "heddle/io/Safetensors.h"
#include "heddle/nn/data/Combinators.h"
#include "runtime/base/AtomicFile.h"

#include <cstdio>
#include <filesystem>

using namespace heddle;
using namespace heddle::zoo;

std::string Options::directory() const {
  std::string folder = output.empty() ? name + "-" + size : output;
  while (folder.size() > 1 && folder.ends_with('/'))
    folder.pop_back();
  return folder;
}

Model zoo::modelOf(const Options &options) {
  const Entry &entry = modelCalled(options.name, Here());
  Size size = sizeCalled(options.size, Here());
  if (options.layers && !entry.makeOf)
    throw Error("expected --layers for a model that is a row of equal layers, such as gpt, got '" +
                options.name + "'");
  Model model = options.layers ? entry.makeOf(size, *options.layers) : entry.make(size);
  nn::Training &training = model.training;
  training.epochs = options.epochs.value_or(training.epochs);
  training.batch = options.batch.value_or(training.batch);
  training.patience = options.patience.value_or(training.patience);
  training.seed = options.seed.value_or(training.seed);
  training.rate = options.rate.value_or(training.rate);
  if (!options.products.empty() && options.products != "f32") {
    training.products = parseElementType(options.products);
    if (!training.products || !isNarrowFloat(*training.products))
      throw Error("unknown type of products '" + options.products +
                  "', expected f32, bf16, f16 or another narrow float type");
  }
  return model;
}

int zoo::list() {
  for (const auto &[name, entry] : models())
    printf("%-20s %12lld\n", name.c_str(),
           (long long)entry.make(zoo::Size::Full).network.parameterCount());
  return 0;
}

static nn::TrainerOptions surroundings(const Options &options) {
  return {.resume = options.resume,
          .saveEvery = options.saveEvery,
          .steps = options.steps,
          .threads = options.threads,
          .device = options.device,
          .readers = options.readers,
          .notes = {{"model", options.name}, {"size", options.size}},
          .check = options.check,
          .plugins = options.plugins};
}

/// Reads a data set of the model.
static nn::DatasetPtr read(const std::function<nn::DatasetPtr()> &data, const Options &options) {
  if (!data)
    throw Error("the model '" + options.name + "' has no data of size '" + options.size + "'");
  return data();
}

static bool exists(const std::string &path) {
  std::error_code error;
  bool isThere = std::filesystem::exists(path, error);
  if (error)
    throw Error("can't look for '" + path + "': " + error.message());
  return isThere;
}

/// A file of trained parameters, with the notes of its run.
struct Trained {
  std::string file;
  nn::Notes notes;

  /// The notes of a safetensors file, else those of the run in the output directory.
  static nn::Notes notesOf(const std::string &file, const Options &options) {
    if (!file.ends_with(".safetensors"))
      return nn::AnyTrainer::savedNotes(options.directory(), Here()).value_or(nn::Notes());
    io::SafetensorsFile opened(file, Here());
    const auto &texts = opened.header().metadata;
    return {texts.begin(), texts.end()};
  }
};

/// The trained parameters of the options' file, of the best epoch, or of the last checkpoint before
/// the end of the first epoch.
static Trained trainedBy(const Options &options) {
  if (!options.checkpoint.empty())
    return {options.checkpoint, Trained::notesOf(options.checkpoint, options)};
  std::string best = options.directory() + "/best.safetensors",
              last = options.directory() + "/checkpoint.safetensors",
              shards = options.directory() + "/checkpoint.shards"; // of several ranks
  bool hasBest = exists(best);
  std::string file = hasBest ? best : exists(last) || !exists(shards) ? last : shards;
  if (!exists(file))
    throw Error("'" + best + "' does not exist: train the model first, with `heddle-models train " +
                options.name + "`, or name a file by --checkpoint");
  nn::Notes notes = Trained::notesOf(file, options);
  for (auto [name, expected] : {std::pair("model", options.name), {"size", options.size}})
    if (auto had = notes.find(name); had != notes.end() && had->second != expected)
      throw Error("'" + options.directory() + "' has a run of the " + name + " " + had->second +
                  ", expected the " + name + " " + expected);
  if (auto epoch = notes.find("epoch"); !hasBest && epoch != notes.end() && epoch->second != "0")
    throw Error("'" + best + "' is missing, although the run has completed " + epoch->second +
                " epochs; --checkpoint " + file + " uses the parameters after its last step");
  return {file, std::move(notes)};
}

static void printGoal(const nn::Goal &goal, const nn::Values &values) {
  double value = values.at(goal.measure);
  printf("%s: %.4g", goal.measure.c_str(), value);
  if (goal.reached)
    printf(", %s the goal of %g",
           (goal.larger ? value >= *goal.reached : value <= *goal.reached) ? "which reaches"
                                                                           : "which misses",
           *goal.reached);
  printf("\n");
}

/// Makes each epoch a step on the first batch of the data, so that only the parameters change.
/// Writes no checkpoints, so that those of an earlier run stay.
static void useOneBatch(nn::Training &training, nn::DatasetPtr &data, nn::TrainerOptions &where) {
  data = nn::span(data, 0, std::min(data->count(), training.batch));
  training.epochs = where.steps ? where.steps : training.epochs;
  training.schedule = {};
  training.progress = 1;
  where.steps = 0;
  where.saves = false;
  if (nn::AnyTrainer::savedNotes(where.output, Here()))
    where.output += "/one-batch";
}

/// Prints the first and the last loss of the batch: a correct network overfits a single batch.
static void printLearned(const nn::History &history) {
  if (history.empty())
    return;
  auto lossOf = [](const nn::EpochRecord &record) { return record.train.at("loss"); };
  const nn::EpochRecord &least = *std::ranges::min_element(history, {}, lossOf);
  printf("loss of the batch: %.4g at first, %.4g in step %lld\n", lossOf(history.front()),
         lossOf(least), (long long)least.epoch);
}

/// The state before the first step, and the step.
static nn::TrainingState stateOf(const Model &model, bool inMemory) {
  const nn::Training &training = model.training;
  return nn::TrainingState::make(model.network, training.optimizer, inMemory, training.products);
}
/// `checked`: as the trainer makes it, which looks for gradients that are not finite.
static auto stepOf(const Model &model, const Options &options, bool checked = false) {
  return jit(
      nn::trainingStep(model.network, {model.training.optimizer, model.training.clip, checked}),
      {.name = "train",
       .device = options.device,
       .threads = options.threads,
       .plugins = options.plugins,
       .products = model.training.products});
}

/// The IR of a model's training step, for types only: no tensor is allocated.
static std::string stepIr(const Model &model, const Options &options, bool checked = false) {
  nn::TrainingState state = stateOf(model, false);
  return stepOf(model, options, checked)
      .ir(state, model.example(model.training.batch), model.training.rate);
}

int zoo::train(const Options &options) {
  Model model = modelOf(options);
  if (options.ir) {
    if (options.mesh.isGiven())
      throw Error("--ir prints the step before it is split over devices: omit the options of the "
                  "mesh");
    printf("%s", stepIr(model, options, /*checked=*/true).c_str());
    return 0;
  }
  nn::DatasetPtr data = read(model.data.train, options);
  nn::DatasetPtr test = model.data.test && !options.oneBatch ? model.data.test() : nullptr;
  nn::TrainerOptions where = surroundings(options);
  where.output = options.directory();
  if (options.oneBatch)
    useOneBatch(model.training, data, where);
  where.log = options.log.empty() ? where.output + "/log.jsonl" : options.log;
  where.logEvery = options.logEvery;
  options.mesh.apply(model.training, where);
  nn::AnyTrainer trainer(model.network, model.training, where, Here());
  nn::Ending ending = trainer.train(*data, test.get(), Here());
  if (ending == nn::Ending::Interrupted)
    return 128 + trainer.signal();
  trainer.report(options.name + ", " + options.size,
                 model.section ? model.section(trainer.parameters(), options.threads) : "", Here());
  if (where.ranks && !where.ranks->isFirst())
    return 0;
  if (trainer.bestEpoch() >= 0) {
    const nn::EpochRecord &best = trainer.history()[size_t(trainer.bestEpoch())];
    printf("best epoch %lld, ", (long long)best.epoch);
    printGoal(model.training.goal, best.test.empty() ? best.train : best.test);
  }
  if (options.oneBatch)
    printLearned(trainer.history());
  printf("report: %s/report.html\n", where.output.c_str());
  return 0;
}

int zoo::evaluate(const Options &given) {
  Options options = given;
  Trained trained = trainedBy(options);
  if (auto products = trained.notes.find("products"); products != trained.notes.end())
    options.products = products->second; // the run's
  Model model = modelOf(options);
  nn::DatasetPtr test = read(model.data.test, options);
  nn::TrainerOptions where = surroundings(options);
  nn::AnyTrainer trainer(model.network, model.training, where, Here());
  trainer.load(trained.file, Here());
  nn::Values values = trainer.evaluate(*test, Here());
  for (const auto &[name, value] : values)
    if (name != model.training.goal.measure)
      printf("%s: %.4g\n", name.c_str(), value);
  printGoal(model.training.goal, values);
  return 0;
}

int zoo::exportPrograms(const Options &options) {
  Model model = modelOf(options);
  if (options.ir && options.output.empty()) {
    printf("%s", stepIr(model, options).c_str());
    return 0;
  }
  std::string folder = options.directory();
  for (const char *left : {"/run.lock", "/checkpoint.safetensors", "/checkpoint.shards"})
    if (exists(folder + left))
      throw Error("'" + folder +
                  "' has a run, whose train.heddle would be replaced: expected another "
                  "directory (--output)");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw Error("can't make the directory '" + folder + "': " + error.message());
  nn::TrainingState state = stateOf(model, true);
  if (!options.checkpoint.empty())
    nn::loadTree(options.checkpoint, state, {}, Here());
  nn::Fields fields = model.example(model.training.batch);
  std::string programs = "step.mlir";
  if (options.ir) {
    if (std::string reason = writeAtomically(folder + "/" + programs, stepIr(model, options));
        !reason.empty())
      throw Error(reason);
  } else {
    programs = "train.heddle, evaluate.heddle";
    stepOf(model, options)
        .save(folder + "/train.heddle", state, fields, model.training.rate, Here());
    nn::TrainedState trained{state.net, state.mode.evaluation()};
    jit(nn::evaluation(model.network), {.name = "evaluate",
                                        .device = options.device,
                                        .threads = options.threads,
                                        .plugins = options.plugins,
                                        .products = model.training.products})
        .save(folder + "/evaluate.heddle", trained, fields, Here());
  }
  nn::saveTree(folder + "/state.safetensors", state, {}, {}, Here());
  fields["argument2"] = constant(model.training.rate); // the rate of the step
  nn::saveTree(folder + "/example.safetensors", fields, {}, {}, Here());
  printf("%s: %s, state.safetensors, example.safetensors\n", folder.c_str(), programs.c_str());
  return 0;
}

int zoo::generate(const Options &options) {
  Model model = modelOf(options);
  if (!model.writer) {
    std::string known;
    for (const auto &[name, entry] : models())
      if (entry.make(zoo::Size::Tiny).writer)
        known += (known.empty() ? "" : ", ") + name;
    throw Error("the model '" + options.name +
                "' does not generate text; models that do: " + (known.empty() ? "none" : known));
  }
  nn::TrainedState state{model.network.parameters, model.network.mode.evaluation()};
  nn::loadTrained(trainedBy(options).file, state, Here());
  Writer write = model.writer(state.net, options.threads);
  write(options.generation, [](std::string_view text) {
    fwrite(text.data(), 1, text.size(), stdout);
    fflush(stdout);
  });
  printf("\n");
  return 0;
}
