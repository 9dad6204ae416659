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
// Steps that hold no kernel steer: they read a truth value, and say which steps come next.
//
//     step 5   If c                           step 5   Loop c       while c holds:
//     step 6     ...                          step 6     ...
//     step 7   Else                           step 7     ...        makes c anew
//     step 8     ...                          step 8   EndLoop      back to step 5
//     step 9   EndIf
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

enum class StepKind : uint8_t { Kernel, If, Else, EndIf, Loop, EndLoop };

struct EntryStep {
  std::string kernel; ///< empty where a step steers
  int64_t chunks = 1;
  bool serial = false;         ///< run by thread 0 alone
  bool waits = true;           ///< a barrier stands before it
  std::vector<int32_t> values; ///< the entry's values that the kernel is given; the truth value
  /// Positions in HeddleCall::symbols: of numbers that the kernel is given after the values, and of
  /// how many chunks there are; -1: as `chunks` says.
  std::vector<int32_t> numbers;
  int32_t chunksAt = -1;
  StepKind kind = StepKind::Kernel;
};

/// A module in the LLVM dialect with the function `symbol`.
mlir::OwningOpRef<mlir::ModuleOp> buildEntry(mlir::MLIRContext *context, const std::string &symbol,
                                             const std::vector<EntryStep> &steps);

} // namespace heddle::cpu

#endif // HEDDLE_LIB_TARGET_CPU_ENTRY_H
