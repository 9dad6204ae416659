//===- Null.h - the target that compiles nothing ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels stay nests: a program's code is one module of their text, and the device `null`, which
// libheddle registers with the runtime, runs its steps by the interpreter. It shows where a plan of
// memory, a layout or the order of steps is wrong and code generation is not, and it is the
// smallest template for a new target (docs/targets.md).
//
//     heddlec model.mlir --target-cpu null -o model.heddle
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_NULL_NULL_H
#define HEDDLE_LIB_TARGET_NULL_NULL_H

#include "lib/target/Target.h"
#include "runtime/device/Device.h"

namespace heddle {

std::shared_ptr<const Target> makeNullTarget();
std::unique_ptr<Device> makeNullDevice();

/// On a kernel without a body that clears memory: how many bytes, or -1 where its number says so.
inline constexpr llvm::StringLiteral nullClearAttrName = "heddle.clear";

} // namespace heddle

#endif // HEDDLE_LIB_TARGET_NULL_NULL_H
