//===- ReadGraphTest.cpp - graphs of functions ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/planner/ReadGraph.h"
#include "lib/planner/CutRecurrences.h"

#include "lib/pipelines/Pipelines.h"
#include "lib/planner/Tasks.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace heddle;
using namespace heddle::planner;
using namespace mlir;

// A sum of products, which is negated; its gradient, the sum over the other name; and the update.
static const char *program = R"(
!x = !nd.tensor<f32, b: 8, i: 6>
!w = !nd.tensor<f32, i: 6, o: 4>
!y = !nd.tensor<f32, b: 8, o: 4>
func.func @step(%x: !x {nd.name = "x"}, %w: !w {nd.name = "net.w", heddle.donate = 1 : i64}) -> (!y, !w) {
  %y = nest.compute (b: 8, o: 4) reduce (i: 6) reads %x[], %w[] {
  ^bb0(%u: f32, %v: f32):
    %p = arith.mulf %u, %v : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!x, !w) -> !y
  %z = nest.compute (b: 8, o: 4) reads %y[] {
  ^bb0(%u: f32):
    %p = arith.negf %u : f32
    nest.yield %p : f32
  } : (!y) -> !y
  %g = nest.compute (i: 6, o: 4) reduce (b: 8) reads %x[], %z[] {
  ^bb0(%u: f32, %v: f32):
    %p = arith.mulf %u, %v : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!x, !y) -> !w
  %n = nest.compute (i: 6, o: 4) reads %w[], %g[] {
  ^bb0(%u: f32, %v: f32):
    %p = arith.addf %u, %v : f32
    nest.yield %p : f32
  } : (!w, !w) -> !w
  return %z, %n : !y, !w
}
)";

// Windows of three rows, of which the second operator takes every other one; a lookup of rows.
static const char *windows = R"(
!x = !nd.tensor<f32, row: 10>
!i = !nd.tensor<i32, row: 4>
func.func @windows(%x: !x {nd.name = "x"}, %at: !i {nd.name = "at"}) -> !nd.tensor<f32, row: 4> {
  %p = nest.compute (row: 10) reduce (c: 2) reads %x[] {
  ^bb0(%u: f32):
    nest.yield %u : f32
  } combine add [0.0 : f32] : (!x) -> !x
  %s = nest.compute (row: 4) reduce (k: 3) reads %p[row = 2 * row + k] {
  ^bb0(%u: f32):
    nest.yield %u : f32
  } combine add [0.0 : f32] : (!x) -> !nd.tensor<f32, row: 4>
  %l = nest.compute (row: 4) reads %at[], %s[row = read(0)] {
  ^bb0(%u: i32, %v: f32):
    nest.yield %v : f32
  } : (!i, !nd.tensor<f32, row: 4>) -> !nd.tensor<f32, row: 4>
  return %l : !nd.tensor<f32, row: 4>
}
)";

// The products of all pairs of rows; then pairs of neighbours, of names that no sum has; the first
// half is written to a larger tensor.
static const char *pairs = R"(
!x = !nd.tensor<f32, k: 3, row: 4>
!p = !nd.tensor<f32, a: 4, b: 4>
!d = !nd.tensor<f32, b: 4, e: 2, f: 3>
func.func @pairs(%x: !x {nd.name = "x"}, %to: !p {nd.name = "to"}) -> (!d, !p) {
  %p = nest.compute (a: 4, b: 4) reduce (k: 3) reads %x[row = a], %x[row = b] {
  ^bb0(%u: f32, %v: f32):
    %m = arith.mulf %u, %v : f32
    nest.yield %m : f32
  } combine add [0.0 : f32] : (!x, !x) -> !p
  %d = nest.compute (b: 4, e: 2, f: 3) reads %p[a = e + f] {
  ^bb0(%u: f32):
    nest.yield %u : f32
  } : (!p) -> !d
  %w = nest.update (b: 4, c: 2) %to[a = c] unique reads %p[a = c] {
  ^bb0(%u: f32):
    nest.yield %u : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    nest.yield %new : f32
  } : (!p, !p) -> !p
  return %d, %w : !d, !p
}
)";

// A recurrence mixes its state over `h`, so that steps can be divided by `b` alone. Another one
// adds up sums over `b`: partial sums of both are added after the last step.
static const char *recurrences = R"(
!x = !nd.tensor<f32, b: 8, t: 5>
!s = !nd.tensor<f32, b: 8, h: 3>
!w = !nd.tensor<f32, g: 3, h: 3>
!o = !nd.tensor<f32, b: 8, h: 3, t: 5>
!h = !nd.tensor<f32, h: 3>
func.func @recur(%x: !x {nd.name = "x"}, %w: !w {nd.name = "net.w"}, %s: !s, %z: !h) -> !h {
  %r:2 = nest.scan along #nd.dims<t: 5> init(%s) reads(%x) : (!s, !x) -> (!s, !o) {
  ^bb0(%state: !s, %slice: !nd.tensor<f32, b: 8>):
    %m = nest.compute (b: 8, h: 3) reduce (g: 3) reads %state[h = g], %w[], %slice[] {
    ^bb0(%u: f32, %v: f32, %q: f32):
      %p = arith.mulf %u, %v : f32
      %n = arith.addf %p, %q : f32
      nest.yield %n : f32
    } combine add [0.0 : f32] : (!s, !w, !nd.tensor<f32, b: 8>) -> !s
    nest.yield %m, %m : !s, !s
  }
  %e = nest.scan along #nd.dims<t: 5> init(%z) reads(%r#1) : (!h, !o) -> !h {
  ^bb0(%total: !h, %slice: !s):
    %m = nest.compute (h: 3) reduce (b: 8) reads %slice[] {
    ^bb0(%u: f32):
      nest.yield %u : f32
    } combine add [0.0 : f32] : (!s) -> !h
    %n = nest.compute (h: 3) reads %total[], %m[] {
    ^bb0(%u: f32, %v: f32):
      %p = arith.addf %u, %v : f32
      nest.yield %p : f32
    } : (!h, !h) -> !h
    nest.yield %n : !h
  }
  return %e : !h
}
)";

struct ReadGraphTest : ::testing::Test {
  MLIRContext context{[] {
    DialectRegistry registry;
    registerCompilerDialects(registry);
    return registry;
  }()};
  OwningOpRef<ModuleOp> module;
  Graph read(const char *text, bool isTied) {
    module = parseSourceString<ModuleOp>(text, &context);
    return readGraph(*module->getOps<func::FuncOp>().begin(), cost::Machine(), isTied);
  }
};

static Cluster twoDevices() {
  Cluster cluster;
  cluster.kinds = {{.name = "gpu", .operationsPerSecond = 1e12}};
  cluster.devices = {{"a", 0}, {"b", 0}};
  cluster.nodes = cluster.lanes = 2;
  cluster.links = {{0, 1, 0, 1e12, 0}, {1, 0, 1, 1e12, 0}};
  cluster.findRoutes();
  return cluster;
}

static std::string textOf(const Graph &graph) {
  std::string text;
  for (const Graph::Choice &choice : graph.choices) {
    text += choice.name + ":";
    for (const Graph::Name &name : choice.names)
      text += (name.isSequence ? " >" : " ") + name.label + "=" + std::to_string(name.size);
    text += "\n";
  }
  for (const Graph::Operator &op : graph.operators) {
    const auto &names = graph.choices[op.choice].names;
    text += (op.isUpdate ? "update " : "") + op.name + " over";
    for (unsigned name : op.names)
      text += " " + names[name].label;
    for (const Graph::Value &value : graph.values) {
      if (&graph.operators[value.maker] != &op)
        continue;
      text += ", makes";
      for (auto name : value.names)
        text += " " + (name ? names[*name].label : "whole");
      for (unsigned name : value.summed)
        text += " sum " + names[name].label;
    }
    for (const Graph::Read &each : op.reads) {
      text += each.ofNextStep ? ", next" : ", reads";
      for (const Coordinate &coordinate : each.coordinates) {
        text += " ";
        for (auto [name, factor] : coordinate.terms)
          text += (factor == 1 ? "" : std::to_string(factor) + "*") + names[name].label + "+";
        text += std::to_string(coordinate.low) + ".." + std::to_string(coordinate.high);
      }
    }
    text += "\n";
  }
  return text;
}

TEST_F(ReadGraphTest, LayersTheirGradientsAndUpdatesAreOneChoice) {
  Graph graph = read(program, true);
  EXPECT_EQ(textOf(graph),
            "net.w: b=8 o=4 i=6\n"
            "net.w over b o i, makes b o sum i, next i+0..0 o+0..0\n"
            "net.w over b o, makes b o, reads b+0..0 o+0..0\n"
            "net.w.dw over b o i, makes i o sum b, reads b+0..0 o+0..0\n"
            "update net.w.update over o i, makes i o, reads i+0..0 o+0..0, next i+0..0 o+0..0\n");
  EXPECT_EQ(graph.operators[0].operations, 2 * 8 * 4 * 6);
  EXPECT_FALSE(graph.choices[0].names[0].isSummed); // b, though the gradient is summed over it
  EXPECT_TRUE(graph.choices[0].names[2].isSummed);
}

TEST_F(ReadGraphTest, ElseEachOperatorIsAChoice) {
  EXPECT_EQ(textOf(read(program, false)),
            "net.w: b=8 o=4 i=6\n"
            "net.w.dw: i=6 o=4 b=8\n"
            "net.w.update: i=6 o=4\n"
            "net.w over b o i, makes b o sum i, next i+0..0 o+0..0\n"
            "net.w over b o, makes b o, reads b+0..0 o+0..0\n"
            "net.w.dw over i o b, makes i o sum b, reads b+0..0 o+0..0\n"
            "update net.w.update over i o, makes i o, reads i+0..0 o+0..0, next i+0..0 o+0..0\n");
}

// Data parallelism sends the partial gradient and the next value; splitting `o` sends nothing.
TEST_F(ReadGraphTest, SplitsSendWhatPartsLack) {
  Graph graph = read(program, true);
  Cluster cluster = twoDevices();
  Tasks tasks(graph, cluster, {.isPaper = true});
  tasks.configure(0, {{2, 1, 1}, {0, 1}});
  tasks.update();
  EXPECT_EQ(tasks.totals().bytes, 2 * 6 * 4 * 4);
  tasks.commit();
  tasks.configure(0, {{1, 2, 1}, {0, 1}});
  tasks.update();
  EXPECT_EQ(tasks.totals().bytes, 0);
  tasks.commit();
  // Halves of `i`: a partial sum of y goes to the first device, and z back to the second.
  tasks.configure(0, {{1, 1, 2}, {0, 1}});
  tasks.update();
  EXPECT_EQ(tasks.totals().bytes, 2 * 8 * 4 * 4);
}

TEST_F(ReadGraphTest, WindowsReadTheirHaloAndLookupsAll) {
  Graph graph = read(windows, false);
  EXPECT_EQ(textOf(graph), "x: row=10 c=2\n"
                           "x.2: row=4 k=3\n"
                           "at: row=4\n"
                           "x over row c, makes row sum c\n"
                           "x.2 over row k, makes row sum k, reads k+2*row+0..0\n"
                           "at over row, makes row, reads 0..3\n");
  Cluster cluster = twoDevices();
  Tasks tasks(graph, cluster, {});
  tasks.configure(0, {{2, 1}, {0, 1}});
  tasks.configure(1, {{2, 1}, {0, 1}});
  tasks.configure(2, {{2}, {0, 1}});
  tasks.update();
  // Rows 0 to 4 and 4 to 8 of x, which is in rows 0 to 4 and 5 to 9: one row. Then two rows each.
  EXPECT_EQ(tasks.totals().bytes, 4 + 2 * 2 * 4);
}

TEST_F(ReadGraphTest, RecurrencesAreDividedWhereStepsAreApart) {
  EXPECT_EQ(textOf(read(recurrences, false)),
            "net.w: b=8 >t=5\n"
            "argument3: h=3 b=8 >t=5\n"
            "net.w over b t, makes b whole t\n"
            "argument3 over h b t, makes h sum b, reads b+0..0 h+0..0 t+0..0\n");
  // A step reads another sample of the state.
  std::string mixed = recurrences;
  mixed.replace(mixed.find("%state[h = g]"), 13, "%state[b = 7 - b, h = g]");
  EXPECT_EQ(textOf(read(mixed.c_str(), false)).substr(0, 13), "net.w: >t=5\na");
  // The nest that makes the partial sums is not a sum.
  std::string text = recurrences;
  text.replace(text.find("%p = arith.addf %u, %v"), 22, "%p = arith.mulf %u, %v");
  EXPECT_EQ(textOf(read(text.c_str(), false)),
            "net.w: b=8 >t=5\n"
            "argument3: h=3 >t=5\n"
            "net.w over b t, makes b whole t\n"
            "argument3 over h t, makes h, reads 0..7 h+0..0 t+0..0\n");
}

// Steps 0 to 3 and 3 to 5: a piece reads what the one before carries, and the piece of the other
// recurrence with the same steps.
TEST_F(ReadGraphTest, RecurrencesAreCut) {
  Graph graph = cutRecurrences(read(recurrences, false), 2);
  EXPECT_EQ(textOf(graph), "net.w/t.0: b=8 >t=3\n"
                           "net.w/t.1: b=8 >t=2\n"
                           "argument3: h=3 b=8 >t=5\n"
                           "net.w/0 over b t, makes b whole t, makes b whole\n"
                           "net.w/1 over b t, makes b whole t, reads b+0..0 0..2\n"
                           "argument3 over h b t, makes h sum b, reads b+0..0 h+0..0 t+0..0, "
                           "reads b+0..0 h+0..0 t+-3..-3\n");
  EXPECT_DOUBLE_EQ(graph.operators[0].operations * 5, 3 * 5 * 8 * 3 * 3 * 3);
  EXPECT_EQ(graph.choices[1].depth, 0u);
  EXPECT_EQ(graph.choices[2].depth, 1u);
  // More pieces than steps are one for each step; in reverse, the last one is the first.
  std::string reverse = recurrences;
  reverse.replace(reverse.find("> init(%s)"), 10, "> reverse init(%s)");
  graph = cutRecurrences(read(reverse.c_str(), false), 8);
  EXPECT_EQ(graph.choices.size(), 6u);
  EXPECT_EQ(graph.operators[0].name, "net.w/4");
  EXPECT_EQ(graph.operators[4].name, "net.w/0");
}

// On two devices, two recurrences in 5 pieces take 6 of 10 times, without transfers.
TEST_F(ReadGraphTest, CutRecurrencesOverlap) {
  Cluster cluster = twoDevices();
  for (Cluster::Link &link : cluster.links)
    link.bytesPerSecond = 1e30;
  std::string text = recurrences; // without partial sums
  text.replace(text.find("%p = arith.addf %u, %v"), 22, "%p = arith.mulf %u, %v");
  auto timeOf = [&](unsigned pieces) {
    Graph graph = cutRecurrences(read(text.c_str(), false), pieces);
    std::vector<size_t> reads;
    for (Graph::Operator &op : graph.operators) {
      op.operations = 1000.0 / pieces;
      reads.push_back(op.reads.size());
    }
    // The first piece of the second recurrence reads one piece of the first.
    EXPECT_EQ(reads[pieces], 1u) << pieces;
    Tasks tasks(graph, cluster, {});
    for (unsigned i = 0; i < graph.choices.size(); ++i)
      tasks.configure(i, onDevice(graph.choices[i], i >= graph.choices.size() / 2));
    return tasks.update();
  };
  EXPECT_NEAR(double(timeOf(1)), 2000, 20);
  EXPECT_NEAR(double(timeOf(5)), 1200, 20);
}

// Both names of a product of a value with itself are coordinates of one dimension, and stay two.
TEST_F(ReadGraphTest, NoNestHasANameTwice) {
  EXPECT_EQ(textOf(read(pairs, true)), "x: a=4 b=4 k=3\n"
                                       "to: b=4 c=2\n"
                                       "x over a b k, makes a b sum k\n"
                                       "x over b, makes b whole whole, reads 0..3 b+0..0\n"
                                       "to over b c, makes whole b sum c, reads c+0..0 b+0..0\n");
}
