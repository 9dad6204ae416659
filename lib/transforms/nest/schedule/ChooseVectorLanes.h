//===- ChooseVectorLanes.h - the names of vector lanes ----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses the names of the vector lanes, from the layouts of all tensors that a nest accesses: a
// produced name, or a group that a layout merges, along which the result and most reads are
// contiguous or invariant.
//
//     %c = nest.compute (m: 64, n: 32) reduce (k: 16) reads %a[], %b[] ...     all row-major
//
//     lanes n: %b[k, n] and %c[m, n] are contiguous, %a[m, k] does not vary    chosen
//     lanes m: %b does not vary, %a and %c are strided
//     lanes k: %a is contiguous, %b is strided, and lanes are added at the end
//
// A read with strided lanes counts as contiguous if it is used often enough to be copied first.
// This function decides for both the layouts and the schedule of a nest (AssignLayouts.cpp,
// ChooseSchedule.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_NEST_SCHEDULE_CHOOSEVECTORLANES_H
#define HEDDLE_TRANSFORMS_NEST_SCHEDULE_CHOOSEVECTORLANES_H

#include "lib/cost/NestLayoutCost.h"

namespace heddle::nest {

/// The iteration names of the lanes, by number, merged, the last fastest.
using Lanes = std::vector<unsigned>;

/// A `nest.compute` with the layouts of all tensors that it accesses.
struct LaidNestModel {
  const NestModel &nest;
  std::vector<Layout> layouts; ///< of each access
  std::vector<SizedLayout> sized;

  /// Keeps references.
  LaidNestModel(const NestModel &nest, std::vector<Layout> layouts, const cost::Machine &machine);

  LaneKind kindOf(size_t access, ArrayRef<unsigned> lanes) const;
  /// Returns another produced name along which an access is contiguous; -1: none.
  int turnOf(size_t access, ArrayRef<unsigned> lanes) const;
  /// Returns the lanes in the nest's schedule, or the best ones; empty: no vectors.
  Lanes chooseLanes() const;

private:
  mutable cost::NestFacts facts;
  const cost::Machine &machine;

  double costOf(const Lanes &lanes) const;
};

} // namespace heddle::nest

#endif // HEDDLE_TRANSFORMS_NEST_SCHEDULE_CHOOSEVECTORLANES_H
