//===- Passes.h - passes on named tensors -----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transformations within the nd dialect: inlining with lifting, differentiation, order-free CSE and
// clean-ups. Each pass is described in Passes.td; what it does is a free function in the header of
// the same name, which other code may call on a single op.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_ND_PASSES_H
#define HEDDLE_TRANSFORMS_ND_PASSES_H

#include "mlir/Pass/Pass.h"

namespace heddle::nd {

/// How many rounds of rewriting there may be: as many as are given, or 10 and one more for each op.
/// A round may make way for one more: what the driver erases last leaves values with one use.
inline int64_t mostRoundsOf(mlir::Operation *op, int64_t given) {
  int64_t ops = 0;
  op->walk([&](mlir::Operation *) { ++ops; });
  return given > 0 ? given : 10 + ops;
}

#define GEN_PASS_DECL
#include "lib/transforms/nd/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lib/transforms/nd/Passes.h.inc"

} // namespace heddle::nd

#endif // HEDDLE_TRANSFORMS_ND_PASSES_H
