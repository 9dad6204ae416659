//===- RunTool.h - runs a program that makes code ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Assemblers and linkers of vendors and of LLVM (LlvmTool.h) are programs with files for their
// input and output:
//
//     runTool("/usr/local/cuda/bin/ptxas", text, {"-arch=sm_90"})
//       == the machine code, or "'/usr/local/cuda/bin/ptxas' failed: ptxas fatal : ..."
//
// A program that is missing, fails, crashes or takes too long is an error, never the end of this
// process.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_GPU_RUNTOOL_H
#define HEDDLE_LIB_TARGET_GPU_RUNTOOL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <chrono>
#include <string>

namespace heddle::gpu {

/// Runs `program arguments... INPUT -o OUTPUT`, and returns what it writes to OUTPUT.
llvm::Expected<std::string> runTool(llvm::StringRef program, llvm::StringRef input,
                                    llvm::ArrayRef<llvm::StringRef> arguments,
                                    std::chrono::milliseconds limit = std::chrono::minutes(2));
/// Runs `program argument`, and returns what it prints.
llvm::Expected<std::string> askTool(llvm::StringRef program, llvm::StringRef argument);

} // namespace heddle::gpu

#endif // HEDDLE_LIB_TARGET_GPU_RUNTOOL_H
