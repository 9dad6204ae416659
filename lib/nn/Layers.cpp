//===- Layers.cpp - layers and losses -------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Layers.h"

#include "heddle/nn/Optimizers.h"

#include <cmath>

using namespace heddle;
using namespace heddle::nn;

namespace {
/// Operands with the source location of the layer's call, not of a line in this file.
struct At {
  Here here;
  Operand operator()(const auto &value) const { return {value, here}; }
};
} // namespace

/// Uniform in [-bound, bound).
static Tensor uniform(const Tensor &key, const std::vector<Extent> &extents, double bound,
                      Here here) {
  At at{here};
  return at(at(randomUniform(key, extents, here)) * at(2 * bound)) - at(bound);
}

static Tensor filled(float value, const std::vector<Extent> &extents, ElementType type, Here here) {
  if (type != ElementType::F32)
    return constant(value, type, extents, here);
  size_t count = 1;
  for (const Extent &extent : extents)
    count *= size_t(extent.size);
  std::vector<float> values;
  try {
    values.resize(count, value);
  } catch (const std::exception &) { // there are not so many, or not so much memory
    throw Error("out of memory: " + std::to_string(count) + " floats for " +
                    constant(value, type, extents, here).type(here),
                here);
  }
  return Tensor::of<float>(std::span<const float>(values), extents, here);
}

Tensor nn::zerosLike(const Tensor &like, Here here) {
  return filled(0, like.extents(), like.elementType(), here);
}

//===----------------------------------------------------------------------===//
// Linear maps
//===----------------------------------------------------------------------===//

static std::string joined(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

/// A layer takes the names `in` away from `x` and gives it the others of its weight. Where `x` has
/// these already, they would be taken for the same.
static void requireNames(const Tensor &x, const Tensor &weight, const Names &in, Here here) {
  std::vector<std::string> produced;
  for (const std::string &name : weight.names(here))
    if (std::find(in.begin(), in.end(), Name(name)) == in.end())
      produced.push_back(name);
  for (const Name &name : in)
    if (!x.has(name, here))
      throw Error("expected an x with the name '" + name.str() +
                      "', which the layer sums over, got " + x.type(here),
                  here);
  auto isOfX = [&](const std::string &name) { return x.has(Name(name), here); };
  if (!produced.empty() && std::all_of(produced.begin(), produced.end(), isOfX))
    throw Error("expected an x without " + joined(produced) + ", which the layer produces, got " +
                    x.type(here) + "; give it another name before, x.rename({{" + produced[0] +
                    ", ...}})",
                here);
}

Linear Linear::make(const std::vector<Extent> &in, const Extent &out, const Tensor &key,
                    Here here) {
  for (const Extent &extent : in)
    if (extent.name == out.name)
      throw Error("expected another name for what the layer produces than for what it sums over, "
                  "got '" +
                      out.name.str() + "' for both; rename the result, y.rename({{..., " +
                      out.name.str() + "}})",
                  here);
  std::vector<Extent> extents = in;
  extents.push_back(out);
  double inputs = 1;
  for (const Extent &extent : in)
    inputs *= double(extent.size);
  return {uniform(key, extents, 1 / std::sqrt(inputs), here),
          filled(0, {out}, ElementType::F32, here)};
}

Tensor Linear::operator()(const Tensor &x, const Names &in, Here here) const {
  requireNames(x, weight, in, here);
  At at{here};
  return at(sum(at(at(x) * at(weight)), in)) + at(bias);
}

Conv Conv::make(int64_t window, const Extent &in, const Extent &out, const Tensor &key, Here here) {
  Name ky("ky"), kx("kx");
  double bound = 1 / std::sqrt(double(window * window * in.size));
  return {uniform(key, {{ky, window}, {kx, window}, in, out}, bound, here),
          filled(0, {out}, ElementType::F32, here)};
}

Tensor Conv::operator()(const Tensor &x, const Name &row, const Name &column, const Name &in,
                        const Name &out, int64_t stride, Here here) const {
  At at{here};
  Name ky = fresh("ky"), kx = fresh("kx");
  WindowOptions options{.size = weight.size(Name("ky"), here), .stride = stride, .padding = Same};
  Tensor windows = x.window(row, ky, options, here).window(column, kx, options, here);
  Tensor taps = weight.rename({{Name("ky"), ky}, {Name("kx"), kx}}, here);
  requireNames(windows, taps, over(in, ky, kx), here);
  Tensor sums = sum(at(at(windows) * at(taps)), over(in, ky, kx));
  return Tensor(at(sums) + at(bias)).rename({{out, in}}, here);
}

//===----------------------------------------------------------------------===//
// Pooling and normalisation
//===----------------------------------------------------------------------===//

static Tensor squares(const Tensor &x, const Name &row, const Name &column, const Name &ky,
                      const Name &kx, int64_t window, Here here) {
  WindowOptions options{.size = window, .stride = window};
  return x.window(row, ky, options, here).window(column, kx, options, here);
}

Tensor nn::maxPool(const Tensor &x, const Name &row, const Name &column, int64_t window,
                   Here here) {
  Name ky = fresh("py"), kx = fresh("px");
  return max({squares(x, row, column, ky, kx, window, here), here}, over(ky, kx));
}

Tensor nn::averagePool(const Tensor &x, const Name &row, const Name &column, int64_t window,
                       Here here) {
  Name ky = fresh("py"), kx = fresh("px");
  return mean({squares(x, row, column, ky, kx, window, here), here}, over(ky, kx));
}

/// (x - mean) / sqrt(variance + epsilon) * scale + shift
static Tensor normalised(const Tensor &centred, const Tensor &variance, const Tensor &scale,
                         const Tensor &shift, double epsilon, Here here) {
  At at{here};
  Tensor inverse = rsqrt(at(at(variance) + at(epsilon)));
  return at(at(at(centred) * at(inverse)) * at(scale)) + at(shift);
}

LayerNorm LayerNorm::make(const std::vector<Extent> &extents, Here here) {
  return {filled(1, extents, ElementType::F32, here), filled(0, extents, ElementType::F32, here)};
}

Tensor LayerNorm::operator()(const Tensor &x, const Names &over, double epsilon, Here here) const {
  At at{here};
  Tensor centred = at(x) - at(mean(at(x), over));
  Tensor variance = mean(at(at(centred) * at(centred)), over);
  return normalised(centred, variance, scale, shift, epsilon, here);
}

BatchNorm BatchNorm::make(const Extent &channel, Here here) {
  return {filled(1, {channel}, ElementType::F32, here),
          filled(0, {channel}, ElementType::F32, here)};
}

RunningMoments BatchNorm::moments(const Extent &channel, Here here) {
  return {filled(0, {channel}, ElementType::F32, here),
          filled(1, {channel}, ElementType::F32, here)};
}

Tensor BatchNorm::train(const Tensor &x, const Names &over, RunningMoments &running,
                        double momentum, double epsilon, Here here) const {
  At at{here};
  Tensor average = mean(at(x), over);
  Tensor centred = at(x) - at(average);
  Tensor variance = mean(at(at(centred) * at(centred)), over);
  Tensor count = countOf(at(x), over);
  Tensor unbiased = at(count) / at(maximum(at(at(count) - at(1.0)), at(1.0)));
  auto towards = [&](const Tensor &old, const Tensor &now) {
    return at(at(old) * at(momentum)) + at(at(now) * at(1 - momentum));
  };
  running.mean = towards(running.mean, average);
  running.variance = towards(running.variance, at(variance) * at(unbiased));
  return normalised(centred, variance, scale, shift, epsilon, here);
}

Tensor BatchNorm::operator()(const Tensor &x, const RunningMoments &running, double epsilon,
                             Here here) const {
  At at{here};
  return normalised(at(x) - at(running.mean), running.variance, scale, shift, epsilon, here);
}

//===----------------------------------------------------------------------===//
// Activations and losses
//===----------------------------------------------------------------------===//

Tensor nn::gelu(const Tensor &x, Here here) {
  At at{here};
  Tensor twice = at(erf(at(at(x) * at(std::sqrt(0.5))))) + at(1.0);
  return at(at(x) * at(0.5)) * at(twice);
}

Tensor nn::geluTanh(const Tensor &x, Here here) {
  At at{here};
  Tensor cube = at(at(x) * at(x)) * at(x);
  Tensor inner = at(at(x) + at(at(cube) * at(0.044715))) * at(std::sqrt(2 / M_PI));
  return at(at(x) * at(0.5)) * at(at(tanh(at(inner))) + at(1.0));
}

Tensor nn::silu(const Tensor &x, Here here) {
  At at{here};
  return at(x) * at(sigmoid(at(x)));
}

Tensor nn::logSoftmax(const Tensor &x, const Names &along, Here here) {
  At at{here};
  Tensor shifted = at(x) - at(stopGradient(max(at(x), along), here));
  return at(shifted) - at(log(at(sum(at(exp(at(shifted))), along))));
}

Tensor nn::softmax(const Tensor &x, const Names &along, Here here) {
  At at{here};
  Tensor power = exp(at(at(x) - at(stopGradient(max(at(x), along), here))));
  return at(power) / at(sum(at(power), along));
}

Tensor nn::dropout(const Tensor &x, double rate, const Tensor &key, const std::vector<Extent> &by,
                   Here here) {
  if (!(rate >= 0 && rate < 1))
    throw Error("expected a rate of dropout from 0 to below 1, got " + std::to_string(rate), here);
  At at{here};
  Tensor kept = at(randomUniform(key, by, here)) >= at(rate);
  return select(at(kept), at(at(x) * at(1 / (1 - rate))), at(0.0));
}

Tensor nn::crossEntropy(const Tensor &logits, const Tensor &label, const Name &classes, Here here) {
  auto refuse = [&](const std::string &what) {
    throw Error("expected " + what + ", got " + label.type(here) + " for " + logits.type(here),
                here);
  };
  ElementType type = label.elementType(here);
  if (isFloat(type))
    refuse("labels of integers, the numbers of classes");
  for (const std::string &name : label.names(here))
    if (!logits.has(Name(name), here) || classes == Name(name))
      refuse("labels with names of the logits, without '" + classes.str() + "'");
  if (byteSize(type) < 4) // there may be more classes than it counts
    type = ElementType::I32;
  At at{here};
  Tensor number = label.cast(type, here);
  Tensor numbers = iota({classes, logits.size(classes, here)}, type, here);
  Tensor shifted = at(logits) - at(stopGradient(max(at(logits), over(classes)), here));
  Tensor normaliser = log(at(sum(at(exp(at(shifted))), over(classes))));
  Tensor chosen = equal(at(number), at(numbers.broadcast(number.extents(here), here)));
  Tensor picked = sum(at(select(at(chosen), at(shifted), at(0.0))), over(classes));
  // A gather goes to the next class there is, where a label is none.
  Tensor isClass = equal(at(numbers.gather(classes, number, here)), at(number));
  return select(at(isClass), at(at(normaliser) - at(picked)), at(NAN));
}
