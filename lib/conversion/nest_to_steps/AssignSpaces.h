//===- AssignSpaces.h - memory spaces of values -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For a device with a memory of its own, all values of kernels lie there: also arguments and
// results, so that state stays on the device between calls, and constants, which are copied when
// the program is loaded. The host reads conditions, and engines read and write what they transfer.
// These get values in the host's memory, and steps that copy:
//
//     step 0   Kernel   x -> c            step 0   Kernel   x -> c
//     step 1   Loop     c                 step 1   Copy     c -> c'         c': host
//     step 2     Kernel   c -> c          step 2   Loop     c'
//     step 3   EndLoop                    step 3     Kernel   c -> c
//     step 4   Start    x -> y            step 4     Copy     c -> c'
//     step 5   Await    y                 step 5   EndLoop
//                                         step 6   Copy     x -> x'
//                                         step 7   Start    x' -> y'
//                                         step 8   Await    y'
//                                         step 9   Copy     y' -> y
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_CONVERSION_NEST_TO_STEPS_ASSIGNSPACES_H
#define HEDDLE_CONVERSION_NEST_TO_STEPS_ASSIGNSPACES_H

#include "lib/conversion/nest_to_steps/OutlineEntries.h"

namespace heddle {

/// Assigns the values of an entry to the memory space `device` and to the host's, and adds the
/// copies between them. Memory must have been planned; the arena of the entry is the host's then.
void assignSpaces(OutlinedEntry &entry, const std::string &device);

} // namespace heddle

#endif // HEDDLE_CONVERSION_NEST_TO_STEPS_ASSIGNSPACES_H
