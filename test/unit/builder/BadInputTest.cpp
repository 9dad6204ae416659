//===- BadInputTest.cpp - what the builder refuses, and how ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensors.h"

#include "heddle/heddle.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace heddle;

static const Name row("row"), column("column"), n("n");
using Tensors = std::vector<Tensor>;

static Tensor matrix() { return randomUniform(key(1), {{row, 4}, {column, 6}}); }
static Tensor ints() { return iota({n, 3}); }

/// Expects an Error with all of `parts` that begins with a place in this file.
template <typename Action>
static void refused(Action &&action, std::initializer_list<std::string> parts) {
  std::string message;
  try {
    action();
    ADD_FAILURE() << "expected an Error";
  } catch (const Error &error) {
    message = error.what();
  }
  for (const std::string &part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << "expected '" << part << "' in: " << message;
  EXPECT_LT(message.find("BadInputTest.cpp:"), message.find(": ")) << message;
  EXPECT_EQ(message.find("lib/builder"), std::string::npos) << message;
}

TEST(BadInput, NumbersThatIntegersCannotHold) {
  refused([] { ints() + 0.5; }, {"expected a number that is one of i64, got 0.5"});
  refused([] { ints() * NAN; }, {"got nan"});
  refused([] { (void)(ints() < 1e300); }, {"got 1e+300"});
  refused([] { Tensor::of<uint8_t>({1}, {{n, 1}}) + -1.0; }, {"one of ui8, got -1"});
  refused([] { select(ints() < 1.0, ints(), 1.5); }, {"one of i64, got 1.5"});
  refused([] { constant(128, ElementType::I8); }, {"one of i8, got 128"});
  refused([] { ints().pad(n, 1, 1, INFINITY); }, {"one of i64, got inf"});
  refused([] { ints().window(n, row, {.size = 3, .padding = Padding::explicitly(1, 1, 0.5)}); },
          {"one of i64, got 0.5"});
  refused([] { fold(key(1), 0.5); }, {"got 0.5"});
  EXPECT_EQ((constant(-128, ElementType::I8) + 0.0).item(), -128);
  EXPECT_EQ((Tensor::of<uint8_t>({1}, {{n, 1}}) + 254.0).to<uint8_t>({n})[0], 255);
}

TEST(BadInput, SizesBeyondAllBounds) {
  refused([] { Tensor::of<float>({1}, {{row, int64_t(1) << 40}, {column, int64_t(1) << 40}}); },
          {"expected at most 2^60 elements, got more at 'column'"});
  refused([] { randomPermutation(key(1), {n, -3}); }, {"at least 0 for 'n', got -3"});
  refused([] { topK(matrix(), row, -1); }, {"at least 0 elements of 'row', got -1"});
  refused([] { topK(matrix(), row, 5); }, {"at most the size of 'row', 4, got 5"});
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // which end the process
  refused([] { (zeros({{row, int64_t(1) << 45}}) + 1.0).data(); },
          {"out of memory: 140737488355328 bytes", "'result0'"});
#endif
}

TEST(BadInput, EmptyTensors) {
  refused([] { Tensor().item(); }, {"this tensor is empty"});
  refused([] { Tensor().size(row); }, {"this tensor is empty"});
  refused([] { Tensor() + matrix(); }, {"this tensor is empty"});
  refused([] { select(matrix() > 0.0, matrix(), Tensor()); }, {"this tensor is empty"});
  refused([] { jit([](Tensor) { return Tensor(); })(matrix()); }, {"this tensor is empty"});
}

TEST(BadInput, PlacesAreThoseOfTheUser) {
  // A formal stands for the tensor that it was made for.
  refused(
      [] { forLoop(3, Tensors{matrix()}, [](Tensor, Tensors s) { return Tensors{s[0], s[0]}; }); },
      {"to give a state of type none, got !nd.tensor<f32, column: 6, row: 4>", "(from ",
       "BadInputTest.cpp:"});
  refused(
      [] {
        jit([](Tensor x) {
          std::ostringstream out;
          out << x;
          return x;
        })(matrix());
      },
      {"this value depends on 'argument0'"});
  refused([] { matrix().round(ElementType::I32); },
          {"no wider than 'f32', got 'i32'; operand 0 is of type"});
  refused([] { jit([](Tensor x) { return x + 1.0; }, {.targetCpu = "bdver4"})(matrix()); },
          {"needs what this CPU lacks"});
  try { // a requirement that is written where the call is
    jit([](Tensor x) { return x; }, {.symbolic = {row.between(9, 10)}})(matrix());
    ADD_FAILURE() << "expected an error";
  } catch (const Error &error) {
    std::string what = error.what();
    EXPECT_EQ(what.find("BadInputTest.cpp:"), what.rfind("BadInputTest.cpp:")) << what;
  }
  refused([] { select(matrix(), matrix(), matrix()); },
          {"expected a condition of element type i1, got !nd.tensor<f32, column: 6, row: 4>"});
}

TEST(BadInput, ElementsThatAreQuantized) {
  refused([] { packInt4(matrix(), row); }, {"elements of type i8, got !nd.tensor<f32"});
  refused([] { unpackInt4(ints(), n); }, {"elements of type ui8, got !nd.tensor<i64"});
  refused([] { quantize(matrix(), Names{n}); }, {"'n'", "column: 6, row: 4"});
}

TEST(BadInput, OneVariableTwice) {
  auto swap = jit([](Tensor &a, Tensor &b) { std::swap(a, b); });
  Tensor x = constant(1), y = constant(2), copy = x;
  refused([&] { swap(x, x); }, {"'argument0' and 'argument1' are one variable"});
  auto add = jit([](Tensor &a, const Tensor &b) { a = a + b; });
  add(x, x); // what is only read may be anything
  EXPECT_EQ(x.item(), 2);
  swap(x, y);
  EXPECT_EQ(x.item(), 2);
  swap(copy, y);
  EXPECT_EQ(y.item(), 1);
  // A formal in a variable of a loop that has ended.
  refused(
      [] {
        Tensor kept;
        forLoop(2, constant(1), [&](Tensor, Tensor s) { return kept = s; });
        kept.item();
      },
      {"this value depends on an argument of a function"});
}

TEST(BadInput, CountsOfTensors) {
  refused([] { forLoop(3, Tensors(), [](Tensor, Tensors s) { return s; }); },
          {"expected at least one tensor that comes out of a loop or a branch, got none"});
  refused(
      [] {
        jvp([](Tensors v) { return v[0] * v[1]; }, Tensors{matrix(), matrix()}, Tensors{matrix()});
      },
      {"expected a tangent of type !nd.tensor<f32, column: 6, row: 4>", "for '1', got none"});
  refused([] { jvp([](Tensor v) { return v * v; }, matrix(), sum(matrix(), over(row))); },
          {"expected a tangent of type", "got !nd.tensor<f32, column: 6>"});
}

TEST(BadInput, NamesAndSizes) {
  static_assert(!std::is_constructible_v<bool, Tensor> && !std::is_constructible_v<bool, Scalar>);
  refused([] { Name("a b"); }, {"expected the name of a dimension", "got 'a b'"});
  refused([] { fresh("2"); }, {"got '2$"});
  refused([] { n.between(3, 2); }, {"expected sizes of 'n' from 0", "got 3 to 2"});
  refused([] { n.multipleOf(0); }, {"multiples of 1 to", "got 0"});
  refused([] { matrix().size(row) / 0; }, {"a positive number, got 4 by 0"});
}

TEST(BadInput, ValuesThatWereGivenUp) {
  auto add = jit([](Tensor &x) { x = x + 1.0; });
  Tensor x = Tensor::of<float>({1, 2}, {{n, 2}}), old = x;
  add(x);
  std::ostringstream out;
  std::initializer_list<std::string> parts = {"was given up to the call at ", "in place"};
  refused([&] { old.item(); }, parts);
  refused([&] { out << old; }, parts);
  refused([&] { (void)(old + 1.0); }, parts);
  refused([&] { grad([](Tensor y) { return sum(y, over(n)); }, old); }, parts);
  refused([&] { jvp([](Tensor y) { return y; }, old, old); }, parts);
  refused([&] { forLoop(2, old, [](Tensor, Tensor y) { return y; }); }, parts);
  refused([&] { checkpoint([](Tensor y) { return y; })(old); }, parts);
  refused([&] { lift([](Tensor y) { return y; }, over(n))(old); }, parts);
  refused([&] { jit([](Tensor y) { return y; })(old); }, parts);
}

TEST(BadInput, OptionsOfFunctions) {
  auto same = [](Tensor x) { return x; };
  refused([&] { jit(same, {.threads = -5}); }, {"expected 0 to 1024 threads", "got -5"});
  refused([&] { jit(same, {.threads = 100000}); }, {"got 100000"});
  refused([&] { jit(same, {.name = ""}); }, {"as the name of a function", "got ''"});
  refused([&] { jit(same, {.name = "a\nb"}); }, {"expected printable characters"});
  EXPECT_EQ(jit(same, {.name = "any other name"})(constant(3)).item(), 3);
}

TEST(BadInput, FunctionsThatCallThemselves) {
  static std::function<Tensor(Tensor)> again;
  auto endless = jit([](Tensor x) { return again(x) * 2.0; }, {.name = "endless"});
  again = [=](Tensor x) { return endless(x); };
  refused([&] { endless(matrix()); },
          {"'endless' calls itself", "forLoop and whileLoop end when they run"});
  again = nullptr;
  // What ends when it is traced is no mistake.
  int left = 3;
  std::function<Tensor(Tensor)> inner;
  auto power = jit([&](Tensor x) { return --left > 0 ? inner(x) * 2.0 : x; });
  inner = [&](Tensor x) { return power(x); };
  EXPECT_EQ(power(constant(1)).item(), 4);
}

TEST(BadInput, DivisorsOfExpressions) {
  refused([] { Expr::name("n").floordiv(0); }, {"expected a positive divisor, got 0"});
  refused([] { Expr::name("n").mod(-2); }, {"expected a positive divisor, got -2"});
}
