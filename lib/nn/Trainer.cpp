//===- Trainer.cpp - train any network ------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/nn/TrainerRun.h"

#include "runtime/control/Job.h"

#include <algorithm>
#include <cmath>
#include <csignal>

using namespace heddle;
using namespace heddle::nn;

Schedule nn::triangle(double rate, int64_t steps) {
  int64_t rising = std::max<int64_t>(1, steps / 10);
  return warmUp(rising, linearRate(rate, 0, double(std::max<int64_t>(1, steps - rising))));
}

Fields nn::fieldsOf(const Batch &batch, double progress, Here here) {
  Fields fields{{"weight", tensorOf(batch.weight, here)},
                {"progress", Tensor::of<float>({float(progress)}, {}, here)}};
  for (size_t i = 0; i < batch.fields.size(); ++i) {
    const Field &field = batch.fields[i];
    auto add = [&](const std::string &name, const io::HostArray &array) {
      if (!fields.emplace(name, tensorOf(array, here)).second)
        throw Error(
            "expected fields with names of their own, besides 'weight' and 'progress', got '" +
                name + "' twice",
            here);
    };
    add(field.name, batch.arrays[i]);
    if (std::count(field.shape.begin(), field.shape.end(), anySize))
      add(field.name + "_length", batch.sizes[i]);
  }
  return fields;
}

static TestFunction testOf(const Network &network) {
  return [loss = network.loss](const ByPath &net, Mode mode, const Fields &fields) {
    return loss(net, fields, mode);
  };
}

/// The options of the compiled function `name`; `kept`: JitOptions::kept.
JitOptions AnyTrainer::Run::jitOptions(const std::string &name, std::vector<size_t> kept) const {
  JitOptions made{.name = name,
                  .device = options.device,
                  .threads = options.threads,
                  .check = options.check,
                  .kept = std::move(kept),
                  .plugins = options.plugins,
                  .products = training.products};
  ranks.addTo(made);
  if (name != "evaluate")
    made.timeline = timeline;
  return made;
}

void AnyTrainer::Run::makeFunctions(Here here) {
  stepOptions = {.optimizer = training.optimizer,
                 .clip = training.clip,
                 .checkGradients = options.checkGradients,
                 .gradients = ranks.gradients(),
                 .clipByValue = training.clipByValue,
                 .average = training.average};
  if (training.microBatches == 1) {
    step.emplace(jit(trainingStep(network, stepOptions), jitOptions("train", {}), here));
  } else if (ranks.hasStages()) {
    stepInParts.emplace(
        jit(trainingStepInParts(network, stepOptions), jitOptions("train", {}), here));
  } else {
    JitOptions parts = jitOptions("accumulate", {}), whole = jitOptions("update", {});
    parts.unmatchedRules = whole.unmatchedRules = true; // each takes only some of the arguments
    accumulate.emplace(jit(accumulateGradients(network, stepOptions), parts, here));
    update.emplace(jit(updateByGradients(network, stepOptions), whole, here));
  }
  JitOptions testing = jitOptions("evaluate", {0});
  testing.unmatchedRules = true; // rules for the optimiser's state match nothing
  test.emplace(jit(testOf(network), testing, here));
}

/// Throws Error for settings out of range.
static void requireSettings(const Training &training, const TrainerOptions &options, Here here) {
  auto atLeast = [&](double least, const char *what, double got) {
    if (!(got >= least))
      throw Error("expected " + std::string(what) + " of at least " + exact(least) + ", got " +
                      exact(got),
                  here);
  };
  atLeast(0, "a bound of the gradients' length (Training::clip)", training.clip);
  atLeast(0, "a bound of the gradients' elements (Training::clipByValue)", training.clipByValue);
  atLeast(0, "a patience", double(training.patience));
  atLeast(0, "a size of test batches", double(training.testBatch));
  atLeast(0, "a number of similar batches", double(training.similar));
  atLeast(1, "a divisor of lengths (Training::multipleOf)", double(training.multipleOf));
  atLeast(0, "a number of steps between checkpoints", double(options.saveEvery));
  atLeast(0, "a number of steps", double(options.steps));
  atLeast(0, "a number of steps between lines of the log", double(options.logEvery));
  atLeast(1, "a number of readers", double(options.readers));
}

AnyTrainer::Run::Run(Network given, Training how, TrainerOptions where, Here here)
    : network(std::move(given)), training(std::move(how)), options(std::move(where)),
      ranks(options, network.samples, here) {
  if (training.batch < 1 || training.epochs < 0)
    throw Error("expected a batch of at least one sample and no negative number of epochs, got a "
                "batch of " +
                    std::to_string(training.batch) + " and " + std::to_string(training.epochs) +
                    " epochs",
                here);
  if (!(training.rate >= 0 && std::isfinite(training.rate)))
    throw Error("expected a learning rate of at least 0, got " + exact(training.rate), here);
  requireSettings(training, options, here);
  training.microBatches = ranks.microBatches(training.microBatches, training.batch, here);
  if (!(training.average >= 0 && training.average < 1))
    throw Error("expected a decay of the moving average from 0 to below 1, got " +
                    exact(training.average),
                here);
  if (training.plateau) // throws for invalid members
    (void)training.plateau->rate(training.rate, {}, training.goal.larger, here);
  if (!options.log.empty() && ranks.speaks())
    requireLog(here);
  if (!options.timeline.empty()) {
    requireOwnFile(options.timeline, "the timeline", here);
    requireWritable(options.timeline, here);
  }
  if (writes() && ranks.speaks())
    openOutput(here);
  // A state that a checkpoint will replace needs no memory before.
  std::string checkpoint = options.resume && writes() ? findCheckpoint(options.output, here) : "";
  state =
      TrainingState::make(network, training.optimizer, checkpoint.empty(), training.products, here);
  if (training.average > 0)
    state.moving = MovingAverage::make(state.net, here);
  ranks.splitState(state);
  if (writes() || !options.timeline.empty())
    timeline.emplace();
  makeFunctions(here);
  network.parameters.clear(); // the first step takes their memory
  if (accumulate)
    sum = BatchSum::make(state, here);
  if (std::string text = ranks.describe(); !text.empty())
    print(text);
  if (!checkpoint.empty())
    resume(checkpoint, here);
  if (writes() && ranks.speaks())
    keepEarlierRun(here);
  if (!options.log.empty() && ranks.speaks())
    openLog(here);
}

void AnyTrainer::Run::print(const std::string &text) const {
  if (isQuiet())
    return;
  fputs((text + "\n").c_str(), stdout);
  fflush(stdout);
}

/// True if one of the ranks has received a signal. Ranks exchange this after every 16th step, since
/// an exchange takes longer than a small step.
bool AnyTrainer::Run::shouldStop() {
  if (ranks.isSplit() && position.step % 16 != 0)
    return false;
  stopSignal = StopSignals::received();
  if (ranks.isSplit())
    for (const std::string &theirs :
         ranks.ranks().job()->exchange("asking for signals", std::to_string(stopSignal)))
      stopSignal = std::max(stopSignal, std::atoi(theirs.c_str()));
  return stopSignal != 0;
}

/// If the run should end before its last epoch: saves it, prints and returns the reason.
std::optional<Ending> AnyTrainer::Run::endWithin(Here here) {
  bool isStopped = shouldStop(), enough = options.steps > 0 && done() >= options.steps;
  if (!isStopped && !enough)
    return {};
  if (options.logEvery && position.step > 0 && latest &&
      (logged.empty() || logged.back().step < done()))
    logStep(*latest, here);
  save(here);
  std::string saved = saves() ? "; saved, and can be resumed" : "; nothing is saved";
  if (isStopped)
    print("ended by " + std::string(stopSignal == SIGINT ? "SIGINT" : "SIGTERM") + " after " +
          std::to_string(done()) + " steps" + saved);
  else
    print("stopped after " + std::to_string(done()) + " steps; the mean loss of epoch " +
          std::to_string(position.epoch + 1) + " so far is " +
          exact(shortest(position.sums["loss"].value())));
  return isStopped ? Ending::Interrupted : Ending::Steps;
}

std::optional<Ending> AnyTrainer::Run::trainEpoch(const Dataset &data, Here here) {
  Loader loader(data,
                {.batch = training.batch / *training.microBatches,
                 .shuffle = true,
                 .seed = training.seed,
                 .epoch = uint64_t(position.epoch),
                 .skip = position.step * *training.microBatches,
                 .batchName = network.samples,
                 .ahead = ahead(),
                 .threads = options.readers,
                 .last = training.last,
                 .similar = training.similar,
                 .together = *training.microBatches,
                 .multipleOf = training.multipleOf,
                 .skipDamaged = training.skipDamaged,
                 .part = ranks.part(),
                 .parts = ranks.parts()},
                here);
  ProgressBar bar("epoch " + std::to_string(position.epoch + 1) + "/" +
                      std::to_string(training.epochs),
                  batches, position.step, isQuiet() ? -1 : 2);
  samples = Rate(0, 0);
  samples.pause();
  // Counts steps, since the loader may still return some whole parts of a batch that is dropped.
  while (position.step < batches && oneStep(loader, here)) {
    char rate[64];
    snprintf(rate, sizeof rate, "  %.0f %s/s", samples.perSecond(), options.unit.c_str());
    bar.show(position.step, inWords(valuesOf(position.sums), "  ") + rate);
    if (auto ending = endWithin(here))
      return ending;
    if (options.saveEvery && position.step % options.saveEvery == 0 && position.step < batches)
      save(here);
  }
  return {};
}

/// The loader's options for test data.
LoaderOptions AnyTrainer::Run::testing() const {
  return {.batch = training.testBatch ? training.testBatch : training.batch,
          .batchName = network.samples,
          .ahead = ahead(),
          .threads = options.readers,
          .similar = training.similar,
          .multipleOf = training.multipleOf,
          .skipDamaged = training.skipDamaged,
          .part = ranks.part(),
          .parts = ranks.parts()};
}

Values AnyTrainer::Run::evaluate(const Dataset &data, Here here) {
  if (data.count() == 0)
    throw Error("expected data with samples, got none", here);
  Loader loader(data, testing(), here);
  ProgressBar bar("testing", loader.batches(), 0, isQuiet() ? -1 : 2);
  Means sums;
  Mode mode = state.mode.evaluation();
  ByPath net = trained();
  for (int64_t done = 0; std::optional<Batch> batch = take(loader);) {
    add(sums, (*test)(net, mode, ranks.fieldsOf(*batch, 1, here), here), batch->samples);
    bar.show(++done, inWords(valuesOf(sums), "  "));
  }
  return valuesOf(sums);
}

/// The parameters for evaluation.
ByPath AnyTrainer::Run::trained() const {
  if (!state.moving)
    return state.net;
  MovingAverage moving = *state.moving;
  return moving.of(state.net);
}

std::optional<double> AnyTrainer::Run::decisive(const EpochRecord &record) const {
  const Values &values = record.test.empty() ? record.train : record.test;
  auto found = values.find(training.goal.measure);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

int64_t AnyTrainer::Run::best() const {
  int64_t best = -1;
  double most = -INFINITY;
  for (size_t i = 0; i < history.size(); ++i)
    if (auto value = decisive(history[i]))
      if (double own = training.goal.larger ? *value : -*value; own > most) {
        most = own;
        best = int64_t(i);
      }
  return best;
}

void AnyTrainer::Run::endEpoch(const Dataset *test, Here here) {
  EpochRecord record{position.epoch + 1,   valuesOf(position.sums), {},
                     schedule(done() - 1), samples.perSecond(),     peakMemoryBytes()};
  if (test)
    record.test = evaluate(*test, here);
  history.push_back(record);
  if (damaged > 0)
    print("skipped " + std::to_string(damaged) + " damaged samples");
  damaged = 0;
  if (auto loss = record.test.find("loss");
      loss != record.test.end() && !std::isfinite(loss->second))
    print("warning: the loss of the test data is not finite; a label out of range may be the "
          "reason, which a run with checks of indices reports");
  if (best() + 1 == int64_t(history.size()))
    saveBest(here);
  position = {position.epoch + 1, 0, {}};
  save(here);
  writeLog(record.json(), here);
  char rate[64];
  snprintf(rate, sizeof rate, "; %.0f %s/s", record.examplesPerSecond, options.unit.c_str());
  print("epoch " + std::to_string(record.epoch) + ": " + inWords(record.train, ", ") +
        (test ? "; test " + inWords(record.test, ", ") : "") + rate);
  if (options.onEpoch)
    options.onEpoch(record);
}

/// The schedule of the run, given the epochs so far.
Schedule AnyTrainer::Run::rates() const {
  int64_t steps = training.epochs * batches;
  Schedule own =
      training.schedule ? training.schedule(training.rate, steps) : constantRate(training.rate);
  if (!training.plateau)
    return own;
  std::vector<double> values;
  for (const EpochRecord &record : history)
    values.push_back(decisive(record).value_or(NAN));
  return [own, values, larger = training.goal.larger, plateau = *training.plateau](int64_t step) {
    return plateau.rate(own(step), values, larger);
  };
}

Ending AnyTrainer::Run::train(const Dataset &data, const Dataset *testData, Here here) {
  if (data.count() == 0 || (testData && testData->count() == 0))
    throw Error("expected " + std::string(data.count() == 0 ? "" : "test ") +
                    "data with samples, got none",
                here);
  const Training &how = training;
  batches = (data.count() + (how.last == Last::Drop ? 0 : how.batch - 1)) / how.batch;
  if (batches == 0)
    throw Error("expected at least one batch of " + std::to_string(how.batch) + " samples, got " +
                    std::to_string(data.count()) + " samples",
                here);
  if (position.step > batches)
    throw Error("the run to resume is at step " + std::to_string(position.step + 1) +
                    " of an epoch, expected one of " + std::to_string(batches) +
                    " steps: the number of samples has changed",
                here);
  ofData = course(data);
  requireSameCourse(ofData, here);
  if (ranks.isSplit())
    agree(ofData);
  keepSteps();
  StopSignals signals;
  if (options.steps > 0 && done() >= options.steps) // a resumed run may have made them
    return *endWithin(here);
  while (position.epoch < how.epochs) {
    int64_t top = best();
    if (how.patience > 0 && top >= 0 && position.epoch - top > how.patience) {
      print("stopped after epoch " + std::to_string(position.epoch) + ": none of the last " +
            std::to_string(how.patience) + " was better than epoch " + std::to_string(top + 1));
      return Ending::NoProgress;
    }
    schedule = rates();
    if (auto ending = trainEpoch(data, here))
      return *ending;
    endEpoch(testData, here);
    if (position.epoch < how.epochs)
      if (auto ending = shouldStop() ? endWithin(here) : std::nullopt)
        return *ending;
  }
  return Ending::Finished;
}

//===----------------------------------------------------------------------===//
// The class
//===----------------------------------------------------------------------===//

AnyTrainer::AnyTrainer(Network network, Training training, TrainerOptions options, Here here)
    : run(std::make_unique<Run>(std::move(network), std::move(training), std::move(options),
                                here)) {}
AnyTrainer::~AnyTrainer() = default;
AnyTrainer::AnyTrainer(AnyTrainer &&) = default;

Ending AnyTrainer::train(const Dataset &data, const Dataset *test, Here here) {
  Ending ending = run->train(data, test, here);
  if (run->timeline) // the run had fewer steps
    run->endTimeline(here);
  return ending;
}

Values AnyTrainer::evaluate(const Dataset &data, Here here) { return run->evaluate(data, here); }
Tensor AnyTrainer::predict(const Dataset &data, const OutputFunction &output, Here here) {
  return run->predict(data, output, here);
}

int AnyTrainer::signal() const { return run->stopSignal; }
const History &AnyTrainer::history() const { return run->history; }
const StepHistory &AnyTrainer::stepHistory() const { return run->logged; }
int64_t AnyTrainer::bestEpoch() const { return run->best(); }
const ByPath &AnyTrainer::parameters() const {
  return run->state.moving ? (run->averaged = run->trained()) : run->state.net;
}
Mode AnyTrainer::mode() const { return run->state.mode.evaluation(); }
const std::vector<std::string> &AnyTrainer::zeroRules() const { return run->ranks.zeroRules(); }
const TrainerOptions &AnyTrainer::options() const { return run->options; }
