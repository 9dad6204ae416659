//===- Meters.h - means, errors, rates and progress -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     Mean loss;  Rate images;  ProgressBar bar("epoch 1", batches);
//     for (...) {
//       loss.add(step(...).item());
//       images.add(64);
//       bar.show(b + 1, "loss 0.41, 812 images/s");
//     }
//
//     TopK five(5);  Confusion confusion(10);  EditDistance words;
//     five.add(logits.to<float>({batch, classes}), labels);      // a row of scores for each label
//     confusion.add(predicted, labels);
//     words.add(heard, said);                                    // a sequence each
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_METERS_H
#define HEDDLE_NN_METERS_H

#include "heddle/Error.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace heddle::nn {

/// A weighted mean. Its state is two numbers, which a checkpoint can store.
struct Mean {
  double sum = 0, weight = 0;
  void add(double value, double valueWeight = 1) {
    sum += value * valueWeight;
    weight += valueWeight;
  }
  double value() const { return weight ? sum / weight : 0; }
};

/// Top-k accuracy: the fraction of samples whose label is among the `k` classes with the highest
/// scores. Of equal scores the lower class ranks first.
class TopK {
public:
  explicit TopK(int64_t k, Here here = Here::current());
  /// `scores`: row-major, one row for each label. Throws Error if their number is not a multiple of
  /// the number of labels, or for a label out of range.
  void add(std::span<const float> scores, std::span<const int32_t> labels,
           Here here = Here::current());
  double value() const { return hits.value(); }

private:
  int64_t k;
  Mean hits;
};

/// A confusion matrix: the number of samples of each pair of label and prediction.
class Confusion {
public:
  /// Throws Error unless there are 1 to 32,768 classes.
  explicit Confusion(int64_t classes, Here here = Here::current());
  /// Throws Error for a class out of range, and for lists of different lengths.
  void add(std::span<const int32_t> predicted, std::span<const int32_t> labels,
           Here here = Here::current());
  /// The number of samples of class `label` that were predicted as `predicted`. Throws Error for a
  /// class out of range, as do precision and recall.
  int64_t count(int64_t label, int64_t predicted, Here here = Here::current()) const;
  double accuracy() const;
  /// Precision: the fraction of samples predicted as the class that belong to it. Recall: the
  /// fraction of samples of the class that are predicted as it. 0 if there are no such samples.
  double precision(int64_t predicted, Here here = Here::current()) const;
  double recall(int64_t label, Here here = Here::current()) const;

private:
  int64_t classes;
  std::vector<int64_t> counts;
};

/// Word or letter error rate: the edit distance, the fewest insertions, deletions and replacements
/// that turn `got` into `wanted` (Levenshtein, 1965), divided by the length of `wanted`; both are
/// summed over all sequences.
class EditDistance {
public:
  void add(std::span<const int32_t> got, std::span<const int32_t> wanted);
  /// If all wanted sequences are empty: 0 without errors, else infinite.
  double value() const;
  int64_t errors = 0, length = 0; ///< of all sequences

  static int64_t distance(std::span<const int32_t> a, std::span<const int32_t> b);
};

/// The fraction of positions at which two sequences differ.
class FrameError {
public:
  /// Throws Error for sequences of different lengths.
  void add(std::span<const int32_t> got, std::span<const int32_t> wanted,
           Here here = Here::current());
  double value() const { return wrong.value(); }

private:
  Mean wrong;
};

/// A stopwatch that can be paused.
class Stopwatch {
public:
  using Clock = std::chrono::steady_clock;
  using Now = std::function<Clock::time_point()>;
  /// `now` is the clock.
  explicit Stopwatch(double seconds = 0, Now now = Clock::now)
      : now(std::move(now)), before(std::chrono::duration_cast<Clock::duration>(
                                 std::chrono::duration<double>(seconds))) {}
  void start();
  void stop();
  double seconds() const;

private:
  Now now;
  Clock::duration before;
  Clock::time_point begin;
  bool running = false;
};

/// Events per second since its construction.
class Rate {
public:
  Rate() { watch.start(); }
  /// Continues an earlier count.
  Rate(int64_t counted, double seconds, Stopwatch::Now now = Stopwatch::Clock::now)
      : watch(seconds, std::move(now)), counted(counted) {
    watch.start();
  }
  void add(int64_t more) { counted += more; }
  /// Excludes the time between `pause` and `resume`.
  void pause() { watch.stop(); }
  void resume() { watch.start(); }
  double perSecond() const;
  double seconds() const { return watch.seconds(); }
  int64_t count() const { return counted; }

private:
  Stopwatch watch;
  int64_t counted = 0;
};

/// One line on a terminal: `epoch 2 [######......] 412/938 loss 0.31 24 s left`. It is drawn ten
/// times a second at most, cut to the width of the terminal, and erased at the end. To a stream
/// that is not a terminal, such as a job's log, it writes a line without the bar every 30 seconds.
class ProgressBar {
public:
  /// `stream`: a file descriptor, standard error by default; -1: no output. `now`: the clock.
  ProgressBar(std::string title, int64_t total, int64_t from = 0, int stream = 2,
              Stopwatch::Now now = Stopwatch::Clock::now);
  ~ProgressBar();
  void show(int64_t done, const std::string &text);
  /// The text that `show` draws.
  static std::string line(const std::string &title, int64_t done, int64_t total,
                          const std::string &text, double secondsLeft, int width);

private:
  std::string title;
  int64_t total, from;
  int stream;
  Stopwatch::Now now;
  bool terminal, drawn = false;
  Stopwatch::Clock::time_point begin, last;
};

/// The peak resident memory of this process, in bytes.
int64_t peakMemoryBytes();

} // namespace heddle::nn

#endif // HEDDLE_NN_METERS_H
