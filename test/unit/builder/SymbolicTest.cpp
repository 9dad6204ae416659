//===- SymbolicTest.cpp - one program for every size ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/heddle.h"
#include "test/unit/builder/Tensors.h"

#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

namespace {

const Name batch("batch"), in("in"), hidden("hidden");

Tensor layer(const Tensor &weight, const Tensor &x) { return sum(weight * x, over(in)); }

JitOptions forAnyBatch() { return withSymbolic({batch}); }

void expectNear(const Tensor &got, const Tensor &expected) {
  ASSERT_EQ(got.type(), expected.type());
  std::vector<float> a = valuesOf(got), b = valuesOf(expected);
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], 1e-3) << i;
}

// A last, short batch runs the program of the others.
TEST(Symbolic, IsTracedOnce) {
  int traces = 0;
  auto f = jit(
      [&](Tensor weight, Tensor x) {
        ++traces;
        return layer(weight, x);
      },
      forAnyBatch());
  Tensor weight = random({{in, 30}, {hidden, 20}}, 1);
  for (int64_t size : {50, 50, 7, 1, 33, 0}) {
    Tensor x = random({{batch, size}, {in, 30}}, uint64_t(size));
    expectNear(f(weight, x), layer(weight, x));
  }
  EXPECT_EQ(traces, 1);
}

// Specific sizes have programs of their own when asked for.
TEST(Symbolic, SpecialisedSizes) {
  int traces = 0;
  JitOptions options = forAnyBatch();
  options.specialised.push_back({batch, 32});
  auto f = jit(
      [&](Tensor x) {
        ++traces;
        return mean(x, over(batch));
      },
      options);
  for (int64_t size : {32, 5, 32, 6}) {
    Tensor x = random({{batch, size}, {in, 3}}, uint64_t(size));
    expectNear(f(x), mean(x, over(batch)));
  }
  EXPECT_EQ(traces, 2);
}

// A training step: state that is updated in place, a mean over the batch, gradients.
TEST(Symbolic, TrainingStep) {
  auto step = [&](Tensor &weight, Tensor x, Tensor label) {
    auto [loss, gradient] = valueAndGrad(
        [&](Tensor w) {
          Tensor error = layer(w, x) - label;
          return mean(error * error, over(batch, hidden));
        },
        weight);
    weight = weight - 0.1 * gradient;
    return loss;
  };
  auto compiled = jit(step, forAnyBatch());
  auto reference = jit(step, {.targetCpu = "x86-64", .threads = 1, .cache = false});
  Tensor a = random({{in, 9}, {hidden, 5}}, 1), b = random({{in, 9}, {hidden, 5}}, 1);
  for (int64_t size : {16, 16, 3, 1}) {
    Tensor x = random({{batch, size}, {in, 9}}, uint64_t(size)),
           label = random({{batch, size}, {hidden, 5}}, uint64_t(size) + 100);
    expectNear(compiled(a, x, label), reference(b, x, label));
    expectNear(a, b);
  }
}

// Padding that gives every place a window of its own is the same for all sizes.
TEST(Symbolic, WindowsAlongIt) {
  Name tap("tap");
  auto smooth = [&](const Tensor &x, const Tensor &weight) {
    return sum(x.window(batch, tap, {.size = 3, .padding = Same}) * weight, over(tap));
  };
  auto f = jit(smooth, forAnyBatch());
  Tensor weight = random({{tap, 3}}, 1);
  for (int64_t size : {1, 2, 37}) {
    Tensor x = random({{batch, size}, {in, 4}}, uint64_t(size));
    expectNear(f(x, weight), smooth(x, weight));
  }
}

TEST(Symbolic, ArgmaxOverIt) {
  auto f = jit([](Tensor x) { return argmax(x, over(in, batch)); }, forAnyBatch());
  for (int64_t size : {4, 9}) {
    Tensor x = random({{batch, size}, {in, 6}}, uint64_t(size));
    EXPECT_EQ(f(x).to<int64_t>({}), argmax(x, over(in, batch)).to<int64_t>({}));
  }
}

// Sizes that do not agree are refused when the function is called, by name and with both sizes.
TEST(Symbolic, SizesThatDisagree) {
  auto f = jit([](Tensor x, Tensor y) { return x + y; }, forAnyBatch());
  Tensor x = random({{batch, 4}, {in, 3}}, 1), y = random({{batch, 5}, {in, 3}}, 2);
  try {
    f(x, y);
    FAIL() << "expected an error";
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("has the size 5 for 'batch', expected 4"),
              std::string::npos)
        << error.what();
  }
}

// What is said of sizes is held when the function is called.
TEST(Symbolic, RangesAndMultiples) {
  auto eighths = [](Tensor x) {
    Size count = x.size(batch).expr().floordiv(8);
    return sum(x.split(batch, {{hidden, count}, {batch, 8}}), over(in, batch));
  };
  auto f = jit(eighths, withSymbolic({batch.between(8, 64).multipleOf(8)}));
  std::string ir = f.ir(random({{batch, 16}, {in, 3}}, 1));
  EXPECT_NE(ir.find("nd.ranges = {batch_size = [1, 8]}"), std::string::npos) << ir;
  for (int64_t size : {8, 24, 64}) {
    Tensor x = random({{batch, size}, {in, 3}}, uint64_t(size));
    expectNear(f(x), eighths(x));
  }
  auto expectRefusal = [&](int64_t size, const char *part) {
    try {
      f(random({{batch, size}, {in, 3}}, 1));
      FAIL() << "expected an error for " << size;
    } catch (const Error &error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  expectRefusal(12, "the size 12 for 'batch', expected a number of the form 8 * batch_size");
  expectRefusal(72, "expected at most 'batch_size', whose range is declared, 8, got 9");
  expectRefusal(
      0, "expected at least 1 for 'batch_size', whose range is declared, got batch_size = 0");
  EXPECT_THROW(batch.between(4, 3), Error);
  EXPECT_THROW(batch.multipleOf(0), Error);
  EXPECT_THROW(jit(eighths, withSymbolic({batch.between(9, 15).multipleOf(8)})), Error);
}

// The function can't ask for a number where there is none.
TEST(Symbolic, SizeIsNoNumber) {
  auto f = jit([](Tensor x) { return x * double(x.size(batch)); }, forAnyBatch());
  try {
    f(random({{batch, 4}, {in, 3}}, 1));
    FAIL() << "expected an error";
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("the size of 'batch' is batch_size here"),
              std::string::npos)
        << error.what();
  }
}

} // namespace
