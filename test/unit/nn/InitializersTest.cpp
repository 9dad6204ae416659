//===- InitializersTest.cpp - moments and bounds of initial values --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Initializers.h"
#include "test/unit/Refused.h"
#include "test/unit/nn/Compare.h"

#include <functional>

using namespace heddle;
using namespace heddle::test;

namespace {
const Name ky("ky"), kx("kx"), in("in"), out("out");
const std::vector<Extent> extents{{ky, 3}, {kx, 5}, {in, 31}, {out, 41}}; // 19,065 elements

/// Mean, deviation and the largest magnitude.
struct Moments {
  double mean = 0, deviation = 0, most = 0;
};
Moments momentsOf(const Tensor &x) {
  Moments moments;
  std::vector<float> values = valuesOf(x);
  for (double value : values) {
    moments.mean += value / double(values.size());
    moments.most = std::max(moments.most, std::abs(value));
  }
  for (double value : values)
    moments.deviation += std::pow(value - moments.mean, 2) / double(values.size());
  moments.deviation = std::sqrt(moments.deviation);
  return moments;
}
/// Within 5 standard deviations of the statistic of this many draws.
void expectMoments(const Tensor &x, double mean, double deviation) {
  Moments moments = momentsOf(x);
  EXPECT_NEAR(moments.mean, mean, 5 * deviation / std::sqrt(19065));
  EXPECT_NEAR(moments.deviation, deviation, 5 * deviation / std::sqrt(19065));
}
} // namespace

TEST(Initializers, ConstantAndIdentity) {
  EXPECT_EQ(valuesOf(nn::filled(0.5, {{in, 3}})), (std::vector<float>{0.5, 0.5, 0.5}));
  Tensor wide = nn::filled(0.1, {{in, 1}}, ElementType::F64);
  EXPECT_EQ(wide.to<double>({in}), std::vector<double>{0.1});
  EXPECT_EQ(nn::identity({in, 2}, {out, 3}).to<float>({in, out}),
            (std::vector<float>{1, 0, 0, 0, 1, 0}));
}

TEST(Initializers, Fans) {
  double he = std::sqrt(2.0 / (3 * 5 * 31)), glorot = std::sqrt(2.0 / (3 * 5 * (31 + 41)));
  expectMoments(nn::kaimingNormal(key(1), extents, over(ky, kx, in)), 0, he);
  expectMoments(nn::kaimingUniform(key(2), extents, over(ky, kx, in)), 0, he);
  expectMoments(nn::kaimingUniform(key(2), extents, over(out, ky, kx), 0.5), 0,
                std::sqrt(2.0 / 1.25 / (3 * 5 * 41)));
  expectMoments(nn::glorotNormal(key(3), extents, over(ky, kx, in), over(ky, kx, out), 3), 0,
                3 * glorot);
  Tensor x = nn::glorotUniform(key(4), extents, over(ky, kx, in), over(ky, kx, out));
  expectMoments(x, 0, glorot);
  double bound = std::sqrt(6.0 / (3 * 5 * (31 + 41)));
  EXPECT_LE(momentsOf(x).most, bound * (1 + 1e-6));
  EXPECT_GT(momentsOf(x).most, bound * 0.999);
  refused([] { nn::kaimingNormal(key(1), {{in, 3}}, over(out)); }, {"which has no 'out'"});
}

TEST(Initializers, UniformAndNormal) {
  Tensor x = nn::uniform(key(5), extents, 1, 4);
  expectMoments(x, 2.5, 3 / std::sqrt(12));
  expectMoments(nn::normal(key(6), extents, -1, 2), -1, 2);
}

TEST(Initializers, TruncatedNormal) {
  // The standard normal within two deviations has the variance 1 - 4 phi(2) / (2 Phi(2) - 1).
  double variance = 1 - 4 * std::exp(-2) / std::sqrt(2 * M_PI) / std::erf(std::sqrt(2));
  Tensor x = nn::truncatedNormal(key(7), extents, 0, 1);
  expectMoments(x, 0, std::sqrt(variance));
  EXPECT_LE(momentsOf(x).most, 2);
  EXPECT_GT(momentsOf(x).most, 1.99);
  // One bound, and bounds that truncate nothing.
  std::vector<float> right = valuesOf(nn::truncatedNormal(key(8), extents, 1, 2, 2, 30));
  EXPECT_GE(*std::min_element(right.begin(), right.end()), 2);
  expectMoments(nn::truncatedNormal(key(9), extents, 1, 2, -100, 100), 1, 2);
  // The cumulative distribution function of the values is uniform: a tenth in each tenth.
  std::vector<int> tenths(10);
  double first = std::erf(-2 / std::sqrt(2)), last = -first;
  for (float value : valuesOf(x))
    ++tenths[size_t(10 * (std::erf(value / std::sqrt(2)) - first) / (last - first) - 1e-9)];
  for (int count : tenths)
    EXPECT_NEAR(count, 1906.5, 5 * std::sqrt(1906.5 * 0.9));
  refused([] { nn::truncatedNormal(key(1), {{in, 3}}, 0, 1, 2, 2); }, {"lower bound below"});
  refused([] { nn::truncatedNormal(key(1), {{in, 3}}, 0, 1, 30, 31); },
          {"between which the distribution has values", "30"});
}
