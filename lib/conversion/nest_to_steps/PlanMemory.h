//===- PlanMemory.h - buffers of the values of an entry ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Live ranges follow from the order of the steps. A step may write a result to the buffer of an
// operand that no later step reads, if each of its points reads only the element of that operand
// that it writes:
//
//     %m2 = compute reads %m[], %g[]             %m2 reuses the buffer of %m
//     %t = compute reads %x[row = row + 1]       needs a separate buffer: it reads neighbours
//
// Results reuse the buffers of donated arguments (`heddle.donate`), temporaries those of
// temporaries, and a temporary that is updated in place and becomes a result uses the result's
// buffer. All other temporaries are packed into one arena.
//
// A loop-carried value, and a value that both sides of a branch define, has one buffer that several
// steps write. A value that is live across a jump is live throughout the branch or loop, so that
// live ranges remain intervals of steps.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_CONVERSION_NEST_TO_STEPS_PLANMEMORY_H
#define HEDDLE_CONVERSION_NEST_TO_STEPS_PLANMEMORY_H

#include "lib/conversion/nest_to_steps/OutlineEntries.h"

namespace heddle {

/// Fills in live ranges, offsets, donations and the arena of `entry.spec`. Returns the maximum over
/// the steps of the live bytes of temporaries, a lower bound of the arena's size.
int64_t planMemory(OutlinedEntry &entry);

/// The size of a value in bytes, for the typical values of size symbols.
int64_t typicalBytes(const ValueSpec &value);

/// Adds a step that clears each value with a `zero_padded` layout before it is computed, unless its
/// memory has zero padding already. Memory must have been planned.
void establishPadding(OutlinedProgram &program, OutlinedEntry &entry);

} // namespace heddle

#endif // HEDDLE_CONVERSION_NEST_TO_STEPS_PLANMEMORY_H
