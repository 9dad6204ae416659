//===- Vectors.h - loops that measure a core --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each loop keeps one resource of a core busy, with the widest vectors that the CPU has.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_HEDDLE_PROBE_VECTORS_H
#define HEDDLE_TOOLS_HEDDLE_PROBE_VECTORS_H

#include <cstdint>

namespace heddle {

/// The bytes of a vector.
int64_t vectorBytes();
/// Multiplies and adds vectors of f32 in registers; returns the number of f32 operations, two for
/// each lane of each of 12 * `count` vectors.
double multiplyAdds(int64_t count);
/// Runs `count` steps of one cycle each, which depend on each other.
void dependentSteps(int64_t count);
/// Loads all vectors of an array.
void readVectors(const float *from, int64_t bytes);
/// Stores all vectors of an array.
void writeVectors(float *to, int64_t bytes);
/// Loads `runs` pieces of `runBytes` bytes, which begin at the offsets `at`.
void readRuns(const char *from, const int64_t *at, int64_t runs, int64_t runBytes);

} // namespace heddle

#endif // HEDDLE_TOOLS_HEDDLE_PROBE_VECTORS_H
