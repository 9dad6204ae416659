//===- Diffusion.h - noise schedules of diffusion models --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A diffusion model learns to predict the noise that was added to an image. Sampling begins with
// noise and removes the predicted noise, from the last step to the first:
//
//     nn::NoiseSchedule schedule;
//     Tensor x = schedule.noised(image, noise, at);
//     Tensor loss = mean(squaredError(net(x, at), noise), all);
//
//     Tensor x = randomNormal(key, {{batch, 16}, {row, 32}, {column, 32}});
//     for (int64_t now = 999; now >= 0; now -= 20)
//       x = schedule.denoised(x, net(x, now), now, std::max<int64_t>(now - 20, -1));
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_DIFFUSION_H
#define HEDDLE_NN_DIFFUSION_H

#include "heddle/Ops.h"

namespace heddle::nn {

/// The linear variance schedule of Ho et al. (NeurIPS'20, sections 2 and 4): step t, from 0,
/// replaces the fraction beta(t) of the image's variance by noise; beta rises linearly from `first`
/// to `last`.
struct NoiseSchedule {
  int64_t steps = 1000;
  double first = 1e-4, last = 0.02;

  /// The fraction of the image's variance that is left after step `at` (alpha-bar in the paper),
  /// f32; `at` is an integer tensor with any names. 1 for -1, before the first step.
  Tensor share(const Tensor &at, Here here = Here::current()) const;
  /// The image after step `at` (equation 4), where `noise` has the standard normal distribution.
  Tensor noised(const Tensor &image, const Tensor &noise, const Tensor &at,
                Here here = Here::current()) const;
  /// One sampling step: from an image after step `now` and the noise that the network predicts for
  /// it to the image after the earlier step `next` (-1: free of noise). Deterministic, so that
  /// steps may be skipped (DDIM: Song et al., ICLR'21, equation 12 with sigma = 0).
  Tensor denoised(const Tensor &image, const Tensor &noise, const Tensor &now, const Tensor &next,
                  Here here = Here::current()) const;
};

} // namespace heddle::nn

#endif // HEDDLE_NN_DIFFUSION_H
