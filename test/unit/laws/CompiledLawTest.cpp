//===- CompiledLawTest.cpp - compiled programs give the oracle's values ---===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Choices.h"
#include "test/unit/laws/Laws.h"

#include "dialects/nd/FunctionAttrs.h"

#include "gtest/gtest.h"

using namespace heddle;
using namespace heddle::laws;
using namespace mlir;

/// Declared ranges change no value: 1 to 128 for symbols, whose values are smaller
/// (scaleOf).
static void declareRanges(func::FuncOp function) {
  Builder b(function.getContext());
  NamedAttrList ranges;
  for (Type type : function.getArgumentTypes())
    for (const nd::Dim &dim : cast<nd::NdTensorType>(type).getDims())
      for (const std::string &symbol : dim.size().getExpr().names())
        ranges.set(symbol, b.getI64ArrayAttr({1, 128}));
  if (!ranges.empty())
    function->setAttr(nd::rangesAttrName, ranges.getDictionary(b.getContext()));
}

class CompiledPrograms : public InHalves {};
INSTANTIATE_TEST_SUITE_P(Half, CompiledPrograms, ::testing::Range(0, 2));

static void holdCompiledPrograms(bool symbols, Share share) {
  auto options = [=](uint64_t seed) {
    GeneratorOptions options;
    options.steps = 4 + int(seed % 7);
    options.symbols = symbols;
    options.control = seed % 6 == 1;
    options.requests = seed % 6 == 2;
    options.gradients = true;
    return options;
  };
  auto prepare = [](ModuleOp module, ArrayRef<std::string> names, ArrayRef<uint64_t> seeds) {
    keepPrivate(module, names);
    for (auto [name, seed] : llvm::zip_equal(names, seeds)) {
      auto function = module.lookupSymbol<func::FuncOp>(name);
      Dice dice(seed);
      if (seed % 3 == 0)
        declareRanges(function);
      if (seed % 2 == 0)
        drawSignature(function, dice);
    }
    return success();
  };
  CompiledLaw law{"the compiled law", 20, options, prepare};
  if (symbols) // the smallest values that ranges allow
    law.sizes = [](uint64_t seed) {
      Dice dice(seed);
      int64_t least = seed % 3 == 0;
      return std::pair(dice.between(least, 2), dice.between(least, 2));
    };
  holdCompiled(law, share);
}

TEST_P(CompiledPrograms, GiveTheOraclesValues) {
  holdCompiledPrograms(false, {1.0 / 3, GetParam()});
}
TEST_P(CompiledPrograms, OverSymbols) { holdCompiledPrograms(true, {1.0 / 6, GetParam()}); }
