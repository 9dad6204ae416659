//===- Train.cpp - a training run -----------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "models/fashion/Train.h"

#include "heddle/io/DirectoryLock.h"
#include "heddle/nn/Checkpoint.h"
#include "heddle/nn/Meters.h"
#include "heddle/nn/data/Loader.h"
#include "models/fashion/Classify.h"
#include "models/fashion/Network.h"
#include "models/fashion/Report.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <unistd.h>

using namespace heddle;
using namespace fashion;

double fashion::rateAt(double peak, int64_t step, int64_t steps) {
  double warm = std::max(1.0, 0.1 * double(steps)), at = double(step);
  if (at < warm)
    return peak * (at + 1) / (warm + 1);
  return peak * (double(steps) - at) / (double(steps) - warm);
}

namespace {
/// The options that determine the learning curve.
struct Setting {
  int64_t epochs, batch, limit;
  uint64_t seed;
  double rate;
};

/// The progress of a run: `step` of `epoch` is next, both from zero.
struct Position {
  int64_t epoch = 0, step = 0;
  nn::Mean loss; ///< of the epoch so far
  double right = 0;
};

/// A double as text that comes back to the bit.
std::string exact(double value) {
  char text[40];
  snprintf(text, sizeof text, "%a", value);
  return text;
}

/// Results on a data set.
struct Evaluation {
  double loss = 0, accuracy = 0;
  std::vector<int> predicted;
};

class Run {
public:
  Run(const Options &options);
  void train();
  void finish();
  bool stopped = false; ///< after `options.steps`

private:
  Options options;
  Setting setting;
  nn::LabelledImages trainImages, testImages;
  State state;
  Position position;
  nn::Rate images{0, 0}; ///< of the epoch, as far as it was this process that trained
  History history;
  int64_t batches;
  std::unique_ptr<FILE, int (*)(FILE *)> log{nullptr, fclose};
  std::optional<io::DirectoryLock> lock; ///< of the output

  static constexpr int64_t testBatch = 250;

  std::string file(const char *name) const { return options.output + "/" + name; }
  JitOptions jitOptions(const char *name, std::vector<size_t> kept = {}) const {
    return {.name = name,
            .threads = options.threads,
            .kept = std::move(kept),
            .plugins = options.plugins};
  }
  decltype(jit(&trainStep)) step{jit(&trainStep, jitOptions("train"))};
  decltype(jit(&classify)) classifier{jit(&classify, jitOptions("classify", {0}))};

  void openOutput();
  void removeLeftovers();
  void load();
  void save();
  void writeLog(const std::string &text);
  void trainEpoch();
  void oneStep(const nn::Batch &batch, int64_t done, nn::Rate &images);
  Evaluation evaluate();
};
} // namespace

static Sample sampleOf(const nn::Batch &batch) {
  return {nn::tensorOf(batch.array("image")), nn::tensorOf(batch.array("label")),
          nn::tensorOf(batch.weight)};
}

Run::Run(const Options &given)
    : options(given), trainImages(nn::fashionMnist(true, given.data)),
      testImages(nn::fashionMnist(false, given.data)) {
  openOutput();
  setting = {
      options.epochs.value_or(Options::defaultEpochs),
      options.batch.value_or(Options::defaultBatch), options.limit.value_or(trainImages.count()),
      options.seed.value_or(Options::defaultSeed), options.rate.value_or(Options::defaultRate)};
  if (options.resume && std::filesystem::exists(file("checkpoint.safetensors")))
    load();
  else
    state = initialState(setting.seed);
  trainImages.limit(setting.limit);
  testImages.limit(setting.limit);
  batches = (trainImages.count() + setting.batch - 1) / setting.batch;
  if (!options.log.empty()) {
    log.reset(fopen(options.log.c_str(), "w"));
    if (!log)
      throw Error("can't write '" + options.log + "': " + std::strerror(errno));
    writeLog(toText(history));
  }
}

void Run::openOutput() {
  std::error_code error;
  std::filesystem::create_directories(options.output, error);
  if (error)
    throw Error("can't make the directory '" + options.output + "': " + error.message());
  if (access(options.output.c_str(), W_OK) != 0)
    throw Error("can't write into the directory '" + options.output + "': " + std::strerror(errno));
  lock.emplace(options.output);
  removeLeftovers();
}

/// Removes files that a run left that was killed while it wrote.
void Run::removeLeftovers() {
  std::error_code ignored;
  for (const auto &entry : std::filesystem::directory_iterator(options.output, ignored))
    if (entry.path().filename().string().find(".safetensors.part-") != std::string::npos)
      std::filesystem::remove(entry.path(), ignored);
}

void Run::writeLog(const std::string &text) {
  if (fputs(text.c_str(), log.get()) < 0 || fflush(log.get()) != 0)
    throw Error("can't write '" + options.log + "': " + std::strerror(errno));
}

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

/// Equal runs give equal files: nothing that was measured goes into them.
void Run::save() {
  nn::saveTree(file("checkpoint.safetensors"), state,
               {{"epochs", std::to_string(setting.epochs)},
                {"batch", std::to_string(setting.batch)},
                {"limit", std::to_string(setting.limit)},
                {"seed", std::to_string(setting.seed)},
                {"rate", exact(setting.rate)},
                {"epoch", std::to_string(position.epoch)},
                {"step", std::to_string(position.step)},
                {"loss_sum", exact(position.loss.sum)},
                {"loss_weight", exact(position.loss.weight)},
                {"right", exact(position.right)},
                {"history", toText(history, /*measured=*/false)}});
}

/// An option takes the checkpoint's value unless it was given, and then they have to agree.
template <typename T, typename Parse>
static void adopt(T &value, const std::optional<T> &given, const char *name,
                  const std::string &path, const nn::Notes &notes, Parse &&parse) {
  T kept = T(parse(notes.at(name)));
  if (given && *given != kept)
    throw Error("'" + path + "' is of a run with --" + name + " " +
                (std::ostringstream() << kept).str() + ", expected --" + name + " " +
                (std::ostringstream() << *given).str() + "; leave the option or --resume away");
  value = kept;
}

void Run::load() {
  std::string path = file("checkpoint.safetensors");
  state = initialState(setting.seed); // for names and sizes
  nn::Notes notes = nn::loadTree(path, state);
  auto integer = [](const std::string &text) { return std::stoll(text); };
  auto real = [](const std::string &text) { return std::strtod(text.c_str(), nullptr); };
  try {
    adopt(setting.batch, options.batch, "batch", path, notes, integer);
    adopt(setting.limit, options.limit, "limit", path, notes, integer);
    adopt(setting.seed, options.seed, "seed", path, notes, integer);
    adopt(setting.rate, options.rate, "rate", path, notes, real);
    if (!options.epochs) // another number is another schedule from here on
      setting.epochs = integer(notes.at("epochs"));
    position = {integer(notes.at("epoch")),
                integer(notes.at("step")),
                {real(notes.at("loss_sum")), real(notes.at("loss_weight"))},
                real(notes.at("right"))};
    history = parseHistory(notes.at("history"));
  } catch (const std::logic_error &) { // a note is missing or no number
    throw Error("'" + path + "' is no checkpoint of this program");
  }
  printf("resuming at step %lld of epoch %lld\n", (long long)position.step + 1,
         (long long)position.epoch + 1);
}

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

void Run::oneStep(const nn::Batch &batch, int64_t done, nn::Rate &images) {
  double rate = rateAt(setting.rate, done, setting.epochs * batches);
  Tensor rateNow = Tensor::of<float>({float(rate)}, {});
  Outcome outcome = step(state, sampleOf(batch), rateNow);
  double loss = outcome.loss.item();
  if (!std::isfinite(loss))
    throw Error("the loss is " + std::string(std::isnan(loss) ? "not a number" : "infinite") +
                " at step " + std::to_string(position.step + 1) + " of epoch " +
                std::to_string(position.epoch + 1) + " (learning rate " + std::to_string(rate) +
                "); a smaller --rate may help");
  position.loss.add(loss, double(batch.samples));
  position.right += outcome.right.item();
  ++position.step;
  images.add(batch.samples);
}

void Run::trainEpoch() {
  nn::Loader loader(trainImages, {.batch = setting.batch,
                                  .shuffle = true,
                                  .seed = setting.seed,
                                  .epoch = uint64_t(position.epoch),
                                  .skip = position.step});
  nn::ProgressBar bar("epoch " + std::to_string(position.epoch + 1) + "/" +
                          std::to_string(setting.epochs),
                      batches, position.step);
  images = nn::Rate(0, 0);
  images.pause();
  bool compiled = false;
  while (std::optional<nn::Batch> batch = loader.next()) {
    // The step that may compile is not timed.
    if (compiled)
      images.resume();
    nn::Rate untimed;
    oneStep(*batch, position.epoch * batches + position.step, compiled ? images : untimed);
    compiled = true;
    char text[96];
    snprintf(text, sizeof text, "loss %.4f  accuracy %.1f %%  %.0f images/s", position.loss.value(),
             100 * position.right / position.loss.weight, images.perSecond());
    bar.show(position.step, text);
    images.pause();
    if (options.steps && position.epoch * batches + position.step >= options.steps) {
      save();
      stopped = true;
      return;
    }
    if (options.saveEvery && position.step % options.saveEvery == 0 && position.step < batches)
      save();
  }
}

Evaluation Run::evaluate() {
  Evaluation result;
  double loss = 0;
  nn::Loader loader(testImages, {.batch = testBatch});
  nn::ProgressBar bar("testing", loader.batches());
  for (int64_t done = 0; std::optional<nn::Batch> batch = loader.next();) {
    Prediction prediction = classifier(state.net, {nn::tensorOf(batch->array("image"))});
    auto labels = prediction.label.to<int64_t>({names().batch});
    auto logits = prediction.logits.to<float>({names().batch, names().classes});
    size_t classes = logits.size() / labels.size();
    std::span<const int32_t> wanted = batch->array("label").values<int32_t>();
    for (size_t i = 0; i < size_t(batch->samples); ++i) {
      const float *row = &logits[i * classes];
      double most = *std::max_element(row, row + classes), total = 0;
      for (size_t c = 0; c < classes; ++c)
        total += std::exp(row[c] - most);
      loss += most + std::log(total) - row[wanted[i]];
      result.predicted.push_back(int(labels[i]));
    }
    bar.show(++done, "");
  }
  double count = double(testImages.count());
  result.loss = loss / count;
  result.accuracy = double(countRight(testImages, result.predicted)) / count;
  return result;
}

void Run::train() {
  while (position.epoch < setting.epochs) {
    trainEpoch();
    if (stopped) {
      printf("stopped after %lld steps; the mean loss of epoch %lld so far is %.9g\n",
             (long long)(position.epoch * batches + position.step), (long long)position.epoch + 1,
             position.loss.value());
      return;
    }
    Evaluation test = evaluate();
    EpochRecord record{position.epoch + 1, position.loss.value(), test.loss,
                       test.accuracy,      images.perSecond(),    nn::peakMemoryBytes()};
    double accuracy = position.right / position.loss.weight;
    history.push_back(record);
    position = {position.epoch + 1};
    save();
    if (log)
      writeLog(record.json() + "\n");
    printf("epoch %lld: loss %.4f, accuracy %.2f %%; test loss %.4f, accuracy %.2f %%; "
           "%.0f images/s\n",
           (long long)record.epoch, record.trainLoss, 100 * accuracy, record.testLoss,
           100 * record.testAccuracy, record.examplesPerSecond);
    fflush(stdout);
  }
}

void Run::finish() {
  Evaluation test = evaluate();
  std::string program = file("classifier.heddle"), weights = file("classifier.safetensors");
  nn::saveTree(weights, state.net);
  nn::Loader shape(testImages, {.batch = testBatch, .ahead = 0});
  classifier.save(program, state.net, {nn::tensorOf(shape.next()->array("image"))});
  std::vector<int> again = classifyWithRuntime(program, weights, testImages, options.threads);
  int64_t right = countRight(testImages, test.predicted),
          rightAgain = countRight(testImages, again);
  if (again != test.predicted)
    throw Error("the program file '" + program +
                "' classifies other images right than this "
                "session: expected " +
                std::to_string(right) + ", got " + std::to_string(rightAgain));
  printf("test accuracy %.2f %%; the program file '%s' run without the compiler classifies the "
         "same %lld of %lld images right\n",
         100 * test.accuracy, program.c_str(), (long long)rightAgain,
         (long long)testImages.count());
  std::string report = file("report.html");
  writeReport(report, history, testImages, again);
  printf("report: %s\n", report.c_str());
}

void fashion::train(const Options &options) {
  Run run(options);
  run.train();
  if (!run.stopped)
    run.finish();
}
