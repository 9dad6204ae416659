//===- ChosenTest.cpp - chosen schedules, turned reads, split contractions -===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Schedules are chosen for tiny caches, so that small nests are blocked, split and packed like
// large ones.
//
//===----------------------------------------------------------------------===//

#include "test/unit/conversion/nest_to_loops/Harness.h"
#include "test/unit/conversion/nest_to_loops/Texts.h"

#include "gtest/gtest.h"

using namespace heddle::test;

static const Options smallCaches{.l1 = 1 << 10, .l2 = 16 << 10};

TEST(Chosen, Matmul) {
  for (auto [m, n, k] :
       {std::tuple(17, 40, 211), std::tuple(64, 32, 130), std::tuple(1, 97, 113),
        std::tuple(37, 1, 101), std::tuple(0, 5, 3), std::tuple(4, 5, 0), std::tuple(2, 3, 1)})
    for (const char *a : {"[m, k]", "[k, m]"})
      for (const char *b : {"[k, n]", "[n, k]"}) {
        EXPECT_EQ(checkText(matmul(m, n, k, a, b, "[m, n]", ""), smallCaches), "");
        if (k < 8) // the evaluation rounds every sum
          EXPECT_EQ(checkText(matmul(m, n, k, a, b, "[m, n]", "", "bf16"), smallCaches), "");
      }
}

TEST(Chosen, PacksAndSplits) {
  // So large that no other schedule can be best.
  auto context = makeContext();
  Kernel kernel(*context, matmul(512, 512, 2048, "[m, k]", "[k, n]", "[m, n]", ""));
  EXPECT_EQ(kernel.error, "");
  EXPECT_NE(kernel.schedule.find("stage 1"), std::string::npos) << kernel.schedule;
  EXPECT_NE(kernel.schedule.find("[n floordiv"), std::string::npos) << kernel.schedule;
  EXPECT_GT(kernel.chunks, 1);
}

TEST(Chosen, ConvolutionGradients) {
  for (bool toWeight : {false, true})
    for (auto [batch, in, out, rows, columns, window] :
         {std::tuple(3, 7, 18, 6, 5, 3), std::tuple(2, 16, 5, 1, 9, 3),
          std::tuple(1, 3, 16, 7, 7, 5), std::tuple(2, 1, 1, 4, 4, 3)}) {
      Window w;
      w.batch = batch, w.in = in, w.out = out, w.rows = rows, w.columns = columns,
      w.window = window;
      EXPECT_EQ(checkText(convolutionGradient(w, toWeight), smallCaches), "");
      w.layoutIn = "[batch, row, column, channel]", w.layoutWeight = "[ky, kx, channel, out]",
      w.layoutOut = "[batch, row, column, out]";
      EXPECT_EQ(checkText(convolutionGradient(w, toWeight), smallCaches), "");
    }
}

TEST(Chosen, ClippedReductions) {
  // Guards that hold in a part of a reduced loop: the first, a middle or the last one, or none.
  Window w;
  w.batch = 2, w.in = 5, w.out = 16, w.rows = 4, w.columns = 6, w.window = 5;
  for (const char *schedule : {"[thread ky by 1, loop batch by 1, cache kx by 1, loop row by 1, "
                               "loop column by 1, register channel by 1, vector out by 1]",
                               "[loop row by 2, cache channel by 2, loop batch by 1, loop row by "
                               "1, loop column by 1, register channel by 1, vector out by 1]",
                               "[loop column by 4, cache ky by 1, loop column by 1, loop row by 1, "
                               "register kx by 1, vector out by 1]"}) {
    w.schedule = schedule;
    EXPECT_EQ(checkText(convolutionGradient(w, true)), "") << schedule;
  }
  w.window = 3, w.rows = 1;
  w.schedule = "";
  EXPECT_EQ(checkText(convolutionGradient(w, true)), "");
}

TEST(Chosen, FetchesAhead) {
  for (auto [m, n, k] : {std::tuple(29, 50, 19), std::tuple(14, 64, 8), std::tuple(5, 33, 40)})
    for (const char *type : {"f32", "bf16"})
      EXPECT_EQ(
          checkText(matmul(m, n, k, "[m, k]", "[k, n]", "[m, n]",
                           "[thread n by 32, loop k by 8, cache m by 5, cache n by 16, loop k by "
                           "1, register m by 1, vector n by 1], "
                           "[stage 1 at 1 in #nest.layout<[n floordiv 16, k, n mod 16]>, stage 0 "
                           "at 2 in #nest.layout<[m, k]> buffers 2]",
                           type)),
          "");
}

TEST(Turned, Copies) {
  for (auto [m, n] : {std::pair(37, 53), std::pair(16, 16), std::pair(1, 40), std::pair(33, 1),
                      std::pair(5, 3), std::pair(64, 48)})
    for (const char *type : {"f32", "bf16", "f16", "f64", "i8", "ui8", "i1", "i64"}) {
      EXPECT_EQ(checkText(copy(m, n, "[m, n]", "[n, m]", type)), "");
      EXPECT_EQ(checkText(copy(m, n, "[m, n]", "[m floordiv 16, n, m mod 16]", type)), "");
      EXPECT_EQ(
          checkText(copy(m, n, "[n floordiv 8, m, n mod 8]", "[m floordiv 32, n, m mod 32]", type)),
          "");
    }
  // More rows than lanes.
  EXPECT_EQ(checkText(copy(40, 70, "[m, n]", "[n, m]", "f32",
                           "[register n by 1, loop m by 16, vector m by 1]")),
            "");
  EXPECT_EQ(checkText(copy(40, 70, "[m, n]", "[n, m]", "f32",
                           "[cache n by 24, cache m by 16, register n by 1, vector m by 1]")),
            "");
}

TEST(Reduction, OfNothingGivesNeutralValues) {
  for (const char *schedule :
       {"[loop k by 4, loop k by 2, thread m by 1, loop k by 1, vector n by 1]",
        "[loop k by 4, cache m by 2, loop k by 1, register m by 1, vector n by 1], "
        "[stage 0 at 1 in #nest.layout<[m, k]>]"})
    EXPECT_EQ(checkText(matmul(3, 5, 0, "[m, k]", "[k, n]", "[m, n]", schedule)), "");
}
