//===- Whole.h - how long a nest takes without layouts ----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COST_WHOLE_H
#define HEDDLE_LIB_COST_WHOLE_H

#include "lib/analysis/NestAnalysis.h"

namespace heddle {

/// The cost model of fusion: returns the seconds that a nest takes alone on a nominal core. A nest
/// is bound by its arithmetic or by its memory traffic, whichever is slower, plus a small start-up
/// cost. Sums of products, which keep their operands in registers, reach four times the rate of
/// other arithmetic. Tensors that fit in a cache move faster. The result depends only on the nest,
/// so decisions are the same on every machine.
double secondsOf(mlir::Operation *nest);
/// The same for work that is not a sum of products and whose bytes all come from memory.
double secondsOf(double arithmetic, double bytes);
/// Returns the bytes that a nest moves; those of tensors that fit in a cache count a quarter.
double trafficOf(mlir::Operation *nest);

} // namespace heddle

#endif // HEDDLE_LIB_COST_WHOLE_H
