//===- MaterializeGuards.h - padded copies instead of guards ----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduction that reads under a guard with an `else` value tests the guard at every point. If each
// element is read many times, it is cheaper to copy the tensor once with a border of that value:
//
//     max over ky of %x[row = row + ky - 1] if [0 <= row + ky - 1 < 28] else 0.0, plus %k[ky, out]
//     becomes   %p = %x with a border (row: 30)
//               max over ky of %p[row = row + ky] plus %k[ky, out]
//
// This requires that every condition bounds one coordinate of the tensor, so that the border can
// replace the guard, and at least eight points per element. It is not done for factors of sums of
// products that are zero outside: the emitter restricts the loops to points that contribute, so
// these reads need no test.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_PREPARE_MATERIALIZEGUARDS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_PREPARE_MATERIALIZEGUARDS_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// Replaces guarded reads of reductions by reads of a padded copy where that is profitable.
void materializeGuards(func::FuncOp function);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_PREPARE_MATERIALIZEGUARDS_H
