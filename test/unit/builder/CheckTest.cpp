//===- CheckTest.cpp - errors that calls detect ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensors.h"

#include "heddle/heddle.h"
#include "heddle/nn/Losses.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

static const Name n("n"), i("i"), classes("class");

static Tensor numbers(std::vector<float> values) {
  return tensor(values, {{n, int64_t(values.size())}});
}
static Tensor places(std::vector<int32_t> values) {
  return Tensor::of<int32_t>(std::span<const int32_t>(values), {{i, int64_t(values.size())}});
}

template <typename F>
static auto checked(F function) {
  return jit(function, {.check = true});
}

/// Calls `action`, which should detect an error at `line` of this file.
template <typename Action>
static void finds(Action &&action, unsigned line, const std::string &what) {
  try {
    action();
    ADD_FAILURE() << "expected an Error";
  } catch (const Error &error) {
    std::string message = error.what(), place = "CheckTest.cpp:" + std::to_string(line) + ":";
    EXPECT_NE(message.find(place), std::string::npos) << place << " in: " << message;
    EXPECT_NE(message.find(what), std::string::npos) << what << " in: " << message;
    EXPECT_NE(message.find("; in the call at "), std::string::npos) << message;
  }
}

TEST(Check, CoordinatesThatAreGathered) {
  unsigned line = __LINE__ + 1;
  auto read = [](Tensor x, Tensor at) { return x.gather(n, at); };
  auto f = checked(read);
  Tensor x = numbers({1, 2, 3});
  EXPECT_EQ(f(x, places({2, 0})).to<float>({i}), (std::vector<float>{3, 1}));
  finds([&] { f(x, places({0, 3})); }, line,
        "'nd.gather' expected coordinates of 'n' from 0 to 2, got 3;");
  finds([&] { f(x, places({5, -1, 7})); }, line, "got -1;");
  f(x, places({}));                                                           // nothing is read
  EXPECT_EQ(jit(read)(x, places({7})).to<float>({i}), std::vector<float>{3}); // clamped
}

TEST(Check, CoordinatesOfSeveralNames) {
  const Name m("m");
  unsigned line = __LINE__ + 1;
  auto f = checked([&](Tensor x, Tensor a, Tensor b) { return x.gather({{n, a}, {m, b}}); });
  Tensor x = zeros({{n, 2}, {m, 5}});
  f(x, places({1}), places({4}));
  finds([&] { f(x, places({1}), places({5})); }, line, "coordinates of 'm' from 0 to 4, got 5;");
  finds([&] { f(x, places({2}), places({4})); }, line, "coordinates of 'n' from 0 to 1, got 2;");
}

TEST(Check, CoordinatesThatAreScatteredTo) {
  unsigned line = __LINE__ + 1;
  auto f = checked([](Tensor x, Tensor at, Tensor y) { return scatterAdd(x, n, at, y); });
  Tensor x = numbers({1, 2, 3}), y = Tensor::of<float>({10, 20}, {{i, 2}});
  EXPECT_EQ(f(x, places({2, 2}), y).to<float>({n}), (std::vector<float>{1, 2, 33}));
  finds([&] { f(x, places({0, 3}), y); }, line, "'nd.scatter' expected coordinates of 'n'");
}

TEST(Check, StartsOfRanges) {
  unsigned line = __LINE__ + 1;
  auto read = [](Tensor x, Tensor at) { return x.slice(n, at, 2); };
  auto f = checked(read);
  Tensor x = numbers({1, 2, 3, 4, 5});
  EXPECT_EQ(f(x, places({3, 0})).to<float>({i, n}), (std::vector<float>{4, 5, 1, 2}));
  finds([&] { f(x, places({3, 4})); }, line,
        "'nd.dynamic_slice' expected a start along 'n' from 0 to 3, got 4;");
  finds([&] { f(x, places({-1, 0})); }, line, "got -1;");
  EXPECT_EQ(jit(read)(x, places({9})).to<float>({n, i}), (std::vector<float>{4, 5})); // clamped
  unsigned write = __LINE__ + 1;
  auto g = jit([](Tensor x, Tensor at, Tensor part) { return x.update(n, at, part); },
               {.check = true, .symbolic = {n.between(1, 9)}});
  auto start = [](double value) { return constant(value, ElementType::I32); };
  Tensor whole = numbers({7, 8, 9});
  EXPECT_EQ(g(whole, start(0), whole).to<float>({n}), (std::vector<float>{7, 8, 9}));
  finds([&] { g(whole, start(1), whole); }, write,
        "'nd.update_slice' expected a start along 'n' from 0 to 0, got 1;");
  // A whole tensor can begin only at 0, an empty part anywhere inside.
  auto none = checked([](Tensor x, Tensor at) { return x.slice(n, at, 0); });
  none(whole, start(3));
  finds([&] { none(whole, start(4)); }, __LINE__ - 2, "from 0 to 3, got 4;");
}

TEST(Check, SizesThatAreNoNumbers) {
  unsigned line = __LINE__ + 2;
  auto f =
      jit([](Tensor x, Tensor at) { return x.gather(n, at); }, {.check = true, .symbolic = {n}});
  for (int size : {2, 5}) {
    Tensor x = numbers(std::vector<float>(size_t(size), 1));
    f(x, places({size - 1}));
    finds([&] { f(x, places({size})); }, line, "got " + std::to_string(size) + ";");
  }
}

TEST(Check, TheFirstNanIsFound) {
  unsigned line = __LINE__ + 2;
  auto f = checked([](Tensor x) {
    Tensor y = log(x);
    return sum(sqrt(y) * 2.0, over(n));
  });
  f(numbers({1, 2}));
  finds([&] { f(numbers({1, -2})); }, line, "'nd.pointwise' makes a NaN of operands without one");
  finds([&] { f(numbers({1, 0.5})); }, line + 1, "in !nd.tensor<f32, n: 2>");
  f(numbers({1, NAN})); // the argument has the NaN
  auto cancel = checked([](Tensor x) { return sum(x, over(n)); });
  finds([&] { cancel(numbers({INFINITY, -INFINITY})); }, __LINE__ - 1, "'nd.reduce' makes a NaN");
}

TEST(Check, TheFirstOfSeveralMistakesIsTold) {
  auto f = checked([](Tensor x, Tensor at) {
    Tensor y = x.gather(n, at);
    return sum(log(y), over(i)) + sum(sqrt(-y), over(i));
  });
  unsigned line = __LINE__ - 3;
  EXPECT_EQ(f(numbers({0, 0}), places({0})).item(), -INFINITY);
  finds([&] { f(numbers({2, -2}), places({7, 0})); }, line, "'nd.gather' expected");
  finds([&] { f(numbers({2, -2}), places({0, 1})); }, line + 1, "'nd.pointwise' makes a NaN");
}

TEST(Check, TheSideOfABranchThatIsTaken) {
  unsigned line = __LINE__ + 2;
  auto f = checked([](Tensor x, Tensor takes) {
    auto logarithm = [&] { return log(x); };
    return cond(takes > 0.0, logarithm, [&] { return x * 0.0; });
  });
  EXPECT_EQ(f(constant(-1), constant(0)).item(), 0);
  finds([&] { f(constant(-1), constant(1)); }, line, "'nd.pointwise' makes a NaN");
}

TEST(Check, Loops) {
  // 3, 1, -1: the third logarithm is NaN.
  auto times = checked([](Tensor x, Tensor steps) {
    return forLoop(steps, x, [](Tensor, Tensor y) { return log(y) * 0.0 + y - 2.0; });
  });
  unsigned line = __LINE__ - 2;
  EXPECT_EQ(times(constant(3), constant(2, ElementType::I64)).item(), -1);
  finds([&] { times(constant(3), constant(3, ElementType::I64)); }, line, "NaN");
  auto fixed = checked([](Tensor x) {
    return forLoop(3, x, [](Tensor, Tensor y) { return log(y) * 0.0 + y - 2.0; });
  });
  line = __LINE__ - 2;
  finds([&] { fixed(constant(3)); }, line, "NaN");
  EXPECT_EQ(fixed(constant(6)).item(), 0);
  auto until = checked([](Tensor x) {
    return whileLoop(x, [](Tensor y) { return y > -4.0; }, [](Tensor y) { return sqrt(y) - 3.0; });
  });
  line = __LINE__ - 2;
  finds([&] { until(constant(1)); }, line, "NaN");
  auto along = checked([](Tensor h, Tensor x, Tensor at) {
    return scan(n, h, x, [&](Tensor h, Tensor each) {
      Tensor next = h + each * at.gather(i, each.cast(ElementType::I32)).cast(ElementType::F32);
      return std::pair(next, next);
    });
  });
  line = __LINE__ - 4;
  EXPECT_EQ(along(constant(0), numbers({0, 1}), places({5, 7})).first.item(), 7);
  finds([&] { along(constant(0), numbers({0, 1, 2}), places({5, 7})); }, line,
        "expected coordinates of 'i' from 0 to 1, got 2;");
}

TEST(Check, Gradients) {
  unsigned line = __LINE__ + 2;
  auto slope = checked(
      [](Tensor x) { return grad([](Tensor y) { return sum(sqrt(y) * 0.0, over(n)); }, x); });
  slope(numbers({1, 4}));
  finds([&] { slope(numbers({1, 0})); }, line, "NaN"); // 0 / 0
}

TEST(Check, LabelsThatAreNoClasses) {
  auto loss = [](Tensor logits, Tensor label) { return nn::crossEntropy(logits, label, classes); };
  unsigned line = __LINE__ - 1;
  Tensor logits = randomNormal(key(1), {{i, 2}, {classes, 3}});
  auto f = checked(loss);
  f(logits, places({0, 2}));
  finds([&] { f(logits, places({0, 3})); }, line, "coordinates of 'class' from 0 to 2, got 3;");
  finds([&] { f(logits, places({-1, 0})); }, line, "got -1;");
}

TEST(Check, StateIsAsBefore) {
  struct State {
    Tensor value, steps;
    HEDDLE_FIELDS(value, steps)
  };
  auto step = checked([](State &s, Tensor x) {
    s.steps = s.steps + 1.0;
    s.value = log(s.value * x);
    return s.value;
  });
  State state{numbers({2, 3}), constant(0)};
  step(state, constant(1));
  Tensor held = state.value;
  EXPECT_THROW(step(state, constant(-1)), Error);
  EXPECT_EQ(state.steps.item(), 1);
  EXPECT_EQ(state.value.to<float>({n}), held.to<float>({n}));
  step(state, constant(4)); // and goes on
  EXPECT_EQ(state.steps.item(), 2);
}

TEST(Check, ChangesNoValue) {
  auto model = [](Tensor x, Tensor at) {
    Tensor y = x.gather(n, at);
    return std::pair(y * y, cond(sum(y, over(i)) > 0.0, [&] { return y; }, [&] { return -y; }));
  };
  Tensor x = numbers({1, -2, 3});
  auto [a, b] = jit(model)(x, places({1, 0}));
  auto [c, d] = checked(model)(x, places({1, 0}));
  EXPECT_EQ(a.to<float>({i}), c.to<float>({i}));
  EXPECT_EQ(b.to<float>({i}), d.to<float>({i}));
}
