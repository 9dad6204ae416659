//===- LlvmTool.h - runs a tool of LLVM in a process of its own -*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some steps from LLVM IR to an image are not functions of libLLVM that we can call: linking by
// lld, and the SPIR-V back end of LLVM 22, which keeps state of earlier modules of its process. A
// tool of the same LLVM does them (RunTool.h):
//
//     runLlvmTool({"ld.lld", "lld-22"}, object, {"-shared"})
//       == the linked file, or "'/usr/lib/llvm-22/bin/ld.lld' failed: ld.lld: error: ..."
//
// HEDDLE_LLVM_TOOLS names another folder with LLVM's tools.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_GPU_LLVMTOOL_H
#define HEDDLE_LIB_TARGET_GPU_LLVMTOOL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace heddle::gpu {

struct LlvmTool {
  llvm::StringRef name;    ///< "llc"; in PATH it is found as "llc-22"
  llvm::StringRef package; ///< Debian's package that holds it
};

/// Runs `tool arguments... INPUT -o OUTPUT`, and returns what it writes to OUTPUT.
llvm::Expected<std::string> runLlvmTool(LlvmTool tool, llvm::StringRef input,
                                        llvm::ArrayRef<llvm::StringRef> arguments);

} // namespace heddle::gpu

#endif // HEDDLE_LIB_TARGET_GPU_LLVMTOOL_H
