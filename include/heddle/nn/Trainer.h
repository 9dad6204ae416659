//===- Trainer.h - train any network ----------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     nn::Trainer trainer(net, lossOf, key(7),                              // Network.h
//                         {.epochs = 20, .batch = 64, .optimizer = nn::optimizer<nn::AdamW>(),
//                          .rate = 1e-3, .goal = {"accuracy", /*larger=*/true}, .patience = 3},
//                         {.output = "run1", .resume = true});
//     trainer.train(trainData, &testData);
//     Net trained = trainer.net();
//
// The losses of a run depend only on the network, the data and `Training`: equal ones give
// bit-identical losses, for any number of threads, and also if the run was killed and resumed.
// Therefore a checkpoint holds all state of a run: parameters, moments, epoch, step and the sums of
// the epoch so far. It does not hold measurements (examples per second, memory): equal runs write
// equal checkpoints, byte for byte.
//
// A run writes these files into its output directory, which it locks:
//
//     checkpoint.safetensors   after each epoch and every `saveEvery` steps: a run resumes from it
//     best.safetensors         parameters and running moments of the best epoch so far
//     report.html              at the end: curves, the memory plan of the compiled step
//
// and a line for each epoch and for some steps into TrainerOptions::log. On a terminal a bar shows
// the progress of an epoch; other streams get a line every 30 seconds.
//
// With a mesh (heddle/Mesh.h) several ranks train together, on the batches that one process would
// use: rank 0 prints and writes logs and reports, and the checkpoint is a directory,
// checkpoint.shards, into which each rank writes its shards. A run can be resumed on another mesh,
// or on one rank.
//
// Ctrl-C (SIGINT and SIGTERM) ends a run after the current step, with a checkpoint; a second one
// ends the process at once.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_TRAINER_H
#define HEDDLE_NN_TRAINER_H

#include "heddle/nn/Checkpoint.h"
#include "heddle/nn/History.h"
#include "heddle/nn/Schedules.h"
#include "heddle/nn/TrainingStep.h"
#include "heddle/nn/data/Loader.h"

namespace heddle::nn {

/// Makes the schedule of a run from its highest rate and its number of steps.
using RateOverRun = std::function<Schedule(double rate, int64_t steps)>;
/// Rises linearly over the first tenth of all steps, then falls linearly to zero.
Schedule triangle(double rate, int64_t steps);

/// The value that decides which epoch is the best one: "loss" or a measure, of the test data if
/// there are any, else of the training data.
struct Goal {
  std::string measure = "loss";
  bool larger = false;                ///< larger values are better
  std::optional<double> reached = {}; ///< a value that the run is expected to reach
};

/// The settings on which the results of a run depend, besides network and data.
struct Training {
  int64_t epochs = 1, batch = 64;
  OptimizerChoice optimizer = nn::optimizer<Adam>();
  double rate = 1e-3;
  RateOverRun schedule = {}; ///< none: constant `rate`
  /// Lowers the rates of the schedule when the values of `goal`, one for each epoch, stop
  /// improving.
  std::optional<Plateau> plateau = {};
  double clip = 0; ///< limit of clipByNorm for the gradients; 0: no clipping
  std::optional<ElementType> products = {}; ///< JitOptions::products; f16 adds a LossScale
  Goal goal = {};
  int64_t patience = 0;                ///< stop after so many epochs without a better one; 0: never
  uint64_t seed = 1;                   ///< of the order of samples
  std::optional<double> progress = {}; ///< of the field; none: the completed fraction of the run
  int64_t testBatch = 0;               ///< batch size of tests; 0: `batch`
  int64_t similar = 0, multipleOf = 1; ///< LoaderOptions
  /// Computes the gradient of a batch in this many parts, one after the other, which takes less
  /// memory. The gradients of the parts are weighted by the counts of their losses
  /// (Outcome::counts); samples draw the same random numbers as in the whole batch, but moments of
  /// normalisations are those of a part. None: the number that TrainerOptions::plan sets, else 1.
  /// Throws Error if both are set and differ.
  std::optional<int64_t> microBatches = {};
  double clipByValue = 0; ///< limit of clipByValue for the gradients; 0: no clipping
  /// The decay of a MovingAverage of the parameters, which tests, best.safetensors and
  /// AnyTrainer::parameters then use; 0: no average.
  double average = 0;
  Last last = Last::Pad;    ///< treatment of the last, incomplete batch of training data
  bool skipDamaged = false; ///< skip and count damaged samples instead of throwing Error
};

/// Files, output, threads and ranks of a run. They do not change its losses, except that ranks
/// change the order of sums.
struct TrainerOptions {
  std::string output = {}; ///< directory; empty: write no files
  bool resume = false;     ///< continue from the checkpoint in `output`, if any
  bool saves = true;       ///< write checkpoints
  int64_t saveEvery = 250; ///< steps between checkpoints within an epoch; 0: none
  int64_t steps = 0;       ///< stop after so many steps of the run; 0: no limit
  /// File for a Chrome trace (Timeline.h), with all ranks, of the first ten steps that this process
  /// makes.
  std::string timeline = {};
  /// File for one JSON object a line (History.h): for each epoch, and for each step that is a
  /// multiple of `logEvery` (0: no steps). A run that ends within an epoch adds its last step.
  std::string log = {};
  int64_t logEvery = 50;
  /// Called on each rank after each step. An exception ends the run.
  std::function<void(const StepRecord &)> onStep = {};
  /// Called on each rank after each epoch, once it is saved. An exception ends the run.
  std::function<void(const EpochRecord &)> onEpoch = {};
  int threads = 0;               ///< of compiled functions; 0: HEDDLE_THREADS, else all cores
  std::string device = "cpu";    ///< JitOptions::device
  int readers = 1;               ///< threads that read samples
  bool quiet = false;            ///< print nothing
  std::string unit = "examples"; ///< the word for samples in output
  Notes notes = {};              ///< stored in checkpoints; a resumed run must have the same
  /// Check all gradients for NaN and infinities at each step; the error names the first parameter.
  /// If false, the loss of the next step reveals them.
  bool checkGradients = true;
  /// JitOptions::check: a label or token out of range, or the first NaN, throws an Error with its
  /// source location. Slower.
  bool check = false;
  std::vector<std::string> plugins = {}; ///< JitOptions::plugins
  /// Training on several ranks: JitOptions::mesh, ::rules, ::plan and ::ranks. Paths are those of
  /// TrainingState and Fields: "batch:data", "net.layers.0.weight/out:model". Each rank reads only
  /// its part of a batch if a rule without a pattern splits the samples.
  Mesh mesh = {};
  std::vector<std::string> rules = {};
  std::string plan = {};
  std::optional<Ranks> ranks = {};
  /// The stage of ZeRO (Rajbhandari et al., SC'20, section 5): splits over the axes of the samples,
  /// each tensor along its longest name, the optimiser's state (1), gradients as well (2), and
  /// parameters as well (3). None: the stage that `plan` sets, else 0. Throws Error if both are set
  /// and differ.
  std::optional<int64_t> zero = {};
};

/// Computes a tensor from the parameters and a batch. It must have the samples' name, and may have
/// others.
using OutputFunction = std::function<Tensor(const ByPath &net, const Fields &fields, Mode &mode)>;

/// The reason why training ended.
enum class Ending { Finished, NoProgress, Steps, Interrupted };

/// The part of a trainer that does not depend on the network's type.
class AnyTrainer {
public:
  /// Creates and locks the output directory, and moves the files of an earlier run that is not
  /// resumed into a subdirectory such as "earlier-1". Throws Error if this fails, and if the
  /// checkpoint to resume from is damaged, belongs to another network (the message lists all
  /// tensors that differ) or has other notes.
  AnyTrainer(Network network, Training training, TrainerOptions options = {},
             Here here = Here::current());
  ~AnyTrainer();
  AnyTrainer(AnyTrainer &&);

  /// Trains up to the last epoch. Throws Error for data without samples, and Error that names step
  /// and parameter for a loss or a gradient that is not finite; the last checkpoint remains.
  Ending train(const Dataset &data, const Dataset *test = nullptr, Here here = Here::current());
  /// The means of the loss and the measures, with running moments and without dropout.
  Values evaluate(const Dataset &data, Here here = Here::current());
  /// The outputs for all samples, in their order and without padding, with running moments and
  /// without dropout. All ranks call it, and each gets the whole result in memory. Throws Error for
  /// outputs that lack the samples' name, for outputs whose other sizes differ from batch to batch,
  /// and for damaged samples.
  Tensor predict(const Dataset &data, const OutputFunction &output, Here here = Here::current());
  /// The sharding rules that `TrainerOptions::zero` adds.
  const std::vector<std::string> &zeroRules() const;
  /// Loads the parameters and moments of a checkpoint, such as best.safetensors.
  void load(const std::string &path, Here here = Here::current());
  /// Writes `report.html`: curves, the memory plan of the step, then `sections` (HTML).
  void report(const std::string &title, const std::string &sections = "",
              Here here = Here::current());

  /// The signal that ended `train` with Ending::Interrupted, else 0. By a shell's convention a
  /// program then exits with the status 128 + signal().
  int signal() const;
  const History &history() const;
  /// The steps that the log has, or would have.
  const StepHistory &stepHistory() const;
  /// The best epoch (Goal), counted from 0; -1 before the first.
  int64_t bestEpoch() const;
  /// The parameters for evaluation: the moving average, if there is one.
  const ByPath &parameters() const;
  /// For evaluation, with the running moments.
  Mode mode() const;
  const TrainerOptions &options() const;
  /// The notes of the checkpoint in the directory `output`, if there is one.
  static std::optional<Notes> savedNotes(const std::string &output, Here here = Here::current());

private:
  struct Run;
  std::unique_ptr<Run> run;
};

/// `loss(net, fields, mode)` returns an Outcome. The first step takes the memory of the tensors of
/// `net`, which can't be used afterwards.
template <typename Net>
class Trainer : public AnyTrainer {
public:
  template <typename F>
  Trainer(const Net &net, F loss, const Tensor &key, Training training, TrainerOptions options = {},
          const Name &samples = Name("batch"), Here here = Here::current())
      : AnyTrainer(networkOf(net, std::move(loss), key, samples, here), std::move(training),
                   std::move(options), here),
        like(net) {}
  /// With the current parameters.
  Net net() const { return netFrom(like, parameters()); }
  using AnyTrainer::predict;
  /// `output(net, fields, mode)` returns a tensor:
  ///
  ///     Tensor scores = trainer.predict(data, [](const Net &net, const nn::Fields &fields,
  ///                                              nn::Mode &mode) {
  ///       return net(fields.at("image"), mode);
  ///     });
  template <typename F>
    requires std::is_invocable_r_v<Tensor, F, const Net &, const Fields &, Mode &>
  Tensor predict(const Dataset &data, F output, Here here = Here::current()) {
    auto ofPaths = [this, &output](const ByPath &net, const Fields &fields, Mode &mode) -> Tensor {
      return output(netFrom(like, net), fields, mode);
    };
    return AnyTrainer::predict(data, ofPaths, here);
  }

private:
  Net like;
};

/// The tensors of a batch, as a loss takes them.
Fields fieldsOf(const Batch &batch, double progress = 1, Here here = Here::current());

} // namespace heddle::nn

#endif // HEDDLE_NN_TRAINER_H
