//===- AccessBoxes.h - what loops touch of tensors --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The box of an access is the part of the tensor that a step of the first levels of loops touches:
//
//     %a[m, k] in [m, k], m: 64, k: 1024, f32, 4 levels: m by 16, k by 1
//
//     level       0       1       2
//     bytes       256 Ki  64 Ki   1024     whole lines
//     run         256 Ki  64 Ki   4        of neighbours
//     pages       64      16      16
//     occupied    256 Ki  64 Ki   64 Ki    of L1: 16 lines, 4096 bytes apart, share a set
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COST_ACCESSBOXES_H
#define HEDDLE_LIB_COST_ACCESSBOXES_H

#include "llvm/ADT/SmallVector.h"

namespace heddle::cost {

inline constexpr double pageBytes = 4096;

struct Box {
  double bytes = 0;   ///< of its lines
  double copied = 0;  ///< bytes of a staged copy of it
  double run = 0;     ///< bytes of its contiguous runs
  bool isRun = false; ///< all of it is one run
  double pages = 0;
  double occupied = 0; ///< bytes of L1: more than `bytes` if many lines are in few sets
};

struct AccessBoxes {
  llvm::SmallVector<Box, 10> levels; ///< of a step of the first n levels of loops
  /// Bytes that the loops walk one after another without a gap, from the innermost loop outwards.
  double run = 0;
};

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_ACCESSBOXES_H
