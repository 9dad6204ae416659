//===- Normalization.cpp - normalisation layers ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Normalization.h"

#include "heddle/nn/Gradients.h"
#include "lib/nn/LayerUtils.h"

#include <algorithm>
#include <cmath>

using namespace heddle;
using namespace heddle::nn;

namespace {
/// x - mean over `names`, the mean, and the variance, in the type of sums.
struct Centred {
  Tensor x, mean, variance;
};
} // namespace

/// The rounded mean of equal elements may differ from them, and division by a small variance
/// magnifies the difference. So the mean of the differences is subtracted too (the corrected
/// two-pass algorithm: Chan, Golub and LeVeque, Algorithms for computing the sample variance,
/// 1983).
static Centred centred(const Tensor &given, const Names &names) {
  Tensor x = widened(given), first = mean(x, names), difference = x - first;
  Tensor rest =
      stopGradient(mean(difference, names)); // only rounding error, and so is its gradient
  return {difference - rest, first, mean(difference * difference, names) - rest * rest};
}

/// `type`: the element type of the result.
static Tensor scaled(const Tensor &centred, const Tensor &variance, const Tensor &scale,
                     const Tensor &shift, double epsilon, ElementType type) {
  return (centred * rsqrt(variance + epsilon) * widened(scale) + widened(shift)).cast(type);
}

static Tensor ones(const std::vector<Extent> &extents, Here here) {
  return filled(1, extents, ElementType::F32, here);
}
static Tensor noughts(const std::vector<Extent> &extents, Here here) {
  return filled(0, extents, ElementType::F32, here);
}

static void requireEpsilon(double epsilon, Here here) {
  nn::detail::requireRange("an epsilon", epsilon, 0, 1e30, here);
}

/// The moments must be taken over the names that the scale has.
static void requireOwnNames(const Tensor &scale, const Names &over, Here here) {
  Names names = scale.names(); // sorted
  std::vector<std::string> own(names.begin(), names.end()), given(over.begin(), over.end());
  std::ranges::sort(given);
  if (own != given)
    refuse("expected the names that the layer was made for, " + quoted(own) + ", got " +
               quoted(given),
           here);
}

LayerNorm LayerNorm::make(const std::vector<Extent> &extents, double epsilon, Here here) {
  requireEpsilon(epsilon, here);
  return {ones(extents, here), noughts(extents, here), epsilon};
}

Tensor LayerNorm::operator()(const Tensor &x, const Names &over, Here here) const {
  CallScope scope(here);
  LayerScope layerScope(*this);
  requireOwnNames(scale, over, here);
  auto [difference, average, variance] = centred(x, over);
  return scaled(difference, variance, scale, shift, epsilon, x.elementType());
}

RmsNorm RmsNorm::make(const std::vector<Extent> &extents, double epsilon, Here here) {
  requireEpsilon(epsilon, here);
  return {ones(extents, here), epsilon};
}

Tensor RmsNorm::operator()(const Tensor &x, const Names &over, Here here) const {
  CallScope scope(here);
  LayerScope layerScope(*this);
  requireOwnNames(scale, over, here);
  Tensor wide = widened(x), root = rsqrt(mean(wide * wide, over) + epsilon);
  return (wide * root * widened(scale)).cast(x.elementType());
}

GroupNorm GroupNorm::make(const Extent &channel, int64_t groups, double epsilon, Here here) {
  if (groups < 1 || int64_t(channel.size) % groups)
    refuse("expected groups that divide '" + channel.name.str() + "' of size " +
               std::to_string(channel.size) + ", got " + std::to_string(groups),
           here);
  requireEpsilon(epsilon, here);
  return {ones({channel}, here), noughts({channel}, here), groups, epsilon};
}

Tensor GroupNorm::operator()(const Tensor &x, const Name &channel, const Names &over,
                             Here here) const {
  CallScope scope(here);
  LayerScope layerScope(*this);
  for (const Name &name : over)
    (void)x.size(name, here); // throws with the names before the split
  Name group = fresh("group");
  Names names = over;
  names.push_back(channel);
  std::vector<Extent> parts{{group, groups}, {channel, x.size(channel) / groups}};
  auto [difference, average, variance] = centred(x.split(channel, parts), names);
  Tensor y = scaled(difference, variance, scale.split(channel, parts), shift.split(channel, parts),
                    epsilon, x.elementType());
  return y.merge({group, channel}, channel);
}

BatchNorm BatchNorm::make(const Extent &channel, double momentum, double epsilon, Here here) {
  requireEpsilon(epsilon, here);
  nn::detail::requireRange("a momentum", momentum, 0, 1, here);
  return {ones({channel}, here),
          noughts({channel}, here),
          {.extents = {{channel.name.str(), channel.size}}},
          momentum,
          epsilon};
}

Tensor BatchNorm::operator()(const Tensor &x, const Names &over, Mode &mode, Here here) const {
  CallScope scope(here);
  LayerScope layerScope(*this);
  for (const Name &name : over)
    if (scale.has(name))
      refuse("expected names without '" + name.str() + "', whose elements have a mean each", here);
  if (!mode.isTraining()) {
    const RunningMoments &running = mode.running(slot);
    Tensor wide = widened(x);
    ElementType type = wide.elementType();
    return scaled(wide - running.mean.cast(type), running.variance.cast(type), scale, shift,
                  epsilon, x.elementType());
  }
  auto [difference, average, variance] = centred(x, over);
  Tensor count = countOf(x, over, variance.elementType());
  Tensor unbiased = count / maximum(count - 1.0, 1.0);
  mode.track(slot, average, variance * unbiased, momentum);
  return scaled(difference, variance, scale, shift, epsilon, x.elementType());
}

Tensor BatchNorm::with(const Tensor &mean, const Tensor &variance, const Tensor &x,
                       Here here) const {
  CallScope scope(here);
  LayerScope layerScope(*this);
  for (const Tensor &moments : {mean, variance})
    for (const std::string &name : moments.names())
      if (!x.has(Name(name)))
        refuse("expected moments with names of the x, got " + moments.type() + " for " + x.type(),
               here);
  ElementType type = widened(x).elementType();
  Tensor factor = rsqrt(variance.cast(type) + epsilon) * scale.cast(type);
  Tensor y = (x.cast(type) - mean.cast(type)) * factor + shift.cast(type);
  return y.cast(x.elementType());
}

WeightNorm WeightNorm::make(const Tensor &weight, const Names &over, Here here) {
  CallScope scope(here);
  Tensor wide = widened(weight);
  return {weight, sqrt(sum(wide * wide, over)).cast(weight.elementType())};
}

Tensor WeightNorm::operator()(const Names &over, Here here) const {
  CallScope scope(here);
  LayerScope layerScope(*this);
  Tensor wide = widened(direction);
  Tensor factor = widened(length) * rsqrt(sum(wide * wide, over));
  return (wide * factor).cast(direction.elementType());
}
