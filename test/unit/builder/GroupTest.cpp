//===- GroupTest.cpp - groups in the builder ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Capsules routed by expectation maximisation (Hinton, Sabour, Frosst: Matrix capsules with EM
// routing, ICLR'18): each input capsule votes for the pose of each output capsule; an output
// capsule is a Gaussian of the votes that are assigned to it. The layer as one group has the same
// values as without.
//
//===----------------------------------------------------------------------===//

#include "heddle/heddle.h"
#include "test/unit/builder/Tensors.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace heddle;
using namespace heddle::test;

namespace {
struct Routing {
  Name batch{"batch"}, row{"row"}, column{"column"}, ky{"ky"}, kx{"kx"}, in{"in"}, out{"out"},
      i{"i"}, j{"j"}, k{"k"};
  bool grouped = true;

  Tensor route(const Tensor &pose, const Tensor &activation, const Tensor &weight,
               const Tensor &beta) const {
    auto body = [&] {
      std::vector<Coordinate> place{{row, 2 * row + ky}, {column, 2 * column + kx}};
      Tensor votes =
          kernel(row, column, ky, kx, in, out, i, j).sum(k).of(at(pose, place) * at(weight));
      Tensor strength =
          kernel(row, column, ky, kx, in).size(ky, 3).size(kx, 3).of(at(activation, place));
      Tensor assigned, mean;
      for (int step = 0; step < 3; ++step) {
        Tensor share =
            step == 0 ? strength * (1.0 / double(weight.size(out))) : assigned * strength;
        Tensor total = sum(share, over(ky, kx, in));
        mean = sum(share * votes, over(ky, kx, in)) / total;
        Tensor apart = votes - mean;
        Tensor variance = sum(share * apart * apart, over(ky, kx, in)) / total + 1e-3;
        Tensor active = sigmoid(beta - sum(log(variance), over(i, j)) * total * 0.05);
        Tensor near = sum(apart * apart / variance, over(i, j)) * -0.5;
        Tensor logits = near + log(active) - sum(log(variance), over(i, j)) * 0.5;
        Tensor weights = exp(logits - max(logits, over(out)));
        assigned = weights / sum(weights, over(out));
      }
      return mean;
    };
    return grouped ? group(over(batch, row, column), body) : body();
  }
};
} // namespace

TEST(Group, RoutingIsTheSameInOneGroup) {
  Routing routing;
  const Routing &r = routing;
  Tensor pose = random({{r.batch, 2}, {r.row, 5}, {r.column, 7}, {r.in, 3}, {r.i, 2}, {r.k, 2}}, 1);
  Tensor activation = random({{r.batch, 2}, {r.row, 5}, {r.column, 7}, {r.in, 3}}, 2, 0.1f);
  Tensor weight = random({{r.ky, 3}, {r.kx, 3}, {r.in, 3}, {r.out, 4}, {r.k, 2}, {r.j, 2}}, 3);
  Tensor beta = random({{r.out, 4}}, 4);
  auto run = [&](bool grouped) {
    routing.grouped = grouped;
    auto layer =
        jit([&](Tensor p, Tensor a, Tensor w, Tensor b) { return routing.route(p, a, w, b); });
    bool asked = layer.ir(pose, activation, weight, beta)
                     .find("group = [\"batch\", \"row\", \"column\", 0") != std::string::npos;
    EXPECT_EQ(asked, grouped);
    return layer(pose, activation, weight, beta)
        .to<float>({r.batch, r.row, r.column, r.out, r.i, r.j});
  };
  std::vector<float> apart = run(false), together = run(true);
  ASSERT_EQ(apart.size(), size_t(2 * 2 * 3 * 4 * 2 * 2));
  for (size_t n = 0; n < apart.size(); ++n)
    EXPECT_NEAR(together[n], apart[n], 1e-4 * (1 + std::abs(apart[n]))) << n;
}

TEST(Group, NamesAreChecked) {
  Routing r;
  EXPECT_THROW((void)group(over(r.row, r.row), [] { return 0; }), Error);
  EXPECT_THROW((void)group(Names{}, [] { return 0; }), Error);
}
