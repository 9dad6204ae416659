//===- ReduceProgram.h - reduces failing programs ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `reduceProgram` reduces a program that has a fault: it tries smaller ones, keeps each that still
// shows the fault, and stops when none does:
//
//     func @main(%x) {                      func @main(%s0) {
//       %a = f %x                             %c = g %s0        if the fault is g's
//       %b = h %a          ->                 return %c
//       %c = g %b                           }
//       return %a, %c
//     }
//
// It removes functions and results, returns intermediate values instead, replaces runs of ops by
// arguments (long runs first, as in Zeller and Hildebrandt, "Simplifying and isolating
// failure-inducing input", 2002, section 3), replaces scalar ops by one of their operands, removes
// dead ops, and reduces constant sizes. Every candidate passes the verifier.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_ND_REDUCEPROGRAM_H
#define HEDDLE_TRANSFORMS_ND_REDUCEPROGRAM_H

#include "lib/support/Mlir.h"

namespace heddle::nd {

/// Returns a module, at most as large as `module`, for which `isWrong` holds as well. `isWrong` may
/// modify its argument. `onSmaller` is called with each smaller module that is kept.
mlir::OwningOpRef<ModuleOp> reduceProgram(ModuleOp module, function_ref<bool(ModuleOp)> isWrong,
                                          function_ref<void(ModuleOp)> onSmaller = nullptr);

} // namespace heddle::nd

#endif // HEDDLE_TRANSFORMS_ND_REDUCEPROGRAM_H
