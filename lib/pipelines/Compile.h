//===- Compile.h - from a module to a program -------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler's story in one call. Every public function of the module becomes an entry of the program: nd is simplified and
// differentiated, lowered to nests, fused, laid out and scheduled (`buildNdPipeline`, `buildNestPipeline`); each distinct nest
// becomes a kernel, emitted in parallel and cached on disk; a memory plan and an entry function tie them together.
//
// Arguments and results bind by the attribute `nd.name`; `nd.layout` fixes the layout of one (default: row-major over the
// sorted names). `heddle.donate = i` on an argument lets result i take its place.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PIPELINES_COMPILE_H
#define HEDDLE_LIB_PIPELINES_COMPILE_H

#include "runtime/program/Program.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace heddle {

struct CompileOptions {
  std::string targetCpu = "native";
  int programThreads = 0;        ///< threads that will run the program; 0: all cores
  int compileThreads = 0;        ///< that emit kernels; 0: all cores
  bool useCache = true;
  std::string cacheDirectory;    ///< empty: $XDG_CACHE_HOME/heddle, or .cache/heddle in the home directory
  std::string dumpDirectory;     ///< IR after each stage goes here, if not empty
  bool assignLayouts = true;     ///< false: every value row-major
  bool progress = true;          ///< show progress of long compilations on a terminal
};

/// What compiling did.
struct CompileStatistics {
  double seconds = 0;
  int steps = 0, kernels = 0, cachedKernels = 0;
  int64_t arenaBytes = 0, liveBytes = 0; ///< planned, and the lower bound
};

/// Passes on nd: calls inlined, gradients expanded, shared and simplified.
void buildNdPipeline(mlir::OpPassManager &passes, const CompileOptions &options);
/// From nd to nests that are fused, laid out and scheduled for `machine`.
void buildNestPipeline(mlir::OpPassManager &passes, const CompileOptions &options, mlir::Attribute machine);

/// All dialects that the compiler uses.
void registerCompilerDialects(mlir::DialectRegistry &registry);
/// All passes, for tools.
void registerCompilerPasses();

/// Compiles. `module` is changed: on success it holds the final nests. Fails with located diagnostics.
mlir::FailureOr<ProgramImage> compileProgram(mlir::ModuleOp module, const CompileOptions &options,
                                             CompileStatistics *statistics = nullptr);

} // namespace heddle

#endif // HEDDLE_LIB_PIPELINES_COMPILE_H
