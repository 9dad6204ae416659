//===- ProbeLinks.cpp - measures the links between ranks ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProbeLinks.h"

#include "runtime/control/JobTransport.h"
#include "tools/heddle-probe/Vectors.h"

#include <algorithm>
#include <ctime>
#include <functional>
#include <numeric>

using namespace heddle;

static constexpr int rounds = 7;
static constexpr int64_t leastBytes = 1 << 10, mostBytes = 8 << 20;

static double secondsOf(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}
static double now() { return secondsOf(CLOCK_MONOTONIC); }

static double median(std::vector<double> values) {
  auto middle = values.begin() + long(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

namespace {
class LinkProber {
public:
  LinkProber(Job &job, int64_t bytes, double secondsOfStep)
      : job(job), secondsOfStep(secondsOfStep), input(size_t(bytes) / 4, 1), output(input.size()),
        ranks(size_t(job.ranks())) {
    spec.kind = CommunicationSpec::Kind::AllReduce;
    spec.axes = {"ranks"};
    std::iota(ranks.begin(), ranks.end(), 0);
  }

  MeasuredTransfer measure() {
    auto count = double(job.ranks());
    MeasuredTransfer made{2 * double(input.size() * 4) * (count - 1) / count};
    start(/*overlapped=*/false)->wait(); // allocates
    made.seconds = perOperation(5e-3, [&] {
      double begin = now();
      start(/*overlapped=*/false)->wait();
      return now() - begin;
    });
    // Enough steps that the transfer ends before, even if both share a core.
    auto steps = int64_t((4 * made.seconds + 2e-4) / secondsOfStep);
    made.ofCores = perOperation(0, [&] { return processorTime(steps); });
    return made;
  }

private:
  Job &job;
  double secondsOfStep; ///< of those that depend on one another
  std::vector<float> input, output;
  std::vector<int32_t> ranks;
  CommunicationSpec spec;

  std::unique_ptr<JobTransport::Pending> start(bool overlapped) {
    JobTransport::Operation operation{.spec = &spec,
                                      .group = ranks,
                                      .counts = {int64_t(input.size())},
                                      .outputCounts = {},
                                      .input = input.data(),
                                      .output = output.data()};
    operation.overlapped = overlapped;
    return job.transport()->start(operation);
  }

  /// Of other threads while this one computes, and of this one for its calls.
  double processorTime(int64_t steps) {
    double others = secondsOf(CLOCK_PROCESS_CPUTIME_ID) - secondsOf(CLOCK_THREAD_CPUTIME_ID);
    double begin = secondsOf(CLOCK_THREAD_CPUTIME_ID);
    auto pending = start(/*overlapped=*/true);
    double own = secondsOf(CLOCK_THREAD_CPUTIME_ID) - begin;
    dependentSteps(steps);
    begin = secondsOf(CLOCK_THREAD_CPUTIME_ID);
    pending->wait();
    own += secondsOf(CLOCK_THREAD_CPUTIME_ID) - begin;
    return own + secondsOf(CLOCK_PROCESS_CPUTIME_ID) - secondsOf(CLOCK_THREAD_CPUTIME_ID) - others;
  }

  /// The median over rounds of the time that `work` returns; a round takes about `least` seconds.
  double perOperation(double least, const std::function<double()> &work) {
    std::string count = std::to_string(std::max(1, int(least / (work() + 1e-7))));
    int times = std::stoi(job.exchange("the number of operations", count).front());
    std::vector<double> all;
    for (int i = 0; i < rounds; ++i) {
      job.exchange("a round", "");
      double sum = 0;
      for (int j = 0; j < times; ++j)
        sum += work();
      all.push_back(sum / times);
    }
    return median(all);
  }
};
} // namespace

static double measureStep() {
  constexpr int64_t steps = 1 << 20;
  dependentSteps(steps);
  double begin = now();
  dependentSteps(steps);
  return (now() - begin) / double(steps);
}

std::vector<MeasuredTransfer> heddle::measureTransfers(Job &job) {
  std::vector<MeasuredTransfer> all;
  double secondsOfStep = measureStep();
  for (int64_t bytes = leastBytes; bytes <= mostBytes; bytes *= 2)
    all.push_back(LinkProber(job, bytes, secondsOfStep).measure());
  return all;
}

FittedTime heddle::fit(const std::vector<MeasuredTransfer> &all, double MeasuredTransfer::*what) {
  // Minimises the sum of ((start + bytes * perByte) / seconds - 1)^2. What is below a microsecond
  // is noise.
  double ones = 0, bytes = 0, squares = 0, right = 0, rightBytes = 0;
  for (const MeasuredTransfer &each : all) {
    double weight = 1 / std::max(each.*what, 1e-6), x = each.bytes * weight;
    ones += weight * weight;
    bytes += weight * x;
    squares += x * x;
    right += weight;
    rightBytes += x;
  }
  double determinant = ones * squares - bytes * bytes;
  FittedTime found{(right * squares - rightBytes * bytes) / determinant,
                   (rightBytes * ones - right * bytes) / determinant};
  if (found.start < 0)
    found = {0, rightBytes / squares};
  if (found.perByte < 0)
    found = {right / ones, 0};
  return found;
}
