//===- AdjustedSchedulesTest.cpp - extensions change choices --------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes and schedules are chosen by costs as extensions change them (lib/cost/Adjustment.h).
//
//===----------------------------------------------------------------------===//

#include "lib/cost/Cost.h"
#include "lib/transforms/nest/schedule/ChooseSchedules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace heddle;
using namespace mlir;

namespace {
/// Multiplies the costs of nests with loops by what `factorOf` returns.
struct Adjusted : cost::Adjustment {
  std::function<double(const cost::NestFacts &)> factorOf;

  explicit Adjusted(std::function<double(const cost::NestFacts &)> factorOf)
      : factorOf(std::move(factorOf)) {}
  void adjustCost(ArrayRef<cost::NestFacts> nests, cost::Cost &cost) const override {
    if (nests.size() == 1 && nests[0].knowledge() == cost::Knowledge::Schedule)
      cost.seconds *= factorOf(nests[0]);
  }
};

/// The schedule of a product of two matrices with 512 rows and columns.
nest::Schedule chosen(std::shared_ptr<const cost::Adjustment> adjustment = nullptr) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<nd::NdDialect, nest::NestDialect, arith::ArithDialect, func::FuncDialect>();
  if (adjustment)
    cost::setAdjustments(&context, {adjustment});
  auto module = parseSourceString<ModuleOp>(R"(
    !A = !nd.tensor<f32, k: 512, m: 512>
    !B = !nd.tensor<f32, k: 512, n: 512>
    !C = !nd.tensor<f32, m: 512, n: 512>
    func.func @f(%a: !A {nd.layout = #nest.layout<[m, k]>},
                 %b: !B {nd.layout = #nest.layout<[k, n]>}) -> !C {
      %c = nest.compute (m: 512, n: 512) reduce (k: 512) reads %a[], %b[] {
      ^bb0(%p: f32, %q: f32):
        %r = arith.mulf %p, %q : f32
        nest.yield %r : f32
      } combine add [0.0 : f32] {layouts = [#nest.layout<[m, n]>]} : (!A, !B) -> !C
      return %c : !C
    })",
                                            &context);
  nest::chooseSchedules(*module, cost::Machine::of({}));
  nest::ComputeOp op;
  module->walk([&](nest::ComputeOp each) { op = each; });
  return op.getScheduleAttr().getSchedule();
}
} // namespace

TEST(AdjustedSchedules, HaveOtherLanes) {
  EXPECT_EQ(chosen().loops.back().names[0], "n");
  auto made = chosen(std::make_shared<Adjusted>([](const cost::NestFacts &facts) {
    int n = facts.nest().indexOf("n");
    return llvm::is_contained(facts.loops().lanes(), unsigned(n)) ? 1000 : 1;
  }));
  EXPECT_NE(made.loops.back().names[0], "n");
}

TEST(AdjustedSchedules, HaveOtherCopies) {
  ASSERT_FALSE(chosen().stages.empty());
  auto made = chosen(std::make_shared<Adjusted>([](const cost::NestFacts &facts) {
    return facts.stageOf(0) || facts.stageOf(1) ? cost::mostAdjusted : 1;
  }));
  EXPECT_TRUE(made.stages.empty());
}

/// If all nests are a thousand times as fast, the same schedule is the best.
TEST(AdjustedSchedules, AreTheSameIfOnlyTheUnitChanges) {
  auto isSame = [](const nest::Schedule &a, const nest::Schedule &b) {
    auto text = [](const nest::Schedule &each) {
      std::string result;
      for (const nest::Loop &loop : each.loops)
        result += loop.level + " " + loop.names[0] + " " + std::to_string(loop.step) + "; ";
      return result + std::to_string(each.stages.size());
    };
    EXPECT_EQ(text(a), text(b));
  };
  isSame(chosen(),
         chosen(std::make_shared<Adjusted>([](const cost::NestFacts &) { return 1e-3; })));
}
