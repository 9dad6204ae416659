//===- LlvmPasses.h - runs passes of LLVM -----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a pipeline in the syntax of `opt -passes` on a module of LLVM IR:
//
//     runPasses(module, machine, "function(instcombine,simplifycfg)");
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_LLVMPASSES_H
#define HEDDLE_LIB_TARGET_LLVMPASSES_H

#include "llvm/ADT/StringRef.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace heddle {

/// Runs the passes for a program without a library: LLVM neither recognises nor creates calls to
/// one. The pipeline must be valid.
void runPasses(llvm::Module &module, llvm::TargetMachine &machine, llvm::StringRef pipeline);

} // namespace heddle

#endif // HEDDLE_LIB_TARGET_LLVMPASSES_H
