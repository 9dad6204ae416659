//===- RunPasses.h - runs the pipelines on a module -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     runNdPasses(module, options);               // nd, simplified and differentiated
//     runNestPasses(module, options, resolved);    // nests with layouts, under neutral names
//     makeSteps(module, resolved, options, false); // kernels, and the steps that call them
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COMPILE_RUNPASSES_H
#define HEDDLE_LIB_COMPILE_RUNPASSES_H

#include "lib/compile/ResolvedOptions.h"
#include "lib/conversion/nest_to_steps/OutlineEntries.h"

namespace heddle {

/// Runs the nd pipeline. Verifies the module only at its end, since verification takes as long as a
/// pass, unless the caller inspects passes.
LogicalResult runNdPasses(ModuleOp module, const CompileOptions &options);
/// Runs the pipelines of nests and steps. While they run, the module states all facts of its
/// machine.
LogicalResult runNestPasses(ModuleOp module, const CompileOptions &options,
                            const ResolvedOptions &resolved,
                            const DecisionListeners &listeners = {});
LogicalResult restoreNames(ModuleOp module);
/// Schedules the distinct kernels, restores the users' names and converts the nests to steps. If
/// `show`, schedules become attributes of the nests.
FailureOr<OutlinedProgram> makeSteps(ModuleOp module, const ResolvedOptions &resolved,
                                     const CompileOptions &options, bool show);

} // namespace heddle

#endif // HEDDLE_LIB_COMPILE_RUNPASSES_H
