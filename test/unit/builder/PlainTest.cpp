//===- PlainTest.cpp - plain members of arguments -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/heddle.h"
#include "test/unit/builder/Tensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

using namespace heddle;
using namespace heddle::test;

namespace {
const Name row("row"), column("column");

enum class Way { Add, Multiply };
struct Inner {
  int64_t times = 1;
  std::optional<double> offset = {};
};
double same(double x) { return x; }
double twice(double x) { return 2 * x; }

/// One member of each kind that is plain.
struct Many {
  Tensor w;
  HEDDLE_FIELDS(w)
  double factor = 1;
  float single = 0;
  bool negative = false;
  Way way = Way::Multiply;
  std::string text = "ab";
  Name along = row;
  Inner inner = {};
  std::vector<double> list = {1};
  std::vector<bool> flags = {false};
  std::vector<std::string> words = {};
  std::vector<Inner> inners = {};
  std::map<std::string, int> counts = {};
  std::variant<int, double> choice = 0;
  std::pair<int, std::string> pair = {};
  std::array<int, 2> both = {};
  double (*change)(double) = same;
  Padding padding = Valid;
  std::vector<Extent> extents = {};

  Tensor operator()(const Tensor &x) const {
    double number = change(factor) + single + double(text.size()) + (text == "a\", \"b" ? 7 : 0) +
                    double(inner.times) + inner.offset.value_or(100) + double(list.size()) +
                    100 * double(words.size()) + list[0] + (flags[0] ? 3 : 0) +
                    double(inners.size()) + double(counts.size()) + double(choice.index()) +
                    pair.first + both[1] + padding.value + double(extents.size());
    for (const Inner &each : inners)
      number += double(each.times);
    Tensor y = way == Way::Add ? x + w : x * w;
    y = sum(y, over(along)) * number;
    return negative ? -y : y;
  }
};

// A call of the compiled function uses the same member as a call of the function itself.
TEST(Plain, AChangedMemberIsTracedAnew) {
  Many many{.w = tensor({1, 2, 3, 4}, {{row, 2}, {column, 2}})};
  Tensor x = tensor({3, 5, 7, 11}, {{row, 2}, {column, 2}});
  int traces = 0;
  auto compiled = jit([&](const Many &m, Tensor x) {
    ++traces;
    return m(x);
  });
  auto expectSeen = [&](const Many &changed, const char *what) {
    int before = traces;
    EXPECT_EQ(valuesOf(compiled(changed, x)), valuesOf(changed(x))) << what;
    EXPECT_EQ(traces, before + 1) << what;
    (void)compiled(changed, x);
    EXPECT_EQ(traces, before + 1) << what << ", again";
  };
  expectSeen(many, "as made");
#define EXPECT_SEEN(member, ...)                                                                   \
  {                                                                                                \
    Many changed = many;                                                                           \
    changed.member = __VA_ARGS__;                                                                  \
    expectSeen(changed, #member);                                                                  \
  }
  EXPECT_SEEN(factor, 1.0000000000000002)
  EXPECT_SEEN(factor, -3)
  EXPECT_SEEN(single, 0.5f)
  EXPECT_SEEN(negative, true)
  EXPECT_SEEN(way, Way::Add)
  EXPECT_SEEN(text, "abc")
  EXPECT_SEEN(text, "a\", \"b")
  EXPECT_SEEN(inner.times, 4)
  EXPECT_SEEN(inner.offset, 0.5)
  EXPECT_SEEN(list, {1, 1})
  EXPECT_SEEN(flags, {true})
  EXPECT_SEEN(words, {"a", "b"})
  EXPECT_SEEN(words, {"a\", \"b"})
  EXPECT_SEEN(inners, {{2, {}}, {3, {}}})
  EXPECT_SEEN(counts, {{"a", 1}})
  EXPECT_SEEN(choice, 0.0)
  EXPECT_SEEN(pair, {1, ""})
  EXPECT_SEEN(both, {0, 1})
  EXPECT_SEEN(change, twice)
  EXPECT_SEEN(padding, Padding::explicitly(0, 0, 2))
#undef EXPECT_SEEN
  Many further = many;
  further.extents.push_back({row, 2});
  expectSeen(further, "extents");
  int before = traces;
  EXPECT_EQ(valuesOf(compiled(many, x)), valuesOf(many(x)));
  EXPECT_EQ(traces, before) << "the first program is still there";
}

// Names can't be assigned to, so that a struct with another one is made.
TEST(Plain, AnotherNameIsTracedAnew) {
  Tensor w = tensor({1, 2, 3, 4}, {{row, 2}, {column, 2}});
  auto compiled = jit([](const Many &m, Tensor x) { return m(x); });
  for (const Name &along : {row, column})
    EXPECT_EQ(valuesOf(compiled(Many{.w = w, .along = along}, w)),
              valuesOf(Many{.w = w, .along = along}(w)));
}

struct Scaled {
  Tensor w;
  HEDDLE_FIELDS(w)
  double scale = 2;
};

TEST(Plain, TheNinthValueOfAMemberIsRefused) {
  struct Pair {
    Scaled first, second;
    HEDDLE_FIELDS(first, second)
  };
  auto f = jit([](const Pair &p, Tensor x) { return x * p.first.w * p.second.scale; },
               {.name = "scaled"});
  Pair pair{{constant(2)}, {constant(3)}};
  Tensor x = tensor({1, 2}, {{row, 2}});
  for (int i = 0; i < 8; ++i) {
    pair.second.scale = i;
    EXPECT_EQ(valuesOf(f(pair, x)), (std::vector<float>{2.0f * i, 4.0f * i}));
  }
  pair.second.scale = 0.25;
  std::string message = messageOf([&] { (void)f(pair, x); });
  EXPECT_NE(message.find("PlainTest.cpp:"), std::string::npos) << message;
  EXPECT_NE(message.find("'scaled' was traced for 8 values of 'second.scale', a plain member of an "
                         "argument: expected one of these, got 0.25"),
            std::string::npos)
      << message;
  pair.second.scale = 7; // one of the eight
  EXPECT_EQ(valuesOf(f(pair, x)), (std::vector<float>{14, 28}));
  pair.first.scale = 1; // another member
  EXPECT_EQ(valuesOf(f(pair, x)), (std::vector<float>{14, 28}));
  pair.second.scale = 9; // for other tensors
  EXPECT_EQ(valuesOf(f(pair, tensor({1}, {{row, 1}}))), (std::vector<float>{18}));
}

TEST(Plain, NaNIsOneValue) {
  int traces = 0;
  auto f = jit([&](const Scaled &s, Tensor x) {
    ++traces;
    return std::isnan(s.scale) ? x : x * s.w;
  });
  Tensor x = tensor({1, 2}, {{row, 2}});
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(valuesOf(f(Scaled{constant(2), NAN}, x)), (std::vector<float>{1, 2}));
  EXPECT_EQ(traces, 1);
}

TEST(Plain, ArgumentsOfOneTypeAreToldApart) {
  auto f = jit([](const Scaled &a, const Scaled &b) { return a.w * a.scale - b.w * b.scale; });
  Scaled a{constant(1), 2}, b{constant(1), 3};
  EXPECT_EQ(f(a, b).item(), -1);
  EXPECT_EQ(f(b, a).item(), 1);
}

// An option of state that the traced function changes: every call traces, until there are too many.
TEST(Plain, AMemberThatTheFunctionChangesIsNotStaleInSilence) {
  auto f = jit([](Scaled &s) {
    s.scale += 1;
    s.w = s.w * s.scale;
  });
  Scaled state{constant(1), 1};
  for (int i = 2; i < 10; ++i) {
    float before = float(state.w.item());
    f(state);
    EXPECT_EQ(float(state.w.item()), before * float(i));
  }
  EXPECT_NE(messageOf([&] { f(state); }).find("8 values of 'scale'"), std::string::npos);
}

// HEDDLE_PLAIN of a class whose members can't be enumerated: what it lists is seen, what it leaves
// out stays as it was when the function was traced.
class Closed {
public:
  Closed(Tensor w, double scale) : w(std::move(w)), scale(scale) {}
  Tensor operator()(const Tensor &x) const { return activation(x * w * scale); }
  std::function<Tensor(const Tensor &)> activation = [](const Tensor &x) { return x; };
  HEDDLE_FIELDS(w)
  HEDDLE_PLAIN(scale)

private:
  Tensor w;
  double scale;
};
struct Derived : Scaled {
  Tensor left; // out, on purpose
  double shift = 0;
  HEDDLE_FIELDS(w)
  HEDDLE_PLAIN(shift)
};

TEST(Plain, ClassesListWhatCounts) {
  Tensor x = tensor({1, -2}, {{row, 2}});
  auto f = jit([](const Closed &c, Tensor x) { return c(x); });
  Closed closed(constant(1), 1);
  EXPECT_EQ(valuesOf(f(closed, x)), (std::vector<float>{1, -2}));
  EXPECT_EQ(valuesOf(f(Closed(constant(1), 3), x)), (std::vector<float>{3, -6}));
  closed.activation = [](const Tensor &x) { return relu(x); };
  EXPECT_EQ(valuesOf(f(closed, x)), (std::vector<float>{1, -2}));

  auto g = jit([](const Derived &d, Tensor x) { return x * d.w * d.scale + d.shift; });
  Derived derived{{constant(1), 1}, {}, 1};
  EXPECT_EQ(valuesOf(g(derived, x)), (std::vector<float>{2, -1}));
  derived.shift = 2;
  EXPECT_EQ(valuesOf(g(derived, x)), (std::vector<float>{3, 0}));
}

// A struct without tensors is an argument of plain members alone.
struct Config {
  int64_t power = 1;
  HEDDLE_FIELDS()
};
TEST(Plain, AnArgumentMayHoldNoTensors) {
  auto f = jit([](Tensor x, const Config &config) {
    Tensor y = x;
    for (int64_t i = 1; i < config.power; ++i)
      y = y * x;
    return y;
  });
  for (int64_t power : {1, 2, 3})
    EXPECT_EQ(f(2.0, Config{power}).item(), std::pow(2, power));
}

// The program of a file is that of the members as they are.
TEST(Plain, TextAndFilesFollowTheMembers) {
  auto f = jit([](const Scaled &s, Tensor x) { return x * s.w * s.scale; });
  Tensor x = tensor({1, 2}, {{row, 2}});
  (void)f(Scaled{constant(1), 2}, x);
  EXPECT_NE(f.ir(Scaled{constant(1), 5}, x).find("5.0"), std::string::npos);
}

// Weights that two members share would differ after a step.
struct Tied {
  Tensor in, out;
  HEDDLE_FIELDS(in, out)
};
Tensor lossOf(const Tied &net) { return square(net.in * net.out - 3.0); }
auto stepOf() {
  return jit([](Tied &net) {
    auto [loss, gradient] = valueAndGrad(lossOf, net);
    net.in -= gradient.in * 0.1;
    net.out -= gradient.out * 0.1;
    return loss;
  });
}

TEST(Plain, SharedWeightsAreRefused) {
  Tensor w = constant(2), v = constant(2);
  Tied tied{w, w}, apart{v, v * 1.0};
  auto step = stepOf();
  std::string message = messageOf([&] { (void)step(tied); });
  EXPECT_NE(message.find("'in' and 'out' are one tensor, and this call would assign different"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("PlainTest.cpp:"), std::string::npos) << message;
  EXPECT_EQ(tied.in.item(), 2) << "nothing was updated";
  EXPECT_EQ(step(apart).item(), 1);
  // The program is compiled now, and the call still throws.
  EXPECT_NE(messageOf([&] { (void)step(tied); }).find("are one tensor"), std::string::npos);
  // One member, used twice: w - 0.1 * d(w^2 - 3)^2/dw = 2 - 0.1 * 8.
  auto shared = jit([](Tensor &w) {
    auto [loss, gradient] = valueAndGrad([](Tensor w) { return lossOf({w, w}); }, w);
    w -= gradient * 0.1;
    return loss;
  });
  EXPECT_EQ(shared(w).item(), 1);
  EXPECT_NEAR(w.item(), 1.2, 1e-6);
}

// Without a gradient with respect to them, one tensor may be the initial value of several members.
TEST(Plain, SharedStateIsTwoValues) {
  Tensor w = constant(2);
  Tied state{w, w};
  auto swap = jit([](Tied &s) {
    s.out = s.out * 0.5 + s.in;
    s.in = s.in + 1.0;
  });
  swap(state);
  EXPECT_EQ(state.in.item(), 3);
  EXPECT_EQ(state.out.item(), 3);
  // A point with equal coordinates has a gradient, and so have weights that no update changes.
  auto slope = jit([](Tied &net) { return grad(lossOf, net).in; });
  Tied kept{w, w};
  EXPECT_EQ(slope(kept).item(), 4);
  EXPECT_EQ(grad(lossOf, Tied{w, w}).in.item(), 4);
}

} // namespace
