//===- PlanSpaceTest.cpp - the points of a space are plans ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/PlanSpace.h"

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

struct PlanSpaceTest : ::testing::Test {
  MLIRContext context{[] {
    DialectRegistry registry;
    registerCompilerDialects(registry);
    return registry;
  }()};
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(program, &context);
  func::FuncOp function = *module->getOps<func::FuncOp>().begin();
};

TEST_F(PlanSpaceTest, HasTheSplitsOfEachOperator) {
  PlanSpace space(function, {.axes = {{"d", 2}, {"e", 2}}});
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

TEST_F(PlanSpaceTest, DrawsPointsNearAndFar) {
  PlanSpace space(function, {.axes = {{"d", 2}, {"e", 2}}});
  std::mt19937_64 engine(1), same(1);
  std::set<Point> near, far;
  for (int i = 0; i < 400; ++i) {
    Point point = space.draw(engine);
    ASSERT_EQ(point, space.draw(same));
    ASSERT_LT(point[0], 10u);
    ASSERT_LT(point[1], 5u);
    (point[0] && point[1] ? far : near).insert(point);
  }
  EXPECT_GT(near.size(), 8u); // of 14
  EXPECT_GT(far.size(), 18u); // of 36
}

static MeshRule splitOf(const std::string &pattern, const std::string &name,
                        std::vector<std::string> axes) {
  MeshRule rule{"op " + pattern + "/" + name};
  rule.pattern = pattern;
  rule.name = name;
  rule.axes = std::move(axes);
  rule.isOfOperators = true;
  return rule;
}

TEST_F(PlanSpaceTest, PinnedOperatorsAreNoChoices) {
  PlanSpace space(function, {.axes = {{"d", 2}, {"e", 2}}}, {splitOf(".net.w.", "a", {"d"})});
  EXPECT_EQ(space.choices(), (std::vector<unsigned>{1 + 4}));
}

TEST_F(PlanSpaceTest, BannedSplitsAreNotAllowed) {
  PlanSpace space(function, {.axes = {{"d", 2}, {"e", 2}}}, {}, {splitOf(".net.w.", "a", {"d"})});
  EXPECT_EQ(space.choices(), (std::vector<unsigned>{9, 1 + 4})); // it never follows
  using Rules = std::vector<std::string>;
  EXPECT_EQ(space.rules(space.start()), (Rules{"op .net.w./a:", "op .net.w./k:"}));
  unsigned allowed = 0;
  for (unsigned a = 0; a < 9; ++a) {
    std::string rule = space.rules({a, 0})[0];
    bool isBanned = rule == "op .net.w./a:d" || rule == "op .net.w./a:d+e";
    bool isTooFine = space.rules({a, 0})[1] == "op .net.w./k:d+e";
    EXPECT_EQ(space.isAllowed({a, 0}), !isBanned && !isTooFine) << rule;
    allowed += space.isAllowed({a, 0});
  }
  EXPECT_EQ(allowed, 5u); // d: k or none, e: a, k or none; but not k by both
}

TEST_F(PlanSpaceTest, RulesGiveTheirPoint) {
  PlanSpace space(function, {.axes = {{"d", 2}, {"e", 2}}});
  std::string wrong;
  for (unsigned a = 0; a < 10; ++a)
    for (unsigned b = 0; b < 5; ++b)
      EXPECT_EQ(space.pointOf(space.rules({a, b}), wrong), (Point{a, b}));
  EXPECT_FALSE(space.pointOf({"op .net.w./a:d"}, wrong)); // without that of k
  EXPECT_EQ(wrong, "op .net.w./a:d");
}

// Over both axes, `k` would have 4 parts and has 2 coordinates.
TEST_F(PlanSpaceTest, AllowsNoMorePartsThanCoordinates) {
  PlanSpace space(function, {.axes = {{"d", 2}, {"e", 2}}});
  for (unsigned a = 0; a < 10; ++a)
    for (unsigned b = 0; b < 5; ++b) {
      bool isTooFine = false;
      for (const std::string &rule : space.rules({a, b}))
        isTooFine |= rule.ends_with("/k:d+e");
      EXPECT_EQ(space.isAllowed({a, b}), !isTooFine);
    }
}

TEST_F(PlanSpaceTest, SamplesAreNamedByInputsAlone) {
  EXPECT_EQ(sampleName(function), "a");
  function.setArgAttr(0, "heddle.donate", Builder(&context).getI64IntegerAttr(1));
  function.setArgAttr(1, "heddle.donate", Builder(&context).getI64IntegerAttr(1));
  EXPECT_EQ(sampleName(function), "");
}
