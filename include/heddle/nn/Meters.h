//===- Meters.h - means, rates and progress ---------------------*- C++ -*-===//
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
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_METERS_H
#define HEDDLE_NN_METERS_H

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace heddle::nn {

/// A weighted mean. Its state is two numbers, so that a checkpoint can hold it.
struct Mean {
  double sum = 0, weight = 0;
  void add(double value, double valueWeight = 1) {
    sum += value * valueWeight;
    weight += valueWeight;
  }
  double value() const { return weight ? sum / weight : 0; }
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

/// Events a second since its construction.
class Rate {
public:
  Rate() { watch.start(); }
  /// Goes on from an earlier one.
  Rate(int64_t counted, double seconds, Stopwatch::Now now = Stopwatch::Clock::now)
      : watch(seconds, std::move(now)), counted(counted) {
    watch.start();
  }
  void add(int64_t more) { counted += more; }
  /// Time that does not count.
  void pause() { watch.stop(); }
  void resume() { watch.start(); }
  double perSecond() const;
  double seconds() const { return watch.seconds(); }
  int64_t count() const { return counted; }

private:
  Stopwatch watch;
  int64_t counted = 0;
};

/// One line on a terminal: `epoch 2 [######......]  412/938  loss 0.31  24 s left`. It is drawn ten
/// times a second at most, cut to the width of the terminal, and erased at the end; on anything
/// that is no terminal nothing is written.
class ProgressBar {
public:
  /// `stream`: a file descriptor; standard error by default.
  ProgressBar(std::string title, int64_t total, int64_t from = 0, int stream = 2);
  ~ProgressBar();
  void show(int64_t done, const std::string &text);
  /// The text that `show` draws.
  static std::string line(const std::string &title, int64_t done, int64_t total,
                          const std::string &text, double secondsLeft, int width);

private:
  using Clock = std::chrono::steady_clock;
  std::string title;
  int64_t total, from;
  int stream;
  bool terminal, drawn = false;
  Clock::time_point begin, last;
};

/// The most memory that this process has had at once, in bytes.
int64_t peakMemoryBytes();

} // namespace heddle::nn

#endif // HEDDLE_NN_METERS_H
