//===- OutlineEntries.h - functions as values and steps ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Translates a function of nests into the runtime's form: values with types and layouts, and steps,
// each a kernel (OutlineKernels.h) with its operands and results. Constants become bytes.
//
// A transfer between devices (`TransferInterface`) starts at its op, and is awaited before the
// first step that uses its result, so that it overlaps with the steps in between:
//
//     %s = mesh.all_reduce %g ...         step 3   Start    g -> s
//     %h = nest.compute ... %x            step 4   Kernel   x -> h
//     %w = nest.compute ... %s            step 5   Await    step 3
//                                         step 6   Kernel   s -> w
//
// The layout of a value is `nd.layout` of an argument or result, or `layouts` of its nest; a value
// without either is row-major over its sorted names.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CONVERSION_NEST_TO_STEPS_OUTLINEENTRIES_H
#define HEDDLE_LIB_CONVERSION_NEST_TO_STEPS_OUTLINEENTRIES_H

#include "dialects/nest/Nest.h"
#include "lib/conversion/nest_to_steps/OutlineKernels.h"
#include "runtime/format/Manifest.h"

namespace heddle {

struct OutlinedStep {
  /// Null for steps of control flow, clearing and communication.
  Operation *nest = nullptr;
  size_t kernel = 0;
  std::vector<int32_t> operands, results; ///< values, in the order of the kernel's arguments
  StepSpec spec;                          ///< without chunks, kernel symbol, values and barrier
  /// The kind of a phi copy, to a buffer that several steps write: before a loop or at the end of
  /// the entry, at the end of a loop's body, or of a side of a branch (CoalesceCopies.h).
  enum class Phi { None, Start, Next, Side } phi = Phi::None;
  /// The number of the transfer that a Start begins, or an Await waits for; -1: none.
  int32_t transfer = -1;
};

struct OutlinedEntry {
  func::FuncOp function;
  EntrySpec spec; ///< without steps, live ranges and offsets
  std::vector<OutlinedStep> steps;
};

struct OutlinedProgram {
  std::vector<OutlinedKernel> kernels;
  std::vector<OutlinedEntry> entries;
  std::string constants;
};

/// "file:line:column", or empty.
std::string spellLocation(Location loc);

/// Every public function of a module that `insertCopies` has prepared becomes an entry. `kernels`
/// are those of `outlineKernels`, with sources; if there are none, steps have no kernels. Erases
/// their functions.
FailureOr<OutlinedProgram> outline(ModuleOp module, std::vector<OutlinedKernel> kernels);

/// Drops kernels that no step runs, since copies were coalesced, and merges those that schedules
/// have made equal.
void keepDistinctKernels(OutlinedProgram &program);

} // namespace heddle

#endif // HEDDLE_LIB_CONVERSION_NEST_TO_STEPS_OUTLINEENTRIES_H
