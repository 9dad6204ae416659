//===- ArgumentTest.cpp - numbers as arguments of compiled functions ------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/heddle.h"
#include "runtime/program/Program.h"
#include "test/unit/builder/Tensors.h"

#include <cmath>
#include <gtest/gtest.h>

#include <filesystem>
#include <unistd.h>

using namespace heddle;
using namespace heddle::test;

namespace {
const Name row("row");

// A learning rate, a step and a flag: other values run the same program.
TEST(Argument, AnotherNumberDoesNotRecompile) {
  int traces = 0;
  auto step = jit([&](Tensor &state, const Tensor &slope, Tensor rate, Tensor count, Tensor flag) {
    ++traces;
    state -= rate * slope;
    EXPECT_EQ(rate.type(), "!nd.tensor<f32>");
    EXPECT_EQ(count.type(), "!nd.tensor<i64>");
    EXPECT_EQ(flag.type(), "!nd.tensor<i1>");
    return select(flag, state, slope) + count.cast(ElementType::F32);
  });
  Tensor state = tensor({1, 2}, {{row, 2}}), slope = tensor({10, 20}, {{row, 2}});
  EXPECT_EQ(valuesOf(step(state, slope, 0.5, 3, true)), (std::vector<float>{-1, -5}));
  EXPECT_EQ(valuesOf(state), (std::vector<float>{-4, -8}));
  EXPECT_EQ(valuesOf(step(state, slope, 1.0f, int64_t(-7), false)), (std::vector<float>{3, 13}));
  EXPECT_EQ(valuesOf(state), (std::vector<float>{-14, -28}));
  EXPECT_EQ(valuesOf(step(state, slope, 0.1, uint8_t(200), slope.has(row))),
            (std::vector<float>{185, 170}));
  EXPECT_EQ(traces, 1);
  // A tensor of the same type has the same signature.
  (void)step(state, slope, constant(0.25), 1, true);
  EXPECT_EQ(traces, 1);
}

TEST(Argument, NumbersAreInputsOfTextsAndFiles) {
  auto scale = jit([](Tensor x, Tensor by) { return x * by; }, {.name = "scale"});
  Tensor x = tensor({1, 2}, {{row, 2}});
  EXPECT_NE(scale.ir(x, 2.5).find("!nd.tensor<f32> {nd.name = \"argument1\"}"), std::string::npos)
      << scale.ir(x, 2.5);
  std::string path =
      std::filesystem::temp_directory_path() / ("heddle-" + std::to_string(getpid()) + "-numbers");
  scale.save(path, x, 2.5);
  auto program = Program::load(path);
  std::filesystem::remove(path);
  const EntrySpec &entry = program->entry("scale");
  Tensor by = Tensor::of<float>({-3}, {});
  auto results = program->run(entry, {x.data(), by.data()});
  EXPECT_EQ(valuesOf(Tensor::fromData(results[0])), (std::vector<float>{-3, -6}));
}

// Within a trace a number becomes a constant of that trace.
TEST(Argument, InsideOfAnotherFunction) {
  auto scale = jit([](Tensor x, Tensor by) { return x * by; });
  auto both =
      jit([&](Tensor x, Tensor by) { return scale(x, 2) + scale(x, by.cast(ElementType::F32)); });
  EXPECT_NE(messageOf([&] { (void)both(tensor({1, 2}, {{row, 2}}), 3); }).find("f32 and i64"),
            std::string::npos);
  auto right = jit([&](Tensor x, Tensor by) { return scale(x, 2.0) + scale(x, by); });
  EXPECT_EQ(valuesOf(right(tensor({1, 2}, {{row, 2}}), 3.0)), (std::vector<float>{5, 10}));
  EXPECT_EQ(valuesOf(right(tensor({1, 2}, {{row, 2}}), 4.0)), (std::vector<float>{6, 12}));
}

TEST(Argument, NumbersThatAreNoneOfTheTypeAreRefused) {
  auto same = jit([](Tensor x) { return x; });
  EXPECT_EQ(same(INFINITY).item(), INFINITY);
  EXPECT_EQ(same(INT64_MIN).to<int64_t>({}), std::vector<int64_t>{INT64_MIN});
  std::string message = messageOf([&] { (void)same(1e300); });
  EXPECT_NE(message.find("ArgumentTest.cpp:"), std::string::npos) << message;
  EXPECT_NE(
      message.find("expected a number that f32 has, got 1e+300; Tensor::of<double>({number}, {})"),
      std::string::npos)
      << message;
  message = messageOf([&] { (void)same(UINT64_MAX); });
  EXPECT_NE(message.find("expected a number that i64 can represent, got 18446744073709551615"),
            std::string::npos)
      << message;
}

// C++ can't enumerate the names of a lambda's parameters; an option states them.
TEST(Argument, NamesOfArgumentsAreAnOption) {
  struct Line {
    Tensor slope, offset;
    HEDDLE_FIELDS(slope, offset)
  };
  auto f =
      jit([](const Line &line, Tensor x, Tensor y) { return line.slope * x + line.offset - y; },
          {.name = "error", .arguments = {"line", "x"}});
  Line line{constant(2), constant(1)};
  std::string text = f.ir(line, 3.0, 4.0);
  for (const char *name : {"\"slope\"", "\"offset\"", "\"x\"", "\"argument2\""})
    EXPECT_NE(text.find(std::string("nd.name = ") + name), std::string::npos) << name << text;
  EXPECT_EQ(text.find("\"argument1\""), std::string::npos) << text;
  EXPECT_EQ(f(line, 3.0, 4.0).item(), 3);

  auto two = [](Tensor a, Tensor b) { return a + b; };
  auto refusal = [&](std::vector<std::string> names) {
    return messageOf([&] { jit(two, {.name = "two", .arguments = names}); });
  };
  EXPECT_NE(
      refusal({"a", "b", "c"}).find("the 2 arguments of 'two' (JitOptions::arguments), got 3"),
      std::string::npos);
  EXPECT_NE(refusal({"a", "a"}).find("two arguments of 'two' are called 'a'"), std::string::npos);
  EXPECT_NE(refusal({"argument1"}).find("are called 'argument1'"), std::string::npos);
  EXPECT_NE(refusal({"a b"}).find("ArgumentTest.cpp:"), std::string::npos);
  auto same = jit([](const Line &line, Tensor x) { return line.slope * x; },
                  {.arguments = {"line", "slope"}});
  EXPECT_NE(messageOf([&] { (void)same(line, 1.0); }).find("are called 'slope'"),
            std::string::npos);
}

} // namespace
