//===- TrainerRun.h - the state of a trainer --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_NN_TRAINERRUN_H
#define HEDDLE_LIB_NN_TRAINERRUN_H

#include "heddle/io/DirectoryLock.h"
#include "heddle/nn/Trainer.h"
#include "lib/nn/RunState.h"
#include "lib/nn/TrainerRanks.h"
#include "lib/profile/Profile.h"

#include <cstdio>
#include <filesystem>
#include <set>

namespace heddle::nn {

/// The loss, in a mode that it does not change.
using TestFunction = std::function<Outcome(const ByPath &, const Mode &, const Fields &)>;

/// Trainer.cpp has the epochs, TrainerSteps.cpp a step. The files of a run are in TrainerFiles.cpp,
/// except its log (TrainerLog.cpp) and checkpoints (TrainerCheckpoint.cpp).
struct AnyTrainer::Run {
  Network network;
  Training training;
  TrainerOptions options;
  TrainerRanks ranks;
  TrainingState state;
  StepOptions stepOptions; ///< for this mesh
  ByPath averaged;         ///< the last result of AnyTrainer::parameters, from `state.moving`
  BatchSum sum;            ///< the accumulated gradient of micro-batches
  Position position;
  History history;
  StepHistory logged;               ///< steps that the log has, or would have
  std::optional<StepRecord> latest; ///< the last step that this process made
  Notes ofData;                     ///< the result of `course`
  Notes resumed;                    ///< notes of the checkpoint that the run was resumed from
  int64_t batches = 0;              ///< number in an epoch
  int64_t damaged = 0;              ///< skipped samples of the epoch
  Schedule schedule;                ///< the rates of this run
  Rate samples{0, 0};               ///< samples of the epoch that this process has trained on
  std::set<std::string> compiled;   ///< types of batches for which programs are compiled
  std::optional<Fields> lastFields;
  std::vector<Fields> lastParts;      ///< of `stepInParts`
  std::optional<Timeline> timeline;   ///< while the first steps are recorded
  int64_t recorded = 0;               ///< steps in `timeline`
  std::vector<Profile::Row> measured; ///< of `timeline`, for the report
  std::unique_ptr<FILE, int (*)(FILE *)> log{nullptr, fclose};
  bool isLogBegun = false;               ///< this run has written to `log`
  int stopSignal = 0;                    ///< AnyTrainer::signal
  std::optional<io::DirectoryLock> lock; ///< of the output directory
  std::optional<decltype(jit(StepFunction()))> step;
  std::optional<decltype(jit(PartsFunction()))> stepInParts; ///< for networks with stages
  std::optional<decltype(jit(AccumulateFunction()))> accumulate;
  std::optional<decltype(jit(UpdateFunction()))> update;
  std::optional<decltype(jit(TestFunction()))> test;

  Run(Network network, Training training, TrainerOptions options, Here here);
  std::string file(const char *name) const { return options.output + "/" + name; }
  bool writes() const { return !options.output.empty(); }
  bool saves() const { return writes() && options.saves; }
  bool isQuiet() const { return options.quiet || !ranks.speaks(); }
  void print(const std::string &text) const;
  JitOptions jitOptions(const std::string &name, std::vector<size_t> kept) const;
  void makeFunctions(Here here);

  void openOutput(Here here);
  void keepEarlierRun(Here here);
  void moveAside(std::vector<std::filesystem::path> names, Here here);
  void requireOwnFile(const std::string &path, const char *what, Here here) const;
  void requireWritable(const std::string &path, Here here) const;
  bool isLogToRewrite() const;
  void requireLog(Here here);
  void openLog(Here here);
  void endTimeline(Here here);
  std::string logOfResumed() const;
  void keepMeasurements();
  void keepSteps();
  void writeLog(const std::string &line, Here here);
  void logStep(const StepRecord &record, Here here);
  Notes determinants() const;
  Notes course(const Dataset &data) const;
  void requireSameCourse(const Notes &course, Here here) const;
  void agree(const Notes &course) const;
  void saveState(const std::string &stem, auto &tree, const Notes &notes, Here here);
  void save(Here here);
  void saveBest(Here here);
  void resume(const std::string &path, Here here);
  std::string arenaPictures(Here here);

  std::string place() const;
  void requireFinite(const StepResult &result, double loss, Here here) const;
  void requireGoal(const Outcome &outcome, Here here) const;
  int64_t done() const { return position.epoch * batches + position.step; } ///< number of steps
  double progress() const;
  /// The number of batches to prefetch: each reader can read one while another waits.
  int ahead() const { return std::max(2, 2 * options.readers); }
  std::optional<Batch> take(Loader &loader);
  bool oneStep(Loader &loader, Here here);
  StepResult inParts(Loader &loader, int64_t &samples, Here here);
  StepResult accumulated(Loader &loader, Batch batch, int64_t &samples, Here here);
  bool shouldStop();
  std::optional<Ending> trainEpoch(const Dataset &data, Here here);
  std::optional<Ending> endWithin(Here here);
  LoaderOptions testing() const;
  Values evaluate(const Dataset &data, Here here);
  Tensor predict(const Dataset &data, const OutputFunction &output, Here here);
  Ending train(const Dataset &data, const Dataset *testData, Here here);
  void endEpoch(const Dataset *test, Here here);
  ByPath trained() const;
  std::optional<double> decisive(const EpochRecord &record) const;
  Schedule rates() const;
  int64_t best() const;
};

/// The checkpoint in a directory; empty if there is none. If there are both a file and a directory
/// of shards, the one at the later step, since a run may have been killed between writing one and
/// removing the other.
std::string findCheckpoint(const std::string &output, Here here);
/// Adds the values of an outcome, each weighted by its count; without a count by `samples`.
void add(Means &sums, const Outcome &outcome, int64_t samples);
/// "loss 0.41, accuracy 86.1 %"
std::string inWords(const Values &values, const char *separator);

} // namespace heddle::nn

#endif // HEDDLE_LIB_NN_TRAINERRUN_H
