//===- AssumedLoops.h - good loops of a nest --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If a nest has layouts and no loops, the cost model assumes loops. They follow from the lanes:
//
//     (m: 64, n: 32) reduce (k: 16)     %a[m, k], %b[k, n], %c[m, n]
//
//     lanes n    a good register tile of vectors of n and rows of m, and k inside
//     lanes k    sums of lanes; %b is loaded lane by lane if n is its last name
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COST_ASSUMEDLOOPS_H
#define HEDDLE_LIB_COST_ASSUMEDLOOPS_H

#include "lib/cost/NestFacts.h"

namespace heddle::cost {

/// Calls `act` with variants of a nest with layouts, one for each choice of lanes, with assumed
/// loops.
void forEachAssumption(const NestFacts &facts, function_ref<void(const NestFacts &)> act);

/// Returns the loops that are assumed for these lanes. `tile` selects one of the register tiles of
/// a reduction, the best first. `isSplit`: the outermost loop is that of `splitOf`.
SmallVector<Loop, 12> assumedLoops(const NestFacts &facts, ArrayRef<unsigned> lanes,
                                   unsigned tile = 0, bool isSplit = false);

/// An outer loop of a reduced name, between whose steps the results hold parts of the sums, so that
/// what one step reads stays in a cache.
struct Split {
  unsigned name = 0;
  int64_t points = 0; ///< of a step; 0: all that is read fits in the cache
};
Split splitOf(const nest::NestModel &nest, ArrayRef<unsigned> lanes);

/// Returns the good register tiles of a reduction with these lanes, the best first: the best one
/// over each set of names. `onLanes`: for each access, whether it is read as vectors.
std::vector<nest::RegisterTile> goodTiles(const nest::NestModel &nest, ArrayRef<unsigned> lanes,
                                          ArrayRef<bool> onLanes);

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_ASSUMEDLOOPS_H
