//===- KernelTest.cpp - compiled nests against the evaluation -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/conversion/nest_to_loops/Harness.h"
#include "test/unit/conversion/nest_to_loops/Texts.h"

#include "gtest/gtest.h"

using namespace heddle::test;

TEST(Matmul, LayoutsAndTails) {
  const char *tile = "[thread n by 32, cache m by 14, loop k by 1, register m by 1, register n by "
                     "16, vector n by 1]";
  for (auto [m, n, k] : {std::tuple(14, 32, 5), std::tuple(31, 50, 7), std::tuple(1, 1, 1),
                         std::tuple(3, 17, 1), std::tuple(29, 97, 3)}) {
    EXPECT_EQ(checkText(matmul(m, n, k, "[m, k]", "[k, n]", "[m, n]", tile)), "");
    EXPECT_EQ(checkText(matmul(m, n, k, "[k, m]", "[n, k]", "[n, m]", tile)), "");
    EXPECT_EQ(checkText(matmul(m, n, k, "[m floordiv 14, k, m mod 14]",
                               "[n floordiv 32, k, n mod 32]", "[m, n]", tile)),
              "");
    EXPECT_EQ(checkText(matmul(m, n, k, "[m floordiv 4, k, m mod 4]", "[k floordiv 2, n, k mod 2]",
                               "[n floordiv 16, m, n mod 16]", tile)),
              "");
    EXPECT_EQ(checkText(matmul(m, n, k, "[m, k]", "[k, n]", "[m, n]", "")), "");
  }
}

TEST(Matmul, AnySchedule) {
  for (const char *schedule :
       {"[]", "[vector k by 1]", "[loop k by 4, register k by 1, thread m by 1, vector n by 1]",
        "[thread m by 3, loop n by 8, loop k by 8, register m by 1, vector n by 1, register k by "
        "1]",
        "[loop k by 16, vector k by 1, register m by 1]",
        "[register m by 1, register n by 1, loop k by 1]",
        "[vector n by 1, loop m by 2, loop k by 1, loop m by 1]"})
    EXPECT_EQ(checkText(matmul(7, 21, 19, "[m, k]", "[k, n]", "[m, n]", schedule)), "") << schedule;
}

TEST(Convolution, PaddingAndStrides) {
  for (bool excludes : {false, true})
    for (int stride : {1, 2})
      for (const char *schedule : {"",
                                   "[thread row by 1, cache column by 4, loop ky by 1, loop kx by "
                                   "1, loop channel by 1, register column by 1, vector out by 1]",
                                   "[cache row by 2, loop channel by 1, loop ky by 1, loop kx by "
                                   "1, register row by 1, vector column by 1]"}) {
        Window w;
        w.excludes = excludes;
        w.stride = stride;
        w.schedule = schedule;
        EXPECT_EQ(checkText(convolution(w)), "") << schedule;
        w.layoutIn = "[batch, channel floordiv 4, row, column, channel mod 4]";
        w.layoutOut = "[batch, out floordiv 16, row, column, out mod 16]";
        EXPECT_EQ(checkText(convolution(w)), "") << schedule;
      }
}
