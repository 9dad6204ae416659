//===- PlanMemory.h - where the values of an entry lie ----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lifetimes follow from the order of the steps. A step may write a result where an operand lies
// that nobody reads later, if each of its points reads, of that operand, only the place that it
// writes:
//
//     %m2 = compute reads %m[], %g[]     %m2 takes the place of %m
//     %t  = compute reads %x[row = row + 1]   has a place of its own: it reads its neighbours
//
// Results take the places of arguments that the caller gives up (`heddle.donate`), temporaries
// those of temporaries, and a temporary that is updated in place to become a result lies in the
// result from the start. All other temporaries are packed into one arena.
//
// What a loop carries, and what both sides of a branch make, has one place that several steps write.
// What lives where the program jumps lives as long as the branch or loop: linear lifetimes stay true.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_CONVERSION_NEST_TO_STEPS_PLANMEMORY_H
#define HEDDLE_CONVERSION_NEST_TO_STEPS_PLANMEMORY_H

#include "lib/conversion/nest_to_steps/Outline.h"

namespace heddle {

/// Fills in lifetimes, places, donations and the arena of `entry.spec`. Returns the most bytes of
/// temporaries that live at one step: no arena can be smaller.
int64_t planMemory(OutlinedEntry &entry);

/// How large a value is, where size symbols count as their typical value.
int64_t typicalBytes(const ValueSpec &value);

/// Values with `zero_padded` layouts whose padding no earlier value establishes are cleared by a
/// step of their own before they are made. Memory must have been planned.
void establishPadding(OutlinedProgram &program, OutlinedEntry &entry);

} // namespace heddle

#endif // HEDDLE_CONVERSION_NEST_TO_STEPS_PLANMEMORY_H
