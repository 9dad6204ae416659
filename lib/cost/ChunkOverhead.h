//===- ChunkOverhead.h - how many parts of a nest threads share -*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads fetch chunks of a nest one after another. Chunks should be long in comparison with the
// time to fetch one, and so many that threads end at about the same time. No choice depends on the
// number of threads, so a mean over several numbers counts:
//
//     chunksWorthFetching(1e6, machine)               33: of scalar code, for a million operations
//     waitFactor(1), waitFactor(7), waitFactor(64)    1.19, 1.02, 1
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COST_CHUNKOVERHEAD_H
#define HEDDLE_LIB_COST_CHUNKOVERHEAD_H

#include "lib/cost/Machine.h"

namespace heddle::cost {

/// Returns the most chunks of scalar code with so many operations that are worth fetching. It is
/// less than one if threads would have too little to do.
double chunksWorthFetching(double operations, const Machine &machine);

/// Returns the factor by which a nest takes longer since threads wait for the last one: a mean for
/// two, four and sixteen threads.
double waitFactor(double chunks);

/// Returns the cycles that a nest takes with its waits, or infinity if its chunks are too small.
/// Symbolic sizes may be smaller than assumed: `chunksIn` returns the chunks that are left if the
/// nest takes at most so many cycles.
double cyclesWithWaits(double cycles, function_ref<double(double cycles)> chunksIn,
                       const Machine &machine);

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_CHUNKOVERHEAD_H
