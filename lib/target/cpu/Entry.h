//===- Entry.h - the function that runs a program's steps -------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The entry of a program, as the runtime calls it (runtime/program/Abi.h): every thread of the team
// runs it. What its steps are and where threads meet is said by `StepSpec`
// (runtime/program/Manifest.h).
//
// When the call has hooks, all threads meet before every step and thread 0 calls the hook.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_CPU_ENTRY_H
#define HEDDLE_LIB_TARGET_CPU_ENTRY_H

#include "runtime/program/Manifest.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace heddle::cpu {

/// A module in the LLVM dialect with the function `symbol`.
mlir::OwningOpRef<mlir::ModuleOp> buildEntry(mlir::MLIRContext *context, const std::string &symbol,
                                             const std::vector<StepSpec> &steps);

} // namespace heddle::cpu

#endif // HEDDLE_LIB_TARGET_CPU_ENTRY_H
