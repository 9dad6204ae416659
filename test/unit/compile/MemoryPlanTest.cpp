//===- MemoryPlanTest.cpp - buffers of the values of an entry -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

using namespace heddle;
using namespace heddle::test;

namespace {

/// `%name = what(%operand) elementwise`, kept as a nest of its own.
std::string nest(const std::string &name, const std::string &operand, int size,
                 const std::string &layout = "[i]", const std::string &map = "") {
  std::string type = "!nd.tensor<f32, i: " + std::to_string(size) + ">";
  return "  %" + name + " = nest.compute (i: " + std::to_string(size) + ") reads %" + operand +
         "[" + map +
         "] {\n  ^bb0(%a: f32):\n    %c = arith.constant 1.0 : f32\n    %q = arith.addf %a, %c : "
         "f32\n"
         "    nest.yield %q : f32\n  } {heddle.materialize, layouts = [#nest.layout<" +
         layout + ">]} : (" + type + ") -> " + type + "\n";
}

/// `%name = %operand with its first elements replaced by those of %x`, which can be done in place.
std::string update(const std::string &name, const std::string &operand, int size,
                   const std::string &layout = "[i]") {
  std::string type = "!nd.tensor<f32, i: " + std::to_string(size) + ">";
  return "  %" + name + " = nest.update (p: 7) %" + operand + "[i = p] unique reads %x[i = p] {\n" +
         "  ^bb0(%a: f32):\n    nest.yield %a : f32\n  } combine {\n  ^bb0(%a: f32, %b: f32):\n"
         "    nest.yield %b : f32\n  } {layouts = [#nest.layout<" +
         layout + ">]} : (" + type + ", " + type + ") -> " + type + "\n";
}

std::string function(int size, const std::string &arguments, const std::string &body,
                     const std::string &result) {
  std::string type = "!nd.tensor<f32, i: " + std::to_string(size) + ">";
  return "func.func @f(" + arguments + ") -> (" + type +
         " {nd.name = \"z\", nd.layout = #nest.layout<[i]>}) {\n" + body + "  return %" + result +
         " : " + type + "\n}\n";
}

std::string argument(const std::string &name, int size, const std::string &more = "") {
  return "%" + name + ": !nd.tensor<f32, i: " + std::to_string(size) + "> {nd.name = \"" + name +
         "\", nd.layout = #nest.layout<[i]>" + more + "}";
}

/// Reading neighbours keeps nests apart.
const char *reversed = "i = 99 - i";

/// Returns memory that is not zero, and records the contents of freed buffers of one
/// size.
class UsedMemory : public SystemManager {
public:
  int64_t bytes = 0;
  std::vector<std::vector<float>> kept;

protected:
  void *obtain(int64_t size, int64_t alignment) override {
    void *memory = SystemManager::obtain(size, alignment);
    memset(memory, 0x7f, size_t(size));
    return memory;
  }
  void release(void *address, int64_t size) override {
    if (size == bytes)
      kept.emplace_back(static_cast<float *>(address), static_cast<float *>(address) + size / 4);
    SystemManager::release(address, size);
  }
};

TEST(MemoryPlan, ChainOfTemporariesLiesInTheResult) {
  std::string text = function(
      100, argument("x", 100),
      nest("t", "x", 100, "[i]", reversed) + update("u", "t", 100) + update("r", "u", 100), "r");
  Compiled compiled = compile(text);
  ASSERT_TRUE(compiled.image) << compiled.errors;
  const EntrySpec &entry = compiled.image->manifest.entries.at(0);
  EXPECT_EQ(entry.steps.size(), 3u);
  EXPECT_EQ(entry.arenaBytes, 0);
}

TEST(MemoryPlan, ReadersOfNeighboursHaveAPlaceOfTheirOwn) {
  std::string text = function(100, argument("x", 100),
                              nest("t", "x", 100) + nest("r", "t", 100, "[i]", "i = 99 - i"), "r");
  Compiled compiled = compile(text);
  ASSERT_TRUE(compiled.image) << compiled.errors;
  const EntrySpec &entry = compiled.image->manifest.entries.at(0);
  ASSERT_EQ(entry.steps.size(), 2u);
  EXPECT_GE(entry.arenaBytes, 400);
  EXPECT_GE(compiled.statistics.arenaBytes, compiled.statistics.liveBytes);
}

TEST(MemoryPlan, StatesThatNeighboursReadTakeTurns) {
  // A loop whose state can be updated in place has one step; else it is unrolled by two, which
  // avoids copies.
  std::string type = "!nd.tensor<f32, i: 100>", both = "!nd.tensor<i1>, " + type;
  for (auto [map, steps] :
       {std::pair("", std::vector<std::string>{"while", "more", "next", "while"}),
        std::pair(reversed, std::vector<std::string>{"while", "more", "next", "if", "more", "next",
                                                     "if", "copy", "if", "while"})}) {
    std::string next = nest("n", "s", 100, "[i]", map);
    next.insert(next.find("heddle.materialize"), "heddle.name = \"next\", ");
    Compiled compiled = compile(
        "func.func private @step(%go: !nd.tensor<i1>, %s: " + type + ") -> (" + both + ") {\n" +
        "  %m = nest.compute () reads %s[i = 3] {\n  ^bb0(%a: f32):\n    %l = arith.constant 100.0 "
        ": "
        "f32\n    %q = arith.cmpf olt, %a, %l : f32\n    nest.yield %q : i1\n  } {heddle.name = "
        "\"more\"} : (" +
        type + ") -> !nd.tensor<i1>\n" + next + "  return %m, %n : " + both +
        "\n}\nfunc.func @f(%c: !nd.tensor<i1> {nd.name = \"c\"}, " + argument("x", 100) + ") -> (" +
        type + " {nd.name = \"z\"}) {\n  %r:2 = nest.control [@step] %c, %x : (" + both + ") -> (" +
        both + ")\n  return %r#1 : " + type + "\n}\n");
    ASSERT_TRUE(compiled.image) << compiled.errors;
    std::vector<std::string> names;
    for (const StepSpec &step : compiled.image->manifest.entries.at(0).steps)
      names.push_back(step.name);
    auto first = std::find(names.begin(), names.end(), "while");
    auto last = std::find(names.rbegin(), names.rend(), "while").base();
    EXPECT_EQ(std::vector<std::string>(first, last), steps);
  }
}

TEST(MemoryPlan, DonatedArgumentsAreUpdatedInPlace) {
  std::string donated = argument("x", 100, ", heddle.donate = 0 : i64");
  Compiled compiled = compile(function(100, donated, nest("r", "x", 100), "r"));
  ASSERT_TRUE(compiled.image) << compiled.errors;
  using Pairs = std::vector<std::pair<int32_t, int32_t>>;
  EXPECT_EQ(compiled.image->manifest.entries.at(0).donations, (Pairs{{0, 0}}));
  // Not if a point reads what another point has written.
  compiled = compile(function(100, donated, nest("r", "x", 100, "[i]", "i = 99 - i"), "r"));
  ASSERT_TRUE(compiled.image) << compiled.errors;
  EXPECT_EQ(compiled.image->manifest.entries.at(0).donations, Pairs{});
}

TEST(MemoryPlan, NamesOfSizeOneAreNoObstacle) {
  // Their only coordinate may be written as a number.
  std::string type = "!nd.tensor<f32, i: 100, one: 1>";
  std::string named = " {nd.name = \"x\", nd.layout = #nest.layout<[i, one]>";
  for (auto [map, inPlace] :
       {std::pair("one = 0", true), std::pair("one = 0, i = 99 - i", false)}) {
    Compiled compiled =
        compile("func.func @f(%x: " + type + named + ", heddle.donate = 0 : i64}) -> (" + type +
                named + "}) {\n  %y = nest.compute (i: 100, one: 1) reads %x[" + map +
                "] {\n  ^bb0(%a: f32):\n    %b = arith.addf %a, %a : f32\n"
                "    nest.yield %b : f32\n  } : (" +
                type + ") -> " + type + "\n  return %y : " + type + "\n}\n");
    ASSERT_TRUE(compiled.image) << compiled.errors;
    EXPECT_EQ(compiled.image->manifest.entries.at(0).donations.size(), inPlace ? 1u : 0u) << map;
  }
}

TEST(MemoryPlan, WhatAReductionStillReadsStays) {
  // Each step of the reduction reads the element again; an epilogue reads it once.
  std::string line = "!nd.tensor<f32, i: 100>", square = "!nd.tensor<f32, i: 100, k: 30>",
              named = " {nd.name = \"x\", nd.layout = #nest.layout<[i]>";
  for (bool follows : {false, true}) {
    std::string reads = follows ? "%w[]" : "%w[], %x[]";
    Compiled compiled = compile(
        "func.func @f(%x: " + line + named + ", heddle.donate = 0 : i64}, %w: " + square +
        " {nd.name = \"w\"}) -> (" + line +
        " {nd.name = \"y\", nd.layout = #nest.layout<[i]>}) {\n" +
        "  %y = nest.compute (i: 100) reduce (k: 30) reads " + reads + " {\n  ^bb0(%a: f32" +
        (follows ? "" : ", %b: f32") + "):\n" +
        (follows ? "    nest.yield %a : f32\n"
                 : "    %p = arith.mulf %a, %b : f32\n    nest.yield %p : f32\n") +
        "  } combine add [0.0 : f32]" +
        (follows ? " finish reads %x[] {\n  ^bb0(%v: f32, %u: f32):\n"
                   "    %r = arith.addf %v, %u : f32\n    nest.yield %r : f32\n  }"
                 : "") +
        " : (" + square + ", " + line + ") -> " + line + "\n  return %y : " + line + "\n}\n");
    ASSERT_TRUE(compiled.image) << compiled.errors;
    EXPECT_EQ(compiled.image->manifest.entries.at(0).donations.size(), follows ? 1u : 0u);
  }
}

TEST(MemoryPlan, PlacesAreAlignedAsTheirLayoutsSay) {
  std::string text = function(
      100, argument("x", 100),
      nest("t", "x", 100, "[i], align 4096") + nest("r", "t", 100, "[i]", "i = 99 - i"), "r");
  Compiled compiled = compile(text);
  ASSERT_TRUE(compiled.image) << compiled.errors;
  bool found = false;
  for (const ValueSpec &value : compiled.image->manifest.entries.at(0).values)
    if (value.kind == ValueSpec::Kind::Temporary && value.layout.alignment == 4096) {
      found = true;
      EXPECT_EQ(value.offset % 4096, 0);
    }
  EXPECT_TRUE(found);
}

TEST(MemoryPlan, PaddingThatMustBeZeroIsCleared) {
  std::string layout = "[i floordiv 16, i mod 16], zero_padded";
  auto stepsOf = [](const Compiled &compiled) {
    std::vector<std::string> names;
    for (const StepSpec &step : compiled.image->manifest.entries.at(0).steps)
      names.push_back(step.name);
    return names;
  };
  std::string text =
      function(100, argument("x", 100),
               nest("t", "x", 100, layout, reversed) + update("u", "t", 100, layout) +
                   nest("r", "u", 100, "[i]", reversed),
               "r");
  CompileOptions anywhere = plainOptions();
  anywhere.targetCpu = "x86-64";
  Compiled compiled = compile(text, anywhere);
  ASSERT_TRUE(compiled.image) << compiled.errors;
  // Once: the value that reuses the buffer of %t finds it cleared.
  EXPECT_EQ(llvm::count(stepsOf(compiled), "zero"), 1);
  EXPECT_EQ(stepsOf(compiled).at(0), "zero");
  // Used memory is cleared in the lanes that belong to no element.
  auto manager = std::make_shared<UsedMemory>();
  manager->bytes = 112 * sizeof(float);
  CallOptions options;
  options.manager = manager;
  options.managed = true;
  std::vector<float> x(100);
  std::iota(x.begin(), x.end(), 0.0f);
  auto tensor = std::make_shared<RuntimeTensor>(TensorSpec{ElementType::F32, {{"i", 100}}},
                                                *Layout::parse("[i]"));
  tensor->copyFrom(x.data(), {"i"});
  auto program = std::make_shared<Program>(std::move(*compiled.image));
  TensorRef result = program->run("f", {{"x", tensor}}, options).at(0);
  std::vector<float> z(100);
  result->copyTo(z.data(), {"i"});
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(z[size_t(i)], (99 - i < 7 ? float(99 - i) : float(i) + 1) + 1) << i;
  ASSERT_FALSE(manager->kept.empty());
  for (const std::vector<float> &kept : manager->kept)
    for (size_t lane = 100; lane < 112; ++lane)
      EXPECT_EQ(kept[lane], 0.0f) << lane;
  // Nothing is cleared if no lane is padding.
  text = function(
      96, argument("x", 96),
      nest("t", "x", 96, layout, "i = 95 - i") + nest("r", "t", 96, "[i]", "i = 95 - i"), "r");
  compiled = compile(text);
  ASSERT_TRUE(compiled.image) << compiled.errors;
  EXPECT_EQ(llvm::count(stepsOf(compiled), "zero"), 0);
}

TEST(MemoryPlan, BarriersStandWhereValuesMeet) {
  // Large enough for several threads: two independent steps, and one that needs
  // both.
  int size = 1 << 20;
  std::string last = "i = " + std::to_string(size - 1);
  std::string type = "!nd.tensor<f32, i: " + std::to_string(size) + ">";
  std::string sum = "  %r = nest.compute (i: " + std::to_string(size) + ") reads %t[" + last +
                    " - i], %u[" + last +
                    " - i] {\n  ^bb0(%a: f32, %b: f32):\n    %c = arith.addf %a, %b : f32\n"
                    "    nest.yield %c : f32\n  } : (" +
                    type + ", " + type + ") -> " + type + "\n";
  Compiled compiled = compile(function(size, argument("x", size) + ", " + argument("y", size),
                                       nest("t", "x", size) + nest("u", "y", size) + sum, "r"));
  ASSERT_TRUE(compiled.image) << compiled.errors;
  EXPECT_EQ(compiled.statistics.steps, 3);
  EXPECT_EQ(compiled.statistics.serialSteps, 0);
  EXPECT_EQ(compiled.statistics.barriers, 1);
}

} // namespace
