//===- PlaceBarriers.h - barriers between steps -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two steps that access no common buffer, or only read it, need no barrier between them;
// `StepSpec::waits` tells whether a barrier precedes a step.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_CONVERSION_NEST_TO_STEPS_PLACEBARRIERS_H
#define HEDDLE_CONVERSION_NEST_TO_STEPS_PLACEBARRIERS_H

#include "lib/conversion/nest_to_steps/OutlineEntries.h"

namespace heddle {

/// For each step, whether it needs a barrier before it. `serial[s]`: only thread 0 runs step s.
/// Memory must have been planned.
std::vector<bool> placeBarriers(const OutlinedEntry &entry, const std::vector<bool> &serial);

} // namespace heddle

#endif // HEDDLE_CONVERSION_NEST_TO_STEPS_PLACEBARRIERS_H
