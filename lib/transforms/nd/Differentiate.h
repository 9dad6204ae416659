//===- Differentiate.h - expands derivatives --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces `nd.vjp` and `nd.jvp`. Reverse mode walks the callee's ops backwards and adds up a
// cotangent for each value by the rules of dialects/nd/NdGradient.h. Forward mode is its transpose:
// the gradient of <cotangent, f(x)> is linear in the cotangent, and the gradient of that, in the
// direction of the tangent, is the tangent of f(x).
//
//     %y, %dx = nd.vjp @f(%x) cotangents(%c) wrt [0]
//     =>   %y = (ops of f at %x)   %dx = (their cotangents, the last op's first)
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_ND_DIFFERENTIATE_H
#define HEDDLE_TRANSFORMS_ND_DIFFERENTIATE_H

#include "dialects/nd/Nd.h"

namespace heddle::nd {

/// Replaces `op` by the callee's ops and those that compute the gradients asked for. The callee
/// must have no calls and no requests of its own.
mlir::LogicalResult expandVjp(VjpOp op);
/// The same for nd.jvp.
mlir::LogicalResult expandJvp(JvpOp op);

} // namespace heddle::nd

#endif // HEDDLE_TRANSFORMS_ND_DIFFERENTIATE_H
