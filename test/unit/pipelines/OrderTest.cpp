//===- OrderTest.cpp - names have no order --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Spelling names in another way, and writing in another order what has none, changes no byte of
// code.
//
//===----------------------------------------------------------------------===//

#include "Programs.h"

#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

namespace {

std::vector<std::string> kernelsOf(const ProgramImage &image) {
  std::vector<std::string> kernels;
  for (const EntrySpec &entry : image.manifest.entries)
    for (const StepSpec &step : entry.steps)
      kernels.push_back(step.kernel);
  return kernels;
}

void expectSame(const std::string &one, const std::string &other) {
  Compiled a = compile(one), b = compile(other);
  ASSERT_TRUE(a.image) << a.errors;
  ASSERT_TRUE(b.image) << b.errors;
  EXPECT_EQ(kernelsOf(*a.image), kernelsOf(*b.image)) << other;
  EXPECT_TRUE(a.image->code == b.image->code) << other;
  EXPECT_TRUE(a.image->constants == b.image->constants) << other;
}

TEST(Order, ProductByOtherNames) {
  std::string plain = spell(product, {"m", "n", "k"});
  expectSame(plain, spell(product, {"k", "m", "n"}));
  expectSame(plain, spell(product, {"z", "y", "a"}));
}

TEST(Order, ProductInAnotherOrder) {
  std::string plain = spell(product, {"m", "n", "k"});
  expectSame(plain, spell(productReversed, {"m", "n", "k"}));
  expectSame(plain, spell(productReversed, {"b", "c", "a"}));
}

TEST(Order, NetworkByOtherNames) {
  std::string plain = spell(network, {"batch", "row", "channel", "tap", "out"});
  expectSame(plain, spell(network, {"z", "y", "x", "w", "v"}));
  expectSame(plain, spell(network, {"out", "batch", "tap", "row", "channel"}));
}

TEST(Order, TwoProcessesWouldSayTheSame) {
  // In one process: contexts and threads of their own, so that no address is the same.
  std::string text = spell(network, {"batch", "row", "channel", "tap", "out"});
  CompileOptions serial = plainOptions();
  serial.compileThreads = 1;
  Compiled a = compile(text), b = compile(text, serial);
  ASSERT_TRUE(a.image && b.image);
  EXPECT_TRUE(a.image->code == b.image->code);
  EXPECT_EQ(a.image->manifest.toJson(), b.image->manifest.toJson());
}

TEST(Order, KernelsThatDifferInNamesAreOne) {
  // Two entries, the second by other names.
  std::string both = spell(product, {"m", "n", "k"});
  std::string other = spell(productReversed, {"row", "column", "inner"});
  other.replace(other.find("@product"), 8, "@again");
  Compiled one = compile(both), two = compile(both + other);
  ASSERT_TRUE(one.image) << one.errors;
  ASSERT_TRUE(two.image) << two.errors;
  EXPECT_EQ(two.statistics.steps, 2 * one.statistics.steps);
  EXPECT_EQ(two.statistics.kernels, one.statistics.kernels);
}

} // namespace
