//===- ScheduleModel.h - schedules of contractions --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reductions that reuse their operands (matrix products, convolutions and their gradients, votes)
// are scheduled by a search over one family of loops:
//
//     chunks of produced names, for threads      thread n by 512
//       blocks of one reduced name               loop k by 256     packs a panel of one operand
//         tiles of produced names, in any order  cache m by 14     packs rows of another
//                                                cache n by 32
//           the reduction                        loop k by 16, loop k by 1
//             the register tile                  register m, register n by 16, vector n
//
// The cost of a candidate is the time that `lib/cost` estimates for its loops and copies
// (ScheduleCost.h). Worked example of its traffic: m = n = k = 1024 in f32, L2 of 1 MiB, chunks of
// n by 512, k by 256: B's box is 512 KiB and stays; A is streamed once per chunk, twice in all; C
// is read and written four times, once per block of k.
//
// Data that a tile needs from an outer cache or memory is prefetched between blocks of reduction
// steps (k by 16): if it were prefetched at once, 28 lines of C would occupy the few fill buffers
// of a core, and the tile's own loads would wait (2048 x 2048 x 2048: 82 % of the peak instead of
// 76 %).
//
// No choice depends on the number of threads, so results are bitwise independent of it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_NEST_SCHEDULE_SCHEDULEMODEL_H
#define HEDDLE_TRANSFORMS_NEST_SCHEDULE_SCHEDULEMODEL_H

#include "lib/analysis/Footprint.h"
#include "lib/cost/Machine.h"
#include "lib/cost/NestFacts.h"

namespace heddle::nest {

/// A contraction with known layouts and lanes.
struct Model {
  const NestModel &nest;
  const cost::Machine &machine;
  const cost::NestFacts &facts;       ///< of the same nest, with its layouts
  std::vector<PlacedAccess> accesses; ///< reads of the body in the order of the nest, then results
  std::vector<unsigned> lanes;        ///< a produced name, or merged names
  /// The reduced name along which a step processes two neighbours at once (Bf16Pairs.cpp), or -1.
  int pair = -1;

  /// Returns the bytes of an element in a copy: narrow floats are widened unless they are
  /// multiplied in pairs.
  int64_t copiedBytes(const PlacedAccess &access) const {
    return pair < 0 ? std::max<int64_t>(access.bytes, 4) : access.bytes;
  }

  struct Found {
    Schedule schedule;
    double cost;                        ///< in cycles
    const RegisterTile *tile = nullptr; ///< one of those given
  };
  /// Returns the best schedule of the family over these tiles.
  Found search(ArrayRef<RegisterTile> tiles, ArrayRef<Loop> reductionOrder) const;
};

} // namespace heddle::nest

#endif // HEDDLE_TRANSFORMS_NEST_SCHEDULE_SCHEDULEMODEL_H
