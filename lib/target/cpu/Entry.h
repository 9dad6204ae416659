//===- Entry.h - the function that runs a program's steps -------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the entry of a program, which the runtime calls (runtime/format/Abi.h). Every thread of
// the team runs it. `StepSpec` (runtime/format/Manifest.h) states the steps and the barriers.
//
// If the call has hooks, all threads wait at a barrier before every step, and thread 0 calls the
// hook.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_CPU_ENTRY_H
#define HEDDLE_LIB_TARGET_CPU_ENTRY_H

#include "lib/support/Mlir.h"
#include "runtime/format/Manifest.h"

namespace heddle::cpu {

/// Builds a module in the LLVM dialect with the function `symbol`.
mlir::OwningOpRef<ModuleOp> buildEntry(MLIRContext *context, const std::string &symbol,
                                       const std::vector<StepSpec> &steps);

} // namespace heddle::cpu

#endif // HEDDLE_LIB_TARGET_CPU_ENTRY_H
