//===- GatherAgain.h - keeps gathered values or gathers again ---*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A gathered value is larger than its block. Between two distant uses, such as those of a parameter
// in the forward and in the backward pass, a device can either keep it or gather it again:
//
//     %w = mesh.all_gather %block               %w = mesh.all_gather %block
//     %y = nest.compute reads %x[], %w[]        %y = nest.compute reads %x[], %w[]
//     ...                                 ->    ...
//     %d = nest.compute reads %e[], %w[]        %v = mesh.all_gather %block
//                                               %d = nest.compute reads %e[], %v[]
//
// The decision compares two costs. Gathering again takes the time of the transfer
// (lib/cost/Transfer.h). Keeping B bytes for T seconds in a program with a peak of M bytes costs
// T * B / M seconds, the fraction of memory times the time. So a gather is repeated if that
// shortens the step, or reduces its memory by a larger fraction than it lengthens it.
// `heddle.materialize` and `heddle.recompute` on the op override the cost.
//
// Each gather then starts a bounded time before its first use, and a bounded number of bytes ahead
// of others, so that few gathered values are live at once. Nests that copy the block before the
// gather, and those that read only the gathered value, move and repeat with it. Values that the
// function returns are not gathered again. No pass that merges equal ops may run after this one.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_PREPARE_GATHERAGAIN_H
#define HEDDLE_LIB_TRANSFORMS_NEST_PREPARE_GATHERAGAIN_H

#include "lib/cost/Machine.h"

namespace heddle::nest {

/// `explain`: emits remarks with the cost of each decision, and the total that the function sends.
void gatherAgain(func::FuncOp function, const cost::Machine &machine, bool explain);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_PREPARE_GATHERAGAIN_H
