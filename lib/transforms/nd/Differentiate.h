//===- Differentiate.h - gradient requests become ops -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_ND_DIFFERENTIATE_H
#define HEDDLE_TRANSFORMS_ND_DIFFERENTIATE_H

#include "dialects/nd/Nd.h"

namespace heddle::nd {

/// Replaces `op` by the callee's ops and those that compute the gradients asked for. The callee must
/// have no calls and no requests of its own.
mlir::LogicalResult expandVjp(VjpOp op);
/// The same for nd.jvp.
mlir::LogicalResult expandJvp(JvpOp op);

} // namespace heddle::nd

#endif // HEDDLE_TRANSFORMS_ND_DIFFERENTIATE_H
