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

// A short last batch runs the same program.
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

// Specialised sizes have separate programs.
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

// A specialised size also specialises the sizes that depend on it, and is inferred from them.
TEST(Symbolic, SpecialisedSizesReachRelatedNames) {
  Name twice("twice");
  int traces = 0, numbers = 0;
  JitOptions options;
  options.symbolic = {batch, twice.is(2 * batch + 1)};
  options.specialised.push_back({batch, 4});
  auto count = [&](const Tensor &x, const Name &name) {
    ++traces;
    try {
      int64_t number = x.size(name);
      numbers += number == (name == batch ? 4 : 9);
    } catch (const Error &) {
    }
  };
  auto both = jit(
      [&](Tensor x, Tensor y) {
        count(x, batch);
        count(y, twice);
        return sum(x, over(batch)) + sum(y, over(twice));
      },
      options);
  auto one = jit([&](Tensor y) { return count(y, twice), sum(y, over(twice)); }, options);
  for (int64_t size : {4, 5, 4, 6}) {
    Tensor x = random({{batch, size}}, 1), y = random({{twice, 2 * size + 1}}, 2);
    expectNear(both(x, y), sum(x, over(batch)) + sum(y, over(twice)));
    expectNear(one(y), sum(y, over(twice)));
  }
  EXPECT_EQ(traces, 6);
  EXPECT_EQ(numbers, 3);
  EXPECT_THROW(both(random({{batch, 4}}, 1), random({{twice, 8}}, 2)).to<float>({}), Error);
}

// ceil(size / stride) windows for any size.
TEST(Symbolic, SameWindowsWithStrides) {
  Name tap("tap");
  for (int64_t stride : {2, 3}) {
    int64_t size = 5 - stride;
    WindowOptions window{.size = size, .stride = stride, .padding = Same};
    auto f = [&](Tensor x, Tensor w) { return sum(x.window(batch, tap, window) * w, over(tap)); };
    auto slope = [&](Tensor x, Tensor w) {
      return grad([&](Tensor x) { return sum(f(x, w) * f(x, w), over(batch)); }, x);
    };
    JitOptions options;
    options.symbolic = {batch};
    auto any = jit(f, options);
    auto anySlope = jit(slope, options);
    Tensor w = random({{tap, size}}, 3);
    for (int64_t batchSize : {1, 2, 7, 8}) {
      Tensor x = random({{batch, batchSize}}, uint64_t(batchSize));
      expectNear(any(x, w), f(x, w));
      expectNear(anySlope(x, w), slope(x, w));
    }
  }
}

// The number of excluded taps depends on the size.
TEST(Symbolic, SameWindowsLeaveOut) {
  Name tap("tap");
  for (WindowOptions window : {WindowOptions{.size = 3, .stride = 2},
                               {.size = 2, .stride = 3},
                               {.size = 3, .stride = 4, .dilation = 2}}) {
    window.padding = Same.excluded();
    auto pool = [&](Tensor x) {
      Tensor windows = x.window(batch, tap, window);
      return std::pair(max(windows, over(tap)), mean(windows, over(tap)));
    };
    auto slope = [&](Tensor x) {
      return grad([&](Tensor x) { return sum(pool(x).first * pool(x).second, over(batch, in)); },
                  x);
    };
    auto any = jit(pool, forAnyBatch());
    auto anySlope = jit(slope, forAnyBatch());
    for (int64_t size : {0, 1, 2, 7, 12}) {
      Tensor x = random({{batch, size}, {in, 3}}, uint64_t(size) + 1);
      auto [largest, average] = any(x);
      expectNear(largest, pool(x).first);
      expectNear(average, pool(x).second);
      expectNear(anySlope(x), slope(x));
    }
  }
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

// Padding with one window for each element does not depend on the size.
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

// Declared conditions on sizes are checked when the function is called.
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

// The function can't use a symbolic size as a number.
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

// Arithmetic on sizes has limits; a size beyond them is refused where it is used.
TEST(Symbolic, SizesHaveLimits) {
  const Name all("all");
  auto power = [](const Tensor &x, int exponent) {
    Size product = 1;
    for (int i = 0; i < exponent; ++i)
      product = product * (x.size(batch) + x.size(in) + 1);
    return product;
  };
  for (auto use : std::initializer_list<Tensor (*)(Tensor, Size)>{
           [](Tensor x, Size size) { return x.broadcast({{Name("all"), size}}); },
           [](Tensor x, Size size) { return x.slice(batch, 0, size); },
           [](Tensor x, Size size) { return x.pad(batch, size, 0); },
           [](Tensor x, Size size) {
             return kernel(in).sum(batch).size(batch, 2).of(at(x, {{batch, size.expr() + batch}}));
           }}) {
    auto f = jit([&](Tensor x) { return use(x, power(x, 400)); }, withSymbolic({batch, in}));
    try {
      f(random({{batch, 2}, {in, 3}}, 1));
      FAIL() << "expected an Error";
    } catch (const Error &error) {
      std::string message = error.what();
      EXPECT_NE(message.find("SymbolicTest.cpp:"), std::string::npos) << message;
      EXPECT_NE(message.find("at most 1024 terms"), std::string::npos) << message;
    }
  }
  auto square =
      jit([&](Tensor x) { return sum(x, over(batch, in)).broadcast({{all, power(x, 2)}}); },
          withSymbolic({batch, in}));
  EXPECT_EQ(square(random({{batch, 2}, {in, 3}}, 1)).size(all), 36);
  // Relations multiply each other.
  std::vector<SymbolicSize> chain;
  for (int i = 0; i < 40; ++i) {
    Name next("d" + std::to_string(i + 1));
    chain.push_back(Name("d" + std::to_string(i)).is((next + 1) * Expr(next)));
  }
  chain.emplace_back(Name("d40"));
  try {
    jit([](Tensor x) { return x; }, withSymbolic(SymbolicSizes(chain)));
    FAIL() << "expected an Error";
  } catch (const Error &error) {
    std::string message = error.what();
    EXPECT_NE(message.find("' is declared as d"), std::string::npos) << message;
    EXPECT_NE(message.find("expected an expression of at most 1024 terms"), std::string::npos)
        << message;
  }
}

// Related sizes: their declared relation is checked when the function is called.
TEST(Symbolic, RelatedNames) {
  auto f = jit(
      [](Tensor x, Tensor y) {
        return sum(x, over(batch)) +
               sum(y.slice(hidden, 1, y.size(hidden) - 1).rename({{hidden, batch}}) * x,
                   over(batch));
      },
      withSymbolic({batch, hidden.is(batch + 1)}));
  for (int64_t size : {4, 1, 0}) {
    Tensor x = random({{batch, size}}, 1), y = random({{hidden, size + 1}}, 2);
    std::vector<float> a = valuesOf(x), b = valuesOf(y);
    double expected = 0;
    for (size_t i = 0; i < a.size(); ++i)
      expected += a[i] + double(b[i + 1]) * a[i];
    EXPECT_NEAR(f(x, y).item(), expected, 1e-5);
  }
  try {
    f(random({{batch, 4}}, 1), random({{hidden, 4}}, 2));
    FAIL() << "expected an Error";
  } catch (const Error &error) {
    std::string message = error.what();
    EXPECT_NE(message.find("has the size 4 for 'hidden', expected 5, which is batch_size + 1"),
              std::string::npos)
        << message;
  }
  for (const SymbolicSizes &sizes :
       {SymbolicSizes{batch.is(batch + 1)}, SymbolicSizes{batch.is(hidden)},
        SymbolicSizes{hidden, batch.is(hidden).multipleOf(2)}})
    EXPECT_THROW(jit([](Tensor x) { return x; }, withSymbolic(sizes)), Error);
}

// Sizes with different expressions that may be equal are combined; calls check that they are equal.
TEST(Symbolic, SizesThatSymbolsLeaveOpen) {
  auto loss = [](Tensor x, Tensor y) {
    return sum(x.merge({batch, in}, hidden) * y, over(hidden));
  };
  auto f = jit(loss, withSymbolic({batch, in, hidden}));
  auto slope =
      jit([&](Tensor x, Tensor y) { return grad([&](Tensor x) { return loss(x, y); }, x); },
          withSymbolic({batch, in, hidden}));
  Tensor x = random({{batch, 3}, {in, 4}}, 1), y = random({{hidden, 12}}, 2);
  expectNear(f(x, y), loss(x, y));
  expectNear(slope(x, y), y.split(hidden, {{batch, 3}, {in, 4}}));
  for (int64_t wrong : {11, 13})
    try {
      f(x, random({{hidden, wrong}}, 2));
      FAIL() << "expected an Error";
    } catch (const Error &error) {
      std::string message = error.what();
      for (const char *part : {"'hidden'", "12", "hidden_size = 1"})
        EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
    }
}

// Order and edges of any size, and their gradients.
TEST(Symbolic, ReversedAndPadded) {
  auto moved = [](Tensor x) {
    Size n = x.size(batch);
    return concat({x.reverse(batch), x.pad(batch, 1, 2, PadMode::Reflect),
                   x.pad(batch, 2, 0, PadMode::Wrap), x.pad(batch, 0, n, PadMode::Edge),
                   x.pad(batch, n / 2, 1, 7), x.slice(batch, n / 2, n - n / 2)},
                  batch);
  };
  auto f = jit(moved, forAnyBatch());
  auto loss = [&](Tensor x) {
    Tensor y = moved(x);
    return sum(y * y * y, over(batch));
  };
  auto slope = jit([&](Tensor x) { return grad(loss, x); }, forAnyBatch());
  for (int64_t size : {3, 4, 33}) {
    Tensor x = random({{batch, size}}, uint64_t(size));
    expectNear(f(x), moved(x));
    expectNear(slope(x), grad(loss, x));
  }
  for (int64_t size : {2, 0})
    EXPECT_THROW(f(random({{batch, size}}, 1)), Error);
  EXPECT_EQ(
      jit([](Tensor x) { return x.reverse(batch); }, forAnyBatch())(zeros({{batch, 0}})).count(),
      0u);
}

TEST(Symbolic, PacksPairs) {
  auto pack = jit([](Tensor x) { return unpackInt4(packInt4(x, batch), batch); }, forAnyBatch());
  Tensor x = Tensor::of<int8_t>({1, -7, 3, 0, 5, -8}, {{batch, 6}});
  EXPECT_EQ(pack(x).to<int8_t>({batch}), x.to<int8_t>({batch}));
  EXPECT_THROW(pack(x.slice(batch, 0, 5)), Error);
}

} // namespace
