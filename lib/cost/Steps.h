//===- Steps.h - what steps of a program cost -------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Questions about steps of a compiled program that are no nests, or of which only amounts are
// known:
//
//     isShorterThanBarrier(2e4, 8e4, machine)     5 us: one thread runs it, the others go on
//     secondsToClear(1 << 20, machine)            of a step that stores a megabyte of zeros
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COST_STEPS_H
#define HEDDLE_LIB_COST_STEPS_H

#include "lib/cost/Machine.h"

namespace heddle::cost {

/// Returns true if one thread executes `operations` and moves `bytes` in less time than the threads
/// need to meet.
bool isShorterThanBarrier(double operations, double bytes, const Machine &machine);

/// Returns how long it takes to store zeros, to the nearest memory that holds them.
double secondsToClear(double bytes, const Machine &machine);

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_STEPS_H
