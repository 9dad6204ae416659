//===- InterpretTest.cpp - the oracle on small programs -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/check/Check.h"
#include "dialects/nest/Nest.h"
#include "lib/interp/HostTensor.h"
#include "lib/interp/Interpreter.h"

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
struct InterpretTest : testing::Test {
  MLIRContext context;
  std::string said;
  OwningOpRef<ModuleOp> module;

  InterpretTest() {
    context.loadDialect<nd::NdDialect, nest::NestDialect, check::CheckDialect, arith::ArithDialect,
                        math::MathDialect, func::FuncDialect>();
    context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
      said += diagnostic.str() + "\n";
      return success();
    });
  }

  FailureOr<SmallVector<TensorValue>> run(StringRef text, ArrayRef<TensorValue> arguments = {}) {
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return failure();
    return interpret(*module->getOps<func::FuncOp>().begin(), arguments);
  }

  TensorValue floats(std::vector<float> values) {
    int64_t size = int64_t(values.size());
    return fromHost(&context,
                    io::HostArray::of<float>(std::span<const float>(values), {size}, {"n"}));
  }
};

/// A sum over n by a region that adds.
std::string sumOf(StringRef element, int64_t size, StringRef accumulator) {
  std::string type = element.str() + ", n: " + std::to_string(size);
  return "func.func @f(%x: !nd.tensor<" + type + ">) -> !nd.tensor<" + accumulator.str() +
         "> {\n %0 = nd.reduce %x over [n] neutral [0.0 : " + accumulator.str() +
         "] : (!nd.tensor<" + type + ">) -> !nd.tensor<" + accumulator.str() +
         "> {\n ^bb0(%a: " + accumulator.str() + ", %e: " + accumulator.str() +
         "):\n %r = arith.addf %a, %e : " + accumulator.str() +
         "\n nd.yield %r : " + accumulator.str() + "\n }\n return %0 : !nd.tensor<" +
         accumulator.str() + ">\n}";
}
} // namespace

TEST_F(InterpretTest, SumsAreCoveredInAnyOrder) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (int64_t size : {1, 2, 7, 64, 1000}) {
    std::vector<float> values;
    for (int64_t i = 0; i < size; ++i)
      values.push_back(normal(random));
    auto results = run(sumOf("f32", size, "f32"), {floats(values)});
    ASSERT_TRUE(succeeded(results));
    const Scalar &sum = (*results)[0].elements[0];
    double widest = 0;
    for (int order = 0; order < 20; ++order) {
      std::shuffle(values.begin(), values.end(), random);
      float total = 0;
      for (float value : values)
        total += value;
      widest = std::max(widest, std::fabs(double(total) - sum.value));
    }
    EXPECT_LE(widest, sum.error);
    // The bound grows with the length, but must stay small.
    EXPECT_LE(sum.error, 1e-6 * double(size) * double(size));
  }
}

// A sum combined with a count is a general combiner. Forwards and backwards each step is exact, but
// the sum of the first and the last element needs 25 bits.
TEST_F(InterpretTest, CombinersAreCoveredInOrdersThatAreNotRun) {
  auto results = run(R"(
    func.func @f(%x: !nd.tensor<f32, n: 3>) -> (!nd.tensor<f32>, !nd.tensor<f64>) {
      %0:2 = nd.reduce %x, %x over [n] neutral [0.0 : f32, 0.0 : f64] : (!nd.tensor<f32, n: 3>, !nd.tensor<f32, n: 3>) -> (!nd.tensor<f32>, !nd.tensor<f64>) {
      ^bb0(%a: f32, %c: f64, %b: f32, %d: f64):
        %r = arith.addf %a, %b : f32
        %s = arith.addf %c, %d : f64
        nd.yield %r, %s : f32, f64
      }
      return %0#0, %0#1 : !nd.tensor<f32>, !nd.tensor<f64>
    })",
                     {floats({1 - 0x1p-24f, -0.75f, 0.5f})});
  ASSERT_TRUE(succeeded(results)) << said;
  const Scalar &narrow = (*results)[0].elements[0], &wide = (*results)[1].elements[0];
  EXPECT_EQ(narrow.value, 0.75 - 0x1p-24);
  EXPECT_GE(narrow.error, 0x1p-24); // 0.75 is correct, too
  EXPECT_LE(narrow.error, 0x1p-20);
  EXPECT_EQ(wide.error, 0);
}

TEST_F(InterpretTest, ACastOfASumIsOneNumber) {
  // 257 is not representable in bf16: the cast makes it 256, without the sum's excess precision.
  const char *text = R"(
    func.func @f(%x: !nd.tensor<f32, n: 1>) -> !nd.tensor<f32, n: 1> {
      %0 = nd.pointwise %x : (!nd.tensor<f32, n: 1>) -> !nd.tensor<f32, n: 1> {
      ^bb0(%v: f32):
        %one = arith.constant 1.0 : bf16
        %n = arith.truncf %v : f32 to bf16
        %s = arith.addf %n, %one : bf16
        %w = arith.extf %s : bf16 to f32
        nd.yield %w : f32
      }
      return %0 : !nd.tensor<f32, n: 1>
    })";
  auto results = run(text, {floats({256})});
  ASSERT_TRUE(succeeded(results));
  EXPECT_EQ((*results)[0].elements[0].value, 256);
  EXPECT_EQ((*results)[0].elements[0].error, 0);
}

TEST_F(InterpretTest, OverlapsAreCoveredInAnyOrder) {
  // Element 2 sums 1, -1 and 2^-30, which is exact only in this order.
  const char *text =
      "func.func @f(%a: !nd.tensor<f32, n: 9>) -> !nd.tensor<f32, p: 5> {\n"
      "  %0 = nd.split %a n into [k, p] : !nd.tensor<f32, n: 9> -> !nd.tensor<f32, k: 3, p: 3>\n"
      "  %1 = nd.unwindow %0 p -> k size 3 : !nd.tensor<f32, k: 3, p: 3> -> !nd.tensor<f32, p: 5>\n"
      "  return %1 : !nd.tensor<f32, p: 5>\n}";
  auto results = run(text, {floats({0, 0, 0x1p-30f, 0, -1, 0, 1, 0, 0})});
  ASSERT_TRUE(succeeded(results));
  const Scalar &sum = (*results)[0].elements[2];
  EXPECT_EQ(sum.value, 0x1p-30);
  EXPECT_GE(sum.error, 0x1p-30);
}

TEST_F(InterpretTest, SumsOfSmallIntegersAreExact) {
  std::vector<float> values;
  for (int i = 0; i < 1000; ++i)
    values.push_back(float(i % 17) - 8);
  auto results = run(sumOf("f32", 1000, "f32"), {floats(values)});
  ASSERT_TRUE(succeeded(results));
  EXPECT_EQ((*results)[0].elements[0].error, 0);
  // Too large for the accumulator to hold each partial sum: no longer exact.
  for (float &value : values)
    value = 16777215;
  results = run(sumOf("f32", 1000, "f32"), {floats(values)});
  ASSERT_TRUE(succeeded(results));
  EXPECT_GT((*results)[0].elements[0].error, 0);
}

TEST_F(InterpretTest, TiesOfACarriedIndexAreUndecided) {
  const char *text = R"(
    func.func @f(%x: !nd.tensor<f32, n: 3>) -> !nd.tensor<i32> {
      %i = nd.iota n : !nd.tensor<i32, n: 3>
      %0:2 = nd.reduce %x, %i over [n] neutral [0xFF800000 : f32, -1 : i32] : (!nd.tensor<f32, n: 3>, !nd.tensor<i32, n: 3>) -> (!nd.tensor<f32>, !nd.tensor<i32>) {
      ^bb0(%a: f32, %ai: i32, %e: f32, %ei: i32):
        %c = arith.cmpf ogt, %e, %a : f32
        %r = arith.select %c, %e, %a : f32
        %ri = arith.select %c, %ei, %ai : i32
        nd.yield %r, %ri : f32, i32
      }
      return %0#1 : !nd.tensor<i32>
    })";
  auto clear = run(text, {floats({1, 3, 2})});
  ASSERT_TRUE(succeeded(clear));
  EXPECT_FALSE((*clear)[0].elements[0].undecided);
  EXPECT_EQ((*clear)[0].elements[0].bits, 1u);
  auto tied = run(text, {floats({3, 1, 3})});
  ASSERT_TRUE(succeeded(tied));
  EXPECT_TRUE((*tied)[0].elements[0].undecided);
}

TEST_F(InterpretTest, ProductsThatOverflowOnTheWayAreUndecided) {
  auto product = [&](const std::vector<float> &values) {
    std::string size = std::to_string(values.size());
    auto results = run("func.func @f(%x: !nd.tensor<f32, n: " + size + R"(>) -> !nd.tensor<f32> {
      %0 = nd.reduce %x over [n] neutral [1.0 : f32] : (!nd.tensor<f32, n: )" +
                           size + R"(>) -> !nd.tensor<f32> {
      ^bb0(%a: f32, %e: f32):
        %p = arith.mulf %a, %e : f32
        nd.yield %p : f32
      }
      return %0 : !nd.tensor<f32>
    })",
                       {floats(values)});
    return (*results)[0].elements[0];
  };
  // Infinite forwards, 0 backwards; infinite both ways, but 1 where large meets small.
  EXPECT_TRUE(product({1e30f, 1e30f, 1e-30f, 1e-30f}).undecided);
  EXPECT_TRUE(product({1e30f, 1e30f, 1e-30f, 1e-30f, 1e-30f, 1e-30f, 1e30f, 1e30f}).undecided);
  // An infinite operand stays infinite in every order.
  Scalar infinite = product({2, INFINITY, 3});
  EXPECT_EQ(infinite.value, INFINITY);
  EXPECT_FALSE(infinite.undecided);
  EXPECT_FALSE(product({1e30f, 1e-30f, 3}).undecided);
}

TEST_F(InterpretTest, ComparisonsSeeBothBounds) {
  nd::NdTensorType type =
      nd::NdTensorType::get(Float32Type::get(&context), {nd::Dim(&context, "n", 2)});
  TensorValue expected(type), got(type);
  expected.elements[0] = exactly(1);
  expected.elements[0].error = 1e-3;
  expected.elements[1] = exactly(2);
  got.elements[0] = exactly(1.0005);
  got.elements[1] = exactly(2);
  EXPECT_TRUE(compare(expected, got).equal());
  got.elements[0] = exactly(1.002);
  EXPECT_NE(compare(expected, got).mismatch.find("at {n: 0}"), std::string::npos);
  // Exact means exact, to the last bit.
  got.elements[0] = exactly(1);
  got.elements[1] = exactly(double(std::nextafter(2.0f, 3.0f)));
  EXPECT_NE(compare(expected, got).mismatch.find("at {n: 1}"), std::string::npos);
  expected.elements[1].undecided = true;
  Comparison comparison = compare(expected, got);
  EXPECT_TRUE(comparison.equal());
  EXPECT_EQ(comparison.undecided, 1);
  EXPECT_EQ(comparison.compared, 2);
  EXPECT_FALSE(compare(expected, floats({1, 2, 3})).equal());
}

TEST_F(InterpretTest, BytesAndScalars) {
  // Axes in any order become one tensor; its array has the sorted names.
  io::HostArray array = io::HostArray::of<int16_t>({1, 2, 3, 4, 5, -6}, {3, 2}, {"row", "column"});
  TensorValue tensor = fromHost(&context, array);
  EXPECT_EQ(tensor.at({{"row", 2}, {"column", 1}}).bits, 0xfffau);
  io::HostArray back = toHost(tensor);
  EXPECT_EQ(back, io::HostArray::of<int16_t>({1, 3, 5, 2, 4, -6}, {2, 3}, {"column", "row"}));
  for (int type = 0; type <= int(ElementType::F64); ++type) {
    auto element = ElementType(type);
    EXPECT_EQ(nd::elementTypeOf(nd::mlirType(&context, element)), element);
    io::HostArray zeros = io::HostArray::zeros(element, {4}, {"n"});
    for (size_t i = 0; i < zeros.bytes.size(); ++i)
      zeros.bytes[i] = std::byte(element == ElementType::I1 ? i & 1 : 17 * i);
    EXPECT_EQ(toHost(fromHost(&context, zeros)), zeros) << spelling(element);
  }
  // Storing rounds.
  TensorValue value(nd::NdTensorType::get(BFloat16Type::get(&context), ArrayRef<nd::Dim>()));
  value.elements[0] = exactly(1.00390626);
  EXPECT_EQ(fromHost(&context, toHost(value)).elements[0].value, 1.0078125);
}

TEST_F(InterpretTest, SymbolsFollowFromArguments) {
  const char *text = R"(
    func.func @f(%x: !nd.tensor<f32, n: 2 * N>, %y: !nd.tensor<f32, n: N>) -> !nd.tensor<f32, n: 3 * N> {
      %0 = nd.concat %x, %y along n : (!nd.tensor<f32, n: 2 * N>, !nd.tensor<f32, n: N>) -> !nd.tensor<f32, n: 3 * N>
      return %0 : !nd.tensor<f32, n: 3 * N>
    })";
  auto results = run(text, {floats({1, 2, 3, 4}), floats({5, 6})});
  ASSERT_TRUE(succeeded(results));
  EXPECT_EQ((*results)[0].dims()[0].second, 6);
  EXPECT_TRUE(failed(run(text, {floats({1, 2, 3}), floats({5, 6})})));
  EXPECT_NE(said.find("as argument 0 of '@f'"), std::string::npos) << said;
}

TEST_F(InterpretTest, RefusesWithAReason) {
  EXPECT_TRUE(failed(run(R"(
    func.func @f() -> !nd.tensor<f32, n: 99999999> {
      %0 = nd.constant dense<1.0> : tensor<f32> by [n] : !nd.tensor<f32, n: 99999999>
      return %0 : !nd.tensor<f32, n: 99999999>
    })")));
  EXPECT_NE(said.find("too many for the interpreter"), std::string::npos) << said;
  said.clear();
  EXPECT_TRUE(failed(run(R"(
    func.func @f(%x: !nd.tensor<f32, n: N>) -> !nd.tensor<f32, n: N - 3> {
      %0 = nd.slice %x n from 0 size N - 3 : !nd.tensor<f32, n: N> -> !nd.tensor<f32, n: N - 3>
      return %0 : !nd.tensor<f32, n: N - 3>
    })",
                         {floats({1, 2})})));
  EXPECT_NE(said.find("expected a size of at least 0 for 'n', got N - 3, which is -1"),
            std::string::npos)
      << said;
  said.clear();
  EXPECT_TRUE(failed(run(R"(
    func.func @f(%x: !nd.tensor<f32, n: 3>) -> !nd.tensor<f32, k: 3, n: 3> {
      %0 = nd.window %x n -> k size 3 pad 1, 1 exclude : !nd.tensor<f32, n: 3> -> !nd.tensor<f32, k: 3, n: 3>
      return %0 : !nd.tensor<f32, k: 3, n: 3>
    })",
                         {floats({1, 2, 3})})));
  EXPECT_NE(said.find("a reduction over the window's taps must follow"), std::string::npos) << said;
  said.clear();
  EXPECT_TRUE(failed(run(R"(
    func.func @f() {
      %0 = nd.constant dense<[1, 2]> : tensor<2xi32> by [n] : !nd.tensor<i32, n: 2>
      check.expect_eq_const %0 is dense<[1, 3]> : tensor<2xi32> by [n] : !nd.tensor<i32, n: 2>
      check.expect_eq_const %0 is dense<[1, 2]> : tensor<2xi32> by [n] : !nd.tensor<i32, n: 2>
      check.expect_eq_const %0 is dense<[5, 5]> : tensor<2xi32> by [n] : !nd.tensor<i32, n: 2>
      return
    })")));
  // Both failures are reported.
  EXPECT_NE(said.find("expected 3 at {n: 1}, got 2 (1 of 2 elements differ)"), std::string::npos);
  EXPECT_NE(said.find("expected 5 at {n: 0}, got 1 (2 of 2 elements differ)"), std::string::npos);
  said.clear();
  // An index occurs twice though it was declared unique.
  EXPECT_TRUE(failed(run(R"(
    func.func @f(%d: !nd.tensor<f32, n: 3>) -> !nd.tensor<f32, n: 3> {
      %0 = nest.update (p: 2) %d[n = 0 * p] unique reads %d[n = p] {
      ^bb0(%x: f32):
        nest.yield %x : f32
      } combine {
      ^bb0(%a: f32, %b: f32):
        nest.yield %b : f32
      } : (!nd.tensor<f32, n: 3>, !nd.tensor<f32, n: 3>) -> !nd.tensor<f32, n: 3>
      return %0 : !nd.tensor<f32, n: 3>
    })",
                         {floats({1, 2, 3})})));
  EXPECT_NE(said.find("is declared unique, but updates an element twice"), std::string::npos)
      << said;
}
