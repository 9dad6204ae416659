//===- Amounts.h - what a scheduled nest executes and moves -----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The instructions that a nest executes, and the bytes that it moves between the levels of the
// memory hierarchy (CountAmounts.h). These are amounts: they depend on the sizes of caches and
// vectors, and on no rate (Cost.h).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COST_AMOUNTS_H
#define HEDDLE_LIB_COST_AMOUNTS_H

#include "lib/cost/Machine.h"

#include <array>

// clang-format off
// AMOUNT(member, what it is): those that add up, in the order in which they are printed.
#define HEDDLE_AMOUNTS(AMOUNT)                                                                     \
  AMOUNT(operations, "simple vector operations")                                                   \
  AMOUNT(products,   "multiply-adds of contractions, of vectors")                                  \
  AMOUNT(calls,      "of functions that are computed one lane at a time")                          \
  AMOUNT(loads,      "vectors and broadcast scalars")                                              \
  AMOUNT(stores,     "vectors")                                                                    \
  AMOUNT(gathered,   "lanes that are loaded or stored one by one")                                 \
  AMOUNT(missed,     "those whose lines share sets, so that the first cache has lost them")        \
  AMOUNT(turned,     "vectors that are transposed in registers")                                   \
  AMOUNT(divided,    "vectors that lie in two lines")                                              \
  AMOUNT(crowded,    "lines that the first cache loses since they share its sets")                 \
  AMOUNT(hops,       "steps of innermost loops to another page")                                   \
  AMOUNT(rows,       "coordinates that are gathered")                                              \
  AMOUNT(converted,  "vectors and scalars that are widened or narrowed")                           \
  AMOUNT(chained,    "cycles of dependent operations of reductions")                               \
  AMOUNT(steps,      "of innermost sequential loops")                                              \
  AMOUNT(entries,    "times that an innermost sequential loop is entered")                         \
  AMOUNT(tiles,      "register tiles that are begun and finished")                                 \
  AMOUNT(copied,     "vectors of staged copies")                                                   \
  AMOUNT(spilled,    "accumulators that have no register, at each of their uses")                  \
  AMOUNT(pages,      "that are searched, since a core remembers few")                              \
  AMOUNT(waited,     "bytes from L3 or memory for which staged copies wait")
// clang-format on

namespace heddle::cost {

/// A prefetcher is ahead after this many bytes of a contiguous run.
inline constexpr double runStart = 128;
/// The names of `Amounts::bytes` and `Amounts::scattered`.
inline constexpr const char *bytesNames[] = {"l2_bytes", "l3_bytes", "memory_bytes"};
inline constexpr const char *scatteredNames[] = {"l2_scattered", "l3_scattered",
                                                 "memory_scattered"};

struct Amounts {
#define HEDDLE_AMOUNT(member, what) double member = 0;
  HEDDLE_AMOUNTS(HEDDLE_AMOUNT)
#undef HEDDLE_AMOUNT
  double chunks = 1; ///< that threads share
  /// Bytes that come from a level, or go to it, while data that fits stays in the nearer ones. Each
  /// byte counts at one level; its way through nearer ones is implied.
  std::array<double, memoryLevels> bytes = {0, 0, 0};
  /// Those at the beginning of contiguous runs, of which no prefetcher knows yet.
  std::array<double, memoryLevels> scattered = {0, 0, 0};

  Amounts &operator+=(const Amounts &other);
  std::string str() const; ///< "operations 64, loads 12, ..."
};

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_AMOUNTS_H
