//===- LlvmTool.cpp - runs a tool of LLVM in a process of its own ---------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/gpu/LlvmTool.h"

#include "lib/target/gpu/RunTool.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Program.h"

#include <cstdlib>

using namespace heddle;
using namespace heddle::gpu;

static llvm::Expected<std::string> find(LlvmTool tool) {
  const char *chosen = std::getenv("HEDDLE_LLVM_TOOLS");
  std::string folder = chosen ? chosen : HEDDLE_LLVM_TOOLS;
  if (auto found = llvm::sys::findProgramByName(tool.name, {folder}))
    return *found;
  std::string versioned = tool.name.str() + "-" + std::to_string(LLVM_VERSION_MAJOR);
  if (!chosen)
    if (auto found = llvm::sys::findProgramByName(versioned))
      return *found;
  return llvm::createStringError("LLVM's tool '" + tool.name + "' is missing: it is neither in '" +
                                 folder + "' nor, as '" + versioned +
                                 "', in PATH; Debian's package '" + tool.package + "' holds it");
}

llvm::Expected<std::string> gpu::runLlvmTool(LlvmTool tool, llvm::StringRef input,
                                             llvm::ArrayRef<llvm::StringRef> arguments) {
  auto program = find(tool);
  return program ? runTool(*program, input, arguments) : program.takeError();
}
