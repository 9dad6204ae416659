//===- Teams.cpp - heddle-bench-teams: our threads beside OpenMP's --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     heddle-bench-teams own|libomp [threads]
//
// Measures an empty region, a barrier within it, and a region that starts after the caller was
// idle. A process measures only one team: idle threads of another team would spin on the cores that
// it needs.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/ThreadTeam.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include <dlfcn.h>

using namespace heddle;

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static void report(const char *what, std::vector<double> seconds) {
  auto middle = seconds.begin() + std::ptrdiff_t(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  std::printf("%-28s median %9.3f us   best %9.3f us\n", what, *middle * 1e6,
              *std::min_element(seconds.begin(), middle + 1) * 1e6);
}

int main(int argc, char **argv) {
  std::string_view kind = argc > 1 ? argv[1] : "";
  int threads = argc > 2 ? std::atoi(argv[2]) : 2;
  if ((kind != "own" && kind != "libomp") || threads < 1) {
    std::fprintf(stderr, "usage: heddle-bench-teams own|libomp [threads]\n");
    return 2;
  }
  auto team = kind == "own" ? makeThreadTeam(threads) : makeOpenMPTeam(threads);
  auto *theirBarrier =
      reinterpret_cast<void (*)()>(dlsym(dlopen("libomp.so.5", RTLD_NOW), "GOMP_barrier"));
  if (kind == "libomp" && !theirBarrier) {
    std::fprintf(stderr, "libomp.so.5 is not installed\n");
    return 1;
  }
  auto nothing = [](Region &, int) {};
  constexpr int rounds = 200, repeats = 100;

  std::vector<double> regions, barriers;
  for (int round = 0; round < rounds; ++round) {
    double begin = now();
    for (int i = 0; i < repeats; ++i)
      team->run(nothing);
    regions.push_back((now() - begin) / repeats);
  }
  report("empty region", regions);

  for (int round = 0; round < rounds; ++round)
    team->run([&](Region &region, int thread) {
      double begin = now();
      for (int i = 0; i < repeats; ++i) {
        if (kind == "own")
          region.barrier();
        else
          theirBarrier(); // of the OpenMP region that runs this team
      }
      if (thread == 0)
        barriers.push_back((now() - begin) / repeats);
    });
  report("barrier", barriers);

  for (int idle : {50, 1000, 20000}) {
    std::vector<double> wakes;
    for (int round = 0; round < (idle > 10000 ? rounds / 4 : rounds); ++round) {
      team->run(nothing);
      std::this_thread::sleep_for(std::chrono::microseconds(idle));
      double begin = now();
      team->run(nothing);
      wakes.push_back(now() - begin);
    }
    report(("empty region after " + std::to_string(idle) + " us").c_str(), wakes);
  }
}
