//===- Cse.h - common subexpressions up to renaming -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Eliminates common subexpressions, independently of the order and spelling of names. Ops with one
// canonical form (lib/analysis/Canonical.h) compute the same up to renaming. The later op is replaced
// by renames of the earlier one's results, which cost nothing:
//
//     %a = nd.reduce %x over (k) {add}        x: {m, k}
//     %b = nd.reduce %y over (p) {add}        y: %x renamed m -> q, k -> p
//     =>   %b = nd.rename %a m -> q
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_ND_CSE_H
#define HEDDLE_TRANSFORMS_ND_CSE_H

#include "mlir/IR/Block.h"

namespace heddle::nd {

/// Merges ops of `block` that are equal up to renaming. Ops in the regions of branches and loops are
/// also merged with earlier ops outside, where `isWorthKeeping` holds. Returns the number of ops
/// that were erased.
unsigned mergeEqualOps(mlir::Block &block);

} // namespace heddle::nd

#endif // HEDDLE_TRANSFORMS_ND_CSE_H
