//===- Optimizers.cpp - optimisers ----------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Optimizers.h"

#include "heddle/nn/Initializers.h"

#include <algorithm>
#include <cmath>

using namespace heddle;
using namespace heddle::nn;

/// Traced zeros, for a state that is not yet in memory.
static Tensor zerosOf(const Tensor &p) { return zeros(p.extents(), p.elementType()); }

/// a * old + b * now
static Tensor blend(const Tensor &old, double a, const Tensor &now, double b) {
  return old * a + now * b;
}

/// Throws Error for an option of a rule outside [0, most].
static void requireOption(const std::string &name, double value, double most = 1e30) {
  nn::detail::requireRange(name + " of an optimiser", value, 0, most, Here::current());
}
static constexpr double toOne = 1;

/// The gradient, and `decay` times the parameter.
static Tensor decayed(const Tensor &p, const Tensor &g, double decay) {
  requireOption("the decay", decay);
  return decay ? g + p * decay : g;
}

/// The sum of squares of all elements.
static Tensor squaredLength(const Tensor &x) { return sum(x * x, namesOf(x)); }

Tensor StepContext::count(const Tensor &like) const {
  return steps.cast(like.elementType() == ElementType::F64 ? ElementType::F64 : ElementType::F32);
}

Tensor StepContext::correction(double beta, const Tensor &like) {
  if (!(beta >= 0 && beta < 1))
    refuse("expected the factor of a moment (beta) from 0 to below 1, got " + std::to_string(beta),
           Here::current());
  ElementType type = like.elementType();
  Tensor &known = corrections[{beta, type}];
  if (known.empty()) // 1 - beta^steps without cancellation
    known = Tensor(-expm1(count(like) * std::log(beta))).cast(type);
  return known;
}

Tensor nn::detail::moved(const Tensor &p, const Tensor &direction, const Operand &rate,
                         double factor) {
  if (!rate.tensor.empty() && !rate.tensor.names().empty())
    refuse("expected a rate without names, got " + rate.tensor.type() + " for a parameter of " +
               p.type(),
           Here::current());
  requireOption("a rate", factor);
  Tensor wide = widened(p);
  if (rate.tensor.empty()) {
    requireOption("a rate", rate.number);
    return (wide - direction * (rate.number * factor)).cast(p.elementType());
  }
  Tensor scaled = rate.tensor.cast(wide.elementType());
  return (wide - direction * (factor == 1 ? scaled : scaled * factor)).cast(p.elementType());
}

void nn::detail::materialise(const Leaves &state, Here here) {
  for (const auto &[path, tensor] : state)
    *tensor = zerosLike(*tensor, here);
}

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

void SgdRule::begin(const std::string &path, const Tensor &p, const Options &options) {
  if (options.momentum)
    velocity[path] = zerosOf(p);
}

Tensor SgdRule::direction(const std::string &path, const Tensor &p, const Tensor &gradient,
                          const Options &options, StepContext &context) {
  requireOption("the momentum", options.momentum);
  requireOption("the dampening", options.dampening, toOne);
  Tensor g = decayed(p, gradient, options.decay);
  if (!options.momentum)
    return g;
  Tensor &v = velocity[path];
  Tensor next = v * options.momentum + (options.dampening ? g * (1 - options.dampening) : g);
  v = options.dampening ? select(equal(context.steps, 1.0), g, next) : next;
  return options.nesterov ? g + v * options.momentum : v;
}

void AdamRule::begin(const std::string &path, const Tensor &p, const Options &options) {
  mean[path] = square[path] = zerosOf(p);
  if (options.largest)
    most[path] = zerosOf(p);
}

Tensor AdamRule::direction(const std::string &path, const Tensor &p, const Tensor &gradient,
                           const Options &options, StepContext &context) {
  requireOption("epsilon", options.epsilon);
  Tensor g = decayed(p, gradient, options.decay);
  Tensor &m = mean[path], &s = square[path];
  m = blend(m, options.beta1, g, 1 - options.beta1);
  s = blend(s, options.beta2, g * g, 1 - options.beta2);
  Tensor divisor = s;
  if (options.largest)
    divisor = most[path] = maximum(most[path], s);
  return m * (1.0 / context.correction(options.beta1, p)) /
         (sqrt(divisor * (1.0 / context.correction(options.beta2, p))) + options.epsilon);
}

Tensor AdamWRule::direction(const std::string &path, const Tensor &p, const Tensor &g,
                            const Options &options, StepContext &context) {
  Options apart = options;
  apart.decay = 0;
  return decayed(p, AdamRule::direction(path, p, g, apart, context), options.decay);
}

void RmsPropRule::begin(const std::string &path, const Tensor &p, const Options &options) {
  square[path] = zerosOf(p);
  if (options.centred)
    mean[path] = zerosOf(p);
  if (options.momentum)
    velocity[path] = zerosOf(p);
}

Tensor RmsPropRule::direction(const std::string &path, const Tensor &p, const Tensor &gradient,
                              const Options &options, StepContext &) {
  requireOption("alpha", options.alpha, toOne);
  requireOption("epsilon", options.epsilon);
  requireOption("the momentum", options.momentum);
  Tensor g = decayed(p, gradient, options.decay);
  Tensor &s = square[path];
  Tensor variance = s = blend(s, options.alpha, g * g, 1 - options.alpha);
  if (options.centred) {
    Tensor &m = mean[path];
    m = blend(m, options.alpha, g, 1 - options.alpha);
    variance = s - m * m;
  }
  Tensor direction = g / (sqrt(variance) + options.epsilon);
  if (!options.momentum)
    return direction;
  Tensor &v = velocity[path];
  return v = v * options.momentum + direction;
}

void AdagradRule::begin(const std::string &path, const Tensor &p, const Options &) {
  square[path] = zerosOf(p);
}

Tensor AdagradRule::direction(const std::string &path, const Tensor &p, const Tensor &gradient,
                              const Options &options, StepContext &context) {
  requireOption("the decay of the rate", options.rateDecay);
  requireOption("epsilon", options.epsilon);
  Tensor g = decayed(p, gradient, options.decay);
  Tensor &s = square[path];
  s = s + g * g;
  Tensor direction = g / (sqrt(s) + options.epsilon);
  if (!options.rateDecay)
    return direction;
  return direction /
         Tensor((context.count(p) - 1.0) * options.rateDecay + 1.0).cast(p.elementType());
}

void AdadeltaRule::begin(const std::string &path, const Tensor &p, const Options &) {
  square[path] = moved[path] = zerosOf(p);
}

Tensor AdadeltaRule::direction(const std::string &path, const Tensor &p, const Tensor &gradient,
                               const Options &options, StepContext &) {
  requireOption("rho", options.rho, toOne);
  requireOption("epsilon", options.epsilon);
  Tensor g = decayed(p, gradient, options.decay);
  Tensor &s = square[path], &d = moved[path];
  s = blend(s, options.rho, g * g, 1 - options.rho);
  Tensor direction = sqrt(d + options.epsilon) / sqrt(s + options.epsilon) * g;
  d = blend(d, options.rho, direction * direction, 1 - options.rho);
  return direction;
}

void NovoGradRule::begin(const std::string &path, const Tensor &p, const Options &) {
  mean[path] = zerosOf(p);
  square[path] = zeros({}, p.elementType());
}

Tensor NovoGradRule::direction(const std::string &path, const Tensor &p, const Tensor &g,
                               const Options &options, StepContext &context) {
  requireOption("beta1", options.beta1, toOne);
  requireOption("beta2", options.beta2, toOne);
  requireOption("epsilon", options.epsilon);
  Tensor &m = mean[path], &s = square[path];
  Tensor length = squaredLength(g);
  s = select(equal(context.steps, 1.0), length, blend(s, options.beta2, length, 1 - options.beta2));
  return m = m * options.beta1 + decayed(p, g / (sqrt(s) + options.epsilon), options.decay);
}

void LambRule::begin(const std::string &path, const Tensor &p, const Options &) {
  AdamRule::begin(path, p, {});
}

Tensor LambRule::direction(const std::string &path, const Tensor &p, const Tensor &g,
                           const Options &options, StepContext &context) {
  AdamRule::Options plain{options.beta1, options.beta2, options.epsilon};
  Tensor adam = AdamRule::direction(path, p, g, plain, context);
  Tensor direction = decayed(p, adam, options.decay);
  Tensor own = squaredLength(p), other = squaredLength(direction);
  Tensor isLong = logicalAnd(own > 0.0, other > 0.0);
  return direction * select(isLong, sqrt(own / select(isLong, other, 1.0)), 1.0);
}

//===----------------------------------------------------------------------===//
// Groups of parameters
//===----------------------------------------------------------------------===//

std::vector<size_t> nn::detail::groupsOf(const Leaves &parameters,
                                         const std::vector<std::string> &patterns, Here here) {
  std::vector<size_t> result(parameters.size(), 0);
  for (size_t i = 0; i < patterns.size(); ++i) {
    bool isUsed = false;
    for (size_t j = 0; j < parameters.size(); ++j)
      if (isFloat(parameters[j].second->elementType(here)) &&
          matches(patterns[i], parameters[j].first)) {
        isUsed = true;
        if (result[j] == 0)
          result[j] = i + 1;
      }
    if (isUsed)
      continue;
    std::string paths;
    for (size_t j = 0; j < parameters.size(); ++j)
      paths += (j ? ", '" : "'") + parameters[j].first + "'";
    throw Error("the pattern '" + patterns[i] + "' matches no parameter; there are: " + paths,
                here);
  }
  return result;
}

/// Throws Error if `got` is of another type.
static void expectType(const std::string &what, const Tensor &expected, const Tensor &got,
                       Here here) {
  if (expected.type(here) != got.type(here))
    throw Error("expected " + what + " to be " + expected.type(here) + ", got " + got.type(here),
                here);
}

static std::string counts(size_t expected, size_t got) {
  return " (expected " + std::to_string(expected) + " tensors, got " + std::to_string(got) + ")";
}

void nn::detail::requireGradient(const Leaves &parameters, const Leaves &gradient, Here here) {
  auto both = counts(parameters.size(), gradient.size());
  std::map<const void *, std::string> seen;
  for (const auto &[path, parameter] : parameters)
    if (auto [found, isNew] = seen.try_emplace(parameter->node.get(), path);
        !isNew && isFloat(parameter->elementType(here)))
      throw Error("'" + found->second + "' and '" + path +
                      "' are one tensor, and an update would " +
                      "assign different values to them: to share weights, use one member twice; " +
                      "to start from equal values, give each its own tensor, such as x * 1.0",
                  here);
  for (size_t i = 0; i < std::max(parameters.size(), gradient.size()); ++i) {
    if (i >= gradient.size())
      throw Error("the gradient lacks '" + parameters[i].first + "'" + both, here);
    if (i >= parameters.size())
      throw Error("there is no parameter for the gradient's '" + gradient[i].first + "'" + both,
                  here);
    if (parameters[i].first != gradient[i].first)
      throw Error("expected the gradient of '" + parameters[i].first + "', got that of '" +
                      gradient[i].first + "'",
                  here);
    if (!gradient[i].second->empty())
      expectType("the gradient of '" + parameters[i].first + "'", *parameters[i].second,
                 *gradient[i].second, here);
  }
}

void nn::detail::requireState(const Leaves &parameters, const Leaves &expected, const Leaves &state,
                              Here here) {
  std::map<std::string, const Tensor *> own;
  for (const auto &[path, tensor] : state)
    own[path] = tensor;
  for (const auto &[path, tensor] : expected) {
    auto found = own.find(path);
    if (found == own.end())
      throw Error("the optimiser's state lacks '" + path + "'" +
                      counts(expected.size(), state.size()) +
                      "; make it for these parameters, with the options of the update",
                  here);
    expectType("the optimiser's state '" + path + "'", *tensor, *found->second, here);
  }
  for (const auto &[path, tensor] : state) {
    auto isOf = [&, &path = path](const auto &parameter) {
      return path.substr(path.find('.') + 1) == parameter.first;
    };
    if (path != "steps" && std::none_of(parameters.begin(), parameters.end(), isOf))
      throw Error("the optimiser has a state '" + path + "' without a parameter" +
                      counts(expected.size(), state.size()),
                  here);
  }
}
