//===- Probe.h - peak rates of the machine ----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Short measurements of this machine's peak rates, in the same run as the benchmarks: f32 fused
// multiply-adds in registers with the widest vectors, and a sum of two arrays that exceed the
// caches.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_BENCH_PROBE_H
#define HEDDLE_BENCH_PROBE_H

#include "bench/Bench.h"

namespace heddle::bench {

/// f32 FLOP/s of this many threads, each doing multiply-adds in registers for a few milliseconds.
double peakFlops(int threads, Clock clock = Clock::Wall);
/// Bytes/s read and written by a[i] = b[i] + c[i] over 3 x 64 MiB.
double peakBytes(int threads, Clock clock = Clock::Wall);

} // namespace heddle::bench

#endif // HEDDLE_BENCH_PROBE_H
