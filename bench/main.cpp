//===- main.cpp - heddle-bench --------------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/Cases.h"
#include "bench/Probe.h"

#include "runtime/device/ThreadTeam.h"

#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstring>
#include <iostream>

using namespace heddle;
using namespace heddle::bench;

const std::vector<Benchmark> &bench::benchmarks() {
  static const std::vector<Benchmark> all{
      {"matmul", "matrix product; --shape MxNxK", matmul},
      {"conv", "convolution and both gradients; --shape batch=,in=,out=,row=,column=,window=,stride=", convolution},
      {"capsule", "convolutional capsules as one kernel; --shape n=,in=,out=", capsule},
      {"routing", "capsules routed by expectation maximisation, one group; --shape n=,in=,out=", routing},
      {"fashion", "training step of models/fashion; --shape batch=", fashionTraining},
      {"classify", "its classifier, for one and for any size of batch; --shape batch=", fashionClassifying},
      {"compile", "cold and warm compilation of that step; --shape batch=", compilation},
      {"compile-ops", "compilation of 1000, 2000, 4000, ... ops; --shape ops= the most", scaling},
      {"call", "what a call costs beyond its work", calls},
      {"pointwise", "sum of two arrays, transposition; --shape n=", pointwise},
      {"sort", "sorted lines and their largest elements; --shape lines=,n=", sorting},
      {"normalise", "softmax and layer normalisation; --shape rows=,columns=", normalisation},
  };
  return all;
}

/// `512x3072x768` or `batch=16,in=64`. Throws CLI::ValidationError.
static std::map<std::string, int64_t> parseShape(const std::string &text) {
  std::map<std::string, int64_t> shape;
  bool named = text.find('=') != std::string::npos;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, named ? ',' : 'x');) {
    size_t equals = part.find('=');
    std::string name = named ? part.substr(0, equals) : std::to_string(shape.size());
    std::string number = named && equals != std::string::npos ? part.substr(equals + 1) : part;
    char *end = nullptr;
    int64_t size = strtoll(number.c_str(), &end, 10);
    if (name.empty() || number.empty() || *end || size < 1)
      throw CLI::ValidationError("--shape", "expected 512x3072x768 or batch=16,in=64 with sizes of at least 1, got '" + text + "'");
    shape[name] = size;
  }
  return shape;
}

int main(int argc, char **argv) {
  CLI::App app("Measures Heddle, and its peers, against what this machine can do.");
  bool list = false, processorTime = false;
  Request request;
  request.threads = 0;
  std::string filter = ".*", json, shape;
  app.add_flag("--list", list, "List the benchmarks");
  app.add_option("--filter", filter, "Run those that this regular expression finds");
  app.add_option("--threads", request.threads, "Threads (default: first one, then all cores)")->check(CLI::PositiveNumber);
  app.add_flag("--peers", request.peers, "Measure oneDNN and PyTorch beside, where installed");
  app.add_option("--json", json, "Append rows to this file, as JSON lines");
  app.add_option("--shape", shape, "Sizes: 512x3072x768, or batch=16,in=64,...");
  app.add_option("--dtype", request.dtype, "f32, bf16, f16 or f64 (default: f32)")
      ->check(CLI::IsMember({"f32", "bf16", "f16", "f64"}));
  app.add_option("--seconds", request.seconds, "Least time spent on a row");
  app.add_flag("--processor-time", processorTime,
               "Measure processor time of one thread: for a machine that is busy with other things");
  try {
    app.parse(argc, argv);
    if (!shape.empty())
      request.shape = parseShape(shape);
  } catch (const CLI::ParseError &error) {
    return app.exit(error);
  }
  if (list) {
    for (const Benchmark &benchmark : benchmarks())
      printf("%-12s %s\n", benchmark.name.c_str(), benchmark.description.c_str());
    return 0;
  }
  std::regex pattern;
  try {
    pattern = std::regex(filter);
  } catch (const std::regex_error &error) {
    std::cerr << "heddle-bench: --filter '" << filter << "' is no regular expression: " << error.what() << "\n";
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
  int status = 0, found = 0;
  for (int threads : teams) {
    request.threads = threads;
    printf("probe: %.1f GFLOP/s f32, %.1f GB/s on %d thread%s\n", peakFlops(threads) * 1e-9, peakBytes(threads) * 1e-9,
           threads, threads == 1 ? "" : "s");
    for (const Benchmark &benchmark : benchmarks()) {
      if (!std::regex_search(benchmark.name, pattern))
        continue;
      ++found;
      try {
        benchmark.run(request, report);
      } catch (const std::exception &error) {
        std::cerr << "heddle-bench: " << benchmark.name << ": " << error.what() << "\n";
        status = 1;
      }
    }
  }
  if (!found) {
    std::cerr << "heddle-bench: no benchmark is called like '" << filter << "'; --list lists them\n";
    status = 1;
  }
  if (out)
    fclose(out);
  return status;
}
