//===- Random.h - random samples with a printed seed ------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// forRandomSeeds(100, [](Random &random) { ... }) runs a property on a hundred
// samples. Each has a seed of its own, which a failure prints; the environment
// variable HEDDLE_SEED runs that one alone.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_RUNTIME_RANDOM_H
#define HEDDLE_TEST_UNIT_RUNTIME_RANDOM_H

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace heddle {

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  /// Uniform in [low, high].
  int64_t between(int64_t low, int64_t high) {
    return low + int64_t(engine() % uint64_t(high - low + 1));
  }
  template <typename List>
  const auto &oneOf(const List &list) {
    return list[size_t(between(0, int64_t(list.size()) - 1))];
  }
  template <typename List>
  void shuffle(List &list) {
    for (size_t i = list.size(); i > 1; --i)
      std::swap(list[i - 1], list[size_t(between(0, int64_t(i) - 1))]);
  }

private:
  std::mt19937_64 engine;
};

template <typename Property>
void forRandomSeeds(int samples, Property &&property) {
  const char *only = std::getenv("HEDDLE_SEED");
  uint64_t first = only ? std::strtoull(only, nullptr, 10) : 1;
  for (uint64_t seed = first; seed < first + uint64_t(only ? 1 : samples); ++seed) {
    SCOPED_TRACE("HEDDLE_SEED=" + std::to_string(seed));
    Random random(seed);
    property(random);
    if (::testing::Test::HasFailure())
      return;
  }
}

} // namespace heddle

#endif // HEDDLE_TEST_UNIT_RUNTIME_RANDOM_H
