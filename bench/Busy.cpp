//===- Busy.cpp - steps beside other busy threads -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures programs of many short steps with a barrier after each while other threads are busy,
// first as many as there are cores, then twice as many. The scheduler gives the program half and a
// third of the cores, so sharing alone costs factors of two and three; any further slowdown is time
// spent waiting for preempted threads. The slowdown relative to a quiet machine is the inverse of
// the last row's "x peer".
//
//===----------------------------------------------------------------------===//

#include "bench/Cases.h"
#include "bench/FashionStep.h"
#include "runtime/device/ThreadTeam.h"

#include <csignal>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace heddle;
using namespace heddle::bench;

namespace {
/// Processes that keep cores busy during the lifetime of this object.
class BusyThreads {
public:
  explicit BusyThreads(int count) {
    // A shell, not a fork of this process: after a fork each page that a step writes is copied. The
    // shell ends within a second of its parent.
    std::string script =
        "while kill -0 $PPID; do i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; done";
    for (int i = 0; i < count; ++i) {
      std::vector<std::string> words = {"sh", "-c", script};
      std::vector<char *> arguments = {words[0].data(), words[1].data(), words[2].data(), nullptr};
      pid_t child;
      if (posix_spawn(&child, "/bin/sh", nullptr, nullptr, arguments.data(), environ) == 0)
        children.push_back(child);
    }
    if (count > 0)
      usleep(50'000); // until the scheduler has distributed them over the cores
  }
  ~BusyThreads() {
    for (pid_t child : children) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }

private:
  std::vector<pid_t> children;
};

void measureBeside(const Request &request, Report &report, const std::string &name,
                   std::function<void()> once) {
  Case work{.bench = "busy/" + name, .threads = request.threads, .unit = Unit::Milliseconds};
  int cores = availableCores();
  for (int times : {0, 1, 2})
    work.systems.push_back({.name = times ? "beside-" + std::to_string(times * cores) : "quiet",
                            .run =
                                [=](int64_t count) {
                                  BusyThreads others(times * cores);
                                  // Time slices are milliseconds long: a run must span many of
                                  // them.
                                  double begin = bench::detail::now(), least = times ? 0.3 : 0;
                                  int64_t done = 0;
                                  while (done < count || bench::detail::now() - begin < least) {
                                    once();
                                    ++done;
                                  }
                                  return (bench::detail::now() - begin) / double(done) *
                                         double(count);
                                },
                            .peer = times == 0});
  report.measure(work);
}
} // namespace

void bench::busy(const Request &request, Report &report) {
  if (request.threads == 1)
    return; // one thread has no barriers
  Name i("i");
  Tensor x = randomTensor({{i, 20000}});
  auto chain = jit(
      [=](Tensor y) {
        for (int step = 0; step < 100; ++step)
          y = y / (1.0f + sum(y * y, over(i)));
        return y;
      },
      JitOptions{.threads = request.threads, .cache = false});
  measureBeside(request, report, "chain", [=] { chain(x); });

  auto in = std::make_shared<FashionStep>(64);
  auto step = jit(in->step, JitOptions{.threads = request.threads, .cache = false});
  measureBeside(request, report, "fashion-b64", [=] { step(in->state, in->fields, in->rate); });
}
