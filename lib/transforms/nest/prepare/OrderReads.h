//===- OrderReads.h - canonical order of reads and ops ----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives nests a canonical order, so that `x * y + z` and `z + y * x` share one kernel. Reads are
// ordered by their canonical labels (lib/analysis/Canonical.h), operands of commutative scalar ops
// by their expressions, and scalar ops in the order in which the yielded values need them:
//
//     reads %x[..], %y[..]            reads %arg0[..], %arg1[..]       whichever of the two was
//     %0 = arith.mulf %b, %a    ->    %0 = arith.mulf %a, %b           written
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_PREPARE_ORDERREADS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_PREPARE_ORDERREADS_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// Sorts the reads of a nest by `keys`, one per read. The reads of the body and those of the finish
/// region, which follow, are sorted separately. A read comes after the reads to which it refers.
void orderReads(LoopNestInterface nest, ArrayRef<std::string> keys);

/// Orders the scalar ops of all regions of `nest` and of nested nests.
void orderScalars(Operation *nest);

/// `nest-order-reads`: orders the reads and the scalar ops of all nests in `function`, whose names
/// are neutral. Values are numbered in the order of their definitions.
void orderNests(Operation *function);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_PREPARE_ORDERREADS_H
