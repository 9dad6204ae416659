//===- Compare.h - values and gradients of layers ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values are compared with what plain loops in double or PyTorch computed, gradients with
// differences of the compiled function itself or with PyTorch's.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_NN_COMPARE_H
#define HEDDLE_TEST_UNIT_NN_COMPARE_H

#include "heddle/Jit.h"
#include "test/unit/builder/Tensors.h"

#include "gtest/gtest.h"

#include <cmath>

namespace heddle::test {

inline Names orderOf(const Tensor &tensor) {
  Names order;
  for (const std::string &name : tensor.names())
    order.push_back(Name(name));
  return order;
}
inline std::vector<Extent> extentsOf(const Tensor &tensor) {
  std::vector<Extent> extents;
  for (const auto &[name, size] : tensor.sizes())
    extents.push_back({Name(name), size});
  return extents;
}

struct Inputs {
  std::vector<Tensor> all;
  HEDDLE_FIELDS(all)
};

/// Compares the gradient of sum(weights * function(inputs)) with differences.
template <typename F>
void expectGradient(F &&function, std::vector<Tensor> inputs, double tolerance = 1e-2) {
  auto loss = [&](Inputs x) {
    Tensor y = function(x.all);
    std::vector<Extent> extents = extentsOf(y);
    return sum(y * (randomUniform(key(99), extents) + 0.5), orderOf(y));
  };
  auto forward = jit([&](Inputs x) { return loss(x); });
  auto both = jit([&](Inputs x) { return valueAndGrad(loss, x); });
  Inputs x{inputs};
  auto [value, gradient] = both(x);
  EXPECT_NEAR(value.item(), forward(x).item(), 1e-4 * (1 + std::abs(value.item())));
  for (size_t i = 0; i < inputs.size(); ++i) {
    Names order = orderOf(inputs[i]);
    const Tensor &slope = gradient.all[i];
    std::vector<float> values = inputs[i].to<float>(order), got = slope.to<float>(order);
    size_t stride = std::max<size_t>(1, values.size() / 12);
    for (size_t at = 0; at < values.size(); at += stride) {
      auto moved = [&](float by) {
        auto changed = values;
        changed[at] += by;
        Inputs y = x;
        y.all[i] = tensor(changed, extentsOf(inputs[i]));
        return forward(y).item();
      };
      double step = 1e-2, wanted = (moved(1e-2f) - moved(-1e-2f)) / (2 * step);
      EXPECT_NEAR(got[at], wanted, tolerance * (1 + std::abs(wanted)))
          << "input " << i << ", element " << at;
    }
  }
}

inline void expectNear(const std::vector<float> &got, const std::vector<double> &wanted,
                       double tolerance = 1e-5) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], wanted[i], tolerance * (1 + std::abs(wanted[i]))) << i;
}

template <typename F>
std::vector<double> mapped(const std::vector<float> &values, F &&function) {
  std::vector<double> result;
  for (float value : values)
    result.push_back(function(double(value)));
  return result;
}

} // namespace heddle::test

#endif // HEDDLE_TEST_UNIT_NN_COMPARE_H
