//===- Shrink.h - a smaller program with the same fault ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that shows a fault is seldom the smallest that does. `shrink` tries smaller ones, keeps
// each that still shows it, and stops when none does:
//
//     func @main(%x) {                      func @main(%s0) {
//       %a = f %x                             %c = g %s0        if the fault is g's
//       %b = h %a          ->                 return %c
//       %c = g %b                           }
//       return %a, %c
//     }
//
// Functions go, results go, a value in the middle is returned instead, runs of ops become arguments
// (long runs first, as in Zeller and Hildebrandt, "Simplifying and isolating failure-inducing
// input", 2002, section 3), and scalar ops give way to an operand of theirs. Every candidate
// verifies.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_ND_SHRINK_H
#define HEDDLE_TRANSFORMS_ND_SHRINK_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace heddle::nd {

/// A module no larger than `module` for which `isWrong` holds as it does for `module`. `isWrong` may
/// change what it gets. `onSmaller` is told of each that is kept.
mlir::OwningOpRef<mlir::ModuleOp>
shrink(mlir::ModuleOp module, llvm::function_ref<bool(mlir::ModuleOp)> isWrong,
       llvm::function_ref<void(mlir::ModuleOp)> onSmaller = nullptr);

} // namespace heddle::nd

#endif // HEDDLE_TRANSFORMS_ND_SHRINK_H
