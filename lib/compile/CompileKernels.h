//===- CompileKernels.h - from kernel sources to objects --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of kernels are scheduled in parallel in the module's MLIRContext, and printed.
// Then they are emitted on several threads, each with its own MLIRContext. Both results are cached
// under the hash of their inputs and of the compiler's version: schedules depend on the unscheduled
// function and on all facts of the machine, code on the scheduled one and on the target. So if a
// rate changes, only kernels whose schedules change are emitted again, and only these are parsed.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COMPILE_COMPILEKERNELS_H
#define HEDDLE_LIB_COMPILE_COMPILEKERNELS_H

#include "lib/compile/Compile.h"
#include "lib/conversion/nest_to_steps/OutlineEntries.h"
#include "lib/target/Target.h"

namespace heddle {

class KernelCache;

/// The cache key of the output of this compiler, with these extensions, for `text`.
std::string cacheKey(std::string text, ArrayRef<std::shared_ptr<const Extension>> extensions);

struct CompiledKernel {
  std::string symbol;
  KernelCode code;
  bool cached = false;
};

/// Chooses the schedules of all kernels for `machine`, and sets their sources and predictions, the
/// latter for the machine `timed`. Kernels that are found in `cache` (which may be null) lose their
/// functions.
void scheduleKernels(ModuleOp module, OutlinedKernels &outlined, const cost::Machine &machine,
                     const cost::Machine &timed, const KernelCache *cache,
                     const CompileOptions &options);

/// Compiles all kernels, or fails with a diagnostic at the nest that can't be compiled. `cache` may
/// be null.
FailureOr<std::vector<CompiledKernel>> compileKernels(ArrayRef<OutlinedKernel> kernels,
                                                      const Target &target,
                                                      const KernelCache *cache,
                                                      const CompileOptions &options);

/// Emits a remark at each nest that names the plugin that provides its kernel, or those that
/// decline it; no remarks without plugins.
LogicalResult explainKernels(ArrayRef<OutlinedKernel> kernels, const Target &target,
                             const CompileOptions &options);

/// One kernel as text.
FailureOr<std::string> printKernel(const OutlinedKernel &kernel, const Target &target,
                                   const CompileOptions &options, KernelForm form);

/// A function `symbol` that runs `steps`.
struct EntrySource {
  std::string name, symbol;
  Location loc;
  std::vector<StepSpec> steps;
};

/// Compiles all entries that are not in `cache` (which may be null), or fails with a diagnostic.
FailureOr<std::vector<Object>> compileEntries(ArrayRef<EntrySource> entries, const Target &target,
                                              const KernelCache *cache);

} // namespace heddle

#endif // HEDDLE_LIB_COMPILE_COMPILEKERNELS_H
