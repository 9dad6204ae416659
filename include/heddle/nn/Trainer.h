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
// A run is a function of the network, the data and `Training` alone: the same ones give the same
// losses to the bit, whatever the number of threads, and also when the run was killed and resumed.
// For that a checkpoint holds all that a step depends on: parameters, moments, epoch, step, what the
// epoch has summed up so far. What was measured (examples a second, memory) is not in it: equal runs
// write equal checkpoints, byte for byte.
//
// The output directory, which one run at a time writes into, gets
//
//     checkpoint.safetensors   after each epoch and every `saveEvery` steps: where to resume
//     best.safetensors         parameters and running moments of the best epoch so far
//     report.html              at the end: curves, the memory plan of the compiled step
//
// and TrainerOptions::log a line for each epoch and for some steps. On a terminal a bar shows how far
// an epoch is, elsewhere a line every 30 seconds.
//
// With a mesh (heddle/Mesh.h) several ranks train together, on the batches of one process: rank 0
// prints and writes logs and reports, and the checkpoint is a directory, checkpoint.shards, into
// which each rank writes what it holds. A run may go on on another mesh, or on one rank.
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

/// Gives the rates of a run from the highest one and the number of its steps.
using RateOverRun = std::function<Schedule(double rate, int64_t steps)>;
/// Rises over the first tenth of all steps, then falls to zero in a straight line.
Schedule triangle(double rate, int64_t steps);

/// The value that decides which epoch is the best one: "loss" or a measure, of the test data if
/// there are some.
struct Goal {
  std::string measure = "loss";
  bool larger = false;                ///< is better
  std::optional<double> reached = {}; ///< the value that the run should reach
};

/// All that the numbers of a run depend on, besides network and data.
struct Training {
  int64_t epochs = 1, batch = 64;
  OptimizerChoice optimizer = nn::optimizer<Adam>();
  double rate = 1e-3;
  RateOverRun schedule = {}; ///< none: always `rate`
  /// Lowers the rates of the schedule by the values of `goal`, one for each epoch; none: not at all.
  std::optional<Plateau> plateau = {};
  double clip = 0; ///< the gradients' common length is at most this (clipByNorm); 0: any
  std::optional<ElementType> products = {}; ///< as JitOptions::products; of f16 with a LossScale
  Goal goal = {};
  int64_t patience = 0; ///< stop after so many epochs that are no better than the best; 0: never
  uint64_t seed = 1;    ///< of the samples' order
  std::optional<double> progress = {}; ///< the field; none: the part of the run that is done
  int64_t testBatch = 0;               ///< 0: as `batch`
  int64_t similar = 0, multipleOf = 1; ///< LoaderOptions
  /// The gradient of a batch is the mean of those of so many parts of it, one after the other, which
  /// takes less memory. Each counts as often as its loss says (Outcome::counts), and its samples draw
  /// the random numbers that they draw in the whole batch. The moments of normalisations are then those
  /// of parts. None: what TrainerOptions::plan says, or 1; if both say it they have to agree.
  std::optional<int64_t> microBatches = {};
  double clipByValue = 0; ///< each element of the gradients is within this of 0; 0: any
  /// The decay of a MovingAverage of the parameters. Tests, best.safetensors and
  /// AnyTrainer::parameters then take the average; 0: none.
  double average = 0;
  Last last = Last::Pad;    ///< what becomes of the training data's last batch
  bool skipDamaged = false; ///< leave out damaged samples and count them, instead of an error
};

/// The surroundings of a run.
struct TrainerOptions {
  std::string output = {}; ///< directory; empty: nothing is written
  bool resume = false;     ///< go on after the last checkpoint, if there is one
  bool saves = true;       ///< write checkpoints
  int64_t saveEvery = 250; ///< steps between checkpoints within an epoch; 0: none
  int64_t steps = 0;       ///< stop after so many steps of the run; 0: never
  /// File that gets a Chrome trace (Timeline.h) of the first ten steps that this process makes, of
  /// all ranks.
  std::string timeline = {};
  /// File that gets one JSON object a line (History.h): for each epoch, and for each step that is a
  /// multiple of `logEvery`; 0: for none. A run that ends within an epoch adds its last step.
  std::string log = {};
  int64_t logEvery = 50;
  /// Called on each rank after each step. What it throws ends the run.
  std::function<void(const StepRecord &)> onStep = {};
  /// Called on each rank after each epoch, when it is saved. What it throws ends the run.
  std::function<void(const EpochRecord &)> onEpoch = {};
  int threads = 0;               ///< of compiled functions; 0: HEDDLE_THREADS, else all cores
  int readers = 1;               ///< threads that read samples
  bool quiet = false;            ///< print nothing
  std::string unit = "examples"; ///< what samples are called
  Notes notes = {};              ///< go into checkpoints; those of a resumed one have to agree
  /// Look for NaN and infinities in all gradients, at each step, and name the first parameter. If
  /// not, they are found in the loss one step later.
  bool checkGradients = true;
  /// JitOptions::check: labels and tokens that are out of range, and the first NaN, are errors with
  /// a source location. Slower.
  bool check = false;
  std::vector<std::string> plugins = {}; ///< of the compiler
  /// Training on several ranks: JitOptions::mesh, ::rules, ::plan and ::ranks. Paths are those of
  /// TrainingState and Fields: "batch:data", "net.layers.0.weight/out:model". Each rank reads its
  /// part of a batch where a rule without a pattern splits the samples.
  Mesh mesh = {};
  std::vector<std::string> rules = {};
  std::string plan = {};
  std::optional<Ranks> ranks = {};
  /// Splits tensors of the state over the axes that split the samples, each along its longest name:
  /// 1 those of the optimiser, 2 gradients as well, 3 parameters as well (Rajbhandari et al., "ZeRO",
  /// SC'20, section 5). None: what `plan` says, or 0; if both say it they have to agree.
  std::optional<int64_t> zero = {};
};

/// Computes a tensor from the parameters and a batch. It has the samples' dimension and perhaps others.
using OutputFunction = std::function<Tensor(const ByPath &net, const Fields &fields, Mode &mode)>;

/// Why training came to an end.
enum class Ending { Finished, NoProgress, Steps, Interrupted };

/// The part of a trainer that does not depend on the network's type.
class AnyTrainer {
public:
  /// Makes and locks the output directory. Throws Error if that can't be done, and if a checkpoint
  /// to resume from is damaged, belongs to another network (all tensors that differ are listed) or
  /// has other notes. What an earlier run left there that is not resumed is moved into a directory
  /// of its own, such as "earlier-1".
  AnyTrainer(Network network, Training training, TrainerOptions options = {},
             Here here = Here::current());
  ~AnyTrainer();
  AnyTrainer(AnyTrainer &&);

  /// Trains up to the last epoch. Throws Error that names step and parameter for a loss or a
  /// gradient that is not finite, and for data without samples; the last checkpoint remains.
  Ending train(const Dataset &data, const Dataset *test = nullptr, Here here = Here::current());
  /// The means of the loss and the measures, with running moments and without dropout.
  Values evaluate(const Dataset &data, Here here = Here::current());
  /// The outputs for all samples, in their order, with running moments and without dropout; what
  /// fills a batch is left out. The result is in memory, on each of the ranks, which all call it.
  /// Throws Error for outputs that lack the samples' name, for those whose other sizes differ from
  /// batch to batch, and for damaged samples.
  Tensor predict(const Dataset &data, const OutputFunction &output, Here here = Here::current());
  /// The rules of `TrainerOptions::zero`.
  const std::vector<std::string> &zeroRules() const;
  /// Takes the parameters and moments of a checkpoint, such as best.safetensors.
  void load(const std::string &path, Here here = Here::current());
  /// Writes `report.html`: curves, the memory plan of the step, then `sections` (HTML).
  void report(const std::string &title, const std::string &sections = "",
              Here here = Here::current());

  /// The signal that ended `train` with Ending::Interrupted, else 0. As a shell says it, the exit
  /// status of a program is then 128 + signal().
  int signal() const;
  const History &history() const;
  /// The steps that are logged, also without a log.
  const StepHistory &stepHistory() const;
  /// Of the test data, if there were some, else of the training data; from 0; -1 before the first.
  int64_t bestEpoch() const;
  /// The parameters that evaluation uses: the moving average, if there is one.
  const ByPath &parameters() const;
  /// For evaluation, with the running moments.
  Mode mode() const;
  const TrainerOptions &options() const;
  /// The notes of the checkpoint in a directory, if there is one.
  static std::optional<Notes> savedNotes(const std::string &output, Here here = Here::current());

private:
  struct Run;
  std::unique_ptr<Run> run;
};

/// `loss(net, fields, mode)` gives an Outcome. The tensors of `net` are given up.
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
  /// `output(net, fields, mode)` gives a tensor:
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

/// The tensors of a batch.
Fields fieldsOf(const Batch &batch, double progress = 1, Here here = Here::current());

} // namespace heddle::nn

#endif // HEDDLE_NN_TRAINER_H
