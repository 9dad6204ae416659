//===- PlanBarriers.h - which steps wait for others -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two steps that touch no buffer in common, or only read it, need not wait for each other; steps
// say after which others a barrier has to stand (`StepSpec::waits`).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_CONVERSION_NEST_TO_STEPS_PLANBARRIERS_H
#define HEDDLE_CONVERSION_NEST_TO_STEPS_PLANBARRIERS_H

#include "lib/conversion/nest_to_steps/Outline.h"

namespace heddle {

/// For each step, whether a barrier must stand before it. `serial[s]`: step s is run by thread 0
/// alone. Memory must have been planned.
std::vector<bool> planBarriers(const OutlinedEntry &entry, const std::vector<bool> &serial);

} // namespace heddle

#endif // HEDDLE_CONVERSION_NEST_TO_STEPS_PLANBARRIERS_H
