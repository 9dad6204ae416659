//===- GradientTest.cpp - gradients against finite differences ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each program of GradientPrograms.h is differentiated; the oracle evaluates the gradient of L =
// <weights, results> and compares it with (L(x + h) - L(x - h)) / 2h, element by element. Then the
// function that computes the gradient is itself treated as the program.
//
//===----------------------------------------------------------------------===//

#include "GradientPrograms.h"

#include "dialects/nd/NdBuild.h"
#include "dialects/nest/Nest.h"
#include "lib/interp/Interpreter.h"
#include "lib/transforms/nd/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <random>

using namespace heddle;
using namespace mlir;
using interp::TensorValue;

namespace {
struct GradientTest : testing::TestWithParam<GradientProgram> {
  MLIRContext context;
  std::mt19937 random{42};

  GradientTest() {
    context.loadDialect<nd::NdDialect, nest::NestDialect, arith::ArithDialect, math::MathDialect,
                        func::FuncDialect>();
  }

  std::vector<TensorValue> randomValues(TypeRange types, bool positive, bool zeros = false) {
    std::uniform_real_distribution<double> any(-2, 2), above(0.5, 2);
    std::vector<TensorValue> values;
    for (Type type : types) {
      TensorValue value(cast<nd::NdTensorType>(type));
      for (interp::Scalar &element : value.elements)
        element = interp::exactly(positive ? above(random) : any(random));
      if (zeros && !value.elements.empty())
        value.elements[value.elements.size() / 2] = interp::exactly(0);
      values.push_back(std::move(value));
    }
    return values;
  }

  /// Adds @`name`, which returns the results of `function` and the gradients of all arguments.
  func::FuncOp addGradient(func::FuncOp function, StringRef name) {
    OpBuilder builder(&context);
    builder.setInsertionPointAfter(function);
    SmallVector<Type> arguments(function.getArgumentTypes()), results(function.getResultTypes());
    unsigned n = arguments.size(), m = results.size();
    llvm::append_range(results, function.getArgumentTypes());
    llvm::append_range(arguments, function.getResultTypes());
    auto gradient = func::FuncOp::create(builder, function.getLoc(), name,
                                         builder.getFunctionType(arguments, results));
    Block *block = gradient.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    SmallVector<int64_t> wrt;
    for (unsigned i = 0; i < n; ++i)
      wrt.push_back(i);
    SmallVector<Value> values =
        nd::buildVjp(builder, function.getLoc(), function, block->getArguments().take_front(n),
                     block->getArguments().take_back(m), wrt);
    func::ReturnOp::create(builder, function.getLoc(), values);
    return gradient;
  }

  static SmallVector<TensorValue> run(func::FuncOp function, ArrayRef<TensorValue> arguments) {
    auto results = interp::interpret(function, arguments);
    EXPECT_TRUE(succeeded(results));
    return succeeded(results) ? *results : SmallVector<TensorValue>();
  }

  static double loss(func::FuncOp function, ArrayRef<TensorValue> arguments,
                     ArrayRef<TensorValue> weights) {
    double sum = 0;
    for (auto [result, weight] : llvm::zip_equal(run(function, arguments), weights))
      for (auto [a, b] : llvm::zip_equal(result.elements, weight.elements))
        sum += a.value * b.value;
    return sum;
  }

  /// Compares `gradient` with differences of `function`.
  void check(func::FuncOp function, func::FuncOp gradient, std::vector<TensorValue> arguments,
             std::vector<TensorValue> weights) {
    std::vector<TensorValue> all(arguments);
    all.insert(all.end(), weights.begin(), weights.end());
    SmallVector<TensorValue> results = run(gradient, all);
    ASSERT_EQ(results.size(), weights.size() + arguments.size());
    SmallVector<TensorValue> values = run(function, arguments);
    for (auto [i, value] : llvm::enumerate(values))
      for (auto [a, b] : llvm::zip_equal(value.elements, results[i].elements))
        EXPECT_NEAR(a.value, b.value, 1e-12 * (1 + std::abs(a.value)));
    const double h = 1e-5;
    for (size_t i = 0; i < arguments.size(); ++i)
      for (size_t k = 0; k < arguments[i].elements.size(); ++k) {
        std::vector<TensorValue> moved(arguments);
        double x = arguments[i].elements[k].value;
        moved[i].elements[k] = interp::exactly(x + h);
        double above = loss(function, moved, weights);
        moved[i].elements[k] = interp::exactly(x - h);
        double expected = (above - loss(function, moved, weights)) / (2 * h);
        double got = results[weights.size() + i].elements[k].value;
        EXPECT_NEAR(got, expected, 2e-6 * (1 + std::abs(expected)))
            << "argument " << i << ", element " << k;
      }
  }

  void differentiate(ModuleOp module) {
    PassManager manager(&context);
    manager.addPass(nd::createNdDifferentiatePass());
    manager.addPass(nd::createNdInlineCallsPass());
    manager.addPass(nd::createNdSimplifyPass());
    manager.addPass(nd::createNdCsePass());
    manager.addPass(nd::createNdFoldPadIntoWindowPass());
    ASSERT_TRUE(succeeded(manager.run(module)));
  }
};
} // namespace

TEST_P(GradientTest, MatchesDifferences) {
  const GradientProgram &program = GetParam();
  OwningOpRef<ModuleOp> original = parseSourceString<ModuleOp>(program.text, &context);
  ASSERT_TRUE(original);
  OwningOpRef<ModuleOp> module(original->clone());
  auto function = original->lookupSymbol<func::FuncOp>("f");
  func::FuncOp first = addGradient(module->lookupSymbol<func::FuncOp>("f"), "first");
  addGradient(first, "second");
  differentiate(*module);
  if (HasFatalFailure())
    return;

  std::vector<TensorValue> arguments =
      randomValues(function.getArgumentTypes(), program.positive, program.zeros);
  std::vector<TensorValue> weights = randomValues(function.getResultTypes(), false);
  first = module->lookupSymbol<func::FuncOp>("first");
  check(function, first, arguments, weights);
  if (HasFailure() || !program.twice)
    return;
  std::vector<TensorValue> both(arguments);
  both.insert(both.end(), weights.begin(), weights.end());
  check(first, module->lookupSymbol<func::FuncOp>("second"), both,
        randomValues(first.getResultTypes(), false));
}

INSTANTIATE_TEST_SUITE_P(Programs, GradientTest, testing::ValuesIn(gradientPrograms),
                         [](const auto &info) { return std::string(info.param.name); });
