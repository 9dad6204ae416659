//===- StructureTest.cpp - stages, split reductions, gathers, updates, groups, scans ===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/conversion/nest_to_loops/Harness.h"
#include "test/unit/conversion/nest_to_loops/Texts.h"

#include "gtest/gtest.h"

using namespace heddle::test;

TEST(Reduction, InBlocksThroughMemory) {
  for (const char *schedule :
       {"[cache k by 8, thread m by 4, cache n by 16, loop k by 1, register m by 1, vector n by 1]",
        "[thread m by 4, cache k by 8, cache n by 16, loop k by 2, register k by 1, register m by "
        "1, vector n by 1]",
        "[cache k by 4, loop m by 1, loop n by 1, vector k by 1]",
        "[loop k by 1, loop m by 1, vector n by 1]",
        "[cache k by 16, cache k by 4, loop n by 16, loop k by 1, register m by 1, vector n by 1]"})
    for (auto [m, n, k] : {std::tuple(7, 21, 19), std::tuple(8, 32, 16), std::tuple(1, 5, 3)}) {
      EXPECT_EQ(checkText(matmul(m, n, k, "[m, k]", "[k, n]", "[m, n]", schedule)), "") << schedule;
      // The result's type is narrower than the accumulator's.
      EXPECT_EQ(checkText(matmul(m, n, k, "[m, k]", "[k, n]", "[n floordiv 16, m, n mod 16]",
                                 schedule, "bf16")),
                "")
          << schedule;
    }
}

TEST(Reduction, MultiLevelTails) {
  const char *schedule = "[thread n by 64, cache m by 12, cache n by 32, cache m by 4, loop k by "
                         "1, register m by 1, register n by 16, vector n by 1]";
  for (auto [m, n, k] :
       {std::tuple(7, 21, 3), std::tuple(26, 100, 2), std::tuple(50, 49, 1), std::tuple(12, 96, 4)})
    EXPECT_EQ(checkText(matmul(m, n, k, "[m, k]", "[k, n]", "[m, n]", schedule)), "");
}

TEST(Stage, PacksOperands) {
  // With m = 28, memory ends in the middle of the last block of k that a whole tile copies.
  for (auto [m, n, k] : {std::tuple(29, 50, 19), std::tuple(28, 50, 19), std::tuple(14, 32, 8),
                         std::tuple(3, 70, 1)})
    for (const char *type : {"f32", "bf16"}) {
      EXPECT_EQ(checkText(matmul(m, n, k, "[m, k]", "[k, n]", "[m, n]",
                                 "[thread n by 32, cache k by 8, cache m by 14, loop k by 1, "
                                 "register m by 1, register n by 16, vector n by 1], "
                                 "[stage 0 at 2 in #nest.layout<[k, m]>, stage 1 at 1 in "
                                 "#nest.layout<[n floordiv 32, k, n mod 32]>]",
                                 type)),
                "");
      EXPECT_EQ(checkText(matmul(m, n, k, "[k, m]", "[n, k]", "[m, n]",
                                 "[thread n by 32, cache m by 14, loop k by 1, register m by 1, "
                                 "register n by 16, vector n by 1], "
                                 "[stage 1 at 0 in #nest.layout<[k, n]>]",
                                 type)),
                "");
    }
  Window w;
  w.schedule = "[thread row by 1, cache column by 4, loop ky by 1, loop kx by 1, loop channel by "
               "1, register column by 1, vector out by 1], "
               "[stage 0 at 0 in #nest.layout<[batch, row, column, channel]>]";
  EXPECT_EQ(checkText(convolution(w)), "");
  w.stride = 2;
  EXPECT_EQ(checkText(convolution(w)), "");
}

TEST(Convolution, Gradients) {
  // Gradient of the image: rows whose distance to a tap is a multiple of the stride.
  for (const char *schedule : {"",
                               "[thread row by 1, cache column by 4, loop ky by 1, loop kx by 1, "
                               "loop out by 1, register column by 1, vector channel by 1]",
                               "[cache row by 2, loop out by 1, loop ky by 1, loop kx by 1, "
                               "register row by 1, vector column by 1]"}) {
    std::string g = "f32, batch: 1, column: 4, out: 5, row: 3",
                w = "f32, channel: 3, kx: 3, ky: 3, out: 5",
                r = "f32, batch: 1, channel: 3, column: 7, row: 6";
    EXPECT_EQ(checkText(function(
                  {{g, "[batch, out, row, column]"}, {w, "[out, ky, kx, channel]"}},
                  "nest.compute (batch: 1, channel: 3, row: 6, column: 7) reduce (out: 5, ky: 3, "
                  "kx: 3) reads "
                  "%a0[row = (row + 1 - ky) floordiv 2, column = (column + 1 - kx) floordiv 2] if "
                  "[(row + 1 - ky) mod 2 == 0, row + 1 - ky >= 0, 5 - row - 1 + ky >= 0, "
                  "(column + 1 - kx) mod 2 == 0, column + 1 - kx >= 0, 7 - column - 1 + kx >= 0], "
                  "%a1[] {\n^bb0(%x: f32, %y: f32):\n"
                  "%p = arith.mulf %x, %y : f32\nnest.yield %p : f32\n} combine add [0.0 : f32] " +
                      attributes("[batch, row, column, channel]", schedule) + " : (!nd.tensor<" +
                      g + ">, !nd.tensor<" + w + ">) -> !nd.tensor<" + r + ">",
                  r)),
              "")
        << schedule;
  }
}

TEST(Pointwise, PadsSlicesAndIndices) {
  for (const char *schedule : {"", "[thread row by 2, loop row by 1, vector column by 1]",
                               "[vector row by 1]", "[register row by 1, register column by 1]"})
    for (const char *layout :
         {"[row, column]", "[column, row]", "[row, column floordiv 8, column mod 8]",
          "[(row, column) floordiv 16, (row, column) mod 16]", "[row pad(1, 2), column pad(3, 0)]",
          "[row, column], swizzle(2, 0, 2)"}) {
      std::string r = "f32, column: 23, row: 9", a = "f32, column: 17, row: 5";
      EXPECT_EQ(
          checkText(function(
              {{a, layout}},
              "nest.compute (row: 9, column: 23) reads %a0[row = row - 2, column = column - 3] if "
              "[row - 2 >= 0, 6 - row >= 0, column - 3 >= 0, 19 - column >= 0] else 2.5 : f32 {\n"
              "^bb0(%x: f32):\n%i = nest.index column\n%j = arith.index_cast %i : index to i32\n%f "
              "= arith.sitofp %j : i32 to f32\n%s = arith.addf %x, %f : f32\nnest.yield %s : "
              "f32\n} " +
                  attributes(layout, schedule) + " : (!nd.tensor<" + a + ">) -> !nd.tensor<" + r +
                  ">",
              r)),
          "")
          << schedule;
    }
}

TEST(Pointwise, InPlace) {
  Options options;
  options.alias = 0;
  std::string t = "f32, a: 9, b: 37";
  EXPECT_EQ(
      checkText(
          function(
              {{t, "[a, b]"}, {"f32, b: 37", "[b]"}},
              "nest.compute (a: 9, b: 37) reads %a0[], %a1[] {\n^bb0(%x: f32, %y: f32):\n%p = "
              "arith.mulf %x, %y : f32\n%q = arith.addf %p, %x : f32\nnest.yield %q : f32\n} " +
                  attributes("[a, b]", "") + " : (!nd.tensor<" + t +
                  ">, !nd.tensor<f32, b: 37>) -> !nd.tensor<" + t + ">",
              t),
          options),
      "");
}

TEST(Reduction, SeveralAccumulatorsAndFinish) {
  // The largest element and where it is (the first of equals), then scaled by another tensor.
  for (const char *schedule : {"", "[vector k by 1]", "[loop k by 1, vector m by 1]",
                               "[cache k by 4, loop m by 8, loop k by 1, vector m by 1]"}) {
    std::string a = "f32, k: 13, m: 21", c = "f32, m: 21";
    std::string text =
        "func.func @f(%a0: !nd.tensor<" + a +
        "> {nest.layout = #nest.layout<[m, k]>}, %a1: !nd.tensor<" + c +
        ">) -> (!nd.tensor<f32, m: 21>, !nd.tensor<i32, m: 21>) {\n"
        "%r, %s = nest.compute (m: 21) reduce (k: 13) reads %a0[] {\n^bb0(%x: f32):\n%i = "
        "nest.index k\n%j = arith.index_cast %i : index to i32\nnest.yield %x, %j : f32, i32\n} "
        "combine [0xFF800000 : f32, 2147483647 : i32] {\n"
        "^bb0(%v: f32, %w: i32, %x: f32, %y: i32):\n%gt = arith.cmpf ogt, %x, %v : f32\n%eq = "
        "arith.cmpf oeq, %x, %v : f32\n%lt = arith.cmpi slt, %y, %w : i32\n%t = arith.andi %eq, "
        "%lt : i1\n%u = arith.ori %gt, %t : i1\n"
        "%p = arith.select %u, %x, %v : f32\n%q = arith.select %u, %y, %w : i32\nnest.yield %p, %q "
        ": f32, i32\n} finish reads %a1[] {\n^bb0(%v: f32, %w: i32, %b: f32):\n%p = arith.mulf %v, "
        "%b : f32\nnest.yield %p, %w : f32, i32\n}" +
        (schedule[0] ? " {schedule = #nest.schedule<" + std::string(schedule) + ">}"
                     : std::string()) +
        " : (!nd.tensor<" + a + ">, !nd.tensor<" + c +
        ">) -> (!nd.tensor<f32, m: 21>, !nd.tensor<i32, m: 21>)\nreturn %r, %s : !nd.tensor<f32, "
        "m: 21>, !nd.tensor<i32, m: 21>\n}";
    EXPECT_EQ(checkText(text), "") << schedule;
  }
}

TEST(Types, IntegersAndSmallFloats) {
  for (const char *type : {"ui8", "i8", "i16", "i64", "i1", "bf16", "f16", "f64"}) {
    std::string t(type), s = t == "ui8" ? "i8" : t, r = t + ", a: 5, b: 41";
    bool real = t.find('f') != std::string::npos;
    for (const char *layout : {"[a, b]", "[b, a]"})
      for (const char *schedule : {"", "[loop a by 1, vector b by 1]"})
        EXPECT_EQ(
            checkText(function({{r, "[a, b]"}, {t + ", b: 41", "[b]"}},
                               "nest.compute (a: 5, b: 41) reads %a0[], %a1[] {\n^bb0(%x: " + s +
                                   ", %y: " + s + "):\n%p = arith." + (real ? "addf" : "xori") +
                                   " %x, %y : " + s + "\nnest.yield %p : " + s + "\n} " +
                                   attributes(layout, schedule) + " : (!nd.tensor<" + r +
                                   ">, !nd.tensor<" + t + ", b: 41>) -> !nd.tensor<" + r + ">",
                               r)),
            "")
            << type;
    EXPECT_EQ(checkText(function(
                  {{r, "[a, b]"}},
                  "nest.compute (a: 5) reduce (b: 41) reads %a0[] {\n^bb0(%x: " + s +
                      "):\nnest.yield %x : " + s + "\n} combine " +
                      (real ? "add [0.0 : " + std::string(t == "f64" ? "f64" : "f32") + "] "
                            : "xor [" + std::string(t == "i1" ? "false" : "0 : " + s) + "] ") +
                      "finish {\n^bb0(%v: " + (real ? (t == "f64" ? "f64" : "f32") : s) + "):\n" +
                      (t == "bf16" || t == "f16"
                           ? "%w = arith.truncf %v : f32 to " + t + "\nnest.yield %w : " + t
                           : "nest.yield %v : " + s) +
                      "\n} " + attributes("[a]", "") + " : (!nd.tensor<" + r + ">) -> !nd.tensor<" +
                      t + ", a: 5>",
                  t + ", a: 5")),
              "")
        << type;
  }
}

TEST(Gather, Reads) {
  std::string r = "f32, channel: 20, n: 9";
  // A gather from a table, with the types and layouts of its index and table and the text of its
  // read.
  auto gathered = [&](const std::string &index, const char *indexLayout, const char *tableLayout,
                      const std::string &read, const char *scalar, const char *schedule) {
    std::string table = "f32, channel: 20, row: 11";
    return checkText(function(
        {{index, indexLayout}, {table, tableLayout}},
        "nest.compute (n: 9, channel: 20) reads %a0[], " + read + " {\n^bb0(%i: " + scalar +
            ", %x: f32):\nnest.yield %x : f32\n} " + attributes("[n, channel]", schedule) +
            " : (!nd.tensor<" + index + ">, !nd.tensor<" + table + ">) -> !nd.tensor<" + r + ">",
        r));
  };
  for (const char *schedule :
       {"", "[vector channel by 1]", "[vector n by 1]", "[register n by 1]"}) {
    EXPECT_EQ(gathered("i32, n: 9", "[n]", "[row, channel]", "%a1[row = read(0)]", "i32", schedule),
              "")
        << schedule;
    EXPECT_EQ(gathered("ui8, channel: 20, n: 9", "[n, channel]",
                       "[row, channel floordiv 8, channel mod 8]",
                       "%a1[row = read(0) + 1] if [channel - 2 >= 0] else 3.0 : f32", "i8",
                       schedule),
              "")
        << schedule;
  }
}

TEST(Update, ScattersAndJoins) {
  std::string table = "f32, channel: 20, row: 11", index = "i32, n: 9",
              x = "f32, channel: 20, n: 9";
  for (int alias : {-1, 0}) {
    Options options;
    options.alias = alias;
    EXPECT_EQ(
        checkText(function({{table, "[row, channel]"}, {index, "[n]"}, {x, "[n, channel]"}},
                           "nest.update (n: 9, channel: 20) %a0[row = read(0)] reads %a1[], %a2[] "
                           "{\n^bb0(%i: i32, %x: f32):\nnest.yield %x : f32\n} combine {\n^bb0(%o: "
                           "f32, %v: f32):\n%s = arith.addf %o, %v : f32\nnest.yield %s : f32\n} "
                           "{layouts = [#nest.layout<[row, channel]>]} : (!nd.tensor<" +
                               table + ">, !nd.tensor<" + index + ">, !nd.tensor<" + x +
                               ">) -> !nd.tensor<" + table + ">",
                           table),
                  options),
        "");
  }
}

TEST(Group, KeepsInnerValuesLocal) {
  for (const char *schedule : {"", ", schedule = #nest.schedule<[thread n by 2, loop n by 1]>",
                               ", schedule = #nest.schedule<[loop n by 1]>"}) {
    std::string p = "f32, k: 6, n: 5", w = "f32, k: 6, m: 19", r = "f32, m: 19, n: 5";
    EXPECT_EQ(
        checkText("func.func @f(%p: !nd.tensor<" + p + ">, %w: !nd.tensor<" + w +
                  "> {nest.layout = #nest.layout<[k, m]>}) -> !nd.tensor<" + r +
                  "> {\n%r = nest.group (n: 5) {\n"
                  "%v = nest.compute (m: 19) reduce (k: 6) reads %p[n = n], %w[] {\n^bb0(%x: f32, "
                  "%y: f32):\n%q = arith.mulf %x, %y : f32\nnest.yield %q : f32\n} combine add "
                  "[0.0 : f32] : (!nd.tensor<" +
                  p + ">, !nd.tensor<" + w +
                  ">) -> !nd.tensor<f32, m: 19>\n"
                  "%s = nest.compute () reduce (m: 19) reads %v[] {\n^bb0(%x: f32):\n%q = "
                  "arith.mulf %x, %x : f32\nnest.yield %q : f32\n} combine add [0.0 : f32] : "
                  "(!nd.tensor<f32, m: 19>) -> !nd.tensor<f32>\n"
                  "%t = nest.compute (m: 19) reads %v[], %s[] {\n^bb0(%x: f32, %y: f32):\n%q = "
                  "arith.divf %x, %y : f32\nnest.yield %q : f32\n} : (!nd.tensor<f32, m: 19>, "
                  "!nd.tensor<f32>) -> !nd.tensor<f32, m: 19>\n"
                  "nest.yield %t : !nd.tensor<f32, m: 19>\n} {layouts = [#nest.layout<[n, m]>]" +
                  schedule + "} : !nd.tensor<" + r + ">\nreturn %r : !nd.tensor<" + r + ">\n}"),
        "")
        << schedule;
  }
}

TEST(Scan, CarriesState) {
  for (const char *reverse : {"", "reverse "})
    for (const char *layout : {"[m, n]", "[n, m]"}) {
      std::string x = "f32, m: 19, n: 5", s = "f32, m: 19";
      EXPECT_EQ(
          checkText("func.func @f(%i: !nd.tensor<" + s + ">, %x: !nd.tensor<" + x +
                    "> {nest.layout = #nest.layout<[m, n]>}) -> (!nd.tensor<" + s +
                    ">, !nd.tensor<" + x +
                    ">) {\n"
                    "%r, %o = nest.scan along <n: 5> " +
                    reverse + "init(%i) reads(%x) {layouts = [#nest.layout<[m]>, #nest.layout<" +
                    layout + ">]} : (!nd.tensor<" + s + ">, !nd.tensor<" + x +
                    ">) -> (!nd.tensor<" + s + ">, !nd.tensor<" + x +
                    ">) {\n"
                    "^bb0(%c: !nd.tensor<" +
                    s + ">, %e: !nd.tensor<" + s +
                    ">):\n%v = nest.compute (m: 19) reads %c[], %e[] {\n^bb1(%a: f32, %b: "
                    "f32):\n%q = arith.addf %a, %b : f32\nnest.yield %q : f32\n} : (!nd.tensor<" +
                    s + ">, !nd.tensor<" + s + ">) -> !nd.tensor<" + s +
                    ">\n"
                    "nest.yield %v, %v : !nd.tensor<" +
                    s + ">, !nd.tensor<" + s + ">\n}\nreturn %r, %o : !nd.tensor<" + s +
                    ">, !nd.tensor<" + x + ">\n}"),
          "");
    }
}

TEST(Sizes, EmptyAndOne) {
  EXPECT_EQ(checkText(matmul(3, 4, 0, "[m, k]", "[k, n]", "[m, n]", "")), "");
  EXPECT_EQ(checkText(matmul(0, 4, 3, "[m, k]", "[k, n]", "[m, n]", "")), "");
  EXPECT_EQ(checkText(matmul(1, 1, 7, "[m, k]", "[k, n]", "[m, n]", "")), "");
}
