//===- LiftingLawTest.cpp - f over one more name is the stack of f --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program is called with arguments that have one more name, often one that the program uses
// inside. The interpreter evaluates such a call slice by slice; inlining transforms the callee
// instead.
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Laws.h"

#include "test/unit/laws/Dice.h"

#include "lib/transforms/nd/Passes.h"

#include "gtest/gtest.h"

using namespace heddle;
using namespace heddle::laws;
using namespace mlir;

/// @main calls @f over one or two more names. Null where no name can be added.
static func::FuncOp addLiftedCall(ModuleOp module, func::FuncOp callee, Dice &dice) {
  MLIRContext *context = module.getContext();
  OpBuilder b(context);
  Location loc = callee.getLoc();
  SmallVector<nd::Dim> lifted;
  for (int64_t i = dice.between(1, 2); i > 0; --i)
    lifted.emplace_back(context,
                        dice.pick({"a", "b", "c", "d", "k", "row", "ky", "b1", "k2", "lane"}),
                        Expr(dice.pick({0, 1, 2, 3})));
  if (lifted.size() == 2 && lifted[0].name == lifted[1].name)
    lifted.pop_back();
  SmallVector<Type> types;
  for (Type type : callee.getArgumentTypes()) {
    auto formal = cast<nd::NdTensorType>(type);
    SmallVector<nd::Dim> dims(formal.getDims().begin(), formal.getDims().end());
    for (const nd::Dim &dim : lifted)
      if (!formal.has(dim.name) && dice.chance(70))
        dims.push_back(dim);
    types.push_back(formal.withDims(dims));
  }
  auto function = func::FuncOp::create(loc, "main", b.getFunctionType(types, {}));
  Block *block = function.addEntryBlock();
  b.setInsertionPointToEnd(block);
  module.push_back(function);
  SmallVector<Value> results = nd::buildCall(b, loc, callee, block->getArguments());
  if (results.size() != callee.getNumResults()) {
    function.erase();
    return {};
  }
  func::ReturnOp::create(b, loc, results);
  function.setFunctionType(b.getFunctionType(types, TypeRange(ValueRange(results))));
  for (unsigned i = 0; i < types.size(); ++i)
    function.setArgAttr(i, nd::nameAttrName, b.getStringAttr("x" + std::to_string(i)));
  return function;
}

class LiftingLaw : public InHalves {};
INSTANTIATE_TEST_SUITE_P(Half, LiftingLaw, ::testing::Range(0, 2));

TEST_P(LiftingLaw, OverOneMoreNameIsTheStack) {
  auto context = makeContext();
  Tally tally;
  int tried = 0; // all, unless one fails
  holdPrograms("the lifting law", {0.5, GetParam()}, [&](uint64_t seed) -> std::optional<Suspect> {
    ++tried;
    GeneratorOptions options;
    options.steps = 2 + int(seed % 7);
    options.requests = seed % 3 == 0;
    options.control = seed % 3 == 1;
    options.symbols = seed % 4 == 3;
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context.get()));
    func::FuncOp callee = generateProgram(*module, "f", seed, options);
    Dice dice(seed);
    {
      // A lifted name that a result has is refused, and tried again with others.
      ScopedDiagnosticHandler quiet(context.get(), [](Diagnostic &) { return success(); });
      for (int tries = 0; tries < 6 && !addLiftedCall(*module, callee, dice); ++tries)
        ;
    }
    if (!mainOf(*module))
      return std::nullopt;
    ++tally.programs;
    auto passes = [](OpPassManager &manager) {
      manager.addPass(nd::createNdDifferentiatePass());
      manager.addPass(nd::createNdInlineCallsPass());
      manager.addPass(nd::createNdSimplifyPass({.verifyRules = true}));
    };
    return Suspect{std::move(module), [&, seed, passes](ModuleOp candidate) {
                     return checkPasses(candidate, seed, passes, tally);
                   }};
  });
  std::printf("%d programs, %lld tensors compared\n", tally.programs, (long long)tally.comparisons);
  EXPECT_GE(tally.programs * 10, tried * 9) << "of " << tried << " programs too few can be lifted";
}
