//===- main.cpp - heddle-bench --------------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/Cases.h"
#include "bench/Probe.h"

#include "heddle/runtime_c.h"
#include "runtime/device/ThreadTeam.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <unistd.h>

using namespace heddle;
using namespace heddle::bench;

const std::vector<Benchmark> &bench::benchmarks() {
  static const std::vector<Benchmark> all{
      {"matmul", "matrix product", {"M", "N", "K"}, matmul},
      {"conv",
       "convolution and both gradients",
       {"batch", "in", "out", "row", "column", "window", "stride"},
       convolution},
      {"capsule", "convolutional capsules as one kernel", {"n", "in", "out"}, capsule},
      {"routing",
       "capsules routed by expectation maximisation, one group",
       {"n", "in", "out"},
       routing},
      {"attention",
       "attention, and its gradients",
       {"batch", "heads", "length", "features"},
       attention},
      {"local-attention",
       "attention to the 7x7 pixels around each with a bias, and its gradients",
       {"batch", "heads", "side", "features"},
       localAttention},
      {"fashion", "training step of models/fashion", {"batch"}, fashionTraining},
      {"classify",
       "its classifier, for one and for any size of batch",
       {"batch"},
       fashionClassifying},
      {"compile", "cold and warm compilation of that step", {"batch"}, compilation},
      {"compile-ops",
       "compilation of 1000 (`from`), 2000, 4000, ... ops, at most `ops`",
       {"ops", "from"},
       scaling},
      {"call", "overhead of a call", {}, calls},
      {"pointwise", "sum of two arrays, transposition", {"n"}, pointwise},
      {"sort", "sorted lines and their largest elements", {"lines", "n"}, sorting},
      {"normalise", "softmax and layer normalisation", {"rows", "columns"}, normalisation},
      {"train", "a training step of models of the zoo; only by name", {"batch"}, training, true},
      {"infer", "their evaluation of a batch; only by name", {"batch"}, inference, true},
      {"generate",
       "tokens that models of the zoo generate after a prompt; only by name",
       {"prompt", "length", "capacity"},
       generation,
       true},
      {"busy",
       "programs of short steps while other threads are busy: as many as cores, and twice as many",
       {},
       busy},
      {"collectives",
       "operations between ranks compared with plain Open MPI, 4 B to 64 MiB; only by name",
       {"ranks"},
       collectives,
       true},
      {"ranks",
       "training on ranks compared with one process, and hiding of transfers; only by name",
       {"batch", "ranks"},
       rankTraining,
       true},
  };
  return all;
}

/// Parses sizes such as `512x3072x768` or `batch=16,in=64` for a benchmark. Throws Error.
static Shape parseShape(const std::string &text, const Benchmark &benchmark) {
  auto refuse = [&] {
    std::string names;
    for (const std::string &name : benchmark.sizes)
      names += (names.empty() ? "" : ", ") + name;
    if (names.empty())
      throw Error("'" + benchmark.name + "' takes no --shape, got '" + text + "'");
    throw Error("expected --shape of '" + benchmark.name + "' with sizes of at least 1 for " +
                names + " (64x32x... for all of them, or NAME=64,NAME=32,... for some), got '" +
                text + "'");
  };
  Shape shape;
  bool named = text.find('=') != std::string::npos;
  std::stringstream stream(text);
  size_t count = 0;
  for (std::string part; std::getline(stream, part, named ? ',' : 'x'); ++count) {
    size_t digits = named ? part.find('=') + 1 : 0;
    std::string name = named                            ? part.substr(0, digits ? digits - 1 : 0)
                       : count < benchmark.sizes.size() ? benchmark.sizes[count]
                                                        : "";
    int64_t size = 0;
    auto [end, error] = std::from_chars(part.data() + digits, part.data() + part.size(), size);
    if (std::ranges::find(benchmark.sizes, name) == benchmark.sizes.end() || error != std::errc() ||
        end != part.data() + part.size() || size < 1 || !shape.emplace(name, size).second)
      refuse();
  }
  if (!named && count != benchmark.sizes.size())
    refuse();
  return shape;
}

/// Subcommands that are scripts of this folder (README.md).
static constexpr std::pair<const char *, const char *> scripts[] = {
    {"cost", "estimates of lib/cost compared with measured times (heddle-bench cost --help)"},
    {"choices", "chosen schedules compared with other ones (heddle-bench choices --help)"},
    {"planner",
     "predicted steps of plans compared with measured ones (heddle-bench planner --help)"},
    {"pairs", "fused nests compared with the other choice (heddle-bench pairs --help)"},
};

/// Runs a script with the tools of this build, in place of this process. Returns only if it can't.
static int runScript(const std::string &name, char **arguments) {
  std::string path = HEDDLE_BENCH_SCRIPTS "/" + name;
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  std::string build = self.parent_path().parent_path().string();
  std::string option = "--build";
  std::vector<char *> command{path.data(), option.data(), build.data()};
  for (; *arguments; ++arguments)
    command.push_back(*arguments);
  command.push_back(nullptr);
  execv(path.c_str(), command.data());
  std::cerr << "heddle-bench: can't run '" << path << "': " << strerror(errno) << "\n";
  return 1;
}

static void printList() {
  for (const Benchmark &benchmark : benchmarks()) {
    printf("%-12s %s", benchmark.name.c_str(), benchmark.description.c_str());
    for (const std::string &size : benchmark.sizes)
      printf("%s%s=", &size == &benchmark.sizes.front() ? "; --shape " : ",", size.c_str());
    printf("\n");
  }
  for (const auto &[name, description] : scripts)
    printf("%-12s %s\n", name, description);
}

static int runBenchmarks(int argc, char **argv) {
  CLI::App app("Measures Heddle and its peers, compared with this machine's peak rates.");
  bool list = false, processorTime = false;
  Request request;
  request.threads = 0;
  std::vector<std::string> names;
  std::string filter = ".*", json, shape;
  app.set_version_flag("--version", heddle_runtime_version());
  app.add_option("benchmark", names, "Run these (default: all)");
  app.add_flag("--list", list, "List the benchmarks");
  app.add_option("--filter", filter, "Run those whose names match this regular expression");
  app.add_option("--threads", request.threads, "Threads (default: first one, then all cores)")
      ->check(CLI::PositiveNumber);
  app.add_flag("--peers", request.peers, "Also measure oneDNN and PyTorch, where installed");
  app.add_option("--json", json, "Append rows to this file, as JSON lines");
  app.add_option("--shape", shape, "Sizes: 512x3072x768, or batch=16,in=64,...");
  app.add_option("--model", request.models,
                 "Models of `train`, `infer` and `generate` (default: all)");
  app.add_option("--size", request.modelSize, "Their size: tiny, small or full (default: full)")
      ->check(CLI::IsMember({"tiny", "small", "full"}));
  app.add_option("--way", request.ways,
                 "Only these ways to run them: jit, program; for peers eager, compiled, bf16, "
                 "onnxruntime, openvino (all have the model in memory at the same time)");
  app.add_option("--dtype", request.dtype, "f32, bf16, f16 or f64 (default: f32)")
      ->check(CLI::IsMember({"f32", "bf16", "f16", "f64"}));
  app.add_option("--seconds", request.seconds, "Least time spent on a row");
  app.add_flag(
      "--processor-time", processorTime,
      "Measure processor time of one thread: for a machine that is busy with other things");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error);
  }
  if (list) {
    printList();
    return 0;
  }
  std::regex pattern;
  try {
    pattern = std::regex(filter);
  } catch (const std::regex_error &error) {
    std::cerr << "heddle-bench: --filter '" << filter
              << "' is not a regular expression: " << error.what() << "\n";
    return 1;
  }
  for (const std::string &name : names)
    if (std::ranges::find(benchmarks(), name, &Benchmark::name) == benchmarks().end()) {
      std::cerr << "heddle-bench: no benchmark is called '" << name << "'; --list lists them\n";
      return 1;
    }
  std::vector<std::pair<const Benchmark *, Shape>> chosen;
  try {
    for (const Benchmark &benchmark : benchmarks())
      if ((names.empty() ? !benchmark.onlyByName
                         : std::ranges::find(names, benchmark.name) != names.end()) &&
          std::regex_search(benchmark.name, pattern))
        chosen.emplace_back(&benchmark, shape.empty() ? Shape() : parseShape(shape, benchmark));
  } catch (const Error &error) {
    std::cerr << "heddle-bench: " << error.what() << "\n";
    return 1;
  }
  if (chosen.empty()) {
    std::cerr << "heddle-bench: no benchmark's name matches '" << filter
              << "'; --list lists them\n";
    return 1;
  }
  FILE *out = nullptr;
  if (!json.empty() && !(out = fopen(json.c_str(), "a"))) {
    std::cerr << "heddle-bench: can't write '" << json << "': " << strerror(errno) << "\n";
    return 1;
  }
  std::vector<int> teams;
  if (processorTime)
    request.threads = 1;
  if (request.threads)
    teams = {request.threads};
  else
    teams = {1, availableCores()};
  if (teams.size() == 2 && teams[0] == teams[1])
    teams.pop_back();
  Report report(out, request.seconds, processorTime ? Clock::Processor : Clock::Wall);
  int status = 0;
  for (int threads : teams) {
    request.threads = threads;
    printf("probe: %.1f GFLOP/s f32, %.1f GB/s on %d thread%s\n", peakFlops(threads) * 1e-9,
           peakBytes(threads) * 1e-9, threads, threads == 1 ? "" : "s");
    for (const auto &[benchmark, sizes] : chosen) {
      request.shape = sizes;
      try {
        benchmark->run(request, report);
      } catch (const std::exception &error) {
        std::cerr << "heddle-bench: " << benchmark->name << ": " << error.what() << "\n";
        status = 1;
      }
    }
  }
  if (out)
    fclose(out);
  return status;
}

int main(int argc, char **argv) {
  for (const auto &[name, description] : scripts)
    if (argc > 1 && std::string_view(argv[1]) == name)
      return runScript(name, argv + 2);
  return runBenchmarks(argc, argv);
}
