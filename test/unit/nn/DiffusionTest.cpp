//===- DiffusionTest.cpp - noise schedules --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Diffusion.h"
#include "test/unit/support/io/Files.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace heddle;
using namespace heddle::test;

namespace {
const Name batch("batch"), place("place");

/// The product of the fractions that the steps leave, computed one by one.
double shareAfter(const nn::NoiseSchedule &schedule, int64_t at) {
  double left = 1;
  for (int64_t t = 0; t <= at; ++t)
    left *= 1 - (schedule.first +
                 (schedule.last - schedule.first) * double(t) / double(schedule.steps - 1));
  return left;
}
} // namespace

TEST(Diffusion, TheShareIsWhatAllStepsLeave) {
  for (nn::NoiseSchedule schedule : {nn::NoiseSchedule{}, nn::NoiseSchedule{7, 0.1, 0.5}}) {
    auto last = int32_t(schedule.steps - 1);
    std::vector<int32_t> at{-1, 0, 1, last / 2, last};
    std::vector<float> got =
        schedule.share(Tensor::of<int32_t>(at, {{batch, 5}})).to<float>({batch});
    for (size_t i = 0; i < at.size(); ++i)
      EXPECT_NEAR(got[i], shareAfter(schedule, at[i]), 1e-5 * shareAfter(schedule, at[i]) + 1e-7)
          << at[i];
  }
}

TEST(Diffusion, TheImageComesBackIfTheNoiseIsKnown) {
  nn::NoiseSchedule schedule;
  Tensor image = Tensor::of<float>({1, -0.5, 0.25, 0, 2, -1}, {{batch, 2}, {place, 3}});
  Tensor noise = Tensor::of<float>({0.3f, 1, -2, 0.7f, 0, 1}, {{batch, 2}, {place, 3}});
  Tensor now = Tensor::of<int32_t>({20, 500}, {{batch, 2}});
  Tensor x = schedule.noised(image, noise, now);
  // The first element by hand.
  double share = shareAfter(schedule, 20);
  std::vector<float> noisy = x.to<float>({batch, place});
  EXPECT_NEAR(noisy[0], std::sqrt(share) + 0.3 * std::sqrt(1 - share), 1e-5);
  for (std::vector<int32_t> to : {std::vector<int32_t>{-1, -1}, {3, 499}}) {
    Tensor next = Tensor::of<int32_t>(to, {{batch, 2}});
    std::vector<float> got = schedule.denoised(x, noise, now, next).to<float>({batch, place});
    std::vector<float> expected = schedule.noised(image, noise, next).to<float>({batch, place});
    if (to[0] < 0)
      expected = image.to<float>({batch, place});
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], expected[i], 1e-4) << i;
  }
}

TEST(Diffusion, OneStepIsRefused) {
  expectHas(messageOf([] { nn::NoiseSchedule{1}.share(constant(0)); }),
            {"expected at least two steps of noise, got 1"});
}
