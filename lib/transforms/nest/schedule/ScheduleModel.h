//===- ScheduleModel.h - what a schedule of a contraction costs --*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reductions that use their operands again and again (matrix products, convolutions and their
// gradients, votes) are scheduled by a search over one family of loops:
//
//     chunks of produced names, for threads      thread n by 512
//       blocks of one reduced name               loop k by 256     packs a panel of one operand
//         tiles of produced names, in any order  cache m by 14     packs rows of another
//                                                cache n by 32
//           the reduction                        loop k by 16, loop k by 1
//             the register tile                  register m, register n by 16, vector n
//
// The cost of a candidate is its arithmetic plus the bytes that pass between caches. Bytes follow
// from footprints: the box of a tensor that the loops from some place inwards touch. A cache keeps
// what the loops from the outermost place inwards at which all boxes fit; what loops outside of
// that place touch again is fetched again, except what steps of the loop just outside of it share
// (rows of a window that moves, lines of which a step uses a part). Worked example:
// m = n = k = 1024 in f32, L2 of 1 MiB, chunks of n by 512, k by 256: B's box is 512 KiB and stays;
// A streams by once for each chunk, twice in all; C is read and written four times, once for each
// block of k.
//
// What a tile needs from afar is asked for between blocks of steps of the reduction (k by 16):
// asked for at once, 28 lines of C keep what the tile itself waits for out of the few places that a
// core has for lines on their way (2048 x 2048 x 2048: 82 % of the peak instead of 76 %).
//
// Nothing depends on the number of threads, so that neither do the bits of a result.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_NEST_SCHEDULE_SCHEDULEMODEL_H
#define HEDDLE_TRANSFORMS_NEST_SCHEDULE_SCHEDULEMODEL_H

#include "lib/analysis/Footprint.h"

namespace heddle::nest {

/// A contraction whose layouts and lanes are known.
struct Model {
  const NestModel &nest;
  std::vector<PlacedAccess> accesses; ///< reads of the body in the order of the nest, then results
  std::vector<unsigned> lanes;        ///< a produced name, or merged names
  /// The reduced name of which a step takes two neighbours at once (Pairs.cpp); -1: none.
  int pair = -1;

  struct Found {
    Schedule schedule;
    double cost; ///< in cycles
  };
  /// The best schedule of the family for one of these tiles.
  Found search(llvm::ArrayRef<RegisterTile> tiles, llvm::ArrayRef<Loop> reductionOrder) const;
};

} // namespace heddle::nest

#endif // HEDDLE_TRANSFORMS_NEST_SCHEDULE_SCHEDULEMODEL_H
