//===- Probe.cpp - peak rates of the machine ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/Probe.h"
#include "bench/Bench.h"

#include "runtime/device/ThreadTeam.h"

#include <algorithm>
#include <memory>
#include <vector>

using namespace heddle;

namespace {
volatile float sink;

/// Twelve independent chains of fused multiply-adds hide the latency on current CPUs (4 cycles x 2
/// to 3 ports).
template <typename V>
[[gnu::always_inline]] inline double multiplyAdd(int64_t count) {
  constexpr int chains = 12;
  V sums[chains], a = V{} + 0.999f, b = V{} + 1e-6f;
  for (int i = 0; i < chains; ++i)
    sums[i] = V{} + float(i);
  for (int64_t n = 0; n < count; ++n) {
#pragma clang fp contract(fast)
#pragma clang loop unroll(full)
    for (int i = 0; i < chains; ++i)
      sums[i] = sums[i] * a + b;
  }
  V sum{};
  for (int i = 0; i < chains; ++i)
    sum += sums[i];
  sink = sum[0];
  return double(count) * chains * 2 * double(sizeof(V) / sizeof(float));
}

typedef float V16 __attribute__((vector_size(64)));
typedef float V8 __attribute__((vector_size(32)));
typedef float V4 __attribute__((vector_size(16)));
[[gnu::target("avx512f")]] double flops512(int64_t count) { return multiplyAdd<V16>(count); }
[[gnu::target("avx2,fma")]] double flops256(int64_t count) { return multiplyAdd<V8>(count); }
double flops128(int64_t count) { return multiplyAdd<V4>(count); }

double flops(int64_t count) {
  static const auto best = __builtin_cpu_supports("avx512f") ? flops512
                           : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
                               ? flops256
                               : flops128;
  return best(count);
}
} // namespace

double bench::peakFlops(int threads, Clock clock) {
  auto team = sharedThreadTeam(threads);
  const int64_t count = 100000;
  std::vector<double> done(size_t(team->threads()) * 8);
  // The first region wakes the threads.
  team->run([&](Region &, int) { flops(1000); });
  double begin = detail::now(clock);
  team->run([&](Region &, int thread) { done[size_t(thread) * 8] = flops(count) + flops(count); });
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
