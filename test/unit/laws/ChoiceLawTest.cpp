//===- ChoiceLawTest.cpp - any legal choice gives the same values ---------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layouts, schedules and fusion are drawn instead of chosen; compiled programs run with several
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

void keepPrivate(ModuleOp module, ArrayRef<std::string> entries) {
  for (auto function : module.getOps<func::FuncOp>())
    if (!llvm::is_contained(entries, function.getName()))
      function.setPrivate();
}
} // namespace

TEST(FusionLaw, AnyChoiceKeepsValues) {
  auto context = makeContext();
  Tally tally;
  Seeds seeds = seedsFor(0.5);
  for (int i = 0; i < seeds.count; ++i) {
    uint64_t seed = seeds.first + uint64_t(i);
    Announce announce("the fusion law", seed);
    OwningOpRef<ModuleOp> module = makeProgram(*context, seed, optionsFor(seed));
    ++tally.programs;
    auto check = [&](ModuleOp candidate) -> Violation {
      OwningOpRef<ModuleOp> copy(candidate.clone());
      keepPrivate(*copy, {"main"});
      if (failed(lower(*copy, false)))
        return {"a program can't be lowered", ""};
      Dice dice(seed);
      drawFusion(mainOf(*copy), dice);
      CompileOptions options;
      return checkPasses(
          *copy, seed, [&](OpPassManager &passes) { buildNestPipeline(passes, options, {}); },
          tally);
    };
    if (Violation violation = check(*module))
      ADD_FAILURE() << report(seed, "the fusion law", *module, check);
  }
  std::printf("%d programs, %lld tensors compared\n", tally.programs, (long long)tally.comparisons);
}

/// Compiles many programs with drawn choices, runs them on one thread and on three.
static void holdChoices(StringRef law, double share, bool layouts) {
  constexpr int programsPerModule = 15;
  auto context = makeContext();
  Tally tally;
  Seeds seeds = seedsFor(share);
  auto choose = [&](ModuleOp module, ArrayRef<std::string> names, ArrayRef<uint64_t> owners) {
    keepPrivate(module, names);
    if (failed(lower(module, true)))
      return failure();
    for (auto [name, seed] : llvm::zip_equal(names, owners)) {
      Dice dice(seed);
      drawChoices(module.lookupSymbol<func::FuncOp>(name), dice, layouts);
    }
    return success();
  };
  for (int begin = 0; begin < seeds.count; begin += programsPerModule) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context.get()));
    SmallVector<std::string> names;
    SmallVector<uint64_t> owners;
    SmallVector<Values> arguments, expected;
    for (int i = begin; i < std::min(begin + programsPerModule, seeds.count); ++i) {
      uint64_t seed = seeds.first + uint64_t(i);
      names.push_back("p" + std::to_string(seed));
      owners.push_back(seed);
      arguments.push_back(
          drawArguments(generateProgram(*module, names.back(), seed, optionsFor(seed)), seed));
    }
    for (auto [name, values] : llvm::zip_equal(names, arguments)) {
      auto result = interp::interpret(module->lookupSymbol<func::FuncOp>(name), values);
      ASSERT_TRUE(succeeded(result)) << name;
      expected.push_back(std::move(*result));
    }
    Announce announce(law.str() + ", a program from here on", owners[0]);
    tally.programs += int(names.size());
    ASSERT_TRUE(succeeded(choose(*module, names, owners)));
    SmallVector<Violation> violations = checkCompiled(*module, names, arguments, expected, tally);
    for (auto [violation, seed] : llvm::zip_equal(violations, owners)) {
      if (!violation)
        continue;
      OwningOpRef<ModuleOp> alone = makeProgram(*context, seed, optionsFor(seed));
      Tally ignored;
      auto check = [&](ModuleOp candidate) -> Violation {
        Values values = drawArguments(mainOf(candidate), seed);
        ScopedDiagnosticHandler quiet(context.get(), [](Diagnostic &) { return success(); });
        FailureOr<Values> wanted = interp::interpret(mainOf(candidate), values);
        OwningOpRef<ModuleOp> copy(candidate.clone());
        if (failed(wanted) || failed(choose(*copy, {"main"}, {seed})))
          return {"the interpreter refuses it", ""};
        return checkCompiled(*copy, {"main"}, {values}, {*wanted}, ignored)[0];
      };
      if (check(*alone))
        ADD_FAILURE() << report(seed, law, *alone, check);
      else if (violation.what.find("the compiler refuses") == std::string::npos)
        ADD_FAILURE() << law.str() << ", seed " << seed << " among others: " << violation.what;
    }
  }
  std::printf("%d programs, %lld tensors compared\n", tally.programs, (long long)tally.comparisons);
}

TEST(ScheduleLaw, AnyScheduleGivesTheSameValues) { holdChoices("the schedule law", 0.3, false); }
