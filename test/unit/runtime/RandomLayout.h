//===- RandomLayout.h - random sizes and layouts ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layouts of every form: blocked, merged, interleaved, with borders, padding
// and swizzles, for sizes that blocks divide and do not divide.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_RUNTIME_RANDOMLAYOUT_H
#define HEDDLE_TEST_UNIT_RUNTIME_RANDOMLAYOUT_H

#include "test/unit/runtime/Random.h"

#include "runtime/expr/Layout.h"

namespace heddle {

inline Sizes drawSizes(Random &random, int64_t most = 9) {
  Sizes sizes;
  for (int64_t i = random.between(0, 4); i > 0; --i)
    sizes[std::string(1, char('a' + i))] = random.between(1, most);
  return sizes;
}

inline Layout drawLayout(Random &random, const Sizes &sizes) {
  std::vector<std::string> names;
  for (const auto &[name, size] : sizes)
    names.push_back(name);
  random.shuffle(names);
  Layout layout;
  for (size_t begin = 0; begin < names.size();) {
    size_t end =
        begin + size_t(random.between(1, std::min<int64_t>(2, int64_t(names.size() - begin))));
    Layout::Factor factor;
    int64_t extent = 1;
    for (; begin < end; ++begin) {
      factor.names.push_back(names[begin]);
      extent *= sizes.at(names[begin]);
    }
    if (random.between(0, 4) == 0) {
      factor.low = random.between(0, 2);
      factor.high = random.between(0, 2);
    }
    // A chain of blocks, the innermost first.
    int64_t divisor = 1;
    for (int64_t blocks = random.between(-1, 2); blocks > 0; --blocks) {
      Layout::Factor inner = factor;
      inner.divisor = divisor;
      inner.modulus = random.between(2, 5);
      divisor *= inner.modulus;
      layout.factors.push_back(inner);
    }
    factor.divisor = divisor;
    if (random.between(0, 5) == 0)
      factor.modulus =
          (extent + factor.low + factor.high + divisor - 1) / divisor + random.between(0, 2);
    layout.factors.push_back(factor);
  }
  random.shuffle(layout.factors);
  layout.zeroPadded = random.between(0, 1);
  if (random.between(0, 7) == 0)
    layout.swizzle = {random.between(1, 3), random.between(0, 2), random.between(1, 3)};
  return layout;
}

template <typename Visit>
void forEachPosition(const Sizes &sizes, Visit &&visit) {
  Sizes position;
  for (const auto &[name, size] : sizes) {
    if (size == 0)
      return;
    position[name] = 0;
  }
  for (;;) {
    visit(position);
    auto at = position.rbegin();
    while (at != position.rend() && ++at->second == sizes.find(at->first)->second)
      (at++)->second = 0;
    if (at == position.rend())
      return;
  }
}

} // namespace heddle

#endif // HEDDLE_TEST_UNIT_RUNTIME_RANDOMLAYOUT_H
