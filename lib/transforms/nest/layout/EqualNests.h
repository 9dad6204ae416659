//===- EqualNests.h - nests with equal costs of layouts ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Equal layers have equal nests, whose costs are computed once:
//
//     %3 = nest.compute (row: 64, unit$2: 32) reduce (k: 16) reads %a[], %b[] ...
//     %7 = nest.compute (row: 64, unit$5: 32) reduce (k: 16) reads %3[], %c[] ...
//
// have the same key if their reads may have the same layouts. Names may differ, but not their
// order, which breaks ties.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_EQUALNESTS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_EQUALNESTS_H

#include "lib/cost/NestFacts.h"

namespace heddle::nest {

/// A value that a nest accesses, and its layouts.
struct AccessedValue {
  SmallVector<unsigned> accesses;
  ArrayRef<Layout> candidates;
  size_t open = 0; ///< of them, the number that may be chosen
};

/// Returns a text that depends on all that costs of layouts depend on.
std::string keyOf(const cost::NestFacts &facts, ArrayRef<AccessedValue> values);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_EQUALNESTS_H
