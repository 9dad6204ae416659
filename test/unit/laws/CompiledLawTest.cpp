//===- CompiledLawTest.cpp - compiled programs give the oracle's values ---===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Laws.h"

#include "gtest/gtest.h"

using namespace heddle;
using namespace heddle::laws;
using namespace mlir;

static void holdCompiledPrograms(bool symbols, double share) {
  auto options = [=](uint64_t seed) {
    GeneratorOptions options;
    options.steps = 4 + int(seed % 7);
    options.symbols = symbols;
    options.control = seed % 6 == 1;
    options.requests = seed % 6 == 2;
    options.gradients = true;
    return options;
  };
  auto prepare = [](ModuleOp module, ArrayRef<std::string> names, ArrayRef<uint64_t>) {
    keepPrivate(module, names);
    return success();
  };
  holdCompiled({"the compiled law", 20, options, prepare}, share);
}

TEST(CompiledLaw, CompiledProgramsGiveTheOraclesValues) { holdCompiledPrograms(false, 1.0 / 3); }
TEST(CompiledLaw, SizesOverSymbols) { holdCompiledPrograms(true, 1.0 / 6); }
