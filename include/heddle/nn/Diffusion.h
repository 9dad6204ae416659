//===- Diffusion.h - images that become noise in steps ----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A network that finds the noise in an image is trained on images with known noise, and draws images
// from noise alone, from the last step to the first:
//
//     nn::NoiseSchedule schedule;
//     Tensor x = schedule.noised(image, noise, at), loss = mean(squaredError(net(x, at), noise), all);
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

/// How much of an image is left after each step (Ho et al., NeurIPS'20, section 2): step t, from 0,
/// replaces a part of its variance, which rises from `first` to `last` in a straight line.
struct NoiseSchedule {
  int64_t steps = 1000;
  double first = 1e-4, last = 0.02;

  /// The part of the image's variance that is left after the step `at`, an integer with any names;
  /// f32. Before the first step, at -1, it is 1.
  Tensor share(const Tensor &at, Here here = Here::current()) const;
  /// The image after the step `at` (equation 4): `noise` is of the standard normal distribution.
  Tensor noised(const Tensor &image, const Tensor &noise, const Tensor &at,
                Here here = Here::current()) const;
  /// From an image after the step `now`, and the noise that a network finds in it, the image after
  /// the earlier step `next`; -1: without noise. No noise is added (DDIM: Song et al., ICLR'21,
  /// equation 12 with sigma = 0), so steps may be left out.
  Tensor denoised(const Tensor &image, const Tensor &noise, const Tensor &now, const Tensor &next,
                  Here here = Here::current()) const;
};

} // namespace heddle::nn

#endif // HEDDLE_NN_DIFFUSION_H
