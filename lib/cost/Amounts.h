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

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_AMOUNTS_H
