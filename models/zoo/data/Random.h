//===- Random.h - random numbers for synthetic data -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     zoo::Random random(7, index);                       // a stream for each sample
//     float noise = float(0.5 * random.normal());
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_MODELS_ZOO_DATA_RANDOM_H
#define HEDDLE_MODELS_ZOO_DATA_RANDOM_H

#include "heddle/Ops.h"

#include <cmath>
#include <numbers>

namespace heddle::zoo {

/// SplitMix64 (Steele, Lea, Flood, OOPSLA'14). The same numbers on all machines.
class Random {
public:
  explicit Random(uint64_t seed, uint64_t stream = 0) : state(seed) {
    state = bits() + stream * 0xd1342543de82ef95ull;
    state = bits();
  }
  uint64_t bits() {
    uint64_t z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// In [0, 1).
  double uniform() { return double(bits() >> 11) * 0x1p-53; }
  /// From 0 to `most` - 1.
  int64_t below(int64_t most) { return int64_t(bits() % uint64_t(most)); }
  double normal() {
    double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

private:
  uint64_t state;
};

/// Random numbers from 0 to `classes` - 1, i32 {batch, further}: a field of an example.
inline Tensor randomTokens(uint64_t seed, int64_t classes, int64_t batch,
                           const std::vector<Extent> &further) {
  std::vector<Extent> extents{{Name("batch"), batch}};
  for (const Extent &extent : further)
    extents.push_back(extent);
  return randomIntegers(key(seed), 0, classes, extents).cast(ElementType::I32);
}
/// Random numbers from 1 to `most`, i32 {batch}.
inline Tensor randomLengths(uint64_t seed, int64_t most, int64_t batch) {
  return randomTokens(seed, most, batch, {}) + 1.0;
}

} // namespace heddle::zoo

#endif // HEDDLE_MODELS_ZOO_DATA_RANDOM_H
