//===- WholeTest.cpp - reductions over all names --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/heddle.h"
#include "test/unit/builder/Tensors.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace heddle;
using namespace heddle::test;

namespace {
const Name batch("batch"), row("row"), column("column");

TEST(Whole, ReducesOverTheNamesOfTheTensor) {
  Tensor x = tensor({1, 2, 3, 6}, {{row, 2}, {column, 2}});
  EXPECT_EQ(sum(x).item(), 12);
  EXPECT_EQ(product(x).item(), 36);
  EXPECT_EQ(max(x).item(), 6);
  EXPECT_EQ(min(x).item(), 1);
  EXPECT_EQ(mean(x).item(), 3);
  EXPECT_EQ(variance(x).item(), 3.5);
  EXPECT_NEAR(logSumExp(x).item(), 6.0721726, 1e-5); // log(e + e^2 + e^3 + e^6)
  EXPECT_EQ(sum(constant(5)).item(), 5);
  EXPECT_EQ(sum(x, x.names()).item(), 12);
}

TEST(Whole, NamesAreSortedNames) {
  Tensor x = tensor({1, 2, 3, 6}, {{row, 2}, {column, 2}});
  EXPECT_EQ(x.names(), over(column, row));
  EXPECT_EQ(constant(1).names(), Names());
  std::vector<std::string> spellings;
  for (const std::string &name : x.names())
    spellings.push_back(name);
  EXPECT_EQ(spellings, (std::vector<std::string>{"column", "row"}));
}

// A function sees its own names: those that it is lifted over stay.
TEST(Whole, LiftedNamesStay) {
  Tensor x = tensor({1, 2, 3, 4, 5, 6}, {{batch, 2}, {row, 3}});
  auto normed = [](Tensor x) { return x / max(x); };
  EXPECT_EQ(valuesOf(lift([](Tensor x) { return sum(x); }, over(batch))(x)),
            (std::vector<float>{6, 15}));
  EXPECT_EQ(valuesOf(lift(normed, over(batch))(x) * 60.0),
            (std::vector<float>{20, 40, 60, 40, 50, 60}));
  auto f =
      jit([&](Tensor x) { return sum(lift([](Tensor x) { return mean(x); }, over(batch))(x)); });
  EXPECT_EQ(f(x).item(), 7);
}

// Sizes may be symbolic, and gradients are those of the sums over all names.
TEST(Whole, SymbolicSizesAndGradients) {
  auto f = jit([](Tensor x) { return grad([](Tensor x) { return mean(x * x); }, x); },
               {.symbolic = over(row)});
  EXPECT_EQ(valuesOf(f(tensor({1, 2}, {{row, 2}}))), (std::vector<float>{1, 2}));
  EXPECT_EQ(valuesOf(f(tensor({1, 2, 4, 8}, {{row, 4}}))), (std::vector<float>{0.5, 1, 2, 4}));
}

} // namespace
