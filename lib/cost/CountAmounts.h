//===- CountAmounts.h - counts what a nest executes and moves ---*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts the amounts of a nest with layouts and a schedule, or those that any layouts and schedule
// have.
//
//     %c = nest.compute (m: 64, n: 32) reduce (k: 16)      f32, vectors of 16 lanes
//     [cache m by 8, loop k by 1, register m by 1, register n by 16, vector n by 1]
//
//     the tile is 8 rows of 2 vectors; it runs 8 times, with 16 steps each
//     products     8 * 16 * 8 * 2 multiply-adds of vectors
//     loads        8 * 16 * (2 vectors of %b, 8 scalars of %a)
//     stores       8 * 8 * 2 vectors of %c
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COST_COUNTAMOUNTS_H
#define HEDDLE_LIB_COST_COUNTAMOUNTS_H

#include "lib/cost/NestFacts.h"

namespace heddle::cost {

/// Returns the instructions that a nest executes, and no bytes. Its schedule must be known.
Amounts countInstructions(const NestFacts &nest);

/// Whether data is fetched again where the loops walk too much for a cache in between.
enum class Fetched { Once, ByLoops };

/// Returns the bytes of the cache in front of a level, in which data stays.
double capacityOf(const nest::NestModel &nest, int level);

/// Adds the bytes that nests move which run together at each point of their groups. Their schedules
/// must be known.
void addBytes(ArrayRef<const NestFacts *> nests, Fetched how, Amounts &amounts);

/// Returns the number of rows that a gather looks up while each iteration name takes `extents`
/// points.
double gatheredRows(const nest::NestAccess &access, ArrayRef<int64_t> extents);

/// Calls `act` with each tensor that nests access which run together, and the least bytes of it
/// that they access.
void forEachTensor(ArrayRef<NestFacts> nests,
                   function_ref<void(Value, double bytes, bool isWritten)> act);

/// Returns the least amounts of any layouts and loops. Only the bytes of tensors that `counts`
/// accepts are among them.
Amounts leastAmounts(
    ArrayRef<NestFacts> nests, function_ref<bool(Value)> counts = [](Value) { return true; });

/// Returns the amounts of good layouts and loops, which are not known.
Amounts amountsBySizes(
    ArrayRef<NestFacts> nests, function_ref<bool(Value)> counts = [](Value) { return true; });

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_COUNTAMOUNTS_H
