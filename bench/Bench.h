//===- Bench.h - the interface of benchmarks --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A benchmark measures one piece of work on several systems: Heddle, peers that do the same work,
// and a probe of the machine's peak rate. The systems run alternately in short rounds, so that a
// change of clock frequency or a noisy neighbour affects all of them alike; every ratio is the
// median over rounds. Threads of a team spin for a while after their work, so a measurement begins
// only when the previous system's threads sleep:
//     suite.add("add", [](const Request &request, Report &report) {
//       Case work{.bench = "add", .work = 3 * 4 * n, .unit = Unit::GigabytesPerSecond};
//       work.systems.push_back(heddleSystem(request, add, x, y));
//       report.measure(work);
//     });
//
// A row is printed as a line of a table and written as a JSON line.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_BENCH_BENCH_H
#define HEDDLE_BENCH_BENCH_H

#include "heddle/heddle.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace heddle::bench {

using Shape = std::map<std::string, int64_t>;

/// Options of the command line.
struct Request {
  int threads = 1;
  bool peers = false;
  std::string dtype;               ///< empty: the benchmark's default
  Shape shape;                     ///< by name; empty: the benchmark's default sizes
  double seconds = 1.5;            ///< minimal time for a row
  std::vector<std::string> models; ///< of the zoo; empty: all
  std::string modelSize = "full";
  std::vector<std::string> ways; ///< to run models, such as "jit" and "eager"; empty: all

  bool takesWay(const std::string &way) const {
    return ways.empty() || std::ranges::find(ways, way) != ways.end();
  }

  /// The size called `name`; `fallback` if none was given.
  int64_t size(const std::string &name, int64_t fallback) const;
};

/// The meaning of a row's value; the probe measures a limit of the first two.
enum class Unit {
  GigaflopsPerSecond,
  GigabytesPerSecond,
  ExamplesPerSecond,
  TokensPerSecond,
  Microseconds,
  Milliseconds
};
std::string_view spelling(Unit unit);

/// One way of doing the work.
struct System {
  std::string name;
  /// Does the work once.
  std::function<void()> once;
  /// For systems that measure their own time: does the work `count` times and returns the time in
  /// seconds. Empty for other systems.
  std::function<double(int64_t count)> run;
  /// For systems in another process: the processor time in seconds that it has used so far.
  std::function<double()> processorSeconds;
  bool peer = false;               ///< ratios are relative to the first peer
  bool lessPrecise = false;        ///< than the row's dtype: not a candidate for the best peer
  double compileMilliseconds = -1; ///< -1: does not apply
  double warmMilliseconds = -1;    ///< of a compilation that finds the program in the cache
  double editedMilliseconds = -1;  ///< of a compilation that finds only the kernels there
  int64_t peakMemoryBytes = -1;
  /// For systems whose memory use is known only after they were measured. Empty for other systems.
  std::function<int64_t()> peakMemory = {};
};

/// `Processor`: the calling thread's processor time, for measuring one thread on a busy machine.
enum class Clock { Wall, Processor };

struct Case {
  std::string bench, dtype = "f32";
  int threads = 1;
  double work = 0;  ///< flops, bytes or examples of one run
  double flops = 0; ///< of one run, if `work` counts something else; 0: unknown
  Unit unit = Unit::GigaflopsPerSecond;
  std::vector<System> systems;
};

class Report {
public:
  Report(FILE *json, double seconds, Clock clock) : json(json), seconds(seconds), clock(clock) {}
  /// Measures and prints a row for each system.
  void measure(const Case &work);
  /// The measurements of a system. NaN: does not apply.
  struct Measured {
    double seconds, percentOfPeak, ratioToPeer, ratioToBest;
  };
  void row(const Case &work, const System &system, const Measured &measured);

private:
  FILE *json;
  double seconds;
  Clock clock;
  bool headed = false;
};

struct Benchmark {
  std::string name, description;
  std::vector<std::string> sizes; ///< names for `--shape`, in the order of `512x3072x768`
  std::function<void(const Request &, Report &)> run;
  bool onlyByName = false; ///< runs only if the command line names it
};
/// All benchmarks, in order.
const std::vector<Benchmark> &benchmarks();

/// Compiles `function` for these arguments, without the cache; the system calls the compiled
/// program.
template <typename F, typename... A>
System heddleSystem(const Request &request, F function, A... arguments);
/// The same with symbolic sizes for the names in `symbolic`.
template <typename F, typename... A>
System symbolicSystem(const Request &request, std::string name, const Names &symbolic, F function,
                      A... arguments);

namespace detail {
System loadAndCall(const std::string &path, std::vector<Tensor> arguments, int threads,
                   double compileSeconds);
std::string temporaryFile();
double now(Clock clock = Clock::Wall);
} // namespace detail

template <typename F, typename... A>
System heddleSystem(const Request &request, F function, A... arguments) {
  return symbolicSystem(request, "heddle", {}, std::move(function), std::move(arguments)...);
}

template <typename F, typename... A>
System symbolicSystem(const Request &request, std::string name, const Names &symbolic, F function,
                      A... arguments) {
  auto compiled = jit(std::move(function),
                      JitOptions{.threads = request.threads, .cache = false, .symbolic = symbolic});
  std::string path = detail::temporaryFile();
  double begin = detail::now();
  compiled.save(path, arguments...);
  System system = detail::loadAndCall(path, {arguments...}, request.threads, detail::now() - begin);
  system.name = std::move(name);
  return system;
}

/// Values in [-1, 1), the same in every run.
Tensor randomTensor(const std::vector<Extent> &extents, const std::string &dtype = "f32");
std::vector<float> randomValues(size_t count);

} // namespace heddle::bench

#endif // HEDDLE_BENCH_BENCH_H
