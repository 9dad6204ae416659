//===- AttributeTextTest.cpp - quick texts of types and attributes --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/analysis/AttributeText.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include "gtest/gtest.h"

using namespace heddle;
using namespace mlir;

namespace {
template <typename T>
std::string byPrinter(T value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}
} // namespace

TEST(Printed, IsThePrintersText) {
  MLIRContext context;
  context.loadDialect<arith::ArithDialect>();
  for (const char *text : {"f32", "f64", "bf16", "f8E4M3FN", "i1", "si8", "ui64", "index",
                           "vector<4xf32>", "tuple<f32, index>"}) {
    Type type = parseType(text, &context);
    EXPECT_EQ(printed(type), byPrinter(type)) << text;
  }
  for (const char *text : {"0.0 : f32",
                           "-0.0 : f32",
                           "1.0 : f64",
                           "0.1 : f32",
                           "3.0e+38 : f32",
                           "0xFF800000 : f32",
                           "0x7FC00000 : f32",
                           "1.0 : bf16",
                           "1.0 : f16",
                           "1.0 : f128",
                           "7 : i64",
                           "-7 : i64",
                           "7 : i8",
                           "7 : index",
                           "true",
                           "unit",
                           "\"a\"",
                           "[0.0 : f32, 1.5 : bf16]",
                           "[0.0 : f64]",
                           "[0.0 : f32, 1.0 : f64]",
                           "[1 : i64, 2.0 : f32]",
                           "[]",
                           "{}",
                           "{value = 1.0 : f32}",
                           "{a, value = 1.0 : f64}",
                           "{a.b = 1 : i64}",
                           "{a = [1.0 : f32], b = {c = 2 : i64}}",
                           "{fastmath = #arith.fastmath<contract,nnan>}"}) {
    Attribute attr = parseAttribute(text, &context);
    ASSERT_TRUE(attr) << text;
    EXPECT_EQ(printed(attr), byPrinter(attr)) << text;
    EXPECT_EQ(printed(attr), byPrinter(attr)) << text << ", again";
  }
  EXPECT_EQ(printed(Attribute()), byPrinter(Attribute()));
}
