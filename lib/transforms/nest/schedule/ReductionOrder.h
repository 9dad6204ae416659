//===- ReductionOrder.h - the loops of a reduction --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Orders the loops over the reduced names of a contraction, in the order in which its longest
// vector read, the panel, lies in memory. A name that the panel's layout splits into blocks is
// iterated in blocks:
//
//     panel [k / 16, n, k % 16]            [loop k by 16, loop k by 1]
//
// If a guard distinguishes points of a tile (`row + ky - 1 < 56`), the tile has separate code for
// every border. The loop over `ky` comes first, so that the others are inside of that branch.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_NEST_SCHEDULE_REDUCTIONORDER_H
#define HEDDLE_TRANSFORMS_NEST_SCHEDULE_REDUCTIONORDER_H

#include "lib/transforms/nest/schedule/ChooseVectorLanes.h"

namespace heddle::nest {

/// Returns the loops with their steps, the fastest varying innermost. `panel`: the read;
/// `vector` and `tiles`: names of which a tile has several points.
std::vector<Loop> reductionOrder(ComputeOp op, const LaidNestModel &laid, unsigned panel,
                                 ArrayRef<unsigned> vector, ArrayRef<RegisterTile> tiles);

} // namespace heddle::nest

#endif // HEDDLE_TRANSFORMS_NEST_SCHEDULE_REDUCTIONORDER_H
