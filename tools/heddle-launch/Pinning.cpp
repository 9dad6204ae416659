//===- Pinning.cpp - which CPUs each rank gets ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/heddle-launch/Launcher.h"

#include <algorithm>
#include <array>
#include <fstream>

#include <sched.h>

using namespace heddle;

/// The package, the core and the number of a CPU: sorted in this order, hyper-threads of a core are
/// neighbours, and so are cores of a package.
static std::array<int, 3> placeOf(int cpu) {
  auto read = [&](const char *name) {
    int value = 0;
    std::ifstream("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/" + name) >>
        value;
    return value;
  };
  return {read("physical_package_id"), read("core_id"), cpu};
}

std::vector<std::vector<int>> heddle::shareCpus(int ranks) {
  std::vector<std::array<int, 3>> places;
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &usable))
        places.push_back(placeOf(cpu));
  std::sort(places.begin(), places.end());
  std::vector<std::vector<int>> shares(static_cast<size_t>(ranks));
  if (places.empty()) // more CPUs than a cpu_set_t can hold
    return shares;
  for (size_t r = 0; r < shares.size(); ++r) {
    size_t begin = r * places.size() / shares.size(),
           end = std::max(begin + 1, (r + 1) * places.size() / shares.size());
    for (size_t i = begin; i < end; ++i)
      shares[r].push_back(places[i][2]);
  }
  return shares;
}
