//===- Passes.h - passes on named tensors -----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transformations within the nd dialect: inlining with lifting, differentiation, CSE up to renaming
// and simplification. Passes.td describes each pass; the header of the same name declares it as a
// function, which other code may call on a single op.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_ND_PASSES_H
#define HEDDLE_TRANSFORMS_ND_PASSES_H

#include "dialects/nest/Nest.h"

#include "mlir/Pass/Pass.h"

namespace heddle::nd {

/// The iteration limit of the rewrite driver: `given`, or 10 plus the number of ops, since erasing
/// an op may leave a value with one use, which enables another rewrite.
inline int64_t mostRoundsOf(Operation *op, int64_t given) {
  int64_t ops = 0;
  op->walk([&](Operation *) { ++ops; });
  return given > 0 ? given : 10 + ops;
}

#define GEN_PASS_DECL
#include "lib/transforms/nd/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lib/transforms/nd/Passes.h.inc"

} // namespace heddle::nd

#endif // HEDDLE_TRANSFORMS_ND_PASSES_H
