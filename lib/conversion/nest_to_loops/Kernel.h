//===- Kernel.h - emits a nest as loops -------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel is one top-level nest and the layouts of all values that it accesses. The nest and its
// inner nests have schedules, including those of copies that the emission adds: of stages, carried
// state, and destinations that are not updated in place (nest-choose-schedules). Loops without a
// schedule are sequential. `emitKernel` builds an MLIR module with one function
// (runtime/format/Abi.h)
//
//     void symbol(ptr addresses, i64 chunk, ptr scratch)
//
// where addresses[i] is operand i of the nest, then its results, then the values of size symbols;
// `buildKernelLowering` lowers it to the LLVM dialect. Names become addresses here and not earlier:
// every iteration name is bound to an expression of loop variables, read maps and layouts are
// composed with it, and `Expr::simplify` makes the address linear wherever possible.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_KERNEL_H
#define HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_KERNEL_H

#include "lib/analysis/NestAnalysis.h"
#include "lib/conversion/nest_to_loops/LoopTarget.h"

#include "mlir/Pass/PassManager.h"

namespace heddle::nest {

struct KernelRequest {
  Operation *nest = nullptr;
  /// One for each operand of the kernel (`kernelOperands`).
  SmallVector<Layout> operandLayouts;
  SmallVector<Layout> resultLayouts;
  MachineAttr machine;
  std::string symbol;
  /// Size symbols, which are passed to the kernel after its operands and results.
  std::vector<std::string> sizes;
};

struct KernelInfo {
  mlir::OwningOpRef<ModuleOp> module;
  Expr chunks = 1, scratchBytes; ///< over the size symbols
  int64_t lanes = 0;             ///< that run a chunk together; 0: one runs it alone
};

/// Emits the function. Fails with a diagnostic if a nest can't be emitted, or if its schedule needs
/// a feature that the target lacks.
FailureOr<KernelInfo> emitKernel(const KernelRequest &request, const LoopTarget &target);

/// Lowers scf, vector, arith and math to the LLVM dialect, without library calls.
void buildKernelLowering(mlir::OpPassManager &passes);
/// The same, with a pass that converts functions and their calls.
void buildKernelLowering(mlir::OpPassManager &passes, std::unique_ptr<mlir::Pass> functions);

} // namespace heddle::nest

#endif // HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_KERNEL_H
