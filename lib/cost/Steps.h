//===- Steps.h - what steps of a program cost -------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Questions about steps of a compiled program, also of those that run no nest:
//
//     isShorterThanBarrier(8e-7, machine)     one thread runs it, the others go on
//     secondsToClear(1 << 20, machine)        of a step that stores a megabyte of zeros
//     secondsToCopy(1 << 20, machine)         of a copy in the order of memory
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COST_STEPS_H
#define HEDDLE_LIB_COST_STEPS_H

#include "lib/cost/Machine.h"

namespace heddle::cost {

/// Returns true if one thread runs a step of so many seconds before the threads would have met. The
/// start of a step takes as long for all of them.
bool isShorterThanBarrier(double seconds, const Machine &machine);

/// Returns how long it takes to store zeros, to the nearest memory that holds them.
double secondsToClear(double bytes, const Machine &machine);
/// Returns how long it takes to copy, from and to the nearest memory that holds both, beside other
/// work of a step.
double secondsToCopy(double bytes, const Machine &machine);

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_STEPS_H
