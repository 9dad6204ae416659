//===- Dice.h - choices from a seed -----------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same choices for the same seed on every machine (the standard's distributions may differ).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_LAWS_DICE_H
#define HEDDLE_TEST_UNIT_LAWS_DICE_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <initializer_list>
#include <utility>

namespace heddle::laws {

class Dice {
public:
  explicit Dice(uint64_t seed) : state(seed * 0xD1342543DE82EF95u + 1) { state = bits() ^ seed; }

  uint64_t bits() {
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// In [0, n).
  int64_t below(int64_t n) { return int64_t(bits() % uint64_t(n)); }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  /// In [0, 1).
  double fraction() { return double(bits() >> 11) * 0x1p-53; }
  template <typename T>
  T pick(std::initializer_list<T> list) {
    return list.begin()[below(int64_t(list.size()))];
  }
  template <typename List>
  auto &&pick(List &&list) {
    return list[size_t(below(int64_t(std::size(list))))];
  }
  template <typename List>
  void shuffle(List &list) {
    for (size_t i = std::size(list); i > 1; --i)
      std::swap(list[i - 1], list[size_t(below(int64_t(i)))]);
  }

private:
  uint64_t state;
};

} // namespace heddle::laws

#endif // HEDDLE_TEST_UNIT_LAWS_DICE_H
