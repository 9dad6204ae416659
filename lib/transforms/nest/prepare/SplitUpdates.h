//===- SplitUpdates.h - splits large accumulating updates -------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Points of an update that may write the same element, as in a histogram, run in one block of
// lanes. On a machine with many blocks, parts of a name have bins of their own, which are added:
//
//     update (n: 100000) %bins[v = read(0)] by %x[] combine add
//     becomes   %p = update (n$part: 32, n: 3125) 0[n$part, v = read(0)] by %x[n + 3125 * n$part]
//               %bins + sum over n$part of %p
//
// It needs a combiner whose neutral element is known, which may combine parts: add, multiply, max,
// min, and, or, xor. The parts depend only on sizes. The bins of a part lie together.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_PREPARE_SPLITUPDATES_H
#define HEDDLE_LIB_TRANSFORMS_NEST_PREPARE_SPLITUPDATES_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// Splits updates of which a part has at least `points` points.
void splitUpdates(func::FuncOp function, int64_t points);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_PREPARE_SPLITUPDATES_H
