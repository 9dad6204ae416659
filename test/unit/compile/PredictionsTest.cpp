//===- PredictionsTest.cpp - the predicted times of steps -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"

#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

/// A machine on which only operations and the start of a step take time, in whole seconds.
static const char *const slow =
    "#nest.machine<{vector_bytes = 32, cycles_per_second = 1.0, operation_cycles = 1.0, "
    "load_cycles = 0.0, store_cycles = 0.0, issue_cycles = 0.0, exposed_part = 0.0, "
    "exposed_in_core = 0.0, enter_loop_cycles = 0.0, chunk_seconds = 0.0, "
    "step_start_seconds = 5.0, cold_start_seconds = 0.0, cold_store_cycles = 0.0, "
    "cold_l2_cycles_per_byte = 0.0, cold_l3_cycles_per_byte = 0.0, cold_l3_far_cycles = 0.0, "
    "l2_cycles_per_byte = 1.0e-9, l3_cycles_per_byte = 1.0e-9, "
    "memory_cycles_per_byte = 1.0e-9, l2_far_cycles = 0.0, l3_far_cycles = 0.0, "
    "memory_far_cycles = 0.0, bound_part = 1.0}>";

/// Adds 1 to all elements of `%x`, on a machine with these rates.
static std::string addition(const std::string &size, const std::string &machine = slow) {
  std::string type = "!nd.tensor<f32, i: " + size + ">";
  return "module attributes {heddle.machine = " + machine + "} { func.func @f(%x: " + type +
         " {nd.name = \"x\"}) -> (" + type + " {nd.name = \"y\"}) {\n  %y = nd.pointwise %x : (" +
         type + ") -> " + type +
         " {\n  ^bb0(%a: f32):\n    %one = arith.constant 1.0 : f32\n    %s = arith.addf %a, %one "
         ": f32\n    nd.yield %s : f32\n  }\n  return %y : " +
         type + "\n} }";
}

static const StepSpec &stepOf(const Compiled &compiled) {
  return compiled.image->manifest.entries.at(0).steps.at(0);
}

TEST(Predictions, AStepTakesTheTimeOfItsOperations) {
  Compiled compiled = compile(addition("4096"));
  ASSERT_TRUE(compiled.image) << compiled.errors;
  const StepSpec &step = stepOf(compiled);
  // 512 vectors of 8 lanes, one operation each.
  EXPECT_EQ(step.predicted, 517);
  EXPECT_EQ(step.bound, 512); // the start of the kernel takes 5
  EXPECT_EQ(step.limit, "arithmetic");
  EXPECT_FALSE(compiled.image->manifest.entries[0].isTypical(step));
}

TEST(Predictions, AreRoundedToThreeDigits) {
  Compiled compiled = compile(addition("100000"));
  ASSERT_TRUE(compiled.image) << compiled.errors;
  EXPECT_EQ(stepOf(compiled).predicted, 12500); // 12505
  EXPECT_EQ(stepOf(compiled).bound, 12500);
}

TEST(Predictions, OfSymbolicSizesAreForTypicalOnes) {
  Compiled compiled = compile(addition("N"));
  ASSERT_TRUE(compiled.image) << compiled.errors;
  const StepSpec &step = stepOf(compiled);
  EXPECT_EQ(step.bound, 128); // vectors of 1024 elements
  EXPECT_TRUE(compiled.image->manifest.entries[0].isTypical(step));
}

TEST(Predictions, RatesChangeNoCode) {
  std::string faster = slow;
  faster.replace(faster.find("operation_cycles = 1.0"), 22, "operation_cycles = 2.0");
  Compiled one = compile(addition("4096")), other = compile(addition("4096", faster));
  ASSERT_TRUE(one.image && other.image) << one.errors << other.errors;
  EXPECT_EQ(stepOf(other).bound, 1020); // 1024
  EXPECT_EQ(one.image->code, other.image->code);
}

/// One thread runs a step that is shorter than a barrier, by the rates that the module states;
/// measured rates change no program.
TEST(Predictions, OneThreadRunsShortSteps) {
  std::string rates = slow;
  rates.insert(rates.find('{') + 1, "chunk_flops = 512.0, barrier_seconds = 511.0, ");
  EXPECT_FALSE(stepOf(compile(addition("4096", rates))).serial);
  rates.replace(rates.find("511.0"), 5, "513.0");
  EXPECT_TRUE(stepOf(compile(addition("4096", rates))).serial);

  std::string some = addition("1000000", "#nest.machine<{vector_bytes = 32}>");
  CompileOptions options = plainOptions();
  options.targetCpu = "native"; // the file is of this machine
  options.machine = {"fast.json",
                     R"({"heddle_machine": 1, "cpu": "any", "facts": {"cycles_per_second": 1e15,
                         "step_start_seconds": 1e-12, "cold_start_seconds": 1e-12, "chunk_seconds": 1e-12}, "measured": {}})",
                     ""};
  Compiled measured = compile(some, options);
  ASSERT_TRUE(measured.image) << measured.errors;
  EXPECT_LT(stepOf(measured).predicted, 1e-6);
  EXPECT_FALSE(stepOf(measured).serial);
}

TEST(Predictions, SameBytesEachTime) {
  Compiled one = compile(spell(product, {"m", "n", "k"}));
  Compiled again = compile(spell(product, {"m", "n", "k"}));
  ASSERT_TRUE(one.image && again.image) << one.errors;
  EXPECT_EQ(one.image->bytes(), again.image->bytes());
  EXPECT_GT(stepOf(one).predicted, 0);
  EXPECT_GT(stepOf(one).bound, 0);
  EXPECT_LE(stepOf(one).bound, stepOf(one).predicted);
}
