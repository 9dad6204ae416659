//===- CoalesceCopies.h - coalesces phi copies ------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both sides of a branch, and the start and each step of a loop, define one value: each copies its
// result to the buffer of that value (a phi copy). A copy is removed if its source can be computed
// directly in that buffer:
//
//     Loop c                     Loop c
//       s -> n, c                  s -> s, c        elementwise: n may overwrite s
//       n -> s    phi copy       EndLoop
//     EndLoop
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_CONVERSION_NEST_TO_STEPS_COALESCECOPIES_H
#define HEDDLE_CONVERSION_NEST_TO_STEPS_COALESCECOPIES_H

#include "lib/conversion/nest_to_steps/OutlineEntries.h"

namespace heddle {

/// Removes unnecessary phi copies of an entry, and unrolls loops by two that can alternate between
/// two buffers instead of copying.
void coalesceCopies(OutlinedEntry &entry);

/// True if a nest may write a result of the same type and layout to the buffer of `operand`: no
/// point reads an element of it that another point has written.
bool mayOverwrite(Operation *nest, Value operand);

} // namespace heddle

#endif // HEDDLE_CONVERSION_NEST_TO_STEPS_COALESCECOPIES_H
