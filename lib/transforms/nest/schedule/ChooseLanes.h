//===- ChooseLanes.h - the names that vectors walk --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses the names that the lanes of a vector walk, from the layouts of all tensors that a nest
// accesses: a produced name, or a merged group that a layout has, along which the result and most
// reads are contiguous or do not vary.
//
//     %c = nest.compute (m: 64, n: 32) reduce (k: 16) reads %a[], %b[] ...     all row-major
//
//     lanes n: %b[k, n] and %c[m, n] are contiguous, %a[m, k] does not vary    chosen
//     lanes m: %b does not vary, %a and %c are strided
//     lanes k: %a is contiguous, %b is strided, and lanes are added at the end
//
// A read whose lanes are strided counts as contiguous if it is used often enough to be copied
// first. The layouts and the schedule of a nest are chosen by this one function
// (AssignLayouts.cpp, ChooseSchedule.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_NEST_SCHEDULE_CHOOSELANES_H
#define HEDDLE_TRANSFORMS_NEST_SCHEDULE_CHOOSELANES_H

#include "lib/analysis/NestModel.h"

namespace heddle::nest {

/// Iteration names by number, which the lanes of a vector walk, merged, the last fastest.
using Lanes = std::vector<unsigned>;

/// A `nest.compute` with the layouts of all tensors that it accesses.
struct LaidNestModel {
  const NestModel &nest;
  std::vector<Layout> layouts; ///< of each access
  std::vector<SizedLayout> sized;

  LaidNestModel(const NestModel &nest, std::vector<Layout> layouts);

  LaneKind kindOf(size_t access, llvm::ArrayRef<unsigned> lanes) const;
  /// Returns true if a read may be staged: its coordinates are affine. Points that a guard excludes
  /// need tests, with a copy or without: then a copy is profitable only if it is widened.
  bool isStageable(unsigned read) const;
  /// Returns another produced name along which an access is contiguous; -1: none.
  int turnOf(size_t access, llvm::ArrayRef<unsigned> lanes) const;
  /// Returns the lanes that a schedule on the nest states, or the best ones; empty: no vectors.
  Lanes chooseLanes() const;

private:
  double costOf(const Lanes &lanes) const;
};

} // namespace heddle::nest

#endif // HEDDLE_TRANSFORMS_NEST_SCHEDULE_CHOOSELANES_H
