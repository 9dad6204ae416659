//===- ClearMemory.h - a kernel that zeroes memory --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value whose layout has `zero_padded` contains padding lanes, which no nest writes. Before the
// value is computed, a separate kernel zeroes all of its bytes, one mebibyte per chunk.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_CPU_CLEARMEMORY_H
#define HEDDLE_LIB_TARGET_CPU_CLEARMEMORY_H

#include "lib/support/Mlir.h"

#include <optional>
#include <string>

namespace heddle::cpu {

inline constexpr int64_t zeroChunkBytes = 1 << 20;

/// Builds a module in the LLVM dialect with the kernel `symbol`, which zeroes `bytes` bytes of its
/// only value. Without `bytes` the kernel's only number gives them.
mlir::OwningOpRef<ModuleOp> buildClear(MLIRContext *context, const std::string &symbol,
                                       std::optional<int64_t> bytes);

} // namespace heddle::cpu

#endif // HEDDLE_LIB_TARGET_CPU_CLEARMEMORY_H
