//===- Assume.h - good layouts and loops of a nest --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the cost model assumes where layouts or loops are not known yet. The lanes decide the rest:
//
//     (m: 64, n: 32) reduce (k: 16)     %a[m, k], %b[k, n], %c[m, n]
//
//     lanes n    layouts: n is the last name of %b and %c
//                loops: a good register tile of vectors of n and rows of m, and k inside
//     lanes k    layouts: k is the last name of %a and %b; sums of lanes
//
// Gathers stay gathers: lanes that move a gathered coordinate are loaded one by one in any layout.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COST_ASSUME_H
#define HEDDLE_LIB_COST_ASSUME_H

#include "lib/cost/Facts.h"

namespace heddle::cost {

/// Calls `act` with variants of a nest, one for each choice of lanes, with assumed loops and, if they
/// are not known, assumed layouts.
void forEachAssumption(const NestFacts &facts, llvm::function_ref<void(const NestFacts &)> act);

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_ASSUME_H
