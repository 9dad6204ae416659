//===- PassLawTest.cpp - passes preserve the values of programs -----------===//
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
  passes.addPass(nd::createNdMergeFunctionsPass());
  passes.addPass(nd::createNdDifferentiatePass());
  passes.addPass(nd::createNdInlineCallsPass());
  for (int i = 0; i < 4; ++i)
    switch (dice.below(5)) {
    case 0:
      passes.addPass(nd::createNdSimplifyPass({.verifyRules = true}));
      break;
    case 4:
      passes.addPass(nd::createNdSimplifyPass({.fastMath = {"reassociate"}, .verifyRules = true}));
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

class PassLaw : public InHalves {};
INSTANTIATE_TEST_SUITE_P(Half, PassLaw, ::testing::Range(0, 2));

static void holdPasses(Share share, bool symbols) {
  auto options = [=](uint64_t seed) {
    GeneratorOptions options;
    options.steps = 4 + int(seed % 9);
    options.requests = seed % 3 == 0;
    options.control = seed % 3 != 0;
    options.gradients = true;
    options.symbols = symbols;
    return options;
  };
  auto check = [=](ModuleOp module, uint64_t seed, Tally &tally) {
    auto passes = [&](OpPassManager &manager) {
      if (symbols || seed % 2)
        drawPasses(manager, seed);
      else // what the compiler runs first, verified after each rule
        manager.addPass(nd::createNdSimplifyPass({.verifyRules = true}));
      CompileOptions compile;
      buildNdPipeline(manager, compile);
      buildNestPipeline(manager, compile);
    };
    return checkPasses(module, seed, passes, tally);
  };
  holdEach({"the pass law", options, check}, share);
}

TEST_P(PassLaw, NdAndNestPassesKeepValues) { holdPasses({1, GetParam()}, false); }
TEST_P(PassLaw, SizesOverSymbols) { holdPasses({0.5, GetParam()}, true); }
