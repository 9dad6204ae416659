//===- CustomCall.h - calls of custom kernels -------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A custom kernel has its own symbol, and handles several sizes by the numbers that it is given. A
// program calls an ordinary kernel, which forwards its arguments to the custom one:
//
//     void k_1f2e..(addresses, chunk, scratch) { gemm(addresses, chunk, scratch, {512, 64, 10}); }
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_CPU_CUSTOMCALL_H
#define HEDDLE_LIB_TARGET_CPU_CUSTOMCALL_H

#include "lib/support/Mlir.h"

#include <string>

namespace heddle::cpu {

/// Builds a module in the LLVM dialect with the kernel `symbol`, which calls `function`.
mlir::OwningOpRef<ModuleOp> buildCustomCall(MLIRContext *context, const std::string &symbol,
                                            const std::string &function, ArrayRef<int64_t> numbers);

} // namespace heddle::cpu

#endif // HEDDLE_LIB_TARGET_CPU_CUSTOMCALL_H
