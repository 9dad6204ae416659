//===- CutRecurrences.h - parts of a recurrence's steps ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A recurrence runs its steps one after the other, so no more than one device can compute it unless
// its samples are divided. But the layers of a recurrent network can overlap, if each is cut into
// parts of its steps. What makes or follows its steps is cut with it:
//
//     a over t: 40, then recurrence b over t: 40, then c over t: 40         in 2 pieces
//
//     a/t.0, b/t.0, c/t.0 over t: 20, and a/t.1, b/t.1, c/t.1 over t: 20
//     b/t.1 reads what b/t.0 carries from step to step; c/t.0 and b/t.1 can run at the same time
//
// Each piece of an operator belongs to a choice of its own, and so has its own devices. Operators
// that sum over the steps, such as the gradients of weights, and updates are not cut; neither are
// recurrences that carry partial sums.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PLANNER_CUTRECURRENCES_H
#define HEDDLE_LIB_PLANNER_CUTRECURRENCES_H

#include "lib/planner/Graph.h"

namespace heddle::planner {

/// Cuts all recurrences into so many pieces of steps, or one for each step if there are fewer.
Graph cutRecurrences(const Graph &graph, unsigned pieces);

} // namespace heddle::planner

#endif // HEDDLE_LIB_PLANNER_CUTRECURRENCES_H
