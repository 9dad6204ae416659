//===- Fuse.h - which nests run as one --------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two rewrites on nests, decided by legality and a cost, never by what an op is called:
//
//   - a nest without a reduction is computed again where it is read (its reads go through the reader's maps) when that costs
//     nothing (it only moves elements), or when every element is read about once, or is cheap to compute again;
//   - a nest that reads a reduction's result point by point becomes that reduction's `finish` region.
//
//     %y = relu(%c) after %c = sum(...)          one nest: reduce ... finish { maximumf }
//     %w = window(%x); %c = sum(%w * %k)          one nest: reads %x[row = row + ky, ...], %k[]
//
// `heddle.materialize` on a nest keeps its result in memory, `heddle.recompute` asks for it to be computed at each use.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_FUSE_H
#define HEDDLE_LIB_TRANSFORMS_NEST_FUSE_H

#include "dialects/nest/Nest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::nest {

/// Fuses the nests of a function until nothing changes.
void fuseNests(mlir::func::FuncOp function);

/// Gives guarded reads of reductions a padded copy to read from, where each element is read often enough to pay for it.
void materializeGuards(mlir::func::FuncOp function);

/// Splits reductions with few results and many points into partial results and a small second reduction. The parts
/// depend on sizes alone, so the result's bits do not depend on threads.
void splitReductions(mlir::func::FuncOp function);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_FUSE_H
