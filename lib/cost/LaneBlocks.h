//===- LaneBlocks.h - how long blocks of lanes take -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Estimates the seconds of a kernel whose chunks are run by blocks of lanes, from what one block
// executes and moves. A core keeps as many blocks as its lanes, registers and shared memory allow.
// It issues for one warp at a time; few resident lanes do not hide the time of memory, unless each
// loads what it needs next while it computes.
//
//     a product of 1024^3 in blocks of 64 x 64, 256 lanes, 4 x 4 sums a lane, 16 of k at a time:
//     blocks 256, instructions 1024 * (16 + 5 + ...) of a lane, bytes 1024 * 128 * 4 of a block
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COST_LANEBLOCKS_H
#define HEDDLE_LIB_COST_LANEBLOCKS_H

#include "lib/cost/Machine.h"

namespace heddle::cost {

/// What a block of a kernel needs.
struct BlockAmounts {
  double blocks = 1;       ///< of the kernel
  int64_t lanes = 1;       ///< of a block
  int64_t registers = 32;  ///< of a lane
  int64_t sharedBytes = 0; ///< of a block
  double instructions = 0; ///< of a lane
  double bytes = 0;        ///< that a block moves from and to memory
  double barriers = 0;     ///< at which the lanes of a block wait for each other
  double ahead = 0;        ///< the part of the bytes that are loaded while the block computes
};

/// Returns the time of the kernel on a machine with lanes; infinity if a block does not fit a core.
double secondsOf(const BlockAmounts &amounts, const Machine &machine);

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_LANEBLOCKS_H
