//===- ResolvedOptions.cpp - what is known before a compilation -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/compile/ResolvedOptions.h"

#include "lib/analysis/Signature.h"
#include "lib/cost/Adjustment.h"
#include "lib/pipelines/Extension.h"

#include <thread>

using namespace heddle;
using namespace mlir;

/// The module's attribute `heddle.machine` overrides facts of the target.
static LogicalResult readFacts(ModuleOp module, ResolvedOptions &resolved) {
  Attribute given = module->getAttr(machineAttrName);
  if (!given)
    return success();
  resolved.facts = dyn_cast<nest::MachineAttr>(given);
  if (!resolved.facts)
    return module.emitError() << "expected #nest.machine as 'heddle.machine', got " << given;
  // A module can't enable an instruction that the machine lacks.
  for (NamedAttribute fact : resolved.facts.getValues()) {
    StringRef name = fact.getName();
    if (name.starts_with("has_") && resolved.facts.integer(name, 0) &&
        !resolved.machine.integer(name, 0))
      return module.emitError() << "expected '" << name << "' to be 0 in 'heddle.machine', as the "
                                << "target has none, got " << resolved.facts.integer(name, 0);
  }
  resolved.machine = cost::withFacts(resolved.machine, resolved.facts);
  return success();
}

/// The machine facts on which choices may depend: all but the number of threads, so that the order
/// of additions does not depend on it.
static nest::MachineAttr machineOfOneThread(const ResolvedOptions &resolved) {
  MLIRContext *context = resolved.machine.getContext();
  return cost::withFacts(resolved.target->machine(context, /*threads=*/1), resolved.facts);
}

/// The machine for predicted times: its rates may be measured.
static FailureOr<nest::MachineAttr>
machineForTimes(ModuleOp module, const ResolvedOptions &resolved, const CompileOptions &options) {
  MachineFile file = options.machine ? *options.machine : MachineFile::ofEnvironment();
  if (!file.error.empty())
    return LogicalResult(module.emitError() << file.error);
  MachineFacts measured;
  MachineFileError error;
  if (!file.path.empty()) {
    auto parsed = parseMachineFile(file.text, error);
    if (!parsed)
      return LogicalResult(
          emitError(FileLineColLoc::get(module.getContext(), file.path, error.line, 1))
          << error.message);
    measured = std::move(*parsed);
  }
  return cost::withFacts(resolved.target->machineForTimes(module.getContext(), measured),
                         resolved.facts);
}

FailureOr<ResolvedOptions> heddle::resolveOptions(ModuleOp module, const CompileOptions &options) {
  if (llvm::none_of(module.getOps<func::FuncOp>(), [](func::FuncOp function) {
        return function.isPublic() && !function.isExternal();
      }))
    return LogicalResult(module.emitError() << "the module has no public function to compile");
  cost::setAdjustments(module.getContext(), {options.extensions.begin(), options.extensions.end()});
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal() && failed(checkSignature(function)))
      return failure();
  auto target = findTarget(options.targetCpu);
  if (!target)
    return LogicalResult(module.emitError() << llvm::toString(target.takeError()));
  int threads = options.programThreads > 0 ? options.programThreads
                                           : std::max(1, int(std::thread::hardware_concurrency()));
  nest::MachineAttr machine = (*target)->machine(module.getContext(), threads);
  ResolvedOptions resolved{std::move(*target), machine, {}, {}, {}, {}, {}};
  if (failed(readFacts(module, resolved)))
    return failure();
  auto timed = machineForTimes(module, resolved, options);
  if (failed(timed))
    return failure();
  resolved.timed = cost::Machine::of(cost::adjusted(*timed));
  resolved.stated = machineOfOneThread(resolved);
  resolved.choices = cost::Machine::of(cost::adjusted(resolved.stated));
  // An extension without a key could change what is cached under the keys of others.
  auto hasKey = [](const auto &extension) { return !extension->key.empty(); };
  if (options.useCache && llvm::all_of(options.extensions, hasKey))
    resolved.cache.emplace(options.cacheDirectory);
  return resolved;
}
