//===- DeviationsTest.cpp - bounds from perturbed executions --------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bounds must cover what the compiler may compute (loops of floats here), and must not cover what
// is wrong by a thousandth, also where bounds of the worst case have left the type's range.
//
//===----------------------------------------------------------------------===//

#include "lib/interp/Deviations.h"
#include "lib/interp/HostTensor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace heddle;
using namespace heddle::interp;
using namespace mlir;

namespace {
struct DeviationsTest : testing::Test {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::vector<float> x;

  DeviationsTest() {
    context.loadDialect<nd::NdDialect, arith::ArithDialect, math::MathDialect, func::FuncDialect>();
    std::mt19937 random(5);
    std::uniform_real_distribution<float> uniform(0.5, 1.5);
    for (int i = 0; i < 64; ++i)
      x.push_back(uniform(random));
  }

  TensorValue tensor(const std::vector<float> &values) {
    return fromHost(&context, io::HostArray::of<float>(std::span<const float>(values),
                                                       {int64_t(values.size())}, {"n"}));
  }
  /// The values of a function of 64 numbers with this body, which yields %r.
  TensorValue run(const std::string &body, bool closely, StringRef type = "f32") {
    std::string result = "!nd.tensor<" + type.str() + ", n: 64>";
    module = parseSourceString<ModuleOp>(
        "func.func @f(%x: !nd.tensor<f32, n: 64>) -> " + result +
            " {\n %0 = nd.pointwise %x : (!nd.tensor<f32, n: 64>) -> " + result +
            " {\n ^bb0(%v: f32):\n" + body + "  nd.yield %r : " + type.str() +
            "\n }\n return %0 : " + result + "\n}",
        &context);
    auto function = *module->getOps<func::FuncOp>().begin();
    auto results = closely ? interpretClosely(function, tensor(x)) : interpret(function, tensor(x));
    EXPECT_TRUE(succeeded(results));
    return std::move(results->front());
  }
};

/// 400 times v = a * v - b * v with a - b = 1.
std::string longChain() {
  std::string body = "%a = arith.constant 1.5 : f32\n %b = arith.constant 0.5 : f32\n"
                     "%t = arith.constant 0.1 : f32\n %v0 = arith.mulf %v, %t : f32\n";
  for (int i = 0; i < 400; ++i) {
    std::string now = std::to_string(i), next = i == 399 ? "r" : "v" + std::to_string(i + 1);
    body += "%p" + now + " = arith.mulf %a, %v" + now + " : f32\n" + //
            "%q" + now + " = arith.mulf %b, %v" + now + " : f32\n" + //
            "%" + next + " = arith.subf %p" + now + ", %q" + now + " : f32\n";
  }
  return body;
}
} // namespace

// The interpreter rounds results in f64, too: a value that is a number of f64 need not be exact.
TEST_F(DeviationsTest, RoundingsOfF64ArePerturbed) {
  TensorValue close = run("%w = arith.extf %v : f32 to f64\n %t = arith.constant 0.1 : f64\n"
                          "%s = arith.addf %w, %t : f64\n"
                          "%p = arith.mulf %s, %s : f64\n %q = arith.mulf %s, %s : f64\n"
                          "%r = arith.subf %p, %q : f64\n",
                          true, "f64");
  for (auto [i, v] : llvm::enumerate(x)) {
    double s = double(v) + 0.1, fused = std::fma(s, s, -(s * s));
    EXPECT_LE(std::fabs(fused - close.elements[i].value), close.elements[i].error) << v;
    EXPECT_LE(close.elements[i].error, 1e-13);
  }
}

TEST_F(DeviationsTest, BoundsThatHaveLeftTheRangeAreReplaced) {
  TensorValue worst = run(longChain(), false), close = run(longChain(), true);
  std::vector<float> separate, fused, wrong;
  for (auto [i, v] : llvm::enumerate(x)) {
    const Scalar &a = worst.elements[i], &b = close.elements[i];
    EXPECT_TRUE(isUncertain(a, close.elementType()));
    EXPECT_EQ(a.value, b.value);
    EXPECT_FALSE(b.undecided);
    EXPECT_LE(b.error, 5e-4 * b.value);
    volatile float plain = v * 0.1f;
    float once = plain;
    for (int k = 0; k < 400; ++k) {
      volatile float p = 1.5f * plain, q = 0.5f * plain;
      plain = p - q;
      once = std::fma(1.5f, once, -(0.5f * once));
    }
    separate.push_back(float(plain));
    fused.push_back(once);
    wrong.push_back(float(plain) * 1.001f);
  }
  EXPECT_EQ(compare(close, tensor(separate)).mismatch, "");
  EXPECT_EQ(compare(close, tensor(fused)).mismatch, "");
  Comparison fault = compare(close, tensor(wrong));
  EXPECT_NE(fault.mismatch.find("64 of 64 elements differ"), std::string::npos) << fault.mismatch;
  EXPECT_EQ(fault.uncertain, 0);
}

TEST_F(DeviationsTest, BoundsCoverRoundingsThatASubtractionUncovers) {
  TensorValue close = run("%c = arith.constant 1.0e4 : f32\n %s = arith.addf %v, %c : f32\n"
                          "%r = arith.subf %s, %c : f32\n",
                          true);
  std::vector<float> rounded;
  for (float v : x) {
    volatile float sum = v + 1e4f;
    rounded.push_back(sum - 1e4f);
  }
  EXPECT_EQ(compare(close, tensor(rounded)).mismatch, "");
}

TEST_F(DeviationsTest, BoundsThatAreOfUseStay) {
  std::string body = "%r = arith.mulf %v, %v : f32\n";
  TensorValue worst = run(body, false), close = run(body, true);
  for (auto [a, b] : llvm::zip_equal(worst.elements, close.elements)) {
    EXPECT_EQ(a.value, b.value);
    EXPECT_EQ(a.error, b.error);
  }
}

TEST_F(DeviationsTest, AChoiceThatNoExecutionChangesIsDecided) {
  // By the worst case, the comparison of the chain's result with a half of it is open.
  std::string body = longChain();
  body.replace(body.find("%r ="), 4, "%s =");
  body += "%h = arith.mulf %b, %s : f32\n %r = arith.cmpf ogt, %s, %h : f32\n";
  TensorValue worst = run(body, false, "i1"), close = run(body, true, "i1");
  for (auto [a, b] : llvm::zip_equal(worst.elements, close.elements)) {
    EXPECT_TRUE(a.undecided);
    EXPECT_FALSE(b.undecided);
    EXPECT_EQ(b.bits, 1u);
  }
}

TEST_F(DeviationsTest, WhatCancelsIsComparedBesideItsTerms) {
  // The chain's result, about v / 10, less itself: 0, or what rounding leaves of it.
  std::string body = longChain();
  body.replace(body.find("%r ="), 4, "%s =");
  body += "%r = arith.subf %s, %s : f32\n";
  TensorValue worst = run(body, false), close = run(body, true);
  std::vector<float> rest, fault;
  for (auto [v, a, b] : llvm::zip_equal(x, worst.elements, close.elements)) {
    EXPECT_TRUE(isUncertain(a, close.elementType()));
    EXPECT_FALSE(isUncertain(b, close.elementType()));
    EXPECT_NEAR(b.scale(), 0.1 * v, 1e-6);
    rest.push_back(v * 1e-8f);
    fault.push_back(v * 1e-4f);
  }
  EXPECT_EQ(compare(close, tensor(rest)).mismatch, "");
  std::string mismatch = compare(close, tensor(fault)).mismatch;
  EXPECT_NE(mismatch.find("64 of 64 elements differ"), std::string::npos) << mismatch;
}

TEST_F(DeviationsTest, WhatTheCompilerMayChooseStaysOpen) {
  // Where one of the products is fused with the difference, it is the rounding error of the other.
  std::string body = "%c = arith.constant 3.1 : f32\n %l = arith.constant 1.0e9 : f32\n"
                     "%p = arith.mulf %v, %c : f32\n %d = arith.subf %p, %p : f32\n"
                     "%m = arith.mulf %d, %l : f32\n %r = math.exp %m : f32\n";
  for (bool closely : {false, true})
    for (const Scalar &scalar : run(body, closely).elements) {
      EXPECT_EQ(scalar.value, 1);
      EXPECT_TRUE(scalar.undecided);
    }
}
