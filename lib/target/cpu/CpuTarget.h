//===- CpuTarget.h - which CPU code is made for, and making it --*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `CpuTarget` names a CPU and its features. `machineAttr` says to analysis and transforms what it is like, `emitObject`
// turns a module of the LLVM dialect into an object file, and `link` joins objects into one block of position-independent
// code that imports nothing and needs no relocation when it is loaded.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_CPU_CPUTARGET_H
#define HEDDLE_LIB_TARGET_CPU_CPUTARGET_H

#include "dialects/nest/Nest.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <map>
#include <string>
#include <vector>

namespace heddle::cpu {

struct CpuTarget {
  std::string triple, cpu;
  std::vector<std::string> features; ///< all that the CPU has, sorted, without signs
  bool native = false;               ///< this very machine

  bool has(llvm::StringRef feature) const;
};

/// "native", or the name of a CPU that LLVM knows; the error of an unknown one gives examples.
llvm::Expected<CpuTarget> targetFor(llvm::StringRef cpu);

/// Registers, vector width, caches (of this machine if the target is native, else typical ones), threads.
nest::MachineAttr machineAttr(mlir::MLIRContext *context, const CpuTarget &target, int threads);

/// Object code of a module in the LLVM dialect. Safe to call from several threads on modules of different contexts, or of
/// one context that has threading enabled.
llvm::Expected<std::string> emitObject(mlir::ModuleOp module, const CpuTarget &target);
/// The same as assembly text.
llvm::Expected<std::string> emitAssembly(mlir::ModuleOp module, const CpuTarget &target);

/// Code that can be mapped anywhere and run.
struct CodeBlock {
  std::string bytes;
  std::map<std::string, int64_t> symbols; ///< offset of each global function
};
/// Lays the objects' code and read-only data in one block and resolves references among them. Fails on a symbol that no
/// object defines and on a reference that would need a relocation at load.
llvm::Expected<CodeBlock> link(const std::vector<std::string> &objects);
/// The symbols that an object refers to and does not define.
llvm::Expected<std::vector<std::string>> undefinedSymbols(llvm::StringRef object);

} // namespace heddle::cpu

#endif // HEDDLE_LIB_TARGET_CPU_CPUTARGET_H
