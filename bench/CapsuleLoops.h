//===- CapsuleLoops.h - the capsule primitive as plain loops ----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_BENCH_CAPSULELOOPS_H
#define HEDDLE_BENCH_CAPSULELOOPS_H

#include <cstdint>

namespace heddle::bench {

/// Computes V[n, 7, 7, co, 4, 4] from P[n, 15, 15, ci, 4, 4] and W[3, 3, ci, co, 4, 4], all
/// row-major, by plain loops that the C++ compiler optimises.
void capsuleLoops(int64_t n, int64_t in, int64_t out, const float *__restrict p,
                  const float *__restrict w, float *__restrict v);

} // namespace heddle::bench

#endif // HEDDLE_BENCH_CAPSULELOOPS_H
