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

#define GEN_PASS_DECL
#include "lib/transforms/nd/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lib/transforms/nd/Passes.h.inc"

} // namespace heddle::nd

#endif // HEDDLE_TRANSFORMS_ND_PASSES_H
