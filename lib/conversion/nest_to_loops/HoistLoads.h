//===- HoistLoads.h - lanes that are loaded before loops --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes that lie apart are loaded slowly. If they are the same in all iterations of a loop, they
// are loaded before it:
//
//     for %i                                      %g = gather %scale[%c + lanes]
//       %g = gather %scale[%c + lanes]     ->     for %i
//       store %g * ..., %result[%i, ...]            store %g * ..., %result[%i, ...]
//
// LLVM can't do that, since it does not know whether the stores change %scale. Contiguous vectors
// stay in the loop: they take as long from L1 as from a register that is spilled.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_HOISTLOADS_H
#define HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_HOISTLOADS_H

#include "mlir/IR/Operation.h"

namespace heddle::nest {

/// Moves loads of lanes that lie apart out of the loops of `function` that do not change them.
/// `operands`: pointers through which nothing is stored. No result may share their memory, unless
/// each point of the nest reads the element there that it stores, and no other.
void hoistLanes(mlir::Operation *function, llvm::ArrayRef<mlir::Value> operands);

} // namespace heddle::nest

#endif // HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_HOISTLOADS_H
