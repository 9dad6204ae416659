//===- KernelOrder.h - one order for what has none --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `x * y + z` and `z + y * x` are one kernel. The reads of a nest are listed in an order that
// follows from their canonical labels (lib/analysis/Canonical.h), the operands of commutative
// scalar ops by what they compute, and scalar ops in the order in which what is yielded needs them:
//
//     reads %x[..], %y[..]            reads %arg0[..], %arg1[..]       whichever of the two was
//     %0 = arith.mulf %b, %a    ->    %0 = arith.mulf %a, %b           written
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PIPELINES_KERNELORDER_H
#define HEDDLE_LIB_PIPELINES_KERNELORDER_H

#include "mlir/Pass/Pass.h"

namespace heddle {

/// Sorts the reads of a `nest.compute` or `nest.update` by `keys`, one for each read (those of a
/// finish after those of the body, among themselves). A read comes after those that it mentions.
void orderReads(mlir::Operation *nest, llvm::ArrayRef<std::string> keys);

/// Brings the scalar ops of all regions of `nest`, and of nests inside, into their order.
void orderScalars(mlir::Operation *nest);

/// `order-reads`: for all nests of a function with neutral names one read of each place,
/// `orderReads` and `orderScalars`.
std::unique_ptr<mlir::Pass> createOrderReadsPass();

} // namespace heddle

#endif // HEDDLE_LIB_PIPELINES_KERNELORDER_H
