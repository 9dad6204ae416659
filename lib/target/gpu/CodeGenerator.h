//===- CodeGenerator.h - from the LLVM dialect to a GPU's code --*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A GPU has no vector masks, no vector gathers, and vectors of at most 16 bytes in memory. LLVM's
// own passes replace what emission has made for the vectors of a CPU:
//
//     masked loads and stores, gathers, scatters     a branch and a scalar access for each element
//     other vectors                                  scalars (back ends merge aligned neighbours)
//     reductions of vectors                          a tree of scalar ops
//
// Functions that chips lack (exp of f64, sin, ...) come from the same Builtins.c as on a CPU, so
// all GPUs compute the same bits, without a vendor's library.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_GPU_CODEGENERATOR_H
#define HEDDLE_LIB_TARGET_GPU_CODEGENERATOR_H

#include "lib/target/gpu/Gpu.h"

#include <memory>

namespace llvm {
class LLVMContext;
class TargetMachine;
} // namespace llvm

namespace heddle::gpu {

/// Generates the code of one chip in one thread.
class CodeGenerator {
public:
  explicit CodeGenerator(const Chip &chip);
  ~CodeGenerator();
  /// Compiles a `gpu.module` in the LLVM dialect to an image.
  llvm::Expected<std::string> image(mlir::Operation *module);
  /// Prints its optimised LLVM IR or its assembly.
  llvm::Expected<std::string> print(mlir::Operation *module, KernelForm form);

private:
  const Chip &chip;
  std::unique_ptr<llvm::TargetMachine> machine; ///< of the current module

  llvm::Expected<std::unique_ptr<llvm::Module>> optimised(mlir::Operation *module,
                                                          llvm::LLVMContext &context);
  llvm::Expected<std::string> generate(llvm::Module &module, llvm::CodeGenFileType file);
};

} // namespace heddle::gpu

#endif // HEDDLE_LIB_TARGET_GPU_CODEGENERATOR_H
