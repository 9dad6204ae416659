//===- NestLayoutCost.h - costs of layouts for given lanes ------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `NestLayoutCost` estimates the time of a nest whose lanes are chosen, for layouts of one tensor.
// Loops are assumed (AssumedLoops.h). A read whose lanes are apart may be staged: it is copied once
// to a buffer in which lanes are contiguous.
//
//     NestLayoutCost cost(facts, {n}, /*tile=*/0, rates);
//     cost.setLayout(b, [k, n]).seconds()     4e-6
//     cost.setLayout(b, [n, k]).seconds()     9e-6, so [n, k] costs 5 us more
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COST_NESTLAYOUTCOST_H
#define HEDDLE_LIB_COST_NESTLAYOUTCOST_H

#include "lib/cost/Cost.h"

namespace heddle::cost {

class NestLayoutCost {
public:
  /// Replaces the loops of `facts`, whose layouts must be known.
  NestLayoutCost(NestFacts &facts, ArrayRef<unsigned> lanes, unsigned tile, const Rates &rates,
                 bool isSplit = false);

  double seconds() const { return time; }
  /// Replaces the layout of accesses to one tensor.
  NestLayoutCost &setLayout(ArrayRef<unsigned> accesses, const Layout &layout);

private:
  NestFacts &facts;
  std::vector<unsigned> lanes;
  unsigned tile;
  const Rates &rates;
  bool isSplit;
  SmallVector<Loop, 12> loops;
  SmallVector<Stage, 4> stages;
  double time = 0;

  void setLoops(SmallVector<Loop, 12> assumed);
  void measure(ArrayRef<unsigned> changed);
  bool mayStage(unsigned access) const;
  void stage(unsigned access);
};

/// Returns the seconds of a copy of a tensor from one layout to another (NestFacts::ofCopy).
double secondsOfCopy(NestFacts &copy, const Layout &from, const Layout &to, const Rates &rates);

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_NESTLAYOUTCOST_H
