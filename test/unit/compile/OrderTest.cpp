//===- OrderTest.cpp - names have no order --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Other spellings of names, and another order of unordered parts, change no byte of
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
  // In one process, with separate contexts and threads, so that all addresses differ.
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

// A folded splat lists its names in some order; an empty literal has none.
const char *emptyLiterals = R"(
func.func @main(%z: !nd.tensor<f32, $0: 0> {nd.layout = #nest.layout<[$0]>},
                %x: !nd.tensor<ui8, $0: 0, $1: 13, $2: 26> {nd.layout = #nest.layout<[$0, $1, $2]>},
                %y: !nd.tensor<ui8, $3: 2, $0: 0, $2: 7> {nd.layout = #nest.layout<[$3, $0, $2]>})
    -> (!nd.tensor<ui8, $0: 0, $1: 13, $2: 7> {nd.layout = #nest.layout<[$0, $1, $2]>},
        !nd.tensor<ui8, $0: 0, $2: 2> {nd.layout = #nest.layout<[$0, $2]>},
        !nd.tensor<ui8, $0: 0, $2: 2> {nd.layout = #nest.layout<[$0, $2]>}) {
  %0 = nd.constant dense<6> : tensor<i8> by [$0, $2] : !nd.tensor<ui8, $0: 0, $2: 2>
  %8:2 = nd.sort %0, %0 along $2 : (!nd.tensor<ui8, $0: 0, $2: 2>, !nd.tensor<ui8, $0: 0, $2: 2>) -> (!nd.tensor<ui8, $0: 0, $2: 2>, !nd.tensor<ui8, $0: 0, $2: 2>)
  %1 = nd.broadcast %0 : !nd.tensor<ui8, $0: 0, $2: 2> -> !nd.tensor<ui8, $0: 0, $1: 13, $2: 2>
  %2 = nd.merge %1 [$2, $1] into $2 : !nd.tensor<ui8, $0: 0, $1: 13, $2: 2> -> !nd.tensor<ui8, $0: 0, $2: 26>
  %4 = nd.pad %1 $2 low 2 high 3 value -3 : i8 : !nd.tensor<ui8, $0: 0, $1: 13, $2: 2> -> !nd.tensor<ui8, $0: 0, $1: 13, $2: 7>
  %5 = nd.scatter %x into %4 [$2] at %2 : (!nd.tensor<ui8, $0: 0, $1: 13, $2: 7>, !nd.tensor<ui8, $0: 0, $1: 13, $2: 26>, !nd.tensor<ui8, $0: 0, $2: 26>) -> !nd.tensor<ui8, $0: 0, $1: 13, $2: 7> {
  ^bb0(%a: i8, %b: i8):
    %r = arith.muli %a, %b : i8
    nd.yield %r : i8
  }
  %6 = nd.rename %0 [$2] to [$3] : !nd.tensor<ui8, $0: 0, $2: 2> -> !nd.tensor<ui8, $3: 2, $0: 0>
  %7 = nd.scatter %y into %5 [$1] at %6 : (!nd.tensor<ui8, $0: 0, $1: 13, $2: 7>, !nd.tensor<ui8, $3: 2, $0: 0, $2: 7>, !nd.tensor<ui8, $3: 2, $0: 0>) -> !nd.tensor<ui8, $0: 0, $1: 13, $2: 7> {
  ^bb0(%a: i8, %b: i8):
    %r = arith.xori %a, %b : i8
    nd.yield %r : i8
  }
  return %7, %8#1, %8#0 : !nd.tensor<ui8, $0: 0, $1: 13, $2: 7>, !nd.tensor<ui8, $0: 0, $2: 2>, !nd.tensor<ui8, $0: 0, $2: 2>
})";

// A literal whose elements differ along $0, of which ops are called $2 and which multiplies $3.
const char *paddedSplat = R"(
  %$24 = nd.constant dense<2.0> : tensor<f32> by [] : !nd.tensor<f32>
  %$20 = nd.broadcast %$24 : !nd.tensor<f32> -> !nd.tensor<f32, $0: 3, $1: 5>
  %$21 = nd.pad %$20 $0 low 1 high 1 value 3.0 : f32 : !nd.tensor<f32, $0: 3, $1: 5> -> !nd.tensor<f32, $0: 5, $1: 5>
  %$22 = nd.pointwise $3, %$21 : (!nd.tensor<f32, $0: 5, $1: 5>, !nd.tensor<f32, $0: 5, $1: 5>) -> !nd.tensor<f32, $0: 5, $1: 5> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.mulf %a, %b : f32
    nd.yield %r : f32
  }
  %$23 = nd.reduce %$22 over [$1] neutral [0.0 : f32] : (!nd.tensor<f32, $0: 5, $1: 5>) -> !nd.tensor<f32, $0: 5> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    nd.yield %r : f32
  })";

// The same twice: elements of a literal differ along $0, or $2, whichever of its names is listed
// first.
const std::string paddedSplats = R"(
func.func @main(%x: !nd.tensor<f32, $0: 5, $1: 5> {nd.layout = "any"}) -> (!nd.tensor<f32, $0: 5>, !nd.tensor<f32, $2: 5>) {)" +
                                 spell(paddedSplat, {"$0", "$1", "1", "%x"}) + R"(
  %y = nd.rename %x [$0, $1] to [$2, $3] : !nd.tensor<f32, $0: 5, $1: 5> -> !nd.tensor<f32, $2: 5, $3: 5>)" +
                                 spell(paddedSplat, {"$2", "$3", "2", "%y"}) + R"(
  return %13, %23 : !nd.tensor<f32, $0: 5>, !nd.tensor<f32, $2: 5>
})";

TEST(Order, Literals) {
  std::string plain = spell(emptyLiterals, {"b", "b1", "d", "a2"});
  expectSame(plain, spell(emptyLiterals, {"d", "qa2", "Zb", "b1"}));
  expectSame(spell(paddedSplats, {"a", "b", "c", "d"}), spell(paddedSplats, {"a", "b", "d", "c"}));
}

// $1 and $2 differ only by the layout of the result.
const char *layoutOfResult = R"(
func.func @main(%x: !nd.tensor<f32, $0: 13> {nd.layout = #nest.layout<[$0]>})
    -> (!nd.tensor<f32, $0: 13, $1: 1, $2: 1> {nd.layout = #nest.layout<[$1, $0, $2]>}) {
  %0:2 = nest.compute ($0: 13, $1: 1, $2: 1) reads %x[$0 = $0] {
  ^bb0(%a: f32):
    %s = math.sin %a : f32
    nest.yield %a, %s : f32, f32
  } : (!nd.tensor<f32, $0: 13>) -> (!nd.tensor<f32, $0: 13, $1: 1, $2: 1>, !nd.tensor<f32, $0: 13, $1: 1, $2: 1>)
  return %0#1 : !nd.tensor<f32, $0: 13, $1: 1, $2: 1>
})";

TEST(Order, LayoutsOfResults) {
  expectSame(spell(layoutOfResult, {"b", "k", "r"}), spell(layoutOfResult, {"b", "r", "k"}));
}

// The same sum twice; $1 and $2 are the operands of the second.
const char *twoSums = R"(
func.func @main(%x: !nd.tensor<ui16, $0: 3> {nd.layout = "any"}) -> (!nd.tensor<ui16>, !nd.tensor<ui16>, !nd.tensor<ui16>) {
  %0:2 = nd.reduce %x, %x over [$0] neutral [-1 : i16, 0 : i16] : (!nd.tensor<ui16, $0: 3>, !nd.tensor<ui16, $0: 3>) -> (!nd.tensor<ui16>, !nd.tensor<ui16>) {
  ^bb0(%a: i16, %b: i16, %c: i16, %d: i16):
    %r = arith.andi %a, %c : i16
    %s = arith.addi %b, %d : i16
    nd.yield %r, %s : i16, i16
  }
  %1 = nd.reduce %x over [$0] neutral [0 : i16] : (!nd.tensor<ui16, $0: 3>) -> !nd.tensor<ui16> {
  ^bb0(%a: i16, %b: i16):
    %r = arith.addi $1, $2 : i16
    nd.yield %r : i16
  }
  return %0#0, %0#1, %1 : !nd.tensor<ui16>, !nd.tensor<ui16>, !nd.tensor<ui16>
})";

TEST(Order, OperandsInCombiners) {
  expectSame(spell(twoSums, {"row", "%a", "%b"}), spell(twoSums, {"row", "%b", "%a"}));
  Compiled sums = compile(spell(twoSums, {"row", "%b", "%a"}));
  ASSERT_TRUE(sums.image) << sums.errors;
  EXPECT_EQ(sums.statistics.kernels, 2); // one reduction, and the copy of its second result
}

// Both operands read one value after `nd.after` is removed; $1 and $2 are their order.
const char *readTwice = R"(
func.func @main(%x: !nd.tensor<f64, $0: 3> {nd.layout = "any"}) -> !nd.tensor<f64, $0: 1> {
  %0 = nd.after %x, %x : !nd.tensor<f64, $0: 3>, !nd.tensor<f64, $0: 3>
  %1 = nd.pointwise $1 : (!nd.tensor<f64, $0: 3>, !nd.tensor<f64, $0: 3>) -> !nd.tensor<f64, $0: 3> {
  ^bb0($2):
    %r = arith.divf %b, %a : f64
    nd.yield %r : f64
  }
  %2 = nd.slice %1 $0 from 0 size 1 stride -2 : !nd.tensor<f64, $0: 3> -> !nd.tensor<f64, $0: 1>
  return %2 : !nd.tensor<f64, $0: 1>
})";

TEST(Order, ReadsOfOnePlace) {
  expectSame(spell(readTwice, {"row", "%0, %x", "%a: f64, %b: f64"}),
             spell(readTwice, {"row", "%x, %0", "%b: f64, %a: f64"}));
}

} // namespace
