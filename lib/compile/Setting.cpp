//===- Setting.cpp - what is known before a compilation -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/compile/Setting.h"

#include "lib/analysis/Signature.h"
#include "lib/cost/Adjustment.h"
#include "lib/pipelines/Extension.h"

#include <thread>

using namespace heddle;
using namespace mlir;

/// The module's attribute `heddle.machine` overrides facts of the target.
static LogicalResult readFacts(ModuleOp module, Setting &setting) {
  Attribute given = module->getAttr(machineAttrName);
  if (!given)
    return success();
  setting.facts = dyn_cast<nest::MachineAttr>(given);
  if (!setting.facts)
    return module.emitError() << "expected #nest.machine as 'heddle.machine', got " << given;
  // A module can't enable an instruction that the machine lacks.
  for (NamedAttribute fact : setting.facts.getValues()) {
    StringRef name = fact.getName();
    if (name.starts_with("has_") && setting.facts.integer(name, 0) &&
        !setting.machine.integer(name, 0))
      return module.emitError() << "expected '" << name << "' to be 0 in 'heddle.machine', as the "
                                << "target has none, got " << setting.facts.integer(name, 0);
  }
  setting.machine = cost::withFacts(setting.machine, setting.facts);
  return success();
}

/// The machine facts on which choices may depend: all but the number of threads, so that the order
/// of additions does not depend on it.
static nest::MachineAttr machineOfOneThread(const Setting &setting) {
  MLIRContext *context = setting.machine.getContext();
  return cost::withFacts(setting.target->machine(context, /*threads=*/1), setting.facts);
}

/// The machine for predicted times: its rates may be measured.
static FailureOr<nest::MachineAttr> machineForTimes(ModuleOp module, const Setting &setting,
                                                    const CompileOptions &options) {
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
  return cost::withFacts(setting.target->machineForTimes(module.getContext(), measured),
                         setting.facts);
}

FailureOr<Setting> heddle::prepare(ModuleOp module, const CompileOptions &options) {
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
  Setting setting{std::move(*target), machine, {}, {}, {}, {}, {}};
  if (failed(readFacts(module, setting)))
    return failure();
  auto timed = machineForTimes(module, setting, options);
  if (failed(timed))
    return failure();
  setting.timed = cost::Machine::of(cost::adjusted(*timed));
  setting.stated = machineOfOneThread(setting);
  setting.choices = cost::Machine::of(cost::adjusted(setting.stated));
  // An extension without a key could change what is cached under the keys of others.
  auto hasKey = [](const auto &extension) { return !extension->key.empty(); };
  if (options.useCache && llvm::all_of(options.extensions, hasKey))
    setting.cache.emplace(options.cacheDirectory);
  return setting;
}
