//===- AdjustmentTest.cpp - extensions change the cost model --------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/Adjustment.h"

#include "lib/analysis/Layouts.h"
#include "lib/cost/Cost.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace heddle;
using namespace heddle::cost;
using namespace mlir;

namespace {
/// L2 is half as large, and everything takes three times as long.
struct Slow : Adjustment {
  nest::MachineAttr adjustMachine(nest::MachineAttr machine) const override {
    return withFact(machine, "l2_bytes", double(machine.integer("l2_bytes", 1 << 20) / 2));
  }
  void adjustCost(ArrayRef<NestFacts> nests, Cost &cost) const override {
    seen = nests.size();
    cost.seconds *= 3;
  }
  mutable size_t seen = 0;
};

struct Free : Adjustment {
  void adjustCost(ArrayRef<NestFacts>, Cost &cost) const override { cost.seconds = 0; }
};

class AdjustmentTest : public testing::Test {
protected:
  DialectRegistry registry;
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;

  /// A sum of vectors, with these facts of the machine.
  Operation *nest(const std::string &facts = "") {
    registry.insert<nd::NdDialect, nest::NestDialect, arith::ArithDialect, func::FuncDialect>();
    if (!context)
      context = std::make_unique<MLIRContext>(registry);
    std::string attributes =
        facts.empty() ? "" : "attributes {heddle.machine = #nest.machine<{" + facts + "}>} ";
    module = parseSourceString<ModuleOp>("module " + attributes + R"({
      func.func @f(%x: !nd.tensor<f32, n: 1000>) -> !nd.tensor<f32, n: 1000> {
        %y = nest.compute (n: 1000) reads %x[] {
        ^bb0(%p: f32):
          %r = arith.addf %p, %p : f32
          nest.yield %r : f32
        } : (!nd.tensor<f32, n: 1000>) -> !nd.tensor<f32, n: 1000>
        return %y : !nd.tensor<f32, n: 1000>
      }
    })",
                                         context.get());
    return &(*module->getOps<func::FuncOp>().begin()).front().front();
  }
  double seconds(Operation *op) { return costOf(op, Machine::at(op)).seconds; }
};
} // namespace

TEST_F(AdjustmentTest, ChangesFactsAndCosts) {
  Operation *op = nest("l2_bytes = 65536, vector_bytes = 32");
  double before = seconds(op);
  EXPECT_EQ(adjustmentsOf(context.get()), nullptr);
  EXPECT_EQ(Machine::at(op).memories[1].bytes, 65536);
  auto slow = std::make_shared<Slow>();
  setAdjustments(context.get(), {slow});
  EXPECT_EQ(Machine::at(op).memories[1].bytes, 32768);
  EXPECT_EQ(Machine::at(op).vectorBytes, 32);
  EXPECT_DOUBLE_EQ(seconds(op), 3 * before);
  EXPECT_EQ(slow->seen, 1u);
  // A search asks by facts of the nest.
  NestFacts facts(op, Machine::at(op).facts);
  EXPECT_DOUBLE_EQ(costOf(facts, Rates()).seconds, 3 * before);
  setAdjustments(context.get(), {});
  EXPECT_EQ(Machine::at(op).memories[1].bytes, 65536);
  EXPECT_EQ(seconds(op), before);
}

/// So are the costs by which lanes, schedules and groups are chosen.
TEST_F(AdjustmentTest, ChangesCostsOfLoopsAndGroups) {
  Operation *op = nest();
  auto ofLoops = [&] {
    NestFacts facts(op, {});
    facts.setLayouts({nest::sortedLayout(facts.nest().accesses[0].type),
                      nest::sortedLayout(facts.nest().accesses[1].type)});
    facts.setLoops(Loop(Loop::Vector, {0}, 1));
    return secondsOf(facts, Rates());
  };
  double loops = ofLoops(), group = secondsSavedAsGroup({op, op});
  setAdjustments(context.get(), {std::make_shared<Slow>()});
  EXPECT_DOUBLE_EQ(ofLoops(), 3 * loops);
  EXPECT_DOUBLE_EQ(secondsSavedAsGroup({op, op}), 3 * group);
}

TEST_F(AdjustmentTest, AppliesSeveralInOrder) {
  Operation *op = nest("l2_bytes = 65536, vector_bytes = 32");
  setAdjustments(context.get(), {std::make_shared<Slow>(), std::make_shared<Slow>()});
  EXPECT_EQ(Machine::at(op).memories[1].bytes, 16384);
  setAdjustments(context.get(), {std::make_shared<Slow>(), std::make_shared<Free>()});
  Cost cost = costOf(op, Machine::at(op));
  EXPECT_EQ(cost.seconds, 0);
  EXPECT_EQ(cost.bound, 0); // never above the estimate
}

/// Without facts, the machine keeps the vectors of the nominal CPU.
TEST_F(AdjustmentTest, AdjustsTheNominalMachine) {
  Operation *op = nest();
  double before = seconds(op);
  EXPECT_EQ(Machine::at(op).facts, nullptr);
  setAdjustments(context.get(), {std::make_shared<Slow>()});
  Machine machine = Machine::at(op);
  EXPECT_EQ(machine.memories[1].bytes, 1 << 19);
  EXPECT_EQ(machine.vectorBytes, Machine().vectorBytes);
  EXPECT_EQ(machine.registers, Machine().registers);
  EXPECT_DOUBLE_EQ(seconds(op), 3 * before);
}

/// The machine that stands for all CPUs in decisions that change bits is the same everywhere.
TEST_F(AdjustmentTest, LeavesTheClass) {
  nest();
  setAdjustments(context.get(), {std::make_shared<Slow>()});
  EXPECT_EQ(Machine::ofClass("cpu").memories[1].bytes, 1 << 20);
}

TEST_F(AdjustmentTest, ComesWithDialects) {
  addAdjustment(registry, std::make_shared<Slow>());
  addAdjustment(registry, std::make_shared<Slow>());
  Operation *op = nest("l2_bytes = 65536");
  EXPECT_EQ(Machine::at(op).memories[1].bytes, 16384);
}

TEST(Facts, AreReplaced) {
  MLIRContext context;
  context.loadDialect<nest::NestDialect>();
  auto parse = [&](const char *text) {
    return cast<nest::MachineAttr>(parseAttribute(text, &context));
  };
  nest::MachineAttr machine = parse("#nest.machine<{l2_bytes = 4096, load_cycles = 1.0}>");
  EXPECT_EQ(withFact(machine, "l2_bytes", 0),
            parse("#nest.machine<{l2_bytes = 0, load_cycles = 1.0}>"));
  EXPECT_EQ(withFact(machine, "store_cycles", 2),
            parse("#nest.machine<{l2_bytes = 4096, load_cycles = 1.0, store_cycles = 2.0}>"));
  EXPECT_EQ(withFacts(machine, parse("#nest.machine<{l2_bytes = 1, l3_bytes = 2}>")),
            parse("#nest.machine<{l2_bytes = 1, l3_bytes = 2, load_cycles = 1.0}>"));
  EXPECT_EQ(withFacts(machine, {}), machine);
  EXPECT_EQ(withoutRates(machine), parse("#nest.machine<{l2_bytes = 4096}>"));
  EXPECT_EQ(withoutRates(parse("#nest.machine<{load_cycles = 1.0}>")), nullptr);
  EXPECT_EQ(withoutRates({}), nullptr);
}
