//===- PackArena.h - packs buffers into one arena ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value of a program is live from the step that defines it to the last step that reads it. Two
// values whose live ranges do not overlap may share memory. `packArena` assigns each an offset in
// one arena:
//
//     std::vector<ArenaBuffer> buffers = {{100, 0, 1}, {50, 1, 2}, {100, 2, 3}};
//     packArena(buffers);     // 192 bytes: the third reuses the memory of the first
//     liveBytes(buffers);     // 150: the lower bound
//
// The compiler packs once and stores the offsets in the program; the runtime packs again only for
// sizes that were unknown then.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_MEMORY_PACKARENA_H
#define HEDDLE_RUNTIME_MEMORY_PACKARENA_H

#include <cstdint>
#include <vector>

namespace heddle {

/// A buffer of a program: live from step `first` to step `last`, inclusive.
struct ArenaBuffer {
  int64_t bytes = 0;
  int32_t first = 0, last = 0;
  int64_t offset = -1;   ///< set by packArena
  int64_t alignment = 1; ///< bytes; may exceed the arena's
};

/// The maximum over all steps of the bytes that are live.
int64_t liveBytes(const std::vector<ArenaBuffer> &buffers);

/// Assigns offsets such that buffers with overlapping live ranges do not overlap; returns the
/// arena's size. Tries several orders, each placed best-fit, and keeps the smallest arena;
/// thousands of buffers are placed in one sweep over the steps. Deterministic.
int64_t packArena(std::vector<ArenaBuffer> &buffers, int64_t alignment = 64);

} // namespace heddle

#endif // HEDDLE_RUNTIME_MEMORY_PACKARENA_H
