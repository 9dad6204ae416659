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
#include "lib/nn/Distribution.h"
#include "lib/nn/RunState.h"

#include <cstdio>
#include <filesystem>
#include <set>

namespace heddle::nn {

/// The loss in a mode that does not change.
using TestFunction = std::function<Outcome(const ByPath &, const Mode &, const Fields &)>;

/// The loop is in Trainer.cpp, what it reads and writes in TrainerFiles.cpp.
struct AnyTrainer::Run {
  Network network;
  Training training;
  TrainerOptions options;
  Distribution ranks;
  TrainingState state;
  StepOptions stepOptions; ///< of this mesh
  ByPath averaged;         ///< what AnyTrainer::parameters last gave of `state.moving`
  BatchSum sum;            ///< of micro-batches
  Position position;
  History history;
  StepHistory logged;               ///< steps that are in the log, or would be
  std::optional<StepRecord> latest; ///< the last step that this process made
  Notes ofData;                     ///< `course`
  Notes resumed;                    ///< of the checkpoint that the run goes on from
  int64_t batches = 0;              ///< of an epoch
  int64_t damaged = 0;              ///< samples of the epoch that were left out
  Schedule schedule;                ///< the rates of this run
  Rate samples{0, 0};               ///< of the epoch, as far as it was this process that trained
  std::set<std::string> compiled;   ///< types of the batches that were timed
  std::optional<Fields> lastFields;
  std::vector<Fields> lastParts;    ///< of `stepInParts`
  std::optional<Timeline> timeline; ///< of the first steps; none: no longer, or never
  int64_t recorded = 0;             ///< steps in it
  std::unique_ptr<FILE, int (*)(FILE *)> log{nullptr, fclose};
  bool isLogBegun = false; ///< it has the lines of this run, not those of an earlier one
  int stopSignal = 0;      ///< AnyTrainer::signal
  std::optional<io::DirectoryLock> lock; ///< of the output
  std::optional<decltype(jit(StepFunction()))> step;
  std::optional<decltype(jit(PartsFunction()))> stepInParts; ///< of stages
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
  void writeTimeline(Here here);
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
  std::string planPictures(Here here);

  std::string place() const;
  void requireFinite(const StepResult &result, double loss, Here here) const;
  void requireGoal(const Outcome &outcome, Here here) const;
  int64_t done() const { return position.epoch * batches + position.step; } ///< steps
  double progress() const;
  /// Batches that are read ahead: every reader has one to read while others wait to be taken.
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

/// The checkpoint in a directory: of a file and a directory the one that is farther, as a run may
/// have been killed between writing the one and removing the other. Empty if there is none.
std::string findCheckpoint(const std::string &output, Here here);
/// "loss 0.41, accuracy 86.1 %"
std::string inWords(const Values &values, const char *separator);

} // namespace heddle::nn

#endif // HEDDLE_LIB_NN_TRAINERRUN_H
