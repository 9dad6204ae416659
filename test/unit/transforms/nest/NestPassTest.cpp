//===- NestPassTest.cpp - lowering and fusion keep all values -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The programs of the gradient tests (one for each op and rule), in several element types, and
// their gradients: lowered, fused by each rewrite alone, then by all.
//
//===----------------------------------------------------------------------===//

#include "test/unit/transforms/nest/Held.h"

#include "dialects/nd/NdBuild.h"
#include "lib/conversion/nd_to_nest/NdToNest.h"
#include "lib/transforms/nd/Passes.h"
#include "lib/transforms/nest/Passes.h"
#include "test/unit/transforms/nd/GradientPrograms.h"

#include "mlir/Transforms/Passes.h"

using namespace heddle;
using namespace mlir;

namespace {
struct NestPassTest : testing::TestWithParam<GradientProgram> {
  MLIRContext context;
  NestPassTest() { loadDialects(context); }

  OwningOpRef<ModuleOp> parse(const std::string &type) {
    std::string text = GetParam().text;
    for (size_t at = 0; (at = text.find("f64", at)) != std::string::npos; at += type.size())
      text.replace(at, 3, type);
    // A program need not support every type.
    ScopedDiagnosticHandler handler(&context, [](Diagnostic &) { return success(); });
    return parseSourceString<ModuleOp>(text, &context);
  }

  /// Adds @gradient, with the gradients of all arguments, and expands it.
  static void addGradient(ModuleOp module) {
    auto function = module.lookupSymbol<func::FuncOp>("f");
    OpBuilder builder(function->getContext());
    builder.setInsertionPointAfter(function);
    SmallVector<Type> arguments(function.getArgumentTypes()), results(function.getResultTypes());
    unsigned n = arguments.size(), m = results.size();
    llvm::append_range(results, function.getArgumentTypes());
    llvm::append_range(arguments, function.getResultTypes());
    auto gradient = func::FuncOp::create(builder, function.getLoc(), "gradient",
                                         builder.getFunctionType(arguments, results));
    Block *block = gradient.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    SmallVector<int64_t> wrt;
    for (unsigned i = 0; i < n; ++i)
      wrt.push_back(i);
    func::ReturnOp::create(builder, function.getLoc(),
                           nd::buildVjp(builder, function.getLoc(), function,
                                        block->getArguments().take_front(n),
                                        block->getArguments().take_back(m), wrt));
    PassManager manager(function->getContext());
    manager.addPass(nd::createNdDifferentiatePass());
    EXPECT_TRUE(succeeded(manager.run(module)));
  }

  void lower(Held &held) {
    if (!held.pass(nd::createNdInlineCallsPass()) || !held.pass(createCSEPass()) ||
        !held.pass(createConvertNdToNestPass()))
      FAIL();
  }
};

using Create = std::unique_ptr<Pass> (*)();
} // namespace

TEST_P(NestPassTest, FusesLikeTheOracle) {
  for (const char *type : {"f64", "f32", "bf16"}) {
    SCOPED_TRACE(type);
    OwningOpRef<ModuleOp> module = parse(type);
    if (!module)
      continue;
    for (const char *name : {"f", "gradient"}) {
      SCOPED_TRACE(name);
      OwningOpRef<ModuleOp> copy(module->clone());
      if (name != std::string("f"))
        addGradient(*copy);
      Held held(*copy, name, GetParam().positive);
      lower(held);
      if (HasFailure())
        return;
      OwningOpRef<ModuleOp> lowered(copy->clone());
      for (Create create : {nest::createNestCsePass, nest::createNestFuseProducersPass,
                            nest::createNestFuseEpiloguesPass, nest::createNestFuseSiblingsPass,
                            nest::createNestFlattenReductionsPass}) {
        OwningOpRef<ModuleOp> alone(lowered->clone());
        if (!Held(*alone, name, GetParam().positive).pass(create()))
          return;
      }
      int before = held.nests();
      if (!held.pass(nest::createNestFusePass()) ||
          !held.pass(nest::createNestMaterializeGuardsPass()) ||
          !held.pass(nest::createNestSplitReductionsPass()))
        return;
      EXPECT_LE(held.nests(), before);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, NestPassTest, testing::ValuesIn(gradientPrograms),
                         [](const auto &info) { return std::string(info.param.name); });
