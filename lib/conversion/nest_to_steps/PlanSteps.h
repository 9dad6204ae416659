//===- PlanSteps.h - how steps run ------------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// When kernels have code, each step is known to have so many chunks. Threads share the chunks of a
// step; a step that one chunk does, or that takes less time than a barrier, is run by one thread
// alone (it is serial). Then barriers are planned (PlanBarriers.h), and the entry's steps are
// complete.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_CONVERSION_NEST_TO_STEPS_PLANSTEPS_H
#define HEDDLE_CONVERSION_NEST_TO_STEPS_PLANSTEPS_H

#include "dialects/nest/Rates.h"
#include "lib/conversion/nest_to_steps/Outline.h"

namespace heddle {

/// What a step must know of its kernel's code.
struct StepCode {
  std::string symbol;
  Expr chunks = 1, scratchBytes; ///< over the kernel's size symbols
};

/// Fills in `entry.spec.steps`, of kernels by number. Memory must have been planned.
void planSteps(OutlinedEntry &entry, llvm::ArrayRef<StepCode> kernels, const nest::Rates &rates);

/// Fails with a located message if sizes that the program computes on entry can't be written to its
/// file.
mlir::LogicalResult checkSizes(const OutlinedEntry &entry);

} // namespace heddle

#endif // HEDDLE_CONVERSION_NEST_TO_STEPS_PLANSTEPS_H
