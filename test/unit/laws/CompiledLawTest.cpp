//===- CompiledLawTest.cpp - compiled programs give the oracle's values ---===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Many programs are compiled as one module, since compiling a module has a price of its own.
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Laws.h"

#include "gtest/gtest.h"

using namespace heddle;
using namespace heddle::laws;
using namespace mlir;

namespace {
constexpr int programsPerModule = 20;

GeneratorOptions optionsFor(uint64_t seed) {
  GeneratorOptions options;
  options.steps = 4 + int(seed % 7);
  return options;
}

/// What the oracle says about @main; none if it asks for gradients.
FailureOr<Values> oracle(func::FuncOp function, uint64_t seed) {
  return interp::interpret(function, drawArguments(function, seed));
}

Violation checkOne(ModuleOp module, uint64_t seed, Tally &tally) {
  func::FuncOp function = mainOf(module);
  FailureOr<Values> expected = oracle(function, seed);
  if (failed(expected))
    return {"the interpreter refuses it", ""};
  return checkCompiled(module, {"main"}, {drawArguments(function, seed)}, {*expected}, tally)[0];
}
} // namespace

TEST(CompiledLaw, CompiledProgramsGiveTheOraclesValues) {
  auto context = makeContext();
  Tally tally;
  Seeds seeds = seedsFor(1.0 / 3);
  for (int begin = 0; begin < seeds.count; begin += programsPerModule) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context.get()));
    SmallVector<std::string> names;
    SmallVector<uint64_t> owners;
    SmallVector<Values> arguments, expected;
    for (int i = begin; i < std::min(begin + programsPerModule, seeds.count); ++i) {
      uint64_t seed = seeds.first + uint64_t(i);
      names.push_back("p" + std::to_string(seed));
      owners.push_back(seed);
      func::FuncOp function = generateProgram(*module, names.back(), seed, optionsFor(seed));
      arguments.push_back(drawArguments(function, seed));
    }
    for (auto [name, seed, values] : llvm::zip_equal(names, owners, arguments)) {
      auto result = interp::interpret(module->lookupSymbol<func::FuncOp>(name), values);
      ASSERT_TRUE(succeeded(result)) << "seed " << seed;
      expected.push_back(std::move(*result));
    }
    // Callees are no entries.
    for (auto function : module->getOps<func::FuncOp>())
      if (!llvm::is_contained(names, function.getName()))
        function.setPrivate();
    Announce announce("the compiled law, a program from here on", owners[0]);
    SmallVector<Violation> violations = checkCompiled(*module, names, arguments, expected, tally);
    tally.programs += int(names.size());
    for (auto [violation, seed] : llvm::zip_equal(violations, owners)) {
      if (!violation)
        continue;
      OwningOpRef<ModuleOp> alone = makeProgram(*context, seed, optionsFor(seed));
      for (auto function : alone->getOps<func::FuncOp>())
        if (function.getName() != "main")
          function.setPrivate();
      Tally ignored;
      auto check = [&](ModuleOp candidate) { return checkOne(candidate, seed, ignored); };
      if (check(*alone))
        ADD_FAILURE() << report(seed, "the compiled law", *alone, check);
      else if (violation.what.find("the compiler refuses") == std::string::npos)
        ADD_FAILURE() << "the compiled law, seed " << seed << " among others: " << violation.what;
    }
  }
  std::printf("%d programs, %lld tensors compared, %lld of %lld elements undecided\n",
              tally.programs, (long long)tally.comparisons, (long long)tally.undecided,
              (long long)tally.elements);
}
