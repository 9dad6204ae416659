//===- OuterLoops.h - loops around tiles ------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops around the tiles of a nest, or around the nests of a group, are given outermost first.
// The first ones are divided into equal parts for threads, while a part is worth fetching:
//
//     row: 512 steps, column: 4 steps of 32, enough work for 64 parts
//
//     [thread row by 8, cache row by 1, cache column by 32]
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_NEST_SCHEDULE_OUTERLOOPS_H
#define HEDDLE_TRANSFORMS_NEST_SCHEDULE_OUTERLOOPS_H

#include "lib/analysis/NestAnalysis.h"
#include "lib/cost/Machine.h"

namespace heddle::nest {

struct OuterLoop {
  std::vector<std::string> names; ///< merged
  int64_t step = 1, count = 1;    ///< points of a step; steps
  bool symbolic = false;          ///< there may be more steps
  bool equal = false;             ///< all parts have the same number of steps
};

/// Returns the loops, those for threads first. `parts`: how many are worth fetching.
std::vector<Loop> sharedLoops(ArrayRef<OuterLoop> loops, double parts);

/// Returns a schedule for the names of a group. A group computes its nests one after another at
/// each point, so loops with small strides in memory are innermost.
Schedule chooseGroupSchedule(GroupOp op, const cost::Machine &machine);

} // namespace heddle::nest

#endif // HEDDLE_TRANSFORMS_NEST_SCHEDULE_OUTERLOOPS_H
