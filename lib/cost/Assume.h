//===- Assume.h - good loops of a nest --------------------------*- C++ -*-===//
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

#ifndef HEDDLE_LIB_COST_ASSUME_H
#define HEDDLE_LIB_COST_ASSUME_H

#include "lib/cost/Facts.h"

namespace heddle::cost {

/// Calls `act` with variants of a nest with layouts, one for each choice of lanes, with assumed
/// loops.
void forEachAssumption(const NestFacts &facts, llvm::function_ref<void(const NestFacts &)> act);

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_ASSUME_H
