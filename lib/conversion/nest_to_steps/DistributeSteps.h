//===- DistributeSteps.h - how steps run ------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code of a kernel determines the number of chunks of a step. Threads share the chunks of a
// step; a step with one chunk, or one that takes less time than a barrier, is serial: one thread
// runs it. Then barriers are planned (PlaceBarriers.h), which completes the entry's steps.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_CONVERSION_NEST_TO_STEPS_DISTRIBUTESTEPS_H
#define HEDDLE_CONVERSION_NEST_TO_STEPS_DISTRIBUTESTEPS_H

#include "lib/conversion/nest_to_steps/OutlineEntries.h"
#include "lib/cost/Machine.h"

namespace heddle {

/// The facts of a kernel's code that a step needs.
struct StepCode {
  std::string symbol;
  Expr chunks = 1, scratchBytes;  ///< over `sizes`
  std::vector<std::string> sizes; ///< the size symbols that are arguments of the kernel
  double seconds = 0;             ///< of one thread, as estimated for choices
};

/// Fills in `entry.spec.steps`; `kernels` by number, and `machine` for choices. Memory must have
/// been planned.
void distributeSteps(OutlinedEntry &entry, ArrayRef<StepCode> kernels,
                     const cost::Machine &machine);

/// Fails with a located message if sizes that the program computes on entry can't be encoded in its
/// file.
LogicalResult checkSizes(const OutlinedEntry &entry);

} // namespace heddle

#endif // HEDDLE_CONVERSION_NEST_TO_STEPS_DISTRIBUTESTEPS_H
