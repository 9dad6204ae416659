//===- Models.cpp - training, evaluation and generation by models ---------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every system runs in a separate process, Heddle's too, so that no other system uses its memory
// and cores, and its peak memory can be measured.
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
/// The system that a command starts, and the line that it prints about itself; none if it does not
/// run on this machine.
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
  system.editedMilliseconds = line.value("edited_ms", -1.0);
  system.peakMemory = [process] { return process->peakMemoryBytes(); };
  return Started{std::move(system), std::move(line)};
}

/// A kind of measurement. `sizes`: the numbers in a row's name, such as "b16", which are passed to
/// the processes. `work`: the amount of one run, in examples or tokens.
struct Task {
  std::string name;
  std::vector<std::string> waysOfHeddle;
  std::vector<std::pair<std::string, std::string>> peers; ///< scripts, each with an argument for it
  Unit unit;
  std::vector<std::pair<std::string, int64_t>> sizes;
  int64_t work;
};

void measureModel(const Task &task, const std::string &name, const Request &request,
                  Report &report) {
  std::string size = request.modelSize, row = task.name + "/" + name,
              dtype = request.dtype.empty() ? "f32" : request.dtype;
  if (size != "full")
    row += "-" + size;
  std::vector<std::string> last{name, size, std::to_string(request.threads), dtype};
  for (const auto &[letter, number] : task.sizes) {
    row += "-" + letter + std::to_string(number);
    last.push_back(std::to_string(number));
  }
  auto command = [&](std::vector<std::string> first) {
    first.insert(first.end(), last.begin(), last.end());
    return first;
  };
  Case work{.bench = row,
            .dtype = dtype,
            .threads = request.threads,
            .work = double(task.work),
            .unit = task.unit};
  std::string worker = std::filesystem::read_symlink("/proc/self/exe").string() + "-model";
  for (const std::string &as : task.waysOfHeddle) {
    if (!request.takesWay(as))
      continue;
    auto started = start(command({worker, task.name, as}), /*peer=*/false);
    if (!started)
      throw Error("'" + worker + "' can't run '" + name + "'");
    started->system.name = as == "jit" ? "heddle" : "heddle-" + as;
    work.flops = started->line.at("flops");
    work.systems.push_back(std::move(started->system));
  }
  for (const auto &[script, how] : task.peers) {
    if (!request.peers || !request.takesWay(how))
      continue;
    auto peer = command({peerPython(), HEDDLE_BENCH_PEERS "/" + script, task.name, how});
    bool keepsAllocator = how == "openvino"; // it does not run with another one
    if (auto started = start(keepsAllocator ? peer : tunedAllocation(peer), /*peer=*/true)) {
      started->system.lessPrecise = how == "bf16" && dtype == "f32";
      work.systems.push_back(std::move(started->system));
    }
  }
  report.measure(work);
}

void measureModels(const Task &task, const Request &request, Report &report) {
  if (!request.dtype.empty() && request.dtype != "f32" && request.dtype != "bf16")
    throw Error("'" + task.name + "' knows --dtype f32, and bf16 for products; got " +
                request.dtype);
  std::vector<std::string> names = request.models;
  if (names.empty())
    for (const auto &[name, entry] : zoo::models())
      if (task.name != "generate" || entry.make(zoo::Size::Tiny).writer)
        names.push_back(name);
  for (const std::string &name : names) {
    zoo::modelCalled(name);
    measureModel(task, name, request, report);
  }
}

/// Tasks on batches, with the twin in PyTorch as a peer.
Task batches(const std::string &name, const Request &request) {
  int64_t batch = request.size("batch", 1);
  const char *twin = "twin_peer.py";
  return {name,
          {"jit", "program"},
          {{twin, "eager"}, {twin, "compiled"}, {twin, "bf16"}},
          Unit::ExamplesPerSecond,
          {{"b", batch}},
          batch};
}
} // namespace

void bench::training(const Request &request, Report &report) {
  measureModels(batches("train", request), request, report);
}
void bench::inference(const Request &request, Report &report) {
  Task task = batches("infer", request);
  for (const char *how : {"onnxruntime", "openvino"})
    task.peers.push_back({"onnx_peer.py", how});
  measureModels(task, request, report);
}
void bench::generation(const Request &request, Report &report) {
  int64_t prompt = request.size("prompt", 16), length = request.size("length", 64),
          capacity = request.size("capacity", prompt + length);
  measureModels({"generate",
                 {"jit"},
                 {{"generate_peer.py", "eager"}, {"generate_peer.py", "bf16"}},
                 Unit::TokensPerSecond,
                 {{"p", prompt}, {"n", length}, {"c", capacity}},
                 length},
                request, report);
}
