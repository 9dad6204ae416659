//===- Zero.h - a kernel that clears memory ---------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value whose layout says `zero_padded` has lanes that belong to no element, so no nest can write
// them: before the value is made a kernel of its own clears all of its bytes, a mebibyte a chunk.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_CPU_ZERO_H
#define HEDDLE_LIB_TARGET_CPU_ZERO_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>

namespace heddle::cpu {

inline constexpr int64_t zeroChunkBytes = 1 << 20;

/// A module in the LLVM dialect with the kernel `symbol`, which clears `bytes` bytes of its only
/// value; without them as many as its only number says.
mlir::OwningOpRef<mlir::ModuleOp> buildZero(mlir::MLIRContext *context, const std::string &symbol,
                                            std::optional<int64_t> bytes);

} // namespace heddle::cpu

#endif // HEDDLE_LIB_TARGET_CPU_ZERO_H
