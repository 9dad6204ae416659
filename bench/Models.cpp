//===- Models.cpp - training and evaluation of whole models ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every system is a process of its own, Heddle's too, so that each has the memory and the threads to
// itself, and its largest memory can be told.
//
//===----------------------------------------------------------------------===//

#include "bench/Cases.h"
#include "bench/peers/Process.h"
#include "models/zoo/Zoo.h"

#include <nlohmann/json.hpp>

#include <filesystem>

using namespace heddle;
using namespace heddle::bench;

namespace {
/// The system that a command starts, and what it says of itself; none if it does not run here.
struct Started {
  System system;
  nlohmann::json line;
};
std::optional<Started> start(std::vector<std::string> command, bool peer) {
  auto process = std::make_shared<Process>(command);
  nlohmann::json line = nlohmann::json::parse(process->line(), nullptr, /*allow_exceptions=*/false);
  if (!line.is_object())
    return {};
  System system = systemOf(process, line.value("system", ""), peer);
  system.compileMilliseconds = line.value("compile_ms", -1.0);
  system.warmMilliseconds = line.value("warm_ms", -1.0);
  system.peakMemory = [process] { return process->peakMemoryBytes(); };
  return Started{std::move(system), std::move(line)};
}

void measureModel(const std::string &task, const std::string &name, const Request &request,
                  Report &report) {
  std::string size = request.modelSize;
  int64_t batch = request.size("batch", 1);
  std::vector<std::string> last{name, size, std::to_string(batch), std::to_string(request.threads)};
  auto command = [&](std::vector<std::string> first) {
    first.insert(first.end(), last.begin(), last.end());
    return first;
  };
  Case work{.bench = task + "/" + name + (size == "full" ? "" : "-" + size) + "-b" +
                     std::to_string(batch),
            .threads = request.threads,
            .work = double(batch),
            .unit = Unit::ExamplesPerSecond};
  std::string worker = std::filesystem::read_symlink("/proc/self/exe").string() + "-model";
  for (std::string as : {"jit", "program"}) {
    auto started = start(command({worker, task, as}), /*peer=*/false);
    if (!started)
      throw Error("'" + worker + "' can't run '" + name + "'");
    started->system.name = as == "jit" ? "heddle" : "heddle-program";
    work.flops = started->line.at("flops");
    work.systems.push_back(std::move(started->system));
  }
  if (request.peers)
    for (std::string how : {"eager", "compiled", "bf16"})
      if (auto started = start(tunedAllocation(command(
                                   {peerPython(), HEDDLE_BENCH_PEERS "/twin_peer.py", task, how})),
                               /*peer=*/true))
        work.systems.push_back(std::move(started->system));
  report.measure(work);
}

void measureModels(const std::string &task, const Request &request, Report &report) {
  std::vector<std::string> names = request.models;
  if (names.empty())
    for (const auto &[name, entry] : zoo::models())
      names.push_back(name);
  for (const std::string &name : names) {
    zoo::modelCalled(name);
    measureModel(task, name, request, report);
  }
}
} // namespace

void bench::training(const Request &request, Report &report) {
  measureModels("train", request, report);
}
void bench::inference(const Request &request, Report &report) {
  measureModels("infer", request, report);
}
