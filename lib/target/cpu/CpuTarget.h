//===- CpuTarget.h - describes CPUs -----------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This room takes modules of the LLVM dialect to code that a CPU runs. A `CpuTarget` names a CPU
// and its features; `machineAttr` describes it to analysis and transforms. Emit.h makes object
// code, Link.h joins objects into one block that imports nothing, Entry.h makes the function that
// runs a program's steps.
//
//     auto target = cpu::targetFor("haswell");               // or "native"
//     auto object = cpu::emitObject(module, *target);
//     auto block = cpu::link({{"my kernel", *object}});      // block->bytes, block->symbols
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_CPU_CPUTARGET_H
#define HEDDLE_LIB_TARGET_CPU_CPUTARGET_H

#include "dialects/nest/Nest.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace heddle::cpu {

struct CpuTarget {
  std::string triple, cpu;
  std::vector<std::string> features; ///< all that the CPU has, sorted, without signs
  bool native = false;               ///< this very machine

  bool has(llvm::StringRef feature) const;
  /// Identifies the code that is made: equal targets give equal bytes.
  std::string key() const;
};

/// "native", or the name of a CPU that LLVM knows; the error of an unknown one gives examples.
llvm::Expected<CpuTarget> targetFor(llvm::StringRef cpu);

/// Registers, vector width, caches (of this machine if the target is native, else typical ones), threads, and the rate
/// of bf16 dot products where there are any.
nest::MachineAttr machineAttr(mlir::MLIRContext *context, const CpuTarget &target, int threads);

} // namespace heddle::cpu

#endif // HEDDLE_LIB_TARGET_CPU_CPUTARGET_H
