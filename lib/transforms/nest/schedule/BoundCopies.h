//===- BoundCopies.h - copies of constant size ------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy of an operand has a constant size. If it holds a name of symbolic size as a whole, the
// name gets a loop around the copy, in blocks of its typical size:
//
//     k: N      [thread m by 64, cache n by 32, ...], stage %b at n
//     becomes   [thread m by 64, cache k by 512, cache n by 32, ...], stage %b at n
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_NEST_SCHEDULE_BOUNDCOPIES_H
#define HEDDLE_TRANSFORMS_NEST_SCHEDULE_BOUNDCOPIES_H

#include "lib/analysis/NestModel.h"

namespace heddle::nest {

/// Makes the box of every copy constant.
Schedule boundCopies(ComputeOp op, const NestModel &nest, Schedule schedule);

} // namespace heddle::nest

#endif // HEDDLE_TRANSFORMS_NEST_SCHEDULE_BOUNDCOPIES_H
