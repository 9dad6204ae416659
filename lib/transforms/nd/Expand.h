//===- Expand.h - ops of other dialects become nd and nest ------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dialect of somebody else's may hold ops on named tensors. The oracle asks them what they mean
// (lib/interp/Meaning.h), differentiation asks for their gradients (dialects/nd/NdInterfaces.td);
// the compiler asks for ops that it knows:
//
//     %y = my.softsign %x        ->        %y = nd.pointwise %x { e / (1 + |e|) }
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_ND_EXPAND_H
#define HEDDLE_TRANSFORMS_ND_EXPAND_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include "lib/transforms/nd/ExpandInterface.h.inc"

namespace heddle::nd {

/// Replaces every op under `root` that has the interface; what it becomes is expanded in turn.
mlir::LogicalResult expandOps(mlir::Operation *root);

} // namespace heddle::nd

#endif // HEDDLE_TRANSFORMS_ND_EXPAND_H
