//===- ChoiceLawTest.cpp - any legal choice gives the same values ---------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Schedules and fusion are drawn instead of chosen; compiled programs run with several
// numbers of threads, which must give the same bits.
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Choices.h"
#include "test/unit/laws/Laws.h"

#include "lib/conversion/nd_to_nest/NdToNest.h"
#include "lib/transforms/nd/Passes.h"
#include "lib/transforms/nest/Passes.h"

#include "gtest/gtest.h"

using namespace heddle;
using namespace heddle::laws;
using namespace mlir;

namespace {
GeneratorOptions optionsFor(uint64_t seed) {
  GeneratorOptions options;
  options.steps = 3 + int(seed % 6);
  return options;
}

/// nests, fused or not, without layouts.
LogicalResult lower(ModuleOp module, bool fuse) {
  PassManager passes(module.getContext());
  CompileOptions options;
  options.assignLayouts = false;
  buildNdPipeline(passes, options);
  if (fuse)
    buildNestPipeline(passes, options, {});
  else
    passes.addNestedPass<func::FuncOp>(createConvertNdToNestPass());
  return passes.run(module);
}
} // namespace

TEST(FusionLaw, AnyChoiceKeepsValues) {
  auto check = [](ModuleOp module, uint64_t seed, Tally &tally) -> Violation {
    OwningOpRef<ModuleOp> copy(module.clone());
    keepPrivate(*copy, {"main"});
    if (failed(lower(*copy, false)))
      return {"a program can't be lowered", ""};
    Dice dice(seed);
    drawFusion(mainOf(*copy), dice);
    return checkPasses(
        *copy, seed, [](OpPassManager &passes) { buildNestPipeline(passes, {}, {}); }, tally);
  };
  holdEach({"the fusion law", optionsFor, check}, 0.5);
}

TEST(ScheduleLaw, AnyScheduleGivesTheSameValues) {
  auto prepare = [](ModuleOp module, ArrayRef<std::string> names, ArrayRef<uint64_t> seeds) {
    keepPrivate(module, names);
    if (failed(lower(module, true)))
      return failure();
    for (auto [name, seed] : llvm::zip_equal(names, seeds)) {
      Dice dice(seed);
      drawSchedules(module.lookupSymbol<func::FuncOp>(name), dice);
    }
    return success();
  };
  holdCompiled({"the schedule law", 15, optionsFor, prepare}, 0.3);
}
