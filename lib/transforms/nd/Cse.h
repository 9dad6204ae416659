//===- Cse.h - common subexpressions up to renaming -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_ND_CSE_H
#define HEDDLE_TRANSFORMS_ND_CSE_H

#include "mlir/IR/Block.h"

namespace heddle::nd {

/// Merges ops of `block` that are equal up to renaming; regions of other ops inside likewise, each
/// on its own. Returns the number of ops that went away.
unsigned mergeEqualOps(mlir::Block &block);

} // namespace heddle::nd

#endif // HEDDLE_TRANSFORMS_ND_CSE_H
