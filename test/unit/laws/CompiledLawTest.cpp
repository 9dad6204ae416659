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

TEST(CompiledLaw, CompiledProgramsGiveTheOraclesValues) {
  auto options = [](uint64_t seed) {
    GeneratorOptions options;
    options.steps = 4 + int(seed % 7);
    return options;
  };
  auto prepare = [](ModuleOp module, ArrayRef<std::string> names, ArrayRef<uint64_t>) {
    keepPrivate(module, names);
    return success();
  };
  holdCompiled({"the compiled law", 20, options, prepare}, 1.0 / 3);
}
