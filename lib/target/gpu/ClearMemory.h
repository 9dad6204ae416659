//===- ClearMemory.h - a kernel that zeroes memory --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The padding of a value with `zero_padded` is zeroed before the value is computed, by a kernel of
// the same form as any other (GpuLoops.h): a lane zeroes 256 bytes.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_GPU_CLEARMEMORY_H
#define HEDDLE_LIB_TARGET_GPU_CLEARMEMORY_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>

namespace heddle::gpu {

inline constexpr int64_t clearChunkBytes = 256;

/// Builds a module with the kernel `symbol`, which zeroes `bytes` bytes of its only value. Without
/// `bytes` the kernel's only number gives them.
mlir::OwningOpRef<mlir::ModuleOp> buildClear(mlir::MLIRContext *context, const std::string &symbol,
                                             std::optional<int64_t> bytes);

} // namespace heddle::gpu

#endif // HEDDLE_LIB_TARGET_GPU_CLEARMEMORY_H
