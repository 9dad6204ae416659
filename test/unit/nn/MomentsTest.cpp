//===- MomentsTest.cpp - batch normalisation with given moments -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Normalization.h"
#include "test/unit/Refused.h"
#include "test/unit/nn/Recorded.h"

using namespace heddle;
using namespace heddle::test;

namespace {
const Name channel("channel"), row("row");
}

TEST(Moments, AsGiven) {
  Recorded recorded("moments");
  for (std::string name : {"given.0", "given.1"})
    recorded.expect(name, [](const Given &x) {
      nn::BatchNorm norm{.scale = x.at("scale"), .shift = x.at("shift")};
      return norm.with(x.at("mean"), x.at("variance"), x.at("x"));
    });
}

/// With f32 moments an f16 x near the mean keeps its precision, and epsilon is not rounded to 0.
TEST(Moments, OfNarrowFloats) {
  nn::BatchNorm norm = nn::BatchNorm::make({channel, 1});
  Tensor x = Tensor::of<float>({1000, 1001}, {{row, 2}}).broadcast({{channel, 1}});
  Tensor mean = constant(1000.25, ElementType::F32, {{channel, 1}});
  Tensor variance = zeros({{channel, 1}});
  Tensor y = norm.with(mean, variance, x.cast(ElementType::F16));
  EXPECT_EQ(y.elementType(), ElementType::F16);
  expectNear(valuesOf(y.cast(ElementType::F32)), {-0.25 / std::sqrt(1e-5), 0.75 / std::sqrt(1e-5)},
             1e-3);
  refused([&] { norm.with(mean, variance, x.at(channel, 0)); },
          {"moments with names of the x", "channel: 1", "row: 2"});
}
