//===- SpaceTest.cpp - the points of a space are plans --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/Space.h"

#include "lib/pipelines/Pipelines.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <set>

using namespace heddle;
using namespace heddle::planner;
using namespace mlir;

static const char *program = R"(
func.func @f(%x: !nd.tensor<f32, a: 8, k: 2> {nd.name = "x"}, %y: !nd.tensor<f32, a: 8> {nd.name = "y"},
    %w: !nd.tensor<f32, b: 1, k: 2> {nd.name = "net.w", heddle.donate = 0 : i64})
    -> (!nd.tensor<f32, b: 1, k: 2>, !nd.tensor<f32, a: 8, b: 1>) {
  %r = nest.compute (a: 8, b: 1) reduce (k: 2) reads %x[], %w[] {
  ^bb0(%u: f32, %v: f32):
    %p = arith.mulf %u, %v : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, a: 8, k: 2>, !nd.tensor<f32, b: 1, k: 2>) -> !nd.tensor<f32, a: 8, b: 1>
  %n = nest.compute (b: 1, k: 2) reads %w[] {
  ^bb0(%u: f32):
    %p = arith.negf %u : f32
    nest.yield %p : f32
  } : (!nd.tensor<f32, b: 1, k: 2>) -> !nd.tensor<f32, b: 1, k: 2>
  return %n, %r : !nd.tensor<f32, b: 1, k: 2>, !nd.tensor<f32, a: 8, b: 1>
}
)";

struct SpaceTest : ::testing::Test {
  MLIRContext context{[] {
    DialectRegistry registry;
    registerCompilerDialects(registry);
    return registry;
  }()};
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(program, &context);
  func::FuncOp function = *module->getOps<func::FuncOp>().begin();
};

TEST_F(SpaceTest, HasTheSplitsOfEachOperator) {
  Space space(function, {.axes = {{"d", 2}, {"e", 2}}});
  // net.w: a, k or none for each of two axes, or no rule. net.w.update: k. A name of one coordinate
  // can't be split.
  EXPECT_EQ(space.choices(), (std::vector<unsigned>{1 + 9, 1 + 4}));
  EXPECT_NEAR(space.digits(), std::log10(50), 1e-9);
  EXPECT_TRUE(space.rules(space.start()).empty());
  std::set<std::vector<std::string>> plans;
  for (unsigned a = 0; a < 10; ++a)
    for (unsigned b = 0; b < 5; ++b)
      plans.insert(space.rules({a, b}));
  EXPECT_EQ(plans.size(), 50u);
  using Rules = std::vector<std::string>;
  EXPECT_TRUE(plans.contains(Rules{"op .net.w./a:", "op .net.w./k:"}));
  EXPECT_TRUE(plans.contains(Rules{"op .net.w./a:e", "op .net.w./k:d"}));
  EXPECT_TRUE(plans.contains(Rules{"op .net.w./a:d+e", "op .net.w./k:", "op .net.w.update./k:e"}));
}

// Over both axes, `k` would have 4 parts and has 2 coordinates.
TEST_F(SpaceTest, AllowsNoMorePartsThanCoordinates) {
  Space space(function, {.axes = {{"d", 2}, {"e", 2}}});
  for (unsigned a = 0; a < 10; ++a)
    for (unsigned b = 0; b < 5; ++b) {
      bool isTooFine = false;
      for (const std::string &rule : space.rules({a, b}))
        isTooFine |= rule.ends_with("/k:d+e");
      EXPECT_EQ(space.isAllowed({a, b}), !isTooFine);
    }
}

TEST_F(SpaceTest, SamplesAreNamedByInputsAlone) {
  EXPECT_EQ(sampleName(function), "a");
  function.setArgAttr(0, "heddle.donate", Builder(&context).getI64IntegerAttr(1));
  function.setArgAttr(1, "heddle.donate", Builder(&context).getI64IntegerAttr(1));
  EXPECT_EQ(sampleName(function), "");
}
