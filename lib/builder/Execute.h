//===- Execute.h - compiling and running graphs -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From a graph of nodes to values: the nodes become a module, it is copied into a context of its
// own (the graphs' context is shared by all threads), compiled, and run. `evaluate` does so for
// tensors whose values are read outside of jit; jit itself keeps the compiled programs.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_BUILDER_EXECUTE_H
#define HEDDLE_LIB_BUILDER_EXECUTE_H

#include "lib/builder/Graph.h"
#include "lib/compile/Compile.h"
#include "runtime/program/Program.h"

namespace heddle::detail {

/// The number of the next fresh name: counted from 1 within a trace (`TraceScope`), else unique in
/// the process.
int64_t nextFresh();
struct TraceScope {
  TraceScope();
  ~TraceScope();
  /// The innermost scope of this thread; null outside of any.
  static TraceScope *current();
  int64_t saved;
  TraceScope *outer;
  /// The tensors that each gradient was taken with respect to.
  std::vector<std::vector<NodeRef>> differentiated;
};

/// A module in a context of its own, from the text of `module`, so that compiling does not touch
/// the graphs' context.
struct PrivateModule {
  std::unique_ptr<MLIRContext> context;
  mlir::OwningOpRef<ModuleOp> module;
  std::string diagnostics;
  std::unique_ptr<mlir::ScopedDiagnosticHandler> handler;
};
std::unique_ptr<PrivateModule> copyModule(ModuleOp module, Here here);

/// Removes the ops of `shard`, for a function without a mesh.
void dropConstraints(ModuleOp module);

/// Compiles; diagnostics become an Error.
ProgramImage compile(std::unique_ptr<PrivateModule> module, const CompileOptions &options,
                     CompileStatistics *statistics, Here here);

/// Computes the values of `nodes` and stores them in the nodes. The caller must not hold GraphLock,
/// since `wholeOf` may wait for other ranks.
void evaluate(const std::vector<NodeRef> &nodes, Here here);

} // namespace heddle::detail

#endif // HEDDLE_LIB_BUILDER_EXECUTE_H
