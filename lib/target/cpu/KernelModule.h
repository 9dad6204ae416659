//===- KernelModule.h - builds kernels op by op -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds kernels that are not lowered from a nest, in the LLVM dialect. All have the type that the
// runtime expects (runtime/format/Abi.h):
//
//     void symbol(void *const *addresses, int64_t chunk, void *scratch) { body }
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_CPU_KERNELMODULE_H
#define HEDDLE_LIB_TARGET_CPU_KERNELMODULE_H

#include "lib/support/Mlir.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace heddle::cpu {

/// Builds a module with the kernel `symbol`. `body` creates its ops from the three arguments, and
/// inserts other ops of the module before the function.
mlir::OwningOpRef<ModuleOp> buildKernelModule(
    MLIRContext *context, const std::string &symbol,
    function_ref<void(OpBuilder &, Location, mlir::LLVM::LLVMFuncOp, ValueRange)> body);

} // namespace heddle::cpu

#endif // HEDDLE_LIB_TARGET_CPU_KERNELMODULE_H
