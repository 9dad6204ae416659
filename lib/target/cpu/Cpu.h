//===- Cpu.h - the CPU as a target ------------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A nest becomes loops, these the LLVM dialect, that an ELF object (Emit.h); objects are linked into
// one block of code that imports nothing (Link.h, Builtins.h).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_CPU_CPU_H
#define HEDDLE_LIB_TARGET_CPU_CPU_H

#include "lib/target/Target.h"

namespace heddle::cpu {

/// "native" or the name of a CPU (CpuTarget.h).
llvm::Expected<std::shared_ptr<const Target>> makeTarget(llvm::StringRef cpu);

} // namespace heddle::cpu

#endif // HEDDLE_LIB_TARGET_CPU_CPU_H
