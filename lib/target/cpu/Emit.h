//===- Emit.h - from the LLVM dialect to object code ------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Modules that come here hold explicit vectors and loops that were unrolled on purpose, so LLVM's
// own vectorisers and unrollers are off and no library function is known: nothing may be turned
// into a call of memset or expf, because there is nothing to call. What an instruction set lacks
// (rounding before SSE 4.1, f16 without F16C, fused multiply-adds) LLVM would still call by name;
// `emit` adds our own functions for those (Builtins.h).
//
// Each call uses an LLVMContext of its own, so several threads may emit at once, each by an emitter
// and from a module in a context of its own.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_CPU_EMIT_H
#define HEDDLE_LIB_TARGET_CPU_EMIT_H

#include "lib/target/cpu/CpuTarget.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace heddle::cpu {

enum class EmitKind { Object, Assembly, LlvmIr };
/// How much LLVM optimises: most for kernels, which take a program's time.
enum class Effort { Least, Some, Most };

/// Makes code for one target, for one thread. What LLVM knows of the target is made once: it takes
/// as long as a small kernel.
class Emitter {
public:
  explicit Emitter(CpuTarget target);
  ~Emitter();

  /// The module as object code, as assembly text, or as optimised LLVM IR.
  llvm::Expected<std::string> emit(mlir::ModuleOp module, EmitKind kind,
                                   Effort effort = Effort::Most);
  llvm::Expected<std::string> emitObject(mlir::ModuleOp module, Effort effort = Effort::Most) {
    return emit(module, EmitKind::Object, effort);
  }

private:
  CpuTarget target;
  std::unique_ptr<llvm::TargetMachine> quick, thorough; ///< null until one is asked for

  llvm::Expected<llvm::TargetMachine &> machineFor(Effort effort);
};

inline llvm::Expected<std::string> emitObject(mlir::ModuleOp module, const CpuTarget &target,
                                              Effort effort = Effort::Most) {
  return Emitter(target).emitObject(module, effort);
}

} // namespace heddle::cpu

#endif // HEDDLE_LIB_TARGET_CPU_EMIT_H
