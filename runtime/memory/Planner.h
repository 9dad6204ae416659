//===- Planner.h - packing buffers into one arena ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values of a program live from the step that makes them to the last step
// that reads them; two that never live together may share memory. `planArena`
// gives each an offset in one arena:
//
//     std::vector<PlannedBuffer> buffers = {{100, 0, 1}, {50, 1, 2}, {100, 2, 3}};
//     planArena(buffers);     // 192 bytes: the third reuses the memory of the first
//     liveBytes(buffers);     // 150: no arena can be smaller
//
// The compiler plans once and stores the offsets in the program; the runtime
// plans again only for sizes that were not known then.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_MEMORY_PLANNER_H
#define HEDDLE_RUNTIME_MEMORY_PLANNER_H

#include <cstdint>
#include <vector>

namespace heddle {

/// A buffer of a program: it lives from step `first` to step `last`, both included.
struct PlannedBuffer {
  int64_t bytes = 0;
  int32_t first = 0, last = 0;
  int64_t offset = -1;   ///< set by planArena
  int64_t alignment = 1; ///< bytes; may exceed the arena's
};

/// The most bytes that live at one step.
int64_t liveBytes(const std::vector<PlannedBuffer> &buffers);

/// Gives each buffer an offset such that buffers alive together do not overlap;
/// returns the arena's size. Several orders are tried, each placed best-fit, and
/// the smallest arena wins; thousands of buffers are placed in one sweep over
/// the steps. The same buffers always get the same offsets.
int64_t planArena(std::vector<PlannedBuffer> &buffers, int64_t alignment = 64);

} // namespace heddle

#endif // HEDDLE_RUNTIME_MEMORY_PLANNER_H
