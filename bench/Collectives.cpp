//===- Collectives.cpp - operations between ranks -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mpirun starts the ranks (Ranks.cpp), which measure and print rows.
//
//===----------------------------------------------------------------------===//

#include "bench/Cases.h"
#include "bench/peers/Process.h"

#include <cmath>
#include <filesystem>
#include <sstream>

using namespace heddle;
using namespace heddle::bench;

static void measure(int64_t ranks, const Request &request, Report &report) {
  auto program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "heddle-bench-ranks";
  if (!std::filesystem::exists(program))
    throw Error("Heddle was built without Open MPI (Debian's libopenmpi-dev and openmpi-bin)");
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  Process process({"mpirun", "--oversubscribe", "-n", std::to_string(ranks), program.string(),
                   std::to_string(request.seconds)});
  for (std::string text = process.line(); !text.empty(); text = process.line()) {
    std::stringstream line(text);
    std::string name, system;
    int64_t bytes;
    double seconds, ratio;
    if (!(line >> name >> bytes >> system >> seconds >> ratio))
      throw Error("unexpected line of a rank: " + text);
    std::string size = bytes < 1024      ? std::to_string(bytes) + " B"
                       : bytes < 1 << 20 ? std::to_string(bytes >> 10) + " KiB"
                                         : std::to_string(bytes >> 20) + " MiB";
    report.row({.bench = name + " " + size + ", " + std::to_string(ranks) + " ranks",
                .unit = Unit::Microseconds},
               {.name = system, .peer = system == "openmpi"},
               {seconds, NAN, ratio > 0 ? ratio : NAN, NAN});
  }
}

void bench::collectives(const Request &request, Report &report) {
  if (request.threads != 1)
    return; // ranks have one thread each
  if (int64_t ranks = request.size("ranks", 0))
    return measure(ranks, request, report);
  measure(2, request, report);
  measure(4, request, report);
}
