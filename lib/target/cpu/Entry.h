//===- Entry.h - the function that runs a program's steps -------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The entry of a program, as the runtime calls it (runtime/program/Abi.h): every thread of the team runs it. For each step
// thread 0 calls the hook if there is one, threads fetch chunks from the step's counter, and a barrier follows, except
// between steps that thread 0 runs alone.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_CPU_ENTRY_H
#define HEDDLE_LIB_TARGET_CPU_ENTRY_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace heddle::cpu {

struct EntryStep {
  std::string kernel;
  int64_t chunks = 1;
  bool serial = false;         ///< run by thread 0 alone
  std::vector<int32_t> values; ///< the entry's values that the kernel is given
};

/// A module in the LLVM dialect with the function `symbol`.
mlir::OwningOpRef<mlir::ModuleOp> buildEntry(mlir::MLIRContext *context, const std::string &symbol,
                                             const std::vector<EntryStep> &steps);

} // namespace heddle::cpu

#endif // HEDDLE_LIB_TARGET_CPU_ENTRY_H
