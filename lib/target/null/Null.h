//===- Null.h - a target without code generation ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels remain nests: a program's code is one module with their text, and the device `null`,
// which libheddle registers with the runtime, runs its steps by the interpreter. It separates
// errors of memory planning, layouts and the order of steps from those of code generation, and is
// the smallest template for a new target (docs/targets.md).
//
//     heddlec model.mlir --target-cpu null -o model.heddle
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_NULL_NULL_H
#define HEDDLE_LIB_TARGET_NULL_NULL_H

#include "lib/target/Target.h"
#include "runtime/device/Device.h"

namespace heddle {

std::unique_ptr<Device> makeNullDevice();

/// On a kernel without a body that zeroes memory: the number of bytes, or -1 if the kernel's number
/// gives it.
inline constexpr StringLiteral nullClearAttrName = "heddle.clear";

} // namespace heddle

#endif // HEDDLE_LIB_TARGET_NULL_NULL_H
