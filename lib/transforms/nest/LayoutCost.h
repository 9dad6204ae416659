//===- LayoutCost.h - what a layout costs a nest ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A nest as the cost model sees it: a space of iteration names and accesses to values. Nothing here
// compares names or knows ops. How an access meets a layout is found by looking at a few
// addresses: those of neighbouring lanes say whether a vector is loaded, a scalar is repeated, or
// lanes are gathered; those one step away along another name say whether the next vector, or the next
// scalar, is near.
//
//     %b[k, n] in [n floordiv 32, k, n mod 32], lanes n:   lanes 0 1 2 ..: contiguous; k + 1: 32 on, the
//                                                          very next vector of a tile of two: costs nothing
//     %b[k, n] in [k, n], n: 2048:                          contiguous; k + 1: another page
//
// Costs are cycles of one core with two fused multiply-adds and two loads a cycle (dialects/nest/Rates.h).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_LAYOUTCOST_H
#define HEDDLE_LIB_TRANSFORMS_NEST_LAYOUTCOST_H

#include "lib/analysis/NestModel.h"
#include "lib/transforms/nest/LayoutProblem.h"

namespace heddle::nest {

/// A way with what the cost of every access needs of it.
struct WayModel {
  std::vector<unsigned> lanes; ///< iteration names
  bool reduced = false;
  int64_t laneSize = 1, width = 1;                ///< points of the lanes' names; lanes of a vector
  double vectors = 0;                             ///< runs of the body
  double finishVectors = 0;                       ///< runs of the epilogue
  int64_t tileVectors = 1;                        ///< vectors of a register tile along the lanes
  std::vector<std::pair<unsigned, int64_t>> rows; ///< other names of the tile, with points
  double arithmetic = 0;
  unsigned tiles = 1; ///< register tiles over different names that do nearly as well as the best

  /// With one of the register tiles, the best first.
  WayModel(const NestModel &nest, std::vector<unsigned> lanes, bool reduced, unsigned tile = 0);
  /// Points of the tile's rows that an access lacks: it is used that often once loaded.
  double reuse(const NestAccess &access) const;
};

/// Cycles that one access adds to the arithmetic of a way where its tensor lies in `layout`.
double accessCost(const NestModel &nest, const WayModel &way, const NestAccess &access,
                  const PlacedLayout &layout);

/// Cycles for a copy from one layout to another.
double copyCost(nd::NdTensorType type, const Layout &from, const Layout &to, const Rates &rates);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_LAYOUTCOST_H
