//===- Emit.h - emits object code from the LLVM dialect ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The modules contain explicit vectors, and loops that the schedule has unrolled, so LLVM's own
// vectorisers and unrollers are disabled. LLVM knows no library functions: it must not create calls
// of memset or expf, since programs import nothing. It still emits calls for operations that an
// instruction set lacks (rounding before SSE 4.1, f16 without F16C, fused multiply-adds); the
// builtins provide these functions (Builtins.h).
//
// Each call uses its own LLVMContext, so several threads may emit concurrently, each with its own
// emitter and a module in its own context.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_CPU_EMIT_H
#define HEDDLE_LIB_TARGET_CPU_EMIT_H

#include "lib/target/cpu/CpuTarget.h"

#include <memory>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace heddle::cpu {

enum class EmitKind { Object, Assembly, LlvmIr };
/// How much LLVM optimises: `Most` for kernels, in which a program spends its time.
enum class Effort { Least, Some, Most };

/// Emits code for one target in one thread. LLVM's TargetMachine is created once, since that takes
/// as long as compiling a small kernel.
class Emitter {
public:
  explicit Emitter(CpuTarget target);
  ~Emitter();

  /// Emits the module as object code, as assembly text, or as optimised LLVM IR.
  llvm::Expected<std::string> emit(ModuleOp module, EmitKind kind, Effort effort = Effort::Most);
  llvm::Expected<std::string> emitObject(ModuleOp module, Effort effort = Effort::Most) {
    return emit(module, EmitKind::Object, effort);
  }

private:
  CpuTarget target;
  std::unique_ptr<llvm::TargetMachine> quick, thorough; ///< created on first use

  llvm::Expected<llvm::TargetMachine &> machineFor(Effort effort);
};

inline llvm::Expected<std::string> emitObject(ModuleOp module, const CpuTarget &target,
                                              Effort effort = Effort::Most) {
  return Emitter(target).emitObject(module, effort);
}

} // namespace heddle::cpu

#endif // HEDDLE_LIB_TARGET_CPU_EMIT_H
