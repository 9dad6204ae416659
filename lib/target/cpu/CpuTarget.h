//===- CpuTarget.h - describes CPUs -----------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This folder compiles modules of the LLVM dialect to machine code. A `CpuTarget` names a CPU and
// its features; `machineAttr` describes it to analyses and transforms. Emit.h emits object code,
// Link.h links objects into one block that imports nothing, Entry.h builds the function that runs a
// program's steps.
//
//     auto target = cpu::targetFor("haswell");               // or "native"
//     auto object = cpu::emitObject(module, *target);
//     auto block = cpu::link({{"my kernel", *object}});      // block->bytes, block->symbols
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_CPU_CPUTARGET_H
#define HEDDLE_LIB_TARGET_CPU_CPUTARGET_H

#include "dialects/nest/Nest.h"
#include "lib/target/MachineFile.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace heddle::cpu {

struct CpuTarget {
  std::string triple, cpu;
  std::vector<std::string> features; ///< all features of the CPU, sorted, without signs
  bool native = false;               ///< the CPU of this machine

  bool has(StringRef feature) const;
  /// Identifies the generated code: targets with equal keys generate equal bytes.
  std::string key() const;
};

/// True for "native", and for the name of a CPU that LLVM knows, with or without added features.
bool isCpuName(StringRef name);
/// Returns the target of "native", or of the name of a CPU that LLVM knows. The error for an
/// unknown name gives examples.
llvm::Expected<CpuTarget> targetFor(StringRef cpu);

/// Returns the registers, vector width, caches (of this machine if the target is native, else
/// typical ones), threads, and the rate of bf16 dot products if the target has them.
nest::MachineAttr machineAttr(MLIRContext *context, const CpuTarget &target, int threads);

/// Replaces facts of `machine` by measured ones.
nest::MachineAttr withMeasured(nest::MachineAttr machine, const MachineFacts &measured);

} // namespace heddle::cpu

#endif // HEDDLE_LIB_TARGET_CPU_CPUTARGET_H
