//===- PassLawTest.cpp - no pass changes what a program means -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Laws.h"

#include "test/unit/laws/Dice.h"

#include "lib/conversion/nd_to_nest/NdToNest.h"
#include "lib/transforms/nd/Passes.h"
#include "lib/transforms/nest/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"
#include "gtest/gtest.h"

using namespace heddle;
using namespace heddle::laws;
using namespace mlir;

namespace {
/// nd passes in an order drawn from the seed, then the compiler's.
void drawPasses(OpPassManager &passes, uint64_t seed) {
  Dice dice(seed + 77);
  passes.addPass(nd::createNdDifferentiatePass());
  passes.addPass(nd::createNdInlineCallsPass());
  for (int i = 0; i < 4; ++i)
    switch (dice.below(4)) {
    case 0:
      passes.addPass(nd::createNdSimplifyPass());
      break;
    case 1:
      passes.addPass(nd::createNdCsePass());
      break;
    case 2:
      passes.addPass(nd::createNdFoldPadIntoWindowPass());
      break;
    default:
      passes.addPass(createCanonicalizerPass());
      break;
    }
}
} // namespace

/// Sizes over symbols go through the nd passes; nests are made for sizes that are numbers.
static void holdPasses(double share, bool symbols) {
  auto context = makeContext();
  Tally tally;
  Seeds seeds = seedsFor(share);
  for (int i = 0; i < seeds.count; ++i) {
    uint64_t seed = seeds.first + uint64_t(i);
    Announce announce("the pass law", seed);
    GeneratorOptions options;
    options.steps = 4 + int(seed % 9);
    options.requests = seed % 3 == 0;
    options.symbols = symbols;
    OwningOpRef<ModuleOp> module = makeProgram(*context, seed, options);
    auto passes = [&](OpPassManager &manager) {
      if (symbols || seed % 2)
        drawPasses(manager, seed);
      if (symbols)
        return;
      CompileOptions compile;
      buildNdPipeline(manager, compile);
      buildNestPipeline(manager, compile, {});
    };
    auto check = [&](ModuleOp candidate) { return checkPasses(candidate, seed, passes, tally); };
    ++tally.programs;
    if (Violation violation = check(*module))
      ADD_FAILURE() << report(seed, "the pass law", *module, check);
  }
  std::printf("%d programs, %lld tensors compared, %lld of %lld elements undecided\n",
              tally.programs, (long long)tally.comparisons, (long long)tally.undecided,
              (long long)tally.elements);
  EXPECT_LE(tally.undecided * 20, tally.elements)
      << "more than 5 % of the elements are not decided";
}

TEST(PassLaw, NdAndNestPassesKeepValues) { holdPasses(1, false); }
TEST(PassLaw, SizesOverSymbols) { holdPasses(0.5, true); }
