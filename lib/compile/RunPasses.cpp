//===- RunPasses.cpp - runs the pipelines on a module ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/compile/RunPasses.h"

#include "lib/compile/CompileKernels.h"
#include "lib/conversion/nest_to_steps/InsertCopies.h"
#include "lib/transforms/nd/NeutralNames.h"
#include "lib/transforms/nd/Passes.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/ScopeExit.h"

using namespace heddle;
using namespace mlir;

/// If the caller inspects passes, runs and verifies them one by one. Otherwise verifies the module
/// only at the end of a pipeline, since verification takes as long as a pass.
static void observe(PassManager &passes, const CompileOptions &options) {
  MLIRContext *context = passes.getContext();
  bool isWatched = options.printAfterChange || !options.reproducer.empty();
  passes.enableVerifier(isWatched || !options.extensions.empty());
  if (isWatched)
    context->disableMultithreading();
  if (options.printAfterChange)
    passes.enableIRPrinting([](Pass *, Operation *) { return false; },
                            [](Pass *, Operation *) { return true; });
  if (!options.reproducer.empty())
    passes.enableCrashReproducerGeneration(options.reproducer);
}

LogicalResult heddle::runNdPasses(ModuleOp module, const CompileOptions &options) {
  PassManager passes(module.getContext());
  observe(passes, options);
  buildNdPipeline(passes, options);
  return failure(failed(passes.run(module)) || failed(verify(module)));
}

LogicalResult heddle::runNestPasses(ModuleOp module, const CompileOptions &options,
                                    const ResolvedOptions &resolved,
                                    const DecisionListeners &listeners) {
  module->setAttr(machineAttrName, resolved.stated);
  llvm::scope_exit restored([&] {
    resolved.facts ? module->setAttr(machineAttrName, resolved.facts)
                   : void(module->removeAttr(machineAttrName));
  });
  SpelledDiagnostics spelled(module);
  PassManager passes(module.getContext());
  observe(passes, options);
  buildNestPipeline(passes, options, /*restoreNames=*/false, listeners);
  buildStepPipeline(passes);
  return failure(failed(passes.run(module)) || failed(verify(module)));
}

LogicalResult heddle::restoreNames(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.enableVerifier(false);
  passes.addPass(nd::createNdRestoreNamesPass());
  return passes.run(module);
}

FailureOr<OutlinedProgram> heddle::makeSteps(ModuleOp module, const ResolvedOptions &resolved,
                                             const CompileOptions &options, bool show) {
  insertCopies(module);
  OutlinedKernels outlined = outlineKernels(module, cost::withoutRates(resolved.facts));
  scheduleKernels(module, outlined, resolved.choices, resolved.timed,
                  show ? nullptr : resolved.kept(), options);
  if (show)
    showSchedules(outlined);
  if (failed(restoreNames(module)))
    return failure();
  return outline(module, std::move(outlined.kernels));
}
