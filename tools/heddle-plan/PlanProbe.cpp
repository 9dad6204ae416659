//===- PlanProbe.cpp - the topology of the ranks of a job -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanInput.h"
#include "ProbeLinks.h"

#include "runtime/control/EngineTransport.h"

#include <nlohmann/json.hpp>

#include <unistd.h>

using namespace heddle;
using Json = nlohmann::ordered_json;

// The rates of cores are not measured: those of loops that keep one resource busy, as heddle-probe
// measures them, predict programs worse than the rates that were fitted to programs
// (lib/cost/Rates.h).

/// Measurements differ in the third digit.
static double rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2e", value);
  return std::strtod(text, nullptr);
}

static Json axisOf(Job &job, const std::string &name, const std::vector<MeasuredTransfer> &all) {
  FittedTime link = fit(all, &MeasuredTransfer::seconds),
             core = fit(all, &MeasuredTransfer::ofCores);
  constexpr double most = 1e15; // what no measurement can tell from no time
  auto rate = [](double perByte) { return rounded(1 / std::max(perByte, 1 / most)); };
  // An all-reduce has two rounds.
  return {{"axis", name},
          {"devices", job.ranks()},
          {"bytes_per_second", rate(link.perByte)},
          {"latency_seconds", rounded(link.start / 2)},
          {"core_bytes_per_second", rate(core.perByte)},
          {"core_seconds", rounded(core.start / 2)}};
}

int heddle::probeRanks(const PlanOptions &options) {
  std::shared_ptr<Job> job = Job::join();
  if (job->ranks() < 2)
    return !fail("expected ranks between which links are measured, got one process: start it as "
                 "heddle-launch -n 2 --no-prefix heddle-plan probe");
  useEngine(*job, "", options.engineOptions);
  std::vector<MeasuredTransfer> all = measureTransfers(*job);
  auto memory = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE)) / job->ranks();
  Json topology = {{"heddle_topology", 1},
                   {"device", {{"memory_bytes", rounded(memory)}}},
                   {"axes", Json::array({axisOf(*job, options.axis, all)})}};
  bool isWritten = job->rank() != 0 || writeText(options.output, topology.dump(1) + "\n");
  if (job->rank() == 0 && options.json)
    for (const MeasuredTransfer &each : all)
      llvm::errs() << Json({{"bytes", each.bytes},
                            {"seconds", each.seconds},
                            {"core_seconds", each.ofCores}})
                          .dump()
                   << "\n";
  job->exchange("the end", ""); // no rank leaves while another measures
  return isWritten ? 0 : 1;
}
