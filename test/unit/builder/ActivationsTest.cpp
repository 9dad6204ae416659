//===- ActivationsTest.cpp - functions of single elements -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/heddle.h"
#include "test/unit/builder/Tensors.h"

#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

namespace {
const Name row("row");

// heddle.h declares the activations, like relu. Expected values are computed from the formulas.
TEST(Activations, AreBesideRelu) {
  Tensor x = tensor({1, -1}, {{row, 2}});
  auto expect = [](const Tensor &got, double first, double second) {
    std::vector<float> values = valuesOf(got);
    EXPECT_NEAR(values[0], first, 1e-6);
    EXPECT_NEAR(values[1], second, 1e-6);
  };
  expect(relu(x), 1, 0);
  expect(gelu(x), 0.84134475, -0.15865525); // x times the normal distribution at x
  expect(geluTanh(x), 0.84119199, -0.15880801);
  expect(silu(x), 0.73105858, -0.26894142);
  expect(elu(x), 1, -0.63212056);
  expect(elu(x, 2), 1, -1.26424112);
  expect(hardTanh(x * 3.0), 1, -1);
  expect(relu6(x * 9.0), 6, 0);
  expect(thresholdRelu(x, 0.5, 7), 1, 7);
  expect(softplus(x), 1.31326169, 0.31326169);
  EXPECT_NEAR(valuesOf(gatedLinear(x, row))[0], 0.26894142, 1e-6);
  EXPECT_NE(messageOf([&] {
              gatedLinear(tensor({1, 2, 3}, {{row, 3}}), row);
            }).find("expected an even size of 'row'"),
            std::string::npos);
}

} // namespace
