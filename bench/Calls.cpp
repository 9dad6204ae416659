//===- Calls.cpp - overhead of a call -------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/Cases.h"

#include "runtime/program/Program.h"

#include <algorithm>
#include <filesystem>
#include <thread>

using namespace heddle;
using namespace heddle::bench;

/// Adds 1 to sixteen numbers: the work takes a few nanoseconds, so the rest of the time is
/// overhead.
void bench::calls(const Request &request, Report &report) {
  Name x("x");
  Case work{.bench = "call/hot", .threads = request.threads, .unit = Unit::Microseconds};
  work.systems.push_back(
      heddleSystem(request, [](Tensor t) { return t + 1; }, randomTensor({{x, 16}})));
  report.measure(work);

  // A call after the threads have gone to sleep; the sleep is not timed.
  Case after{
      .bench = "call/after-20ms-idle", .threads = request.threads, .unit = Unit::Microseconds};
  System waking = work.systems[0];
  waking.run = [once = waking.once](int64_t count) {
    std::vector<double> seconds;
    for (int i = 0; i < 5; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      double begin = detail::now();
      once();
      seconds.push_back(detail::now() - begin);
    }
    std::nth_element(seconds.begin(), seconds.begin() + 2, seconds.end());
    return seconds[2] * double(count);
  };
  after.systems.push_back(std::move(waking));
  report.measure(after);

  // An empty region with one barrier on all threads: the overhead of parallel execution.
  auto team = sharedThreadTeam(request.threads);
  Case region{.bench = "call/region", .threads = request.threads, .unit = Unit::Microseconds};
  region.systems.push_back(
      {.name = "heddle-team", .once = [team] { team->run([](Region &r, int) { r.barrier(); }); }});
  report.measure(region);
}
