//===- Bf16PairsTest.cpp - products of bf16, two at once ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every second kernel adds pairs by the host's instruction, if it has one; all others expand pairs
// into two products.
//
//===----------------------------------------------------------------------===//

#include "test/unit/conversion/nest_to_loops/Harness.h"
#include "test/unit/conversion/nest_to_loops/Texts.h"

#include "gtest/gtest.h"

using namespace heddle::test;

/// c[m, n] += a[m, k] * b[k, n], from bf16 to f32.
static std::string product(int m, int n, int k, const std::string &a, const std::string &b,
                           const std::string &schedule) {
  auto s = [](int i) { return std::to_string(i); };
  std::string typeA = "bf16, k: " + s(k) + ", m: " + s(m),
              typeB = "bf16, k: " + s(k) + ", n: " + s(n),
              typeC = "f32, m: " + s(m) + ", n: " + s(n);
  std::string nest = "nest.compute (m: " + s(m) + ", n: " + s(n) + ") reduce (k: " + s(k) +
                     ") reads %a0[], %a1[] " + product("bf16") + " combine add [0.0 : f32] " +
                     attributes("[m, n]", schedule) + " : (!nd.tensor<" + typeA + ">, !nd.tensor<" +
                     typeB + ">) -> !nd.tensor<" + typeC + ">";
  return function({{typeA, a}, {typeB, b}}, nest, typeC);
}

static std::string checkPairs(const std::string &text, Options options) {
  static int kernels = 0;
  options.dot = ++kernels % 2;
  return checkText(text, options);
}

static const char *const layoutsOfA[] = {"[m, k]",
                                         "[k, m]",
                                         "[k floordiv 2, m, k mod 2]",
                                         "[k floordiv 16, m, k mod 16]",
                                         "[m, k mod 3, k floordiv 3]",
                                         "[m, k pad(1, 2)]"};
static const char *const layoutsOfB[] = {"[k, n]", "[n, k]", "[k floordiv 2, n, k mod 2]",
                                         "[n floordiv 16, k floordiv 2, n mod 16, k mod 2]",
                                         "[n, k], swizzle(2, 1, 3)"};

TEST(Pairs, AnyLayout) {
  for (const char *a : layoutsOfA)
    for (const char *b : layoutsOfB)
      for (const char *stages :
           {"",
            ", [stage 1 at 2 in #nest.layout<[n floordiv 32, k floordiv 2, n mod 32, k mod 2]>]",
            ", [stage 0 at 1 in #nest.layout<[m, k floordiv 2, k mod 2]>, stage 1 at 1 in "
            "#nest.layout<[k floordiv 2, n, k mod 2]>]",
            ", [stage 0 at 2 in #nest.layout<[m, k]>, stage 1 at 1 in #nest.layout<[n, k]>]"})
        for (auto [m, n, k] : {std::tuple(5, 37, 9), std::tuple(1, 7, 20)})
          EXPECT_EQ(
              checkPairs(
                  product(m, n, k, a, b,
                          std::string(
                              "[loop k by 8, cache m by 4, cache n by 32, loop k by 2, register m "
                              "by 1, register n by 16, vector n by 1, unit k by 1]") +
                              stages),
                  {.hot = false}),
              "");
}

TEST(Pairs, AnySize) {
  const char *schedule = "[thread n by 64, cache m by 6, cache n by 32, loop k by 4, loop k by 2, "
                         "register m by 1, register n by 16, vector n by 1, unit k by 1], [stage 1 "
                         "at 0 in #nest.layout<[n floordiv 32, k floordiv 2, n mod 32, k mod 2]>, "
                         "stage 0 at 1 in #nest.layout<[m, k floordiv 2, k mod 2]>]";
  for (int m : {0, 1, 7})
    for (int n : {0, 1, 2, 3, 100})
      for (int k : {0, 1, 2, 3, 5, 33})
        EXPECT_EQ(checkPairs(product(m, n, k, "[m, k]", "[k, n]", schedule), {.hot = false}), "");
}

TEST(Pairs, Chosen) {
  const Options smallCaches{.hot = false, .l1 = 1 << 10, .l2 = 16 << 10};
  for (auto [m, n, k] : {std::tuple(17, 40, 211), std::tuple(37, 5, 100)})
    for (const char *a : layoutsOfA)
      for (const char *b : layoutsOfB)
        EXPECT_EQ(checkPairs(product(m, n, k, a, b, ""), smallCaches), "");
}

TEST(Pairs, ChosenByRate) {
  auto context = makeContext();
  std::string text = product(128, 128, 128, "[m, k]", "[k, n]", "");
  Kernel with(*context, text), without(*context, text, {.pairs = false});
  EXPECT_NE(with.schedule.find("unit k"), std::string::npos) << with.schedule;
  EXPECT_EQ(without.schedule.find("unit"), std::string::npos) << without.schedule;
  EXPECT_EQ(with.check(), "");
  EXPECT_EQ(without.check(), "");
}

TEST(Pairs, Convolutions) {
  for (auto [batch, in, out, rows, columns, window] :
       {std::tuple(3, 7, 18, 6, 5, 3), std::tuple(2, 16, 33, 7, 9, 3),
        std::tuple(5, 33, 16, 7, 7, 1)})
    for (const char *image : {"[batch, row, column, channel]", "[batch, channel, row, column]",
                              "[batch, channel floordiv 16, row, column, channel mod 16]"}) {
      Window w;
      w.batch = batch, w.in = in, w.out = out, w.rows = rows, w.columns = columns,
      w.window = window;
      w.padding = window / 2;
      w.type = "bf16";
      w.layoutIn = image, w.layoutWeight = "[ky, kx, channel, out]";
      w.layoutOut = "[batch, row, column, out]";
      for (bool excludes : {false, true}) {
        w.excludes = excludes;
        EXPECT_EQ(checkPairs(convolution(w), {.hot = false, .l1 = 1 << 10, .l2 = 16 << 10}), "");
      }
      for (bool toWeight : {false, true})
        EXPECT_EQ(checkPairs(convolutionGradient(w, toWeight),
                             {.hot = false, .l1 = 1 << 10, .l2 = 16 << 10}),
                  "");
    }
}
