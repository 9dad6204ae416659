//===- GatherAgain.h - values that are kept or gathered again ---*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A gathered value is larger than the block that it comes from. Between two uses that are far apart, as
// those of a parameter in the forward and in the backward pass, a device either keeps it or gathers it
// again:
//
//     %w = mesh.all_gather %block               %w = mesh.all_gather %block
//     %y = nest.compute reads %x[], %w[]        %y = nest.compute reads %x[], %w[]
//     ...                                 ->    ...
//     %d = nest.compute reads %e[], %w[]        %v = mesh.all_gather %block
//                                               %d = nest.compute reads %e[], %v[]
//
// One cost decides. To gather again takes the seconds in which links move the bytes (Rates.h). To keep
// B bytes for T seconds in a program that holds M bytes at most counts as T * B / M seconds: who holds a
// part of the memory pays that part of the time. So a gather is repeated if the step gets shorter by it,
// or smaller by a larger part than longer. `heddle.materialize` and `heddle.recompute` on the op
// override the cost.
//
// Each gather then starts a bounded time before its first use, and a bounded number of bytes ahead of
// others, so that few gathered values are there at once. The nests that copy the block before, and those
// that read nothing but the gathered value, move and repeat with it. Values that the function returns
// stay as they are. The pass runs after the last one that merges equal ops.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_GATHERAGAIN_H
#define HEDDLE_LIB_TRANSFORMS_NEST_GATHERAGAIN_H

#include "dialects/nest/Rates.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::nest {

/// `explain`: says in remarks what each decision costs, and what the function sends then.
void gatherAgain(mlir::func::FuncOp function, const Rates &rates, bool explain);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_GATHERAGAIN_H
