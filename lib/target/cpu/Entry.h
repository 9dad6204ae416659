//===- Entry.h - the function that runs a program's steps -------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The entry of a program, as the runtime calls it (runtime/program/Abi.h): every thread of the team
// runs it. A step is shared by all threads, which fetch chunks from its counter, or run by thread 0
// alone. Threads meet only before steps that say so (`waits`):
//
//     step 0   shared              x -> a
//     step 1   shared              y -> b        no barrier: touches nothing that step 0 touches
//     step 2   serial, waits       a, b -> c
//     step 3   serial              c -> d        no barrier: thread 0 did step 2 itself
//     step 4   shared, waits       d -> e
//
// When the call has hooks, all threads meet before every step and thread 0 calls the hook.
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
  bool waits = true;           ///< a barrier stands before it
  std::vector<int32_t> values; ///< the entry's values that the kernel is given
  /// Positions in HeddleCall::symbols: of numbers that the kernel is given after the values, and of
  /// how many chunks there are; -1: as `chunks` says.
  std::vector<int32_t> numbers;
  int32_t chunksAt = -1;
};

/// A module in the LLVM dialect with the function `symbol`.
mlir::OwningOpRef<mlir::ModuleOp> buildEntry(mlir::MLIRContext *context, const std::string &symbol,
                                             const std::vector<EntryStep> &steps);

} // namespace heddle::cpu

#endif // HEDDLE_LIB_TARGET_CPU_ENTRY_H
