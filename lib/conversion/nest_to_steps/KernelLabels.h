//===- KernelLabels.h - canonical labels for a nest's names -----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel has labels instead of names (OutlineKernels.h): `d0`, `d1`, ... in an order that depends
// neither on names nor on their order in the source (lib/analysis/Canonical.h). Iteration names and
// the names of each operand have separate labels:
//
//     nest.compute (row: 64) reduce (k: 16) reads %x[column = k, row = row]
//     nest.compute (d3: 64) reduce (d4: 16) reads %arg0[d0 = d4, d1 = d3]
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_CONVERSION_NEST_TO_STEPS_KERNELLABELS_H
#define HEDDLE_CONVERSION_NEST_TO_STEPS_KERNELLABELS_H

#include "lib/transforms/names/NameRewriter.h"

namespace heddle {

/// How the names of a nest become labels.
struct KernelLabels {
  Labels iteration;
  std::vector<Labels> operands;   ///< of each distinct operand (`nest::kernelOperands`)
  std::vector<std::string> ranks; ///< labels of the operands; empty if they have none
  bool uniform = false;           ///< `iteration` has all names, including operands'
};

/// Sorts the reads of `nest` into an order that depends neither on names nor on their order in the
/// source. Operands of the kernel are in the same order (`nest::kernelOperands`).
KernelLabels orderOperands(Operation *nest, KnownKernels &known);

/// The names of each operand in `nest`, from operand `first` on.
std::vector<NameRewriter> operandRewriters(Operation *nest, const KernelLabels &labels,
                                           unsigned first = 0);
/// The names of the results; for an update, those of its destination.
NameRewriter resultRewriter(Operation *nest, const KernelLabels &labels);
/// Renames a nest whose operands already have their new types.
void renameNest(Operation *nest, const KernelLabels &labels);

} // namespace heddle

#endif // HEDDLE_CONVERSION_NEST_TO_STEPS_KERNELLABELS_H
