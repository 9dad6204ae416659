//===- Harness.cpp - measures systems alternately -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/Bench.h"
#include "bench/Probe.h"

#include "runtime/program/Program.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <random>
#include <thread>
#include <unistd.h>

using namespace heddle;
using namespace heddle::bench;

int64_t Request::size(const std::string &name, int64_t fallback) const {
  auto found = shape.find(name);
  return found == shape.end() ? fallback : found->second;
}

std::string_view bench::spelling(Unit unit) {
  switch (unit) {
  case Unit::GigaflopsPerSecond:
    return "GFLOP/s";
  case Unit::GigabytesPerSecond:
    return "GB/s";
  case Unit::ExamplesPerSecond:
    return "examples/s";
  case Unit::TokensPerSecond:
    return "tokens/s";
  case Unit::Microseconds:
    return "us";
  case Unit::Milliseconds:
    return "ms";
  }
  return "";
}

double bench::detail::now(Clock clock) {
  timespec time;
  clock_gettime(clock == Clock::Wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

std::string bench::detail::temporaryFile() {
  static int next = 0;
  return (std::filesystem::temp_directory_path() /
          ("heddle-bench-" + std::to_string(getpid()) + "-" + std::to_string(next++) + ".heddle"))
      .string();
}

System bench::detail::loadAndCall(const std::string &path, std::vector<Tensor> arguments,
                                  int threads, double compileSeconds) {
  auto program = Program::load(path);
  std::filesystem::remove(path);
  CallOptions options;
  options.team = sharedThreadTeam(threads);
  std::shared_ptr<MemoryManager> manager = defaultMemoryManager();
  int64_t bytes = -manager->statistics().live;
  std::shared_ptr<Call> call = program->prepare("function", options);
  for (size_t i = 0; i < arguments.size(); ++i) {
    call->bind(i, arguments[i].data());
    bytes += arguments[i].data()->bytes();
  }
  call->run();
  bytes += manager->statistics().live;
  return {.name = "heddle",
          .once = [program, call, arguments] { call->run(); },
          .compileMilliseconds = compileSeconds * 1e3,
          .peakMemoryBytes = bytes};
}

std::vector<float> bench::randomValues(size_t count) {
  std::minstd_rand generator(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float &value : values)
    value = uniform(generator);
  return values;
}

Tensor bench::randomTensor(const std::vector<Extent> &extents, const std::string &dtype) {
  size_t count = 1;
  for (const Extent &extent : extents)
    count *= size_t(extent.size);
  auto values = randomValues(count);
  Tensor tensor = Tensor::of<float>(std::span<const float>(values), extents);
  auto type = parseElementType(dtype);
  if (!type)
    throw Error("unknown element type '" + dtype + "'");
  if (*type == ElementType::F32)
    return tensor;
  return Tensor::fromData(tensor.cast(*type).data());
}

static double medianOf(std::vector<double> values) {
  if (values.empty())
    return NAN;
  auto middle = values.begin() + long(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The time in seconds of doing the work `count` times.
static double timeOf(const System &system, int64_t count, Clock clock) {
  if (system.run)
    return system.run(count);
  double begin = bench::detail::now(clock);
  for (int64_t i = 0; i < count; ++i)
    system.once();
  return bench::detail::now(clock) - begin;
}

/// The processor time in seconds that all systems and the rest of this process have used so far.
static double processorSecondsOf(const std::vector<System> &systems) {
  timespec own;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
  double sum = double(own.tv_sec) + 1e-9 * double(own.tv_nsec);
  for (const System &system : systems)
    if (system.processorSeconds)
      sum += system.processorSeconds();
  return sum;
}

/// Waits until no system's threads spin any more, at most 0.5 s: threads of libgomp and libomp spin
/// for up to 0.2 s after a parallel region, and would occupy cores while the next system is
/// measured.
static void waitForSleep(const std::vector<System> &systems) {
  constexpr auto pause = std::chrono::milliseconds(2);
  double before = processorSecondsOf(systems);
  for (int i = 0; i < 250; ++i) {
    std::this_thread::sleep_for(pause);
    double now = processorSecondsOf(systems);
    if (now - before < 0.1 * std::chrono::duration<double>(pause).count())
      return;
    before = now;
  }
}

void Report::measure(const Case &work) {
  const double burst = 0.02, tooLong = 2;
  int leastRounds = 9;
  bool computes = work.unit == Unit::GigaflopsPerSecond || work.flops > 0;
  bool limited = computes || work.unit == Unit::GigabytesPerSecond;
  double limitedWork = work.flops > 0 ? work.flops : work.work;
  std::vector<int64_t> counts;
  for (const System &system : work.systems) {
    double once = timeOf(system, 1, clock);
    if (once < tooLong)
      once = timeOf(system, 1, clock); // warms up
    else
      leastRounds = 1;
    counts.push_back(std::max<int64_t>(1, int64_t(burst / std::max(once, 1e-8))));
  }
  size_t systems = work.systems.size();
  std::vector<std::vector<double>> seconds(systems), percent(systems), ratio(systems),
      best(systems);
  size_t firstPeer = systems;
  for (size_t i = systems; i-- > 0;)
    if (work.systems[i].peer)
      firstPeer = i;
  // One thread does not spin, and Heddle's systems share their team.
  bool teams = work.threads > 1 && firstPeer < systems;
  double begin = detail::now();
  for (int round = 0; round < leastRounds || detail::now() - begin < this->seconds; ++round) {
    double limit = 0;
    if (teams)
      waitForSleep(work.systems);
    if (computes)
      limit = peakFlops(work.threads, clock);
    else if (work.unit == Unit::GigabytesPerSecond)
      limit = peakBytes(work.threads, clock);
    std::vector<double> now(systems);
    for (size_t i = 0; i < systems; ++i) {
      size_t system =
          (i + size_t(round)) % systems; // so that no system always runs after the probe
      if (teams) {
        waitForSleep(work.systems);
        // Threads that wake may share a core for some milliseconds, until the scheduler separates
        // them.
        if (counts[system] > 1)
          timeOf(work.systems[system], counts[system], clock);
      }
      now[system] = timeOf(work.systems[system], counts[system], clock) / double(counts[system]);
    }
    double quickest = INFINITY; // peer
    for (size_t i = 0; i < systems; ++i)
      if (work.systems[i].peer && !work.systems[i].lessPrecise)
        quickest = std::min(quickest, now[i]);
    for (size_t i = 0; i < systems; ++i) {
      seconds[i].push_back(now[i]);
      if (limited)
        percent[i].push_back(100 * limitedWork / now[i] / limit);
      if (firstPeer < systems && !work.systems[i].peer) {
        ratio[i].push_back(now[firstPeer] / now[i]);
        best[i].push_back(quickest / now[i]);
      }
    }
  }
  for (size_t i = 0; i < systems; ++i)
    row(work, work.systems[i],
        {medianOf(seconds[i]), medianOf(percent[i]), medianOf(ratio[i]), medianOf(best[i])});
}

void Report::row(const Case &work, const System &system, const Measured &measured) {
  double median = measured.seconds, value = median;
  double memory = double(system.peakMemory ? system.peakMemory() : system.peakMemoryBytes);
  switch (work.unit) {
  case Unit::GigaflopsPerSecond:
  case Unit::GigabytesPerSecond:
    value = work.work / median * 1e-9;
    break;
  case Unit::ExamplesPerSecond:
  case Unit::TokensPerSecond:
    value = work.work / median;
    break;
  case Unit::Microseconds:
    value = median * 1e6;
    break;
  case Unit::Milliseconds:
    value = median * 1e3;
    break;
  }
  if (!headed)
    printf("%-58s %-14s %-5s %2s %11s %11s %-10s %7s %7s %9s %9s\n", "bench", "system", "dtype",
           "T", "median ms", "value", "unit", "% peak", "x peer", "compile", "MiB");
  headed = true;
  auto number = [](double x, const char *format) {
    char text[32];
    snprintf(text, sizeof text, format, x);
    return std::isnan(x) || x < 0 ? std::string("-") : std::string(text);
  };
  printf("%-58s %-14s %-5s %2d %11.4f %11.1f %-10s %7s %7s %9s %9s\n", work.bench.c_str(),
         system.name.c_str(), work.dtype.c_str(), work.threads, median * 1e3, value,
         std::string(spelling(work.unit)).c_str(), number(measured.percentOfPeak, "%.1f").c_str(),
         number(measured.ratioToPeer, "%.2f").c_str(),
         number(system.compileMilliseconds, "%.0f").c_str(),
         number(memory / (1 << 20), "%.1f").c_str());
  fflush(stdout);
  if (!json)
    return;
  auto optional = [](double x) {
    return std::isnan(x) || x < 0 ? nlohmann::json() : nlohmann::json(x);
  };
  nlohmann::json line = {{"bench", work.bench},
                         {"system", system.name},
                         {"dtype", work.dtype},
                         {"threads", work.threads},
                         {"median_ms", median * 1e3},
                         {"value", value},
                         {"unit", spelling(work.unit)},
                         {"gflops", optional(work.flops > 0 ? work.flops / median * 1e-9 : -1)},
                         {"percent_of_peak", optional(measured.percentOfPeak)},
                         {"ratio_to_peer", optional(measured.ratioToPeer)},
                         {"ratio_to_best", optional(measured.ratioToBest)},
                         {"compile_ms", optional(system.compileMilliseconds)},
                         {"warm_ms", optional(system.warmMilliseconds)},
                         {"edited_ms", optional(system.editedMilliseconds)},
                         {"peak_memory_bytes", optional(memory)}};
  fprintf(json, "%s\n", line.dump().c_str());
  fflush(json);
}
