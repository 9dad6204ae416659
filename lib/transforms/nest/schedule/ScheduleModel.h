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

#include "dialects/nest/Nest.h"
#include "dialects/nest/Rates.h"

namespace heddle::nest {

using Group = std::vector<std::string>;

/// A read or write as the model sees it.
struct ModelAccess {
  struct Dim {
    std::string name; ///< of the tensor
    int64_t size = 1;
    /// Place along the dimension: a sum of iteration names (by number) times coefficients.
    std::vector<std::pair<unsigned, int64_t>> terms;
    int64_t stride = 1;      ///< elements between neighbours
    bool contiguous = false; ///< neighbours lie side by side ...
    int64_t run = 1;         ///< ... in runs of this many
  };
  std::vector<Dim> dims;
  int64_t bytes = 4; ///< of an element
  bool isWrite = false;
  bool stageable = false;
  bool onLanes = false;           ///< read as vectors
  bool scattered = false;         ///< lanes lie apart
  std::vector<std::string> order; ///< the tensor's names as they lie, outermost first

  const Dim *find(unsigned name) const {
    for (const Dim &dim : dims)
      for (const auto &[each, coefficient] : dim.terms)
        if (each == name)
          return &dim;
    return nullptr;
  }
  bool mentions(unsigned name) const { return find(name); }
};

/// A register tile.
struct ModelTile {
  int64_t vectors = 1;                            ///< side by side
  std::vector<std::pair<unsigned, int64_t>> rows; ///< names unrolled, with how many points
  double cycles = 1;                              ///< of one step of the reduction
};

struct Model {
  std::vector<std::string> names;
  std::vector<int64_t> sizes; ///< of symbols: typical ones
  std::vector<bool> reduced, symbolic;
  std::vector<ModelAccess> accesses; ///< reads in the order of the nest, then results
  Group vector;                      ///< a produced name, or merged names
  int64_t width = 16;                ///< lanes
  int64_t l1 = 32 << 10, l2 = 1 << 20, l3 = 16 << 20;
  Rates rates;

  /// The reduced name of which a step takes two neighbours at once (Pairs.cpp); "": none.
  std::string pair;

  unsigned number(const std::string &name) const {
    return unsigned(llvm::find(names, name) - names.begin());
  }
  struct Found {
    Schedule schedule;
    double cost; ///< in cycles
  };
  /// The best schedule of the family for one of these tiles.
  Found search(llvm::ArrayRef<ModelTile> tiles, llvm::ArrayRef<Loop> reductionOrder) const;
};

} // namespace heddle::nest

#endif // HEDDLE_TRANSFORMS_NEST_SCHEDULE_SCHEDULEMODEL_H
