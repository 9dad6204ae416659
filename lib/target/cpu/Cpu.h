//===- Cpu.h - the CPU as a target ------------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The CPU target lowers a nest to loops, to the LLVM dialect, and to an ELF object (Emit.h), and
// links objects into one block of code that imports nothing (Link.h, Builtins.h).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_CPU_CPU_H
#define HEDDLE_LIB_TARGET_CPU_CPU_H

#include "lib/target/Target.h"

namespace heddle::cpu {

/// Makes the target of "native" or of the name of a CPU (CpuTarget.h).
llvm::Expected<std::shared_ptr<const Target>> makeTarget(llvm::StringRef cpu);

} // namespace heddle::cpu

#endif // HEDDLE_LIB_TARGET_CPU_CPU_H
