//===- Amounts.h - what a scheduled nest executes and moves -----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts the instructions that a nest with layouts and a schedule executes, and the bytes that it
// moves between the levels of the memory hierarchy. These are amounts: they depend on the sizes of
// caches and vectors, and on no rate (Cost.h).
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

#ifndef HEDDLE_LIB_COST_AMOUNTS_H
#define HEDDLE_LIB_COST_AMOUNTS_H

#include "lib/cost/Facts.h"
#include "lib/cost/Machine.h"

#include <array>

namespace heddle::cost {

/// A prefetcher is ahead after this many bytes of a contiguous run.
inline constexpr double runStart = 128;

struct Amounts {
  double operations = 0; ///< simple vector operations
  double products = 0;   ///< multiply-adds of contractions, of vectors
  double calls = 0;      ///< of functions that are computed one lane at a time
  double loads = 0;      ///< vectors and broadcast scalars
  double stores = 0;     ///< vectors
  double gathered = 0;   ///< lanes that are loaded or stored one by one
  double missed = 0;     ///< those whose lines share sets, so that the first cache has lost them
  double rows = 0;       ///< coordinates that are gathered
  double turned = 0;     ///< vectors that are transposed in registers
  double divided = 0;    ///< vectors that lie in two lines
  double crowded = 0;    ///< lines that the first cache loses since they share its sets
  double hops = 0;       ///< steps of innermost loops to another page
  double converted = 0;  ///< vectors and scalars that are widened or narrowed
  double chained = 0;    ///< cycles of dependent operations of reductions
  double steps = 0;      ///< of innermost sequential loops
  double entries = 0;    ///< times that an innermost sequential loop is entered
  double tiles = 0;      ///< register tiles that are begun and finished
  double copied = 0;     ///< vectors of staged copies
  double spilled = 0;    ///< accumulators that have no register, at each of their uses
  double pages = 0;      ///< that are searched, since a core remembers few
  double waited = 0;     ///< bytes from L3 or memory for which staged copies wait
  double chunks = 1;     ///< that threads share
  /// Bytes that come from a level, or go to it, while data that fits stays in the nearer ones. Each
  /// byte counts at one level; its way through nearer ones is implied.
  std::array<double, memoryLevels> bytes = {0, 0, 0};
  /// Those at the beginning of contiguous runs, of which no prefetcher knows yet.
  std::array<double, memoryLevels> scattered = {0, 0, 0};

  Amounts &operator+=(const Amounts &other);
  std::string str() const; ///< "operations 64, loads 12, ..."
};

/// Returns the instructions that a nest executes, and no bytes. Its schedule must be known.
Amounts countInstructions(const NestFacts &nest);
/// Returns those of an access alone, which depend on its own copy and on no other.
Amounts countAccess(const NestFacts &nest, size_t access);
/// Returns those of all else.
Amounts countArithmetic(const NestFacts &nest);

/// Whether data is fetched again where the loops walk too much for a cache in between.
enum class Fetched { Once, ByLoops };

/// Returns the bytes of the cache in front of a level, in which data stays.
double capacityOf(const nest::NestModel &nest, int level);

/// Adds the bytes that nests move which run together at each point of their groups. Their schedules
/// must be known.
void addBytes(llvm::ArrayRef<const NestFacts *> nests, Fetched how, Amounts &amounts);

/// Returns the number of rows that a gather looks up while each iteration name takes `extents`
/// points.
double gatheredRows(const nest::NestAccess &access, llvm::ArrayRef<int64_t> extents);

/// Calls `act` with each tensor that nests access which run together, and the least bytes of it
/// that they access.
void forEachTensor(llvm::ArrayRef<NestFacts> nests,
                   llvm::function_ref<void(mlir::Value, double bytes, bool isWritten)> act);

/// Returns the least amounts of any layouts and loops. Only the bytes of tensors that `counts`
/// accepts are among them.
Amounts leastAmounts(
    llvm::ArrayRef<NestFacts> nests,
    llvm::function_ref<bool(mlir::Value)> counts = [](mlir::Value) { return true; });

/// Returns the amounts of good layouts and loops, which are not known.
Amounts amountsBySizes(
    llvm::ArrayRef<NestFacts> nests,
    llvm::function_ref<bool(mlir::Value)> counts = [](mlir::Value) { return true; });

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_AMOUNTS_H
