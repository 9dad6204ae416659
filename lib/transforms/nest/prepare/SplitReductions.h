//===- SplitReductions.h - splits large reductions --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduction with few results and many points leaves threads idle. Its largest reduced name is
// split into parts: a first nest computes a result for each part, and a second one combines them:
//
//     sum over n: 100000 of %x[]
//     becomes   %p = (n$part: 16) sum over n: 6250 of %x[n = n + 6250 * n$part]
//               sum over n$part of %p
//
// The parts depend only on sizes, so results are bitwise equal for any number of threads.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_PREPARE_SPLITREDUCTIONS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_PREPARE_SPLITREDUCTIONS_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// Splits reductions where idle threads get work, or, if `always`, wherever it is legal.
void splitReductions(func::FuncOp function, bool always = false);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_PREPARE_SPLITREDUCTIONS_H
