//===- RankTraining.cpp - training steps on ranks -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every system is a separate job (step-main.cpp). The first peer is one process with as many
// threads as there are ranks.
//
//===----------------------------------------------------------------------===//

#include "bench/Cases.h"
#include "bench/peers/Process.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>

using namespace heddle;
using namespace heddle::bench;

namespace {
using Words = std::vector<std::string>;

struct Started {
  System system;
  nlohmann::json line;
};

std::string besideThis(const std::string &program) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / program).string();
}

Started start(const std::string &name, const Words &command, bool peer) {
  auto process = std::make_shared<Process>(command);
  auto line = nlohmann::json::parse(process->line(), nullptr, /*allow_exceptions=*/false);
  if (!line.is_object())
    throw Error("'" + name + "' can't run");
  System system = systemOf(process, name, peer);
  system.compileMilliseconds = line["compile_ms"];
  system.peakMemoryBytes = line["state"];
  return {std::move(system), std::move(line)};
}

/// One process.
Started process(const std::string &name, int64_t threads, int64_t batch, bool peer) {
  return start(name,
               {besideThis("heddle-bench-step"), std::to_string(threads), std::to_string(batch)},
               peer);
}

/// Ranks of one thread, which split the batch.
Started onRanks(const std::string &name, int64_t ranks, int64_t batch, const Words &more = {},
                bool peer = false) {
  Words command{besideThis("heddle-launch"),     "-n", std::to_string(ranks), "--no-prefix",
                besideThis("heddle-bench-step"), "1",  std::to_string(batch), "data"};
  command.insert(command.end(), more.begin(), more.end());
  return start(name, command, peer);
}

Case caseOf(const std::string &name, int64_t ranks, int64_t batch, std::vector<System> systems) {
  return {.bench = "fashion/" + name + "-b" + std::to_string(batch) + ", " + std::to_string(ranks) +
                   " ranks",
          .threads = int(ranks),
          .work = double(batch),
          .unit = Unit::ExamplesPerSecond,
          .systems = std::move(systems)};
}

/// One process with several threads, compared with ranks and with PyTorch's DistributedDataParallel
/// over gloo.
void besideOneProcess(int64_t ranks, int64_t batch, bool peers, Report &report) {
  std::vector<System> systems;
  systems.push_back(onRanks("heddle-ranks", ranks, batch).system);
  // The updated state is split, here the momentum of the layer that has nearly all parameters.
  systems.push_back(
      onRanks("heddle-zero1", ranks, batch, {"", "", "wide/hidden:", "velocity.wide/hidden:data"})
          .system);
  // Here the wide layer is split over its units: its gradient needs no sum over the ranks.
  systems.push_back(onRanks("heddle-hidden", ranks, batch, {"", "", "wide/hidden:data"}).system);
  systems.push_back(process("heddle-process", ranks, batch, /*peer=*/true).system);
  if (peers) {
    auto ddp = std::make_shared<Process>(tunedAllocation(
        {peerPython(), HEDDLE_BENCH_PEERS "/torch_peer.py", "fashion", "threads=1",
         "batch=" + std::to_string(batch / ranks), "ranks=" + std::to_string(ranks)}));
    if (std::string name = ddp->line(); !name.empty())
      systems.push_back(systemOf(ddp, name, /*peer=*/true));
  }
  report.measure(caseOf("train", ranks, batch, std::move(systems)));
}

/// A batch that the ranks can't split evenly, compared with the next smaller one that they can.
void unevenBatch(int64_t ranks, int64_t batch, Report &report) {
  System uneven = onRanks("heddle-ranks", ranks, batch + 1).system;
  System even = onRanks("b" + std::to_string(batch + ranks), ranks, batch + ranks, {}, true).system;
  // Both do one step per run, so the ratio compares steps.
  report.measure(caseOf("uneven", ranks, batch + 1, {std::move(uneven), std::move(even)}));
}

/// Measures how much of the transfers is hidden behind the computation. The links are so slow that
/// transferring the gradients alone takes half of the time that a step takes with fast links. The
/// time by which the step becomes longer is the part that is not hidden.
void hiding(int64_t ranks, int64_t batch, Report &report) {
  auto folder = std::filesystem::temp_directory_path();
  std::string file = folder / ("heddle-links-" + std::to_string(getpid()) + ".json");
  std::ofstream(file) << "{}";
  Started free = onRanks("links-free", ranks, batch, {"net", "network=" + file}, /*peer=*/true);
  free.system.run(3);
  double step = free.system.run(20) / 20;
  double bytes = 2 * double(free.line["parameters"]) * double(ranks - 1) / double(ranks);
  std::ofstream(file) << nlohmann::json{{"gigabytes_per_second", bytes / (step / 2) * 1e-9}};
  Started slow = onRanks("heddle-ranks", ranks, batch, {"net", "network=" + file});
  std::filesystem::remove(file);
  double without = 0, with = 0;
  for (int round = 0; round < 5; ++round) {
    without += free.system.run(10);
    with += slow.system.run(10);
  }
  printf("  hidden: %.0f %% of transfers that alone take half of a step\n",
         100 * (1 - (with - without) / (without / 2)));
  report.measure(caseOf("hiding", ranks, batch, {std::move(slow.system), std::move(free.system)}));
}
} // namespace

void bench::rankTraining(const Request &request, Report &report) {
  if (request.threads != 1)
    return; // ranks have one thread each
  int64_t ranks = request.size("ranks", 2), only = request.size("batch", 0);
  for (int64_t batch : only ? std::vector<int64_t>{only} : std::vector<int64_t>{64, 256})
    besideOneProcess(ranks, batch, request.peers, report);
  int64_t batch = only ? only : 64;
  unevenBatch(ranks, batch, report);
  hiding(ranks, batch, report);
}
