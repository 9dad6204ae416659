//===- Diffusion.cpp - noise schedules of diffusion models ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Diffusion.h"

#include "heddle/Scope.h"

using namespace heddle;
using namespace heddle::nn;

Tensor NoiseSchedule::share(const Tensor &at, Here here) const {
  CallScope scope(here);
  if (steps < 2)
    throw Error("expected at least two steps of noise, got " + std::to_string(steps), here);
  for (double part : {first, last})
    if (!(part >= 0 && part < 1))
      throw Error("expected a step to replace a part of the variance from 0 to below 1, got " +
                      std::to_string(part),
                  here);
  Name step = fresh("step");
  Tensor lost =
      iota({step, steps}, ElementType::F32) * ((last - first) / double(steps - 1)) + first;
  Tensor left = exp(cumulativeSum(log1p(-lost), step)).at(step, maximum(at, 0.0));
  return select(at < 0.0, 1.0, left);
}

Tensor NoiseSchedule::noised(const Tensor &image, const Tensor &noise, const Tensor &at,
                             Here here) const {
  CallScope scope(here);
  Tensor left = share(at, here);
  return image * sqrt(left) + noise * sqrt(1.0 - left);
}

Tensor NoiseSchedule::denoised(const Tensor &image, const Tensor &noise, const Tensor &now,
                               const Tensor &next, Here here) const {
  CallScope scope(here);
  Tensor left = share(now, here), then = share(next, here);
  Tensor clean = (image - noise * sqrt(1.0 - left)) / sqrt(left);
  return clean * sqrt(then) + noise * sqrt(1.0 - then);
}
