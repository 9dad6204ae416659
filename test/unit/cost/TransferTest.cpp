//===- TransferTest.cpp - seconds of transfers, and times of blocks -------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/mesh/MeshDialect.h"
#include "lib/cost/BlockTimes.h"
#include "lib/cost/Cost.h"
#include "lib/cost/Network.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace heddle;
using namespace mlir;
using cost::picoseconds;

namespace {
/// A byte takes 1 ns, or 2 ns along `b`; a message begins after 1 us, or 3 us along `b`. Along `c`
/// cores need 0.25 ns of the time of a byte, and 0.2 us of that of a message. Nests take longer
/// than on the CPU that stands for all.
constexpr const char *header =
    "module attributes {mesh.mesh = #mesh.mesh<a: 4, b: 2, c: 2>, heddle.machine = #nest.machine<{"
    "cycles_per_second = 1.0e+9, link_bytes_per_second = 1.0e+9, link_start_seconds = 1.0e-6, "
    "links = {b = {bytes_per_second = 5.0e+8, start_seconds = 3.0e-6}, "
    "c = {core_bytes_per_second = 4.0e+9, core_seconds = 2.0e-7}}}>} {\n";

class TransferTest : public ::testing::Test {
protected:
  void SetUp() override {
    context.loadDialect<nd::NdDialect, nest::NestDialect, mesh::MeshDialect, arith::ArithDialect,
                        func::FuncDialect>();
  }
  /// Parses ops on the arguments %x and %y, 400 floats of k each. Returns one value of this type,
  /// or none.
  void parse(const std::string &ops, const std::string &returned = "") {
    std::string type = returned.empty() ? "" : "!nd.tensor<f32, k: 400>";
    module = parseSourceString<ModuleOp>(std::string(header) +
                                             "func.func @f(%x: !nd.tensor<f32, k: 400>, "
                                             "%y: !nd.tensor<f32, k: 400>) -> (" +
                                             type + ") {\n" + ops + "\nreturn " + returned +
                                             (type.empty() ? "" : " : " + type) + "\n}\n}",
                                         &context);
    ASSERT_TRUE(module) << ops;
  }
  Block &block() { return (*module->getOps<func::FuncOp>().begin()).front(); }
  Operation *op(int i) { return &*std::next(block().begin(), i); }
  double timeOf(Operation *op) { return cost::secondsBySizes(op, cost::Machine::at(op)); }

  void expectCost(const std::string &text, double seconds, double least, double bytes) {
    parse(text);
    ASSERT_TRUE(cost::isTransfer(op(0)));
    cost::TransferCost got = cost::costOfTransfer(op(0), cost::Machine::at(op(0)));
    EXPECT_DOUBLE_EQ(got.seconds, seconds) << text;
    EXPECT_DOUBLE_EQ(got.least, least) << text;
    EXPECT_DOUBLE_EQ(got.bytes, bytes) << text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

const std::string sum = " combine add [0.0 : f32] : (!nd.tensor<f32, k: 400>) -> ";
/// %result = a nest that reads `reads`
std::string square(const std::string &result, const std::string &read) {
  return "%" + result + " = nest.compute (k: 400) reads %" + read +
         "[] {\n^bb0(%p: f32):\n  %r = arith.mulf %p, %p : f32\n  nest.yield %r : f32\n}"
         " : (!nd.tensor<f32, k: 400>) -> !nd.tensor<f32, k: 400>\n";
}
std::string reduce(const std::string &result, const std::string &from, const std::string &axis) {
  return "%" + result + " = mesh.all_reduce %" + from + " over [" + axis + "]" + sum +
         "!nd.tensor<f32, k: 400>\n";
}
} // namespace

TEST_F(TransferTest, Collectives) {
  // 4 devices: each sends 2 * 3 quarters in two rounds, or 3 blocks in one.
  expectCost(reduce("s", "x", "a"), 2e-6 + 2.4e-6, 1e-6 + 2.4e-6, 2400);
  expectCost("%s = mesh.reduce_scatter %x name k over [a]" + sum + "!nd.tensor<f32, k: 100>",
             1e-6 + 1.2e-6, 1e-6 + 1.2e-6, 1200);
  expectCost("%s = mesh.all_gather %x name k over [a] : (!nd.tensor<f32, k: 400>) -> "
             "!nd.tensor<f32, k: 1600>",
             1e-6 + 4.8e-6, 1e-6 + 4.8e-6, 4800);
  expectCost("%s = mesh.permute %x over [a] shift 1 wrap : !nd.tensor<f32, k: 400>", 1e-6 + 1.6e-6,
             1e-6 + 1.6e-6, 1600);
  expectCost("%s = mesh.broadcast %x over [a] from 0 : !nd.tensor<f32, k: 400>", 2e-6 + 1.2e-6,
             1e-6 + 1.2e-6, 1200);
}

TEST_F(TransferTest, RatesOfAnAxis) {
  expectCost(reduce("s", "x", "b"), 6e-6 + 3.2e-6, 3e-6 + 3.2e-6, 1600);
  // The group of both crosses the links of `b`.
  expectCost(reduce("s", "x", "a, b"), 6e-6 + 5.6e-6, 3e-6 + 5.6e-6, 2800);
  EXPECT_EQ(cost::Network::at(op(0)).slowest(cost::axesOf(op(0))), "b");
  // A part of an axis.
  expectCost(reduce("s", "x", "a(1)2"), 2e-6 + 1.6e-6, 1e-6 + 1.6e-6, 1600);
}

TEST_F(TransferTest, Messages) {
  expectCost("mesh.send %x to [a] = 1 channel 0 : !nd.tensor<f32, k: 400>", 2.6e-6, 2.6e-6, 1600);
  expectCost("%r = mesh.receive from [a] = 1 channel 0 : !nd.tensor<f32, k: 400>", 2.6e-6, 2.6e-6,
             0);
}

TEST_F(TransferTest, AGroupOfOneSendsNothing) {
  cost::TransferCost cost = cost::costOf(cost::Transfer{2, 0}, cost::Group{1, {0, 1}});
  EXPECT_EQ(cost.seconds, 0);
  EXPECT_EQ(cost.least, 0);
}

TEST_F(TransferTest, RecurrencesRunAgain) {
  parse("%r = nest.scan along #nd.dims<t: 7> init(%x) reads() : (!nd.tensor<f32, k: 400>) -> "
        "!nd.tensor<f32, k: 400> {\n^bb0(%c: !nd.tensor<f32, k: 400>):\n"
        "%s = mesh.permute %c over [a] shift 1 wrap : !nd.tensor<f32, k: 400>\n"
        "nest.yield %s : !nd.tensor<f32, k: 400>\n}");
  EXPECT_EQ(cost::runsOf(op(0)), 1);
  EXPECT_EQ(cost::runsOf(&op(0)->getRegion(0).front().front()), 7);
  EXPECT_EQ(cost::BlockTimes(block(), {}).end(), picoseconds(timeOf(op(0)) + 7 * 2.6e-6));
}

TEST_F(TransferTest, LoopsRunTheirFunctions) {
  const std::string state = "(!nd.tensor<i1>, !nd.tensor<f32, k: 400>)";
  const std::string formals = "(%c: !nd.tensor<i1>, %x: !nd.tensor<f32, k: 400>)";
  auto endOf = [&](const std::string &attributes) {
    module = parseSourceString<ModuleOp>(
        header + ("func.func @f" + formals) + " {\n%r:2 = nest.control [@turn] %c, %x " +
            attributes + ": " + state + " -> " + state + "\nreturn\n}\nfunc.func private @turn" +
            formals + " -> " + state + " {\n" + square("u", "x") + reduce("s", "u", "a") +
            "return %c, %s : !nd.tensor<i1>, !nd.tensor<f32, k: 400>\n}\n}",
        &context);
    return cost::BlockTimes(block(), {}).end();
  };
  EXPECT_EQ(endOf(""), 0);
  auto all = module->getOps<func::FuncOp>();
  int64_t turn = picoseconds(timeOf(&(*std::next(all.begin())).front().front())) + 4'400'000;
  EXPECT_EQ(endOf("{heddle.turns = 5 : i64} "), 5 * turn);
}

TEST_F(TransferTest, CollectivesOverlapWithNestsAndShareTheLinksOfAnAxis) {
  parse(square("u", "x") + reduce("s", "u", "a") + reduce("t", "u", "a") + reduce("v", "u", "b") +
        square("w", "u") + square("z", "s"));
  cost::BlockTimes times(block(), {});
  int64_t one = picoseconds(timeOf(op(0)));
  EXPECT_EQ(times.begin(op(0)), 0);
  EXPECT_EQ(times.begin(op(1)), one);
  EXPECT_EQ(times.end(op(1)), one + 4'400'000);
  EXPECT_EQ(times.begin(op(2)), one + 4'400'000); // the same link
  EXPECT_EQ(times.begin(op(3)), one);             // another one
  EXPECT_EQ(times.begin(op(4)), one);             // the stream goes on
  EXPECT_EQ(times.begin(op(5)), one + 4'400'000); // waits for its operand
  EXPECT_EQ(times.end(op(2)), one + 2 * 4'400'000);
  EXPECT_EQ(times.end(), times.end(op(3)));
}

TEST_F(TransferTest, CoresThatMoveDataDoNotCompute) {
  parse(square("u", "x") + reduce("s", "u", "c") + square("w", "u") + square("z", "s"));
  EXPECT_DOUBLE_EQ(cost::costOfTransfer(op(1), cost::Machine::at(op(1))).ofCores, 4e-7 + 4e-7);
  cost::BlockTimes times(block(), {});
  int64_t one = picoseconds(timeOf(op(0)));
  EXPECT_EQ(times.begin(op(1)), one + 800'000);
  EXPECT_EQ(times.end(op(1)), one + 2'000'000 + 1'600'000);
  EXPECT_EQ(times.begin(op(2)), one + 800'000);
  EXPECT_EQ(times.begin(op(3)), times.end(op(1)));
  // The next op would wait anyway.
  parse(reduce("s", "x", "c") + square("z", "s"));
  EXPECT_EQ(cost::BlockTimes(block(), {}).begin(op(0)), 0);
  EXPECT_EQ(cost::BlockTimes(block(), {}).begin(op(1)), 2'000'000 + 1'600'000);
  // What it moves has to be there before.
  parse(reduce("s", "x", "a") + reduce("t", "s", "c") + square("w", "x"));
  EXPECT_EQ(cost::BlockTimes(block(), {}).begin(op(1)), 4'400'000 + 800'000);
}

TEST_F(TransferTest, TimesOfNestsAreScaled) {
  parse(square("u", "x") + reduce("s", "u", "a"));
  cost::BlockTimesOptions options;
  options.scale = 3;
  cost::BlockTimes times(block(), options);
  EXPECT_EQ(times.begin(op(1)), picoseconds(3 * timeOf(op(0))));
  EXPECT_EQ(times.end(op(1)) - times.begin(op(1)), 4'400'000);
}

TEST_F(TransferTest, CollectivesBeginWhenTheStreamReachesThem) {
  parse(square("u", "x") + reduce("s", "y", "a"));
  EXPECT_EQ(cost::BlockTimes(block(), {}).begin(op(1)), picoseconds(timeOf(op(0))));
  cost::BlockTimesOptions free;
  free.isFree = cost::isTransfer;
  EXPECT_EQ(cost::BlockTimes(block(), free).end(op(1)), picoseconds(timeOf(op(0))));
}

TEST_F(TransferTest, ArgumentsAndLiveValuesAreHeld) {
  parse(square("u", "x") + square("v", "u") + square("w", "v") + square("z", "v"));
  EXPECT_EQ(cost::BlockTimes(block(), {}).mostBytes(), 4 * 1600); // of x, y and two results
}

TEST_F(TransferTest, ValuesAreSentToOtherDevicesOnce) {
  // %u, %v on device 0; %w, %z on device 1.
  parse(square("u", "x") + square("v", "u") + square("w", "u") + square("z", "u"));
  cost::BlockTimesOptions options;
  options.order = cost::TaskTimes::Order::FirstFree;
  options.places.devices = 2;
  options.places.axes = {mesh::Axis("b")};
  options.places.ofOp = [&](Operation *each) -> std::optional<unsigned> {
    return each == op(2) || each == op(3);
  };
  options.places.ofArgument = [](BlockArgument) { return std::nullopt; };
  cost::BlockTimes times(block(), options);
  int64_t one = picoseconds(timeOf(op(0))), message = 3'000'000 + 3'200'000;
  EXPECT_EQ(times.end(op(0)), one);
  EXPECT_EQ(times.begin(op(1)), one);
  EXPECT_EQ(times.begin(op(2)), one + message);
  EXPECT_EQ(times.begin(op(3)), 2 * one + message);
  EXPECT_EQ(times.mostBytes(0), 2 * 1600);
  EXPECT_EQ(times.mostBytes(1), 2 * 1600);
}

TEST_F(TransferTest, ResultsAreSentToTheirDevices) {
  // %u on device 0, which has the result; %v on device 1.
  parse(square("u", "x") + square("v", "u"), "%v");
  cost::BlockTimesOptions options;
  options.places.devices = 2;
  options.places.axes = {mesh::Axis("b")};
  options.places.ofOp = [&](Operation *each) -> std::optional<unsigned> {
    return each->hasTrait<OpTrait::IsTerminator>() ? std::nullopt : std::optional(each == op(1));
  };
  options.places.ofArgument = [](BlockArgument) { return std::nullopt; };
  int64_t one = picoseconds(timeOf(op(0))), message = 3'000'000 + 3'200'000;
  EXPECT_EQ(cost::BlockTimes(block(), options).end(), 2 * one + message);
  options.places.ofResult = [](unsigned) { return std::optional(0u); };
  cost::BlockTimes times(block(), options);
  EXPECT_EQ(times.end(), 2 * one + 2 * message);
  EXPECT_EQ(times.mostBytes(0), 1600); // %u is gone when %v comes
  options.places.ofResult = [](unsigned) { return std::optional(1u); };
  EXPECT_EQ(cost::BlockTimes(block(), options).end(), 2 * one + message);
}
