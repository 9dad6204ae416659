//===- MaterializeGuards.h - padded copies where guards are tested too often -*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduction that reads under a guard with an `else` value tests it at every point; where each
// element is read many times it is cheaper to copy the tensor once, with a border of that value:
//
//     max over ky of %x[row = row + ky - 1] if [0 <= row + ky - 1 < 28] else 0.0, plus %k[ky, out]
//     becomes   %p = %x with a border (row: 30)
//               max over ky of %p[row = row + ky] plus %k[ky, out]
//
// Only where every condition bounds one coordinate of the tensor, so that the border explains the
// guard, and where points outnumber elements eight to one. Not for factors of sums of products that
// are zero outside: these need no test, since the emitter leaves points out of the loops that add
// nothing.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_MATERIALIZEGUARDS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_MATERIALIZEGUARDS_H

#include "dialects/nest/Nest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::nest {

/// Gives guarded reads of reductions a padded copy to read from, where that pays.
void materializeGuards(mlir::func::FuncOp function);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_MATERIALIZEGUARDS_H
