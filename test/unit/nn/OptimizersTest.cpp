//===- OptimizersTest.cpp - optimisers against their formulas -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each formula is computed again in double, for two tensors, one of them without weight decay.
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Optimizers.h"
#include "heddle/nn/Checkpoint.h"
#include "heddle/nn/Schedules.h"
#include "test/unit/Refused.h"
#include "test/unit/nn/Compare.h"
#include "test/unit/support/io/Files.h"

#include <functional>

using namespace heddle;
using namespace heddle::test;

namespace {
const Name n("n");

struct Weights {
  Tensor a, steps, b; ///< `steps` is an integer, which has no gradient
  HEDDLE_FIELDS(a, steps, b)
};
Weights initial() {
  return {Tensor::of<float>({1, -2, 0.5f}, {{n, 3}}), Tensor::of<int64_t>({7}, {}),
          Tensor::of<float>({3}, {})};
}
/// d/da = 2 a, d/db = b.
Tensor lossOf(const Weights &w) { return sum(w.a * w.a, over(n)) + w.b * w.b * 0.5; }

template <typename Optimizer>
struct State {
  Weights weights;
  Optimizer optimizer;
  HEDDLE_FIELDS(weights, optimizer)
};

using Vector = std::vector<double>;
double squaredLength(const Vector &x) {
  double sum = 0;
  for (double each : x)
    sum += each * each;
  return sum;
}
/// The state of an optimiser for one tensor.
struct Memory {
  Vector first, second, third;
  double scalar = 0;
};
/// The direction of step `t` (from 1), decay included.
using Formula =
    std::function<Vector(int t, const Vector &p, const Vector &g, double decay, Memory &)>;

/// Calls visit(p, g, first, second, third) for each element.
template <typename V>
Vector each(const Vector &p, const Vector &g, Memory &m, V &&visit) {
  Vector result;
  for (Vector *list : {&m.first, &m.second, &m.third})
    list->resize(p.size(), 0.0);
  for (size_t i = 0; i < p.size(); ++i)
    result.push_back(visit(p[i], g[i], m.first[i], m.second[i], m.third[i]));
  return result;
}

/// Seven steps with a rate that changes, with a decay for `a` alone, compiled once.
template <typename Optimizer>
void expectFormula(typename Optimizer::Options options, const Formula &formula,
                   double tolerance = 2e-5) {
  typename Optimizer::Options plain = options;
  options.decay = 0.1;
  plain.rate = 0.5;
  typename Optimizer::Groups groups{options, {{"b*", plain}}};
  State<Optimizer> state{initial(), {}};
  state.optimizer = Optimizer::make(state.weights, groups);
  int traces = 0;
  auto step = jit([&](State<Optimizer> &s, Tensor rate) {
    ++traces;
    auto [loss, gradient] = valueAndGrad(lossOf, s.weights);
    s.optimizer.update(s.weights, gradient, rate, groups);
    return loss;
  });
  auto rate = nn::warmUp(2, nn::cosine(0.1, 9));
  Vector a{1, -2, 0.5}, b{3};
  Memory memoryOfA, memoryOfB;
  for (int t = 1; t <= 7; ++t) {
    step(state, rate(t - 1));
    auto advance = [&](Vector &p, double slope, double decay, double factor, Memory &memory) {
      Vector g;
      for (double value : p)
        g.push_back(slope * value);
      Vector direction = formula(t, p, g, decay, memory);
      for (size_t i = 0; i < p.size(); ++i)
        p[i] -= rate(t - 1) * factor * direction[i];
    };
    advance(a, 2, 0.1, 1, memoryOfA);
    advance(b, 1, 0, 0.5, memoryOfB);
    expectNear(state.weights.a.template to<float>({n}), a, tolerance);
    EXPECT_NEAR(state.weights.b.item(), b[0], tolerance * 4) << "step " << t;
  }
  EXPECT_EQ(traces, 1);
  EXPECT_EQ(state.weights.steps.item(), 7);
  EXPECT_EQ(state.optimizer.steps.item(), 7);
}
} // namespace

TEST(Optimizers, Sgd) {
  for (bool nesterov : {false, true})
    for (double momentum : {0.0, 0.8})
      for (double dampening : {0.0, 0.3})
        expectFormula<nn::Sgd>(
            {.momentum = momentum, .dampening = dampening, .nesterov = nesterov},
            [&](int t, const Vector &p, const Vector &g, double decay, Memory &m) {
              return each(p, g, m, [&](double p, double g, double &v, double &, double &) {
                g += decay * p;
                v = t == 1 ? g : momentum * v + (1 - dampening) * g;
                return momentum == 0 ? g : nesterov ? g + momentum * v : v;
              });
            });
}

/// Adam with a decay that is added to the gradient or, if `apart`, to the direction.
static Formula adamFormula(bool apart, bool largest, double epsilon = 1e-8) {
  return [=](int t, const Vector &p, const Vector &g, double decay, Memory &m) {
    return each(p, g, m, [&](double p, double g, double &mean, double &square, double &most) {
      g += apart ? 0 : decay * p;
      mean = 0.8 * mean + 0.2 * g;
      square = 0.95 * square + 0.05 * g * g;
      most = std::max(most, square);
      double correctedMean = mean / (1 - std::pow(0.8, t));
      double corrected = (largest ? most : square) / (1 - std::pow(0.95, t));
      return correctedMean / (std::sqrt(corrected) + epsilon) + (apart ? decay * p : 0);
    });
  };
}

TEST(Optimizers, Adam) {
  expectFormula<nn::Adam>({.beta1 = 0.8, .beta2 = 0.95}, adamFormula(false, false));
  expectFormula<nn::Adam>({.beta1 = 0.8, .beta2 = 0.95, .epsilon = 0.1, .largest = true},
                          adamFormula(false, true, 0.1));
}

TEST(Optimizers, AdamW) {
  expectFormula<nn::AdamW>({.beta1 = 0.8, .beta2 = 0.95}, adamFormula(true, false));
  expectFormula<nn::AdamW>({.beta1 = 0.8, .beta2 = 0.95, .largest = true}, adamFormula(true, true));
}

TEST(Optimizers, Lamb) {
  Formula adam = adamFormula(true, false, 1e-6);
  expectFormula<nn::Lamb>({.beta1 = 0.8, .beta2 = 0.95},
                          [&](int t, const Vector &p, const Vector &g, double decay, Memory &m) {
                            Vector direction = adam(t, p, g, decay, m);
                            double ratio = std::sqrt(squaredLength(p) / squaredLength(direction));
                            for (double &each : direction)
                              each *= ratio;
                            return direction;
                          });
}

TEST(Optimizers, RmsProp) {
  for (bool centred : {false, true})
    for (double momentum : {0.0, 0.7})
      expectFormula<nn::RmsProp>(
          {.alpha = 0.9, .epsilon = 1e-3, .momentum = momentum, .centred = centred},
          [&](int, const Vector &p, const Vector &g, double decay, Memory &m) {
            return each(p, g, m, [&](double p, double g, double &square, double &mean, double &v) {
              g += decay * p;
              square = 0.9 * square + 0.1 * g * g;
              mean = 0.9 * mean + 0.1 * g;
              double direction = g / (std::sqrt(square - (centred ? mean * mean : 0)) + 1e-3);
              v = momentum * v + direction;
              return momentum > 0 ? v : direction;
            });
          });
}

TEST(Optimizers, Adagrad) {
  expectFormula<nn::Adagrad>(
      {.rateDecay = 0.2}, [](int t, const Vector &p, const Vector &g, double decay, Memory &m) {
        return each(p, g, m, [&](double p, double g, double &square, double &, double &) {
          g += decay * p;
          square += g * g;
          return g / (std::sqrt(square) + 1e-10) / (1 + 0.2 * (t - 1));
        });
      });
}

TEST(Optimizers, AdagradOfF64IsAsPreciseAsItsParameters) {
  nn::Adagrad::Options options{.rateDecay = 0.1};
  std::pair<Tensor, nn::Adagrad> state{zeros({}, ElementType::F64), {}};
  state.second = nn::Adagrad::make(state.first, options);
  auto step = jit([&](std::pair<Tensor, nn::Adagrad> &s, Tensor slope) {
    Tensor gradient = slope * 1.0;
    s.second.update(s.first, gradient, 1.0, options);
  });
  double wanted = 0;
  for (int t = 1; t <= 7; ++t) {
    step(state, Tensor::of<double>({2.0}, {}));
    wanted -= 2 / (std::sqrt(4.0 * t) + 1e-10) / (1 + 0.1 * (t - 1));
  }
  EXPECT_NEAR(state.first.item(), wanted, 1e-12);
}

TEST(Optimizers, Adadelta) {
  expectFormula<nn::Adadelta>(
      {.epsilon = 1e-3}, [](int, const Vector &p, const Vector &g, double decay, Memory &m) {
        return each(p, g, m, [&](double p, double g, double &square, double &moved, double &) {
          g += decay * p;
          square = 0.9 * square + 0.1 * g * g;
          double direction = std::sqrt((moved + 1e-3) / (square + 1e-3)) * g;
          moved = 0.9 * moved + 0.1 * direction * direction;
          return direction;
        });
      });
}

TEST(Optimizers, NovoGrad) {
  expectFormula<nn::NovoGrad>(
      {}, [](int t, const Vector &p, const Vector &g, double decay, Memory &m) {
        m.scalar = t == 1 ? squaredLength(g) : 0.98 * m.scalar + 0.02 * squaredLength(g);
        return each(p, g, m, [&](double p, double g, double &mean, double &, double &) {
          mean = 0.95 * mean + g / (std::sqrt(m.scalar) + 1e-8) + decay * p;
          return mean;
        });
      });
}

TEST(Optimizers, EveryFloatTypeTakesATensorOfRates) {
  for (ElementType type : {ElementType::F64, ElementType::BF16, ElementType::F16}) {
    State<nn::AdamW> state{initial(), {}};
    state.weights.a = state.weights.a.cast(type);
    (void)state.weights.a.data();
    state.optimizer = nn::AdamW::make(state.weights);
    auto step = jit([](State<nn::AdamW> &s, Tensor rate) {
      auto [loss, gradient] = valueAndGrad(
          [](Weights w) { return sum((w.a * w.a).cast(ElementType::F32), over(n)) + w.b; },
          s.weights);
      nn::clipByNorm(gradient, 100.0);
      s.optimizer.update(s.weights, gradient, rate, {.epsilon = 1e-3});
      return loss;
    });
    step(state, 0.125);
    // The first step is as long as the rate.
    expectNear(state.weights.a.cast(ElementType::F32).to<float>({n}), {0.875, -1.875, 0.375}, 2e-3);
  }
}

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

namespace {
struct Forwards {
  Tensor first, second;
  HEDDLE_FIELDS(first, second)
};
struct Backwards {
  Tensor second, first;
  HEDDLE_FIELDS(second, first)
};
template <typename Net>
struct Training {
  Net net;
  nn::Adam adam;
  HEDDLE_FIELDS(net, adam)
};
template <typename Net>
Training<Net> trainingOf(Tensor first, Tensor second) {
  Net net;
  net.first = first;
  net.second = second;
  return {net, nn::Adam::make(net)};
}
template <typename Net>
void advance(Training<Net> &training) {
  auto step = jit([](Training<Net> &s) {
    auto [loss, gradient] = valueAndGrad(
        [](Net net) { return sum(net.first * net.first + net.second * 0.1, over(n)); }, s.net);
    s.adam.update(s.net, gradient, 0.1);
    return loss;
  });
  step(training);
}
} // namespace

// Two members that share a tensor would get different updates.
TEST(Optimizers, SharedParametersAreRefused) {
  Tensor w = Tensor::of<float>({1, 2}, {{n, 2}});
  Forwards net{w, w}, gradient{w * 1.0, w * 2.0};
  nn::Sgd sgd = nn::Sgd::make(net);
  refused([&] { sgd.update(net, gradient, 0.1); },
          {"'first' and 'second' are one tensor", "use one member twice"});
  Training<Forwards> tied = trainingOf<Forwards>(w, w);
  refused([&] { advance(tied); }, {"'net.first' and 'net.second' are one tensor"});
  EXPECT_EQ(tied.net.first.to<float>({n}), (std::vector<float>{1, 2}));
  net.second = w * 1.0;
  sgd.update(net, gradient, 0.1);
  EXPECT_NEAR(net.second.to<float>({n})[0], 0.8, 1e-6);
}

// Both members have the same type, so only their paths distinguish their moments.
TEST(Optimizers, AReorderedNetworkLoadsItsOwnMoments) {
  TemporaryDirectory directory;
  std::string path = directory / "checkpoint.safetensors";
  auto one = trainingOf<Forwards>(random({{n, 3}}, 1), random({{n, 3}}, 2));
  advance(one);
  nn::saveTree(path, one);
  auto other = trainingOf<Backwards>(random({{n, 3}}, 3), random({{n, 3}}, 4));
  nn::loadTree(path, other);
  advance(one);
  advance(other);
  EXPECT_EQ(other.net.first.to<float>({n}), one.net.first.to<float>({n}));
  EXPECT_EQ(other.net.second.to<float>({n}), one.net.second.to<float>({n}));
  EXPECT_EQ(other.adam.mean["second"].to<float>({n}), one.adam.mean["second"].to<float>({n}));
}

TEST(Optimizers, PatternsOfPaths) {
  EXPECT_TRUE(nn::matches("*.bias", "layers.3.attention.bias"));
  EXPECT_TRUE(nn::matches("layers.[12].*", "layers.2.weight"));
  EXPECT_FALSE(nn::matches("*.bias", "bias"));
  EXPECT_FALSE(nn::matches("a", "a.b"));
  Weights weights = initial(), gradient = grad(lossOf, weights);
  nn::Sgd sgd = nn::Sgd::make(weights);
  refused([&] { sgd.update(weights, gradient, 0.1, nn::Sgd::Groups{{}, {{"*.bias", {}}}}); },
          {"the pattern '*.bias' matches no parameter", "'a', 'steps', 'b'"});
  // Options can't be for an integer.
  refused([&] { nn::Sgd::make(weights, nn::Sgd::Groups{{}, {{"steps", {}}}}); }, {"'steps'"});
  nn::Adam adam = nn::Adam::make(weights);
  refused([&] { adam.update(weights, gradient, 0.1, {.beta1 = 1}); }, {"below 1, got 1.0"});
  refused([&] { nn::clipByNorm(gradient, -1.0); }, {"a limit of gradients of at least 0"});
  refused([&] { nn::clipByValue(gradient, NAN); }, {"a limit of gradients of at least 0"});
  // The first pattern that matches decides.
  sgd = nn::Sgd::make(weights);
  sgd.update(weights, gradient, 0.1, nn::Sgd::Groups{{}, {{"a", {.rate = 0}}, {"*", {.rate = 2}}}});
  EXPECT_EQ(weights.a.to<float>({n}), (std::vector<float>{1, -2, 0.5f}));
  EXPECT_NEAR(weights.b.item(), 3 - 0.2 * 3, 1e-6);
}

namespace {
struct Stack {
  std::vector<Tensor> layers;
  HEDDLE_FIELDS(layers)
};
Stack stackOf(size_t count, int64_t size = 3) {
  Stack stack;
  for (size_t i = 0; i < count; ++i)
    stack.layers.push_back(random({{n, size}}, i));
  return stack;
}
} // namespace

TEST(Optimizers, WhatDoesNotBelongTogetherIsRefused) {
  Stack three = stackOf(3), two = stackOf(2), wide = stackOf(3, 4);
  auto expectRefused = [&](nn::Adam optimizer, Stack parameters, Stack gradient,
                           const std::string &message) {
    refused([&] { optimizer.update(parameters, gradient, 0.1); }, {message});
  };
  expectRefused(nn::Adam::make(three), three, two,
                "the gradient lacks 'layers.2' (expected 3 tensors, got 2)");
  expectRefused(nn::Adam::make(two), two, three,
                "there is no parameter for the gradient's 'layers.2' (expected 2 tensors, got 3)");
  expectRefused(nn::Adam::make(two), three, three,
                "the optimiser's state lacks 'mean.layers.2' (expected 7 tensors, got 5)");
  expectRefused(
      nn::Adam::make(three), two, two,
      "the optimiser has a state 'mean.layers.2' without a parameter (expected 5 tensors, "
      "got 7)");
  expectRefused(nn::Adam::make(three), wide, wide,
                "the optimiser's state 'mean.layers.0' to be !nd.tensor<f32, n: 4>, got "
                "!nd.tensor<f32, n: 3>");
  expectRefused(nn::Adam::make(three), three, wide,
                "the gradient of 'layers.0' to be !nd.tensor<f32, n: 3>, got "
                "!nd.tensor<f32, n: 4>");
  // State that the options need.
  nn::RmsProp plain = nn::RmsProp::make(two);
  refused([&] { plain.update(two, two, 0.1, {.centred = true}); },
          {"lacks 'mean.layers.0'", "with the options of the update"});
}

TEST(Optimizers, OptionsOutOfRangeAreRefused) {
  auto expectRefused = [&]<typename Rule>(nn::Optimizer<Rule>,
                                          const typename Rule::Options &options,
                                          const std::string &message) {
    Stack two = stackOf(2);
    auto optimizer = nn::Optimizer<Rule>::make(two, options);
    expectHas(messageOf([&] { optimizer.update(two, two, 0.1, options); }), {message});
  };
  expectRefused(nn::Sgd(), {.momentum = -1}, "the momentum of an optimiser of at least 0, got -1");
  expectRefused(nn::Sgd(), {.momentum = NAN}, "got nan");
  expectRefused(nn::Sgd(), {.dampening = 2}, "the dampening of an optimiser from 0 to 1, got 2");
  expectRefused(nn::Adam(), {.epsilon = -1}, "epsilon");
  expectRefused(nn::Adam(), {.decay = -1}, "the decay");
  expectRefused(nn::RmsProp(), {.alpha = 2}, "alpha");
  expectRefused(nn::Adadelta(), {.rho = 2}, "rho");
  expectRefused(nn::NovoGrad(), {.beta1 = 2}, "beta1");
  expectRefused(nn::Adagrad(), {.rateDecay = -1}, "the decay of the rate");
  Stack two = stackOf(2);
  nn::MovingAverage average = nn::MovingAverage::make(two);
  refused([&] { average.update(two, 2.0); }, {"a decay of the average from 0 to 1, got 2"});
  refused([] { nn::LossScale::make({.factor = 0}); }, {"a factor of the scale", "got 0"});
}

TEST(Optimizers, RatesAndLimitsHaveNoNames) {
  Stack two = stackOf(2);
  nn::Sgd sgd = nn::Sgd::make(two);
  Tensor many = Tensor::of<float>({0.1f, 0.2f}, {{Name("other"), 2}});
  expectHas(messageOf([&] { sgd.update(two, two, many.broadcast({{n, 3}})); }),
            {"a rate without names", "other: 2"});
  expectHas(messageOf([&] { sgd.update(two, two, NAN); }),
            {"a rate of an optimiser of at least 0, got nan"});
  for (auto clip : {+[](Stack &g, const Tensor &limit) { nn::clipByNorm(g, limit); },
                    +[](Stack &g, const Tensor &limit) { nn::clipByValue(g, limit); }})
    refused([&] { clip(two, many); }, {"a limit of gradients without names", "other: 2"});
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

TEST(Gradients, Clipping) {
  auto gradientOf = [] {
    return Weights{Tensor::of<float>({3, -4, 0}, {{n, 3}}), {}, constant(12)};
  };
  Weights g = gradientOf();
  nn::clipByValue(g, 3.5);
  EXPECT_EQ(g.a.to<float>({n}), (std::vector<float>{3, -3.5, 0}));
  EXPECT_EQ(g.b.item(), 3.5);
  g = gradientOf();
  EXPECT_EQ(nn::clipByNorm(g, 6.5).item(), 13);
  expectNear(g.a.to<float>({n}), {1.5, -2, 0});
  EXPECT_NEAR(g.b.item(), 6, 1e-5);
  g = gradientOf();
  nn::clipByNorm(g, constant(14));
  EXPECT_EQ(g.a.to<float>({n}), (std::vector<float>{3, -4, 0}));
  EXPECT_TRUE(g.steps.empty());
}

TEST(Gradients, TheFirstThatIsNotFiniteIsNamed) {
  Weights w = initial();
  auto first = jit([](const Weights &w) {
    Weights copy = w;
    return nn::firstNotFinite(copy);
  });
  EXPECT_EQ(first(w).item(), -1);
  EXPECT_NO_THROW(nn::requireFinite(first(w), w));
  w.b = Tensor::of<float>({INFINITY}, {});
  refused([&] { nn::requireFinite(first(w), w); }, {"the gradient of 'b' is not finite"});
  w.a = Tensor::of<float>({0, NAN, 1}, {{n, 3}});
  refused([&] { nn::requireFinite(first(w), w, "the weight"); },
          {"the weight of 'a' is not finite"});
}

namespace {
struct Summed {
  Weights weights;
  nn::GradientSum sum;
  nn::MovingAverage average;
  HEDDLE_FIELDS(weights, sum, average)
};
} // namespace

/// Adam's first step has the length of the rate, for decays close to 1 too.
TEST(Optimizers, BiasIsCorrectedWithoutCancellation) {
  for (double beta : {0.999, 0.99999, 0.999999}) {
    nn::Adam::Options options{.beta2 = beta, .epsilon = 0};
    std::pair<Tensor, nn::Adam> state{zeros({{n, 3}}), {}};
    state.second = nn::Adam::make(state.first, options);
    auto step = jit([&](std::pair<Tensor, nn::Adam> &s, Tensor slope) {
      Tensor gradient = slope * 1.0;
      s.second.update(s.first, gradient, 1.0, options);
    });
    step(state, Tensor::of<float>({1, 0.5f, -3}, {{n, 3}}));
    std::vector<float> got = state.first.to<float>({n});
    for (size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(got[i], i < 2 ? -1 : 1, 1e-5) << beta;
  }
}

TEST(Gradients, SeveralBatchesCountAsOne) {
  Weights weights = initial();
  Summed state{weights, nn::GradientSum::make(weights), nn::MovingAverage::make(weights)};
  auto add = jit([](Summed &s, Tensor x, Tensor weight) {
    auto [loss, gradient] =
        valueAndGrad([&](Weights w) { return sum(w.a, over(n)) * x + w.b; }, s.weights);
    s.sum.add(gradient, weight);
    return loss;
  });
  auto apply = jit([](Summed &s) {
    Weights gradient = s.sum.take(s.weights);
    s.weights.a = s.weights.a - gradient.a;
    s.average.update(s.weights, 0.75);
    return gradient.b;
  });
  for (int round = 1; round <= 2; ++round) {
    add(state, 2.0, 3.0);
    add(state, 6.0, 1.0);
    EXPECT_EQ(apply(state).item(), 1);
    EXPECT_EQ(state.sum.weight.item(), 0);
    EXPECT_EQ(state.weights.a.to<float>({n})[0], 1 - 3.f * float(round)); // (3 * 2 + 6) / 4
  }
  // 1, -2, -5
  EXPECT_EQ(state.average.of(state.weights).a.to<float>({n})[0],
            0.75f * (0.75f * 1 + 0.25f * -2) + 0.25f * -5);
  EXPECT_EQ(state.average.of(state.weights).steps.item(), 7);
  Stack other = stackOf(1);
  refused([&] { state.sum.add(other); }, {"was made without 'layers.0'"});
}

// In f16 the sum would be infinite, and in both types its last terms would be lost.
TEST(Gradients, NarrowOnesAreSummedInF32) {
  for (ElementType type : {ElementType::F16, ElementType::BF16}) {
    auto narrow = [&](std::vector<float> values) {
      return jit([=](Tensor x) { return x.cast(type); })(Tensor::of<float>(values, {{n, 2}}));
    };
    std::pair<Tensor, nn::GradientSum> state{narrow({1, 1}), {}};
    state.second = nn::GradientSum::make(state.first);
    auto add = jit([](std::pair<Tensor, nn::GradientSum> &s, Tensor gradient, Tensor count) {
      s.second.add(gradient, count);
    });
    auto take = jit([](std::pair<Tensor, nn::GradientSum> &s) { return s.second.take(s.first); });
    EXPECT_EQ(take(state).cast(ElementType::F32).to<float>({n}), (std::vector<float>{0, 0}));
    add(state, narrow({100, 1}), 4096.0);
    for (int i = 0; i < 64; ++i)
      add(state, narrow({100, 3}), 64.0);
    Tensor mean = take(state);
    EXPECT_EQ(mean.elementType(), type);
    EXPECT_EQ(mean.cast(ElementType::F32).to<float>({n}), (std::vector<float>{100, 2}));
  }
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

TEST(Schedules, ValuesByHand) {
  EXPECT_EQ(nn::constantRate(0.1)(1000), 0.1);
  auto line = nn::linearRate(4, 2, 10);
  EXPECT_EQ(line(0), 4);
  EXPECT_EQ(line(5), 3);
  EXPECT_EQ(line(11), 2);
  auto stairs = nn::stepwise(1, 10, 0.5);
  EXPECT_EQ(stairs(9), 1);
  EXPECT_EQ(stairs(10), 0.5);
  EXPECT_EQ(stairs(39), 0.125);
  auto uneven = nn::stepwise(1, std::vector<int64_t>{3, 7}, 0.5);
  EXPECT_EQ(uneven(2), 1);
  EXPECT_EQ(uneven(3), 0.5);
  EXPECT_EQ(uneven(7), 0.25);
  auto wave = nn::cosine(3, 100, 1);
  EXPECT_EQ(wave(0), 3);
  EXPECT_NEAR(wave(50), 2, 1e-12);
  EXPECT_NEAR(wave(25), 2 + std::sqrt(0.5), 1e-12);
  EXPECT_NEAR(wave(500), 1, 1e-12);
  auto root = nn::inverseRoot(2, 100);
  EXPECT_EQ(root(100), 2);
  EXPECT_EQ(root(400), 1);
  auto warm = nn::warmUp(3, nn::stepwise(8, 2, 0.5));
  EXPECT_EQ(warm(0), 2);
  EXPECT_EQ(warm(2), 6);
  EXPECT_EQ(warm(3), 8);
  EXPECT_EQ(warm(5), 4);
  auto parts = nn::sequence(
      {{2, nn::constantRate(1)}, {3, nn::linearRate(0, 3, 3)}, {1, nn::stepwise(9, 1, 0.5)}});
  std::vector<double> values;
  for (int64_t step = 0; step < 8; ++step)
    values.push_back(parts(step));
  EXPECT_EQ(values, (std::vector<double>{1, 1, 0, 1, 2, 9, 4.5, 2.25}));
  refused([] { nn::stepwise(1, 0, 0.5); }, {"at least one step"});
  refused([] { nn::inverseRoot(1, 0); }, {"at least one step", "got 0"});
  refused([] { nn::sequence({}); }, {"at least one schedule"});
  refused([] { nn::warmUp(2, {}); }, {"got an empty function"});
}

TEST(Schedules, RatesFallWhereValuesStopImproving) {
  nn::Plateau plateau{.factor = 0.5, .patience = 1, .threshold = 0.1, .least = 0.2};
  std::vector<double> values{4, 3, 3.5, 2.9, 2.75, 2.6, NAN, 2.6, 3, 3}, rates, other;
  for (size_t count = 0; count <= values.size(); ++count) {
    std::vector<double> first(values.begin(), values.begin() + int64_t(count)), negative = first;
    rates.push_back(plateau.rate(1, first));
    for (double &value : negative)
      value = -value;
    other.push_back(plateau.rate(1, negative, /*larger=*/true));
  }
  // Neither 2.9 nor 2.75 is better than 3 by a tenth, but 2.6 is.
  EXPECT_EQ(rates, (std::vector<double>{1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.2}));
  EXPECT_EQ(other, rates);
  EXPECT_EQ(plateau.rate(0.1, values), 0.1); // which is less than the least already
  refused([] { nn::Plateau{.factor = 2}.rate(1, {}); }, {"a factor between 0 and 1", "got 2.0"});
}
