//===- Compare.cpp - compare a model with its PyTorch twin ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both start with the same weights and train on the same batches, which the twin reads from files;
// it writes its losses and its last weights (compare.py). There are two modes:
//
//     steps     a few steps at a constant rate, without dropout: results should be equal
//     recipe    as `train`, each with its own dropout; then both are tested
//
// Rounding alone can make two correct programs diverge: it flips the choice of a ReLU or a maximum
// near a tie, and later steps amplify the difference. To measure this for a network, the twin is
// trained again from parameters with noise in their last bits.
//
// With --products both round the factors of products: Heddle as in `train`, PyTorch by autocast.
//
//===----------------------------------------------------------------------===//

#include "heddle/io/Safetensors.h"
#include "models/zoo/Commands.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sys/wait.h>
#include <unistd.h>

using namespace heddle;
using namespace heddle::zoo;
using nlohmann::json;

/// The full batches of a pass over the data, at most `most`.
static std::vector<nn::Fields> batchesOf(const Model &model, const nn::Dataset &data,
                                         std::optional<uint64_t> shuffledFor, int64_t most,
                                         const std::function<double(int64_t)> &progress) {
  const nn::Training &training = model.training;
  nn::Loader loader(data, {.batch = training.batch,
                           .shuffle = shuffledFor.has_value(),
                           .seed = training.seed,
                           .epoch = shuffledFor.value_or(0),
                           .batchName = model.data.batch,
                           .last = nn::Last::Drop,
                           .similar = training.similar,
                           .multipleOf = training.multipleOf});
  std::vector<nn::Fields> batches;
  while (int64_t(batches.size()) < most)
    if (std::optional<nn::Batch> batch = loader.next())
      batches.push_back(nn::fieldsOf(*batch, progress(int64_t(batches.size()))));
    else
      break;
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
  for (float value : values) {
    if (std::isnan(value))
      return INFINITY;
    most = std::max(most, double(std::abs(value)));
  }
  return most;
}

/// The largest difference, relative to the largest magnitude.
static double difference(const Tensor &ours, const Tensor &theirs) {
  std::vector<float> a = ours.to<float>(nn::namesOf(ours)), b = theirs.to<float>(nn::namesOf(ours));
  double most = largest(b);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] -= b[i];
  double d = largest(a) / std::max(most, 1e-12);
  return std::isnan(d) ? INFINITY : d;
}

static nn::OptimizerChoice optimizerCalled(const std::string &name) {
  if (name == "adam")
    return nn::optimizer<nn::Adam>({.epsilon = 1e-6});
  if (name == "sgd")
    return nn::optimizer<nn::Sgd>({.momentum = 0.9});
  throw Error("unknown optimiser '" + name + "', expected adam or sgd");
}

/// The corresponding class of torch.optim and its arguments.
static json inPyTorch(const nn::OptimizerChoice &choice) {
  auto adam = [](const char *name, const auto &how) -> json {
    return {name,
            {{"betas", {how.beta1, how.beta2}},
             {"eps", how.epsilon},
             {"weight_decay", how.decay},
             {"amsgrad", how.largest}}};
  };
  if (auto *sgd = std::get_if<nn::Uses<nn::Sgd>>(&choice); sgd && sgd->groups.groups.empty())
    return {"SGD",
            {{"momentum", sgd->groups.others.momentum},
             {"weight_decay", sgd->groups.others.decay},
             {"nesterov", sgd->groups.others.nesterov}}};
  if (auto *a = std::get_if<nn::Uses<nn::Adam>>(&choice); a && a->groups.groups.empty())
    return adam("Adam", a->groups.others);
  if (auto *a = std::get_if<nn::Uses<nn::AdamW>>(&choice); a && a->groups.groups.empty())
    return adam("AdamW", a->groups.others);
  throw Error("expected SGD, Adam or AdamW with the same options for all parameters: comparisons "
              "support no other optimiser");
}

/// The type to which PyTorch's autocast rounds: "bf16", "f16", or "" for none.
static std::string autocastOf(const nn::Training &training) {
  if (!training.products)
    return "";
  if (*training.products != ElementType::BF16 && *training.products != ElementType::F16)
    throw Error("expected products of bf16 or f16, got " +
                std::string(spelling(*training.products)) +
                ": PyTorch's autocast supports no others");
  return std::string(spelling(*training.products));
}

namespace {
/// One comparison: the model, the steps, and the files of the twin.
struct Comparison {
  Model model;
  const Options &options;
  std::string folder;
  nn::OptimizerChoice choice;
  int64_t stepsOfEpoch = 0;  ///< with the recipe
  std::vector<double> rates; ///< one for each step
  nn::TrainingState state;

  Comparison(const Options &options);
  /// Trains the model and writes the batches. Returns the losses and leaves the last weights in
  /// `state`.
  std::vector<double> trainHere();
  /// Writes the batches of the test data. Returns the mean loss and the mean measures of the model.
  nn::Values testHere();
  void runTwin();

private:
  std::vector<nn::Fields> batches(int64_t epoch) const;
  JitOptions compiled(const std::string &name) const {
    return {.name = name, .threads = options.threads, .products = model.training.products};
  }
  void write(const std::string &file, std::vector<nn::Fields> &batches) const {
    nn::saveTree(folder + "/" + file + ".safetensors", batches, {}, {}, Here());
  }
  double progress(size_t step) const {
    return options.recipe ? double(step) / double(rates.size()) : 1;
  }
};
} // namespace

Comparison::Comparison(const Options &options) : model(modelOf(options)), options(options) {
  const nn::Training &training = model.training;
  folder = options.directory() + "-compare";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw Error("can't make the directory '" + folder + "': " + error.message());
  static const std::regex ofBatches("batches-[0-9]+\\.safetensors"); // from an earlier comparison
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    if (std::regex_match(entry.path().filename().string(), ofBatches))
      std::filesystem::remove(entry.path());
  choice = options.recipe ? training.optimizer : optimizerCalled(options.optimizer);
  if (options.recipe && (!model.data.train || !model.data.test))
    throw Error("the model '" + options.name + "' has no training and test data of size '" +
                options.size + "'");
  rates.assign(size_t(options.steps ? options.steps : 10), training.rate);
  if (options.recipe) {
    stepsOfEpoch = model.data.train()->count() / training.batch;
    int64_t steps = options.steps ? options.steps : training.epochs * stepsOfEpoch;
    nn::Schedule schedule = training.schedule ? training.schedule(training.rate, steps)
                                              : nn::constantRate(training.rate);
    rates.clear();
    for (int64_t step = 0; step < steps; ++step)
      rates.push_back(schedule(step));
  }
  state = nn::TrainingState::make(model.network, choice, true, training.products);
  if (!options.recipe)
    state.mode = state.mode.withoutDropout();
  nn::saveTree(folder + "/weights.safetensors", state.net, {}, {}, Here());
  json recipe = {{"optimizer", inPyTorch(choice)},
                 {"rates", rates},
                 {"clip", options.recipe ? training.clip : 0},
                 {"dropout", options.recipe},
                 {"noisy", options.recipe ? 0 : options.noisy},
                 {"products", autocastOf(training)},
                 {"threads", options.threads}};
  if (std::ofstream file(folder + "/recipe.json"); !(file << recipe.dump() << std::flush))
    throw Error("can't write '" + folder + "/recipe.json'");
}

std::vector<nn::Fields> Comparison::batches(int64_t epoch) const {
  int64_t left = int64_t(rates.size()) - epoch * stepsOfEpoch;
  if (!model.data.train)
    return std::vector<nn::Fields>(size_t(left), model.example(model.training.batch));
  nn::DatasetPtr data = model.data.train();
  std::vector<nn::Fields> all;
  // Without a recipe, one file has all batches, from as many passes over the data as necessary.
  for (int64_t pass = epoch; int64_t(all.size()) < left; ++pass) {
    size_t before = size_t(epoch * stepsOfEpoch) + all.size();
    std::vector<nn::Fields> more =
        batchesOf(model, *data, uint64_t(pass), left - int64_t(all.size()),
                  [&](int64_t i) { return progress(before + size_t(i)); });
    if (more.empty())
      throw Error("expected data of at least one batch of " + std::to_string(model.training.batch) +
                  " samples, got " + std::to_string(data->count()) + " samples");
    all.insert(all.end(), more.begin(), more.end());
    if (options.recipe)
      break;
  }
  return all;
}

std::vector<double> Comparison::trainHere() {
  if (rates.empty())
    throw Error("expected at least one step (--epochs, --steps), got none");
  nn::StepOptions how{.optimizer = choice, .clip = options.recipe ? model.training.clip : 0};
  auto step = jit(nn::trainingStep(model.network, how), compiled("train"));
  std::vector<double> losses;
  for (int64_t epoch = 0; losses.size() < rates.size(); ++epoch) {
    std::vector<nn::Fields> part = batches(epoch);
    char file[32];
    snprintf(file, sizeof file, "batches-%03lld", (long long)epoch);
    write(file, part);
    for (const nn::Fields &fields : part)
      losses.push_back(step(state, fields, rates[losses.size()]).outcome.loss.item());
  }
  return losses;
}

nn::Values Comparison::testHere() {
  std::vector<nn::Fields> all =
      batchesOf(model, *model.data.test(), {}, INT64_MAX, [](int64_t) { return 1.0; });
  write("test", all);
  auto test = jit(nn::evaluation(model.network), compiled("evaluate"));
  nn::TrainedState trained{state.net, state.mode.evaluation()};
  nn::Values sums;
  for (const nn::Fields &fields : all) {
    nn::Outcome outcome = test(trained, fields).outcome;
    sums["loss"] += outcome.loss.item() / double(all.size());
    for (const auto &[name, value] : outcome.measures)
      sums[name] += value.item() / double(all.size());
  }
  return sums;
}

void Comparison::runTwin() {
  const Entry &entry = modelCalled(options.name);
  std::filesystem::path script = std::filesystem::path(entry.file).parent_path() / "compare.py";
  run({options.python, script, options.name, options.size, folder});
}

namespace {
/// The largest relative difference between two loss curves.
struct Distance {
  double most = 0;
  size_t step = 1; ///< counts from 1

  Distance(const std::vector<double> &losses, const std::vector<double> &others) {
    for (size_t i = 0; i < losses.size() && !std::isnan(most); ++i)
      if (double d = std::abs(losses[i] - others[i]) / std::max(std::abs(others[i]), 1e-12);
          !(d <= most)) {
        most = d;
        step = i + 1;
      }
  }
  std::string text() const {
    char words[64];
    snprintf(words, sizeof words, "%.3g %% at step %zu", 100 * most, step);
    return words;
  }
};
} // namespace

/// The losses of the twin, stored in its file under `key`.
static std::vector<double> lossesOf(const io::Safetensors &twin, const std::string &key) {
  auto values = twin.at(key).values<float>();
  return {values.begin(), values.end()};
}

/// Prints the parameter that differs most.
static void printWorst(nn::TrainingState &state, const io::Safetensors &twin) {
  std::string worst;
  double most = -1;
  for (const auto &[path, tensor] : state.net)
    if (auto found = twin.arrays.find("parameter." + path); found != twin.arrays.end())
      if (double d = difference(tensor, nn::tensorOf(found->second)); !(d <= most)) {
        most = d;
        worst = path;
      }
  printf("worst tensor at the end: '%s', differs by %.3g of its largest magnitude\n", worst.c_str(),
         most);
}

/// Writes both losses of each step, to show where they diverge.
static void writeLosses(const std::string &file, const std::vector<double> &ours,
                        const std::vector<double> &theirs) {
  std::ofstream lines(file);
  lines << "step,loss,pytorch\n";
  for (size_t i = 0; i < ours.size() && i < theirs.size(); ++i) {
    char line[96];
    snprintf(line, sizeof line, "%zu,%.9g,%.9g\n", i + 1, ours[i], theirs[i]);
    lines << line;
  }
  if (!lines.flush())
    throw Error("can't write '" + file + "'");
}

/// Prints the differences between model and twin, and between the twin and its runs with noise.
/// Returns false if the losses differ by more than `allowed` and by more than noise explains.
static bool printDifferences(const std::vector<double> &losses, nn::TrainingState &state,
                             const io::Safetensors &twin, double allowed) {
  std::vector<double> theirs = lossesOf(twin, "losses");
  Distance distance(losses, theirs);
  printf("loss: %.6g to %.6g, PyTorch %.6g to %.6g\n", losses.front(), losses.back(),
         theirs.front(), theirs.back());
  printf("largest difference of the losses: %s (allowed: %g %%, or the effect of noise)\n",
         distance.text().c_str(), 100 * allowed);
  for (int seed = 1; twin.arrays.contains("losses." + std::to_string(seed)); ++seed) {
    Distance noise(lossesOf(twin, "losses." + std::to_string(seed)), theirs);
    printf("PyTorch, if its parameters start with noise of 1e-7 (seed %d): %s\n", seed,
           noise.text().c_str());
    allowed = std::max(allowed, noise.most);
  }
  printWorst(state, twin);
  return distance.most <= allowed;
}

/// Prints the values of model and twin on the test data.
static void printTests(const nn::Values &ours, const io::Safetensors &twin) {
  for (const auto &[name, value] : ours)
    if (auto found = twin.arrays.find("test." + name); found != twin.arrays.end()) {
      double theirs = found->second.values<float>()[0];
      printf("test %s: %.5g, PyTorch %.5g (%+.2f %%)\n", name.c_str(), value, theirs,
             100 * (value - theirs) / std::max(std::abs(theirs), 1e-12));
    }
}

int zoo::compare(const Options &options) {
  Comparison comparison(options);
  std::vector<double> losses = comparison.trainHere();
  nn::Values tested = options.recipe ? comparison.testHere() : nn::Values();
  comparison.runTwin();
  io::Safetensors twin = io::readSafetensors(comparison.folder + "/twin.safetensors");
  // Rounding changes each factor by up to 2^-9 of its value, and the two sides round different
  // values.
  double allowed = comparison.model.training.products ? 0.02 : 0.01;
  writeLosses(comparison.folder + "/losses.csv", losses, lossesOf(twin, "losses"));
  bool alike = printDifferences(losses, comparison.state, twin, allowed);
  printTests(tested, twin);
  return alike || options.recipe ? 0 : 1;
}
