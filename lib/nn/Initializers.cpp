//===- Initializers.cpp - initial values of parameters --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Initializers.h"

#include "heddle/Scope.h"
#include "heddle/nn/Gradients.h"

#include <algorithm>
#include <cmath>

using namespace heddle;
using namespace heddle::nn;

static size_t countOf(const std::vector<Extent> &extents) {
  size_t count = 1;
  for (const Extent &extent : extents)
    count *= size_t(extent.size);
  return count;
}

/// A tensor in memory with elements of T.
template <typename T>
static Tensor filledWith(T value, const std::vector<Extent> &extents, Here here) {
  std::vector<T> values;
  try {
    values.resize(countOf(extents), value);
  } catch (const std::exception &) { // too many elements, or out of memory
    throw Error("out of memory: " + std::to_string(countOf(extents)) + " floats for " +
                    constant(0, elementTypeOf<T>(), extents, here).type(here),
                here);
  }
  return Tensor::of<T>(std::span<const T>(values), extents, here);
}

Tensor nn::filled(double value, const std::vector<Extent> &extents, ElementType type, Here here) {
  if (type == ElementType::F32)
    return filledWith(float(value), extents, here);
  if (type == ElementType::F64)
    return filledWith(value, extents, here);
  return constant(value, type, extents, here);
}

Tensor nn::zerosLike(const Tensor &like, Here here) {
  return filled(0, like.extents(here), like.elementType(here), here);
}

Tensor nn::identity(const Extent &in, const Extent &out, Here here) {
  CallScope scope(here);
  Tensor row = iota(in, ElementType::I64).broadcast({out});
  Tensor column = iota(out, ElementType::I64).broadcast({in});
  return equal(row, column).cast(ElementType::F32);
}

//===----------------------------------------------------------------------===//
// Random values
//===----------------------------------------------------------------------===//

Tensor nn::uniform(const Tensor &key, const std::vector<Extent> &extents, double low, double high,
                   Here here) {
  CallScope scope(here);
  if (!(low <= high))
    refuse("expected bounds from low to high, got " + std::to_string(low) + " and " +
               std::to_string(high),
           here);
  return randomUniform(key, extents) * (high - low) + low;
}

Tensor nn::normal(const Tensor &key, const std::vector<Extent> &extents, double mean,
                  double deviation, Here here) {
  CallScope scope(here);
  nn::detail::requireRange("a deviation", deviation, 0, INFINITY, here);
  return randomNormal(key, extents) * deviation + mean;
}

/// The inverse of erf in f64: Winitzki's approximation (2008), whose relative error is 2e-3,
/// refined by Newton's method.
static Tensor inverseErf(const Tensor &y) {
  Tensor tail = log(1.0 - square(y));
  Tensor half = tail * 0.5 + 2 / (M_PI * 0.147);
  Tensor root = sqrt(square(half) - tail / 0.147);
  Tensor x = sign(y) * sqrt(root - half);
  for (int i = 0; i < 3; ++i) {
    Tensor slope = exp(-square(x)) * (2 / std::sqrt(M_PI));
    x = x - (erf(x) - y) / slope;
  }
  return x;
}

Tensor nn::truncatedNormal(const Tensor &key, const std::vector<Extent> &extents, double mean,
                           double deviation, double low, double high, Here here) {
  if (!(low < high))
    throw Error("expected a lower bound below the upper one, got " + std::to_string(low) + " and " +
                    std::to_string(high),
                here);
  CallScope scope(here);
  auto erfOf = [&](double bound) { return std::erf((bound - mean) / deviation / std::sqrt(2)); };
  double first = erfOf(low), last = erfOf(high);
  if (!(first < last))
    throw Error("expected bounds between which the distribution has values, got " +
                    std::to_string(low) + " and " + std::to_string(high) + " for the mean " +
                    std::to_string(mean) + " and deviation " + std::to_string(deviation),
                here);
  // Inverse transform sampling: values of the cumulative distribution function are uniform. The
  // offset of a quarter of a step keeps y above -1.
  Tensor u = randomUniform(key, extents).cast(ElementType::F64);
  Tensor y = u * (last - first) + (first + (last - first) * 0x1p-26);
  Tensor x = inverseErf(y) * (std::sqrt(2) * deviation) + mean;
  return clamp(x, low, high).cast(ElementType::F32);
}

/// The product of the sizes of `names`.
static double fanOf(const std::vector<Extent> &extents, const Names &names, Here here) {
  double fan = 1;
  for (const Name &name : names) {
    auto found = std::find_if(extents.begin(), extents.end(),
                              [&](const Extent &extent) { return extent.name == name; });
    if (found == extents.end())
      throw Error("expected a fan along names of the weight, which has no '" + name.str() + "'",
                  here);
    fan *= double(found->size);
  }
  return std::max(fan, 1.0);
}

static double kaiming(const std::vector<Extent> &extents, const Names &fan, double slope,
                      Here here) {
  return std::sqrt(2 / (1 + slope * slope) / fanOf(extents, fan, here));
}

static double glorot(const std::vector<Extent> &extents, const Names &in, const Names &out,
                     double gain, Here here) {
  return gain * std::sqrt(2 / (fanOf(extents, in, here) + fanOf(extents, out, here)));
}

/// The uniform distribution with this standard deviation.
static Tensor spread(const Tensor &key, const std::vector<Extent> &extents, double deviation,
                     Here here) {
  double bound = std::sqrt(3) * deviation;
  return uniform(key, extents, -bound, bound, here);
}

Tensor nn::kaimingUniform(const Tensor &key, const std::vector<Extent> &extents, const Names &fan,
                          double slope, Here here) {
  return spread(key, extents, kaiming(extents, fan, slope, here), here);
}

Tensor nn::kaimingNormal(const Tensor &key, const std::vector<Extent> &extents, const Names &fan,
                         double slope, Here here) {
  return normal(key, extents, 0, kaiming(extents, fan, slope, here), here);
}

Tensor nn::glorotUniform(const Tensor &key, const std::vector<Extent> &extents, const Names &in,
                         const Names &out, double gain, Here here) {
  return spread(key, extents, glorot(extents, in, out, gain, here), here);
}

Tensor nn::glorotNormal(const Tensor &key, const std::vector<Extent> &extents, const Names &in,
                        const Names &out, double gain, Here here) {
  return normal(key, extents, 0, glorot(extents, in, out, gain, here), here);
}
