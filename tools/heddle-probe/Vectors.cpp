//===- Vectors.cpp - loops that measure a core ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/heddle-probe/Vectors.h"

using namespace heddle;

namespace {
volatile float sink;

typedef float V16 __attribute__((vector_size(64)));
typedef float V8 __attribute__((vector_size(32)));
typedef float V4 __attribute__((vector_size(16)));

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

/// Eight sums hide the latency of additions. `bytes` is a multiple of eight vectors.
template <typename V>
[[gnu::always_inline]] inline void read(const float *from, int64_t bytes) {
  constexpr int sums = 8;
  V sum[sums] = {};
  auto *vectors = reinterpret_cast<const V *>(from);
  for (int64_t i = 0; i < bytes / int64_t(sizeof(V)); i += sums)
#pragma clang loop unroll(full)
    for (int s = 0; s < sums; ++s)
      sum[s] += vectors[i + s];
  V all{};
  for (int s = 0; s < sums; ++s)
    all += sum[s];
  sink = all[0];
}

template <typename V>
[[gnu::always_inline]] inline void write(float *to, int64_t bytes) {
  V value = V{} + 1.0f;
  auto *vectors = reinterpret_cast<V *>(to);
  for (int64_t i = 0; i < bytes / int64_t(sizeof(V)); ++i) {
    asm volatile("" : "+m"(vectors[i])); // no call of memset
    vectors[i] = value;
  }
}

template <typename V>
[[gnu::always_inline]] inline void readEach(const char *from, const int64_t *at, int64_t runs,
                                            int64_t runBytes) {
  V sum[2] = {};
  for (int64_t run = 0; run < runs; ++run) {
    auto *vectors = reinterpret_cast<const V *>(from + at[run]);
    for (int64_t i = 0; i < runBytes / int64_t(sizeof(V)); ++i)
      sum[i % 2] += vectors[i];
  }
  sink = (sum[0] + sum[1])[0];
}

// A function for each width, since a template can't have the attribute of its instantiation.
#define WIDTH(V, LANES, ATTRIBUTE)                                                                 \
  ATTRIBUTE double multiplyAdd##LANES(int64_t count) { return multiplyAdd<V>(count); }             \
  ATTRIBUTE void read##LANES(const float *from, int64_t bytes) { read<V>(from, bytes); }           \
  ATTRIBUTE void write##LANES(float *to, int64_t bytes) { write<V>(to, bytes); }                   \
  ATTRIBUTE void readEach##LANES(const char *from, const int64_t *at, int64_t runs,                \
                                 int64_t bytes) {                                                  \
    readEach<V>(from, at, runs, bytes);                                                            \
  }                                                                                                \
  constexpr Loops loops##LANES{sizeof(V), multiplyAdd##LANES, read##LANES, write##LANES,           \
                               readEach##LANES};

struct Loops {
  int64_t bytes;
  double (*multiplyAdd)(int64_t);
  void (*read)(const float *, int64_t);
  void (*write)(float *, int64_t);
  void (*readEach)(const char *, const int64_t *, int64_t, int64_t);
};
#if defined(__x86_64__)
WIDTH(V16, 16, [[gnu::target("avx512f")]])
WIDTH(V8, 8, [[gnu::target("avx2,fma")]])
#endif
WIDTH(V4, 4, )

const Loops &best() {
#if defined(__x86_64__)
  static const Loops &chosen = __builtin_cpu_supports("avx512f") ? loops16
                               : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
                                   ? loops8
                                   : loops4;
  return chosen;
#else
  return loops4;
#endif
}
} // namespace

int64_t heddle::vectorBytes() { return best().bytes; }
double heddle::multiplyAdds(int64_t count) { return best().multiplyAdd(count); }
void heddle::readVectors(const float *from, int64_t bytes) { best().read(from, bytes); }
void heddle::writeVectors(float *to, int64_t bytes) { best().write(to, bytes); }
void heddle::readRuns(const char *from, const int64_t *at, int64_t runs, int64_t runBytes) {
  best().readEach(from, at, runs, runBytes);
}

void heddle::dependentSteps(int64_t count) {
  // Additions of constants take no time on some cores.
  uint64_t value = 1, other = uint64_t(count);
  asm volatile("" : "+r"(other));
  for (int64_t i = 0; i < count; i += 16)
#pragma clang loop unroll(full)
    for (int step = 0; step < 16; ++step) {
      value ^= other;
      asm volatile("" : "+r"(value));
    }
  asm volatile("" : : "r"(value));
}
