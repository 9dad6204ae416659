//===- NestTimes.cpp - measured times of nests ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NestTimes.h"

#include "PlanInput.h"
#include "lib/compile/KernelCache.h"
#include "lib/compile/MeasureNest.h"
#include "lib/conversion/nest_to_steps/OutlineKernels.h"
#include "lib/cost/Machine.h"

#include "llvm/Support/FileSystem.h"

using namespace heddle;
using namespace mlir;

/// Of a device that is split further by no pass.
static constexpr int threads = 1;

NestTimes::NestTimes(const PlanOptions &options, ModuleOp module, nest::MachineAttr stated,
                     const std::string &target)
    : options(options), stated(stated) {
  llvm::raw_string_ostream(machine) << target << " " << module->getAttr(machineAttrName);
}

bool NestTimes::open() {
  std::string path = options.times;
  if (path.empty() || path == "default") {
    std::string folder = usersCacheDirectory();
    if (folder.empty())
      return fail("expected --times FILE, as there is no cache directory");
    path = folder + "/times.sqlite";
  }
  if (!options.measures && !llvm::sys::fs::exists(path))
    return fail("expected times of nests in '" + path + "', got no file; --measure makes it");
  if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path))
    return fail("expected a file with times of nests, got '" + path + "'");
  database.emplace(path, [](const std::string &what) {
    llvm::WithColor::warning(llvm::errs(), "heddle-plan") << what << "\n";
  });
  return true;
}

llvm::DenseMap<Operation *, double> NestTimes::of(ModuleOp module) {
  llvm::DenseMap<Operation *, double> seconds;
  OutlinedKernels outlined = outlineKernels(module, /*facts=*/nullptr);
  for (const OutlinedKernels::Use &use : outlined.uses)
    if (auto found = secondsOf(outlined.kernels[use.kernel].function))
      seconds[use.nest] = *found;
  return seconds;
}

std::optional<double> NestTimes::secondsOf(func::FuncOp kernel) {
  std::string text = sourceOf(kernel);
  auto [entry, isNew] = known.try_emplace(text);
  if (isNew)
    entry->second = find(kernel, text);
  return entry->second;
}

std::optional<double> NestTimes::find(func::FuncOp kernel, const std::string &text) {
  tuning::Key key{text, machine, measurementVersion(), threads};
  if (std::optional<tuning::Measurement> found = database->find(key))
    return found->seconds;
  if (!options.measures)
    return std::nullopt;
  CompileOptions how;
  how.programThreads = threads;
  auto made = measureNest(kernel, stated, how);
  if (!made) { // a nest that communicates
    std::string reason = llvm::toString(made.takeError());
    if (!std::exchange(hasWarned, true))
      llvm::WithColor::warning(llvm::errs(), "heddle-plan")
          << "a nest can't be measured by itself: " << reason << "\n";
    return std::nullopt;
  }
  ++measured;
  database->store(key, *made);
  return made->seconds;
}
