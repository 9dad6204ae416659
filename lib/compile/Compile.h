//===- Compile.h - compile a module to a program ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the whole compiler. Every public function of the module becomes an entry of the program: nd
// is differentiated and simplified, lowered to nests, fused and laid out (`buildNdPipeline`,
// `buildNestPipeline`), and rewritten so that each op is a step (`buildStepPipeline`). Each
// distinct nest becomes a kernel (OutlineKernels.h), which is scheduled, compiled and cached on
// disk (CompileKernels.h), and functions become lists of steps (OutlineEntries.h). Then the memory
// of values is planned (PlanMemory.h), barriers are placed (PlaceBarriers.h), and an entry function
// is built that runs the steps.
//
//     CompileOptions options;
//     options.targetCpu = "haswell";
//     FailureOr<ProgramImage> image = compileProgram(module, options);
//     if (succeeded(image))
//       image->write("classifier.heddle");              // or: loadProgram(std::move(*image))
//
// The attribute `nd.name` names an argument or result, and `nd.layout` states its layout (by
// default row-major over the sorted names). With `heddle.donate = i` on an argument, result i may
// reuse its memory.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COMPILE_COMPILE_H
#define HEDDLE_LIB_COMPILE_COMPILE_H

#include "lib/pipelines/Pipelines.h"
#include "lib/target/MachineFile.h"
#include "runtime/program/Program.h"

#include <functional>

namespace heddle {

/// Options of a compilation: of its passes, and of what happens around them.
struct CompileOptions : PipelineOptions {
  std::string targetCpu = "native";
  int programThreads = 0; ///< number of threads that will run the program; 0: all cores
  int compileThreads = 0; ///< number of threads that compile kernels; 0: all cores
  bool useCache = true;   ///< of kernels and programs on disk
  std::string
      cacheDirectory; ///< empty: $HEDDLE_CACHE_DIR, $XDG_CACHE_HOME/heddle or ~/.cache/heddle
  /// The directory for the forms of the program. Empty: a new folder in $HEDDLE_DUMP_DIR, if
  /// that is set.
  std::string dumpDirectory;
  bool printAfterChange = false; ///< the module after each pass that changed it, to standard error
  std::string
      reproducer; ///< if a pass fails: its input, with the passes for `heddle-opt --run-reproducer`
  /// Files for the decisions of the compiler and their costs, as JSON and as a page (Explain.h).
  std::string explainJson, explainHtml;
  bool progress = true; ///< show progress of long compilations on a terminal
  /// Measured facts of this machine, for predicted times; none: those of $HEDDLE_MACHINE.
  std::optional<MachineFile> machine;
  /// Called after each kernel with the number of finished kernels; on any thread, calls are
  /// serialised.
  std::function<void(size_t done, size_t total)> onProgress;
};

/// Statistics of a compilation.
struct CompileStatistics {
  double seconds = 0;
  double passSeconds = 0, kernelSeconds = 0; ///< of these: passes, emission of kernels
  int steps = 0, serialSteps = 0, barriers = 0;
  int kernels = 0, cachedKernels = 0;
  int64_t arenaBytes = 0, liveBytes = 0; ///< planned, and the lower bound
  int64_t codeBytes = 0, constantBytes = 0;
  std::vector<std::string> checks; ///< of the first entry, if `CompileOptions::check`

  /// A readable summary in one line.
  std::string str() const;
};

/// Compiles `module` and modifies it, unless the cache has its program (ProgramCache.h). Fails with
/// diagnostics at source locations.
FailureOr<ProgramImage> compileProgram(ModuleOp module, const CompileOptions &options,
                                       CompileStatistics *statistics = nullptr);

/// The forms of a program that can be printed, in the order in which the compiler makes them.
enum class ProgramForm {
  Nd,       ///< nd, simplified and differentiated
  Nest,     ///< nests with layouts and schedules
  Kernels,  ///< the distinct kernels, as sources
  Loops,    ///< the kernels as loops and vectors
  LlvmIr,   ///< the kernels as optimised LLVM IR
  Assembly, ///< the kernels as assembly
};
/// `nd`, `nest`, `kernels`, `loops`, `llvm`, `asm`; none for any other word.
std::optional<ProgramForm> parseProgramForm(StringRef word);
/// Prints the program in a form; modifies `module`.
FailureOr<std::string> printProgram(ModuleOp module, const CompileOptions &options,
                                    ProgramForm form);
/// As `printProgram`, but writes to a file; empty or "-": to standard output.
LogicalResult writeProgram(ModuleOp module, const CompileOptions &options, ProgramForm form,
                           const std::string &path);

} // namespace heddle

#endif // HEDDLE_LIB_COMPILE_COMPILE_H
