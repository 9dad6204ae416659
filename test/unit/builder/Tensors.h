//===- Tensors.h - tensors for tests ----------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_BUILDER_TENSORS_H
#define HEDDLE_TEST_UNIT_BUILDER_TENSORS_H

#include "heddle/Jit.h"
#include "heddle/Tensor.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace heddle::test {

/// Numbers in [low, 1) from a seed.
inline std::vector<float> numbers(size_t count, uint64_t seed, float low = -1) {
  std::vector<float> values(count);
  for (float &value : values) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    value = low + (1 - low) * float(seed >> 40) / float(1 << 24);
  }
  return values;
}

inline Tensor tensor(const std::vector<float> &values, const std::vector<Extent> &extents) {
  return Tensor::of<float>(std::span<const float>(values), extents);
}

/// A tensor of such numbers.
inline Tensor random(const std::vector<Extent> &extents, uint64_t seed, float low = -1) {
  size_t count = 1;
  for (const Extent &extent : extents)
    count *= size_t(extent.size);
  return tensor(numbers(count, seed, low), extents);
}

/// In row-major order of the sorted names.
inline std::vector<float> valuesOf(const Tensor &tensor) {
  Names order;
  for (const std::string &name : tensor.names())
    order.push_back(Name(name));
  return tensor.to<float>(order);
}

/// The message of the Error that `call` throws.
inline std::string messageOf(const std::function<void()> &call) {
  try {
    call();
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

/// Options without the cache, for any CPU and one thread.
inline JitOptions withSymbolic(SymbolicSizes symbolic) {
  return {.targetCpu = "x86-64", .threads = 1, .cache = false, .symbolic = std::move(symbolic)};
}

} // namespace heddle::test

#endif // HEDDLE_TEST_UNIT_BUILDER_TENSORS_H
