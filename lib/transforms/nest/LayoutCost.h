//===- LayoutCost.h - costs of layouts --------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cost of layouts. The model sees a nest as a space of iteration names with accesses to values;
// it does not depend on names or ops. It computes a few addresses of each access in a layout: the
// addresses of neighbouring lanes show whether a vector is loaded, a scalar is broadcast, or lanes
// are gathered; the addresses one step along another name show whether the next vector, or the next
// scalar, is near.
//
//     %b[k, n] in [n floordiv 32, k, n mod 32], lanes n:
//         contiguous; k + 1 is 32 elements on, the next vector of a tile of two: costs nothing
//     %b[k, n] in [k, n], n: 2048, lanes n:
//         contiguous; k + 1 is on another page
//
// Costs are cycles of one core with two fused multiply-adds and two loads a cycle
// (lib/cost/Rates.h).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_LAYOUTCOST_H
#define HEDDLE_LIB_TRANSFORMS_NEST_LAYOUTCOST_H

#include "lib/analysis/NestModel.h"
#include "lib/cost/Rates.h"
#include "lib/transforms/nest/LayoutProblem.h"

namespace heddle::nest {

/// A way to run a nest, with the facts that determine the cost of its accesses. `arithmetic` is in
/// cycles.
struct WayModel {
  std::vector<unsigned> lanes; ///< iteration names
  bool reduced = false;
  int64_t laneSize = 1, width = 1;                ///< points of the lanes' names; lanes of a vector
  double vectors = 0;                             ///< runs of the body
  double finishVectors = 0;                       ///< runs of the epilogue
  int64_t tileVectors = 1;                        ///< vectors of a register tile along the lanes
  std::vector<std::pair<unsigned, int64_t>> rows; ///< other names of the tile, with points
  double arithmetic = 0;
  unsigned tiles = 1; ///< number of near-optimal register tiles

  /// `tile` selects one of the register tiles, the best first.
  WayModel(const NestModel &nest, std::vector<unsigned> lanes, bool reduced, unsigned tile = 0);
  /// How often a loaded element is used: the product of the points of those rows of the tile that
  /// the access does not depend on.
  double reuse(const NestAccess &access) const;
};

/// Returns the cycles that one access adds to the arithmetic of a way if its tensor has `layout`.
double accessCost(const NestModel &nest, const WayModel &way, const NestAccess &access,
                  const SizedLayout &layout, const cost::Rates &rates);

/// Returns the cycles of a copy from one layout to another.
double copyCost(nd::NdTensorType type, const Layout &from, const Layout &to,
                const cost::Rates &rates);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_LAYOUTCOST_H
