//===- Probe.cpp - peak rates of the machine ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/Probe.h"
#include "bench/Bench.h"

#include "runtime/device/ThreadTeam.h"
#include "tools/heddle-probe/Vectors.h"

#include <algorithm>
#include <memory>
#include <vector>

using namespace heddle;

double bench::peakFlops(int threads, Clock clock) {
  auto team = sharedThreadTeam(threads);
  const int64_t count = 100000;
  std::vector<double> done(size_t(team->threads()) * 8);
  // The first region wakes the threads.
  team->run([&](Region &, int) { multiplyAdds(1000); });
  double begin = detail::now(clock);
  team->run([&](Region &, int thread) { done[size_t(thread) * 8] = multiplyAdds(2 * count); });
  double seconds = detail::now(clock) - begin, sum = 0;
  for (double value : done)
    sum += value;
  return sum / seconds;
}

double bench::peakBytes(int threads, Clock clock) {
  constexpr int64_t count = (64 << 20) / sizeof(float);
  static const auto arrays = [] {
    std::vector<std::unique_ptr<float[]>> all;
    for (int i = 0; i < 3; ++i) {
      all.emplace_back(new float[count]);
      std::fill_n(all.back().get(), count, float(i));
    }
    return all;
  }();
  auto team = sharedThreadTeam(threads);
  double begin = detail::now(clock);
  team->run([&](Region &region, int thread) {
    int64_t from = count * thread / region.threads(), to = count * (thread + 1) / region.threads();
    float *a = arrays[0].get();
    const float *b = arrays[1].get(), *c = arrays[2].get();
    for (int64_t i = from; i < to; ++i)
      a[i] = b[i] + c[i];
  });
  return 3.0 * count * sizeof(float) / (detail::now(clock) - begin);
}
