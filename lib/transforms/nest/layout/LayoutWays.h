//===- LayoutWays.h - ways to run a nest ------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A way to run a nest: the names of its vector lanes, and a register tile. Ways propose layouts,
// and each couples the layouts of the tensors that the nest accesses:
//
//     c[m, n] = sum over k of a[m, k] * b[k, n]
//
//     lanes n, rows m      b has n last, a has m or k last
//     lanes m, rows n      a has m last, ...
//     lanes k              a and b have k last
//
// lib/cost estimates the time of each for given layouts (NestLayoutCost.h).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_LAYOUTWAYS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_LAYOUTWAYS_H

#include "lib/analysis/NestModel.h"

namespace heddle::nest {

inline constexpr size_t mostWays = 24; ///< of a nest

struct LayoutWay {
  std::vector<unsigned> lanes; ///< iteration names
  bool reduced = false;        ///< they are reduced names
  unsigned tile = 0;           ///< the number of its register tile, the best first
  unsigned tiles = 1;          ///< good register tiles for these lanes
  bool split = false;          ///< its outermost loop splits sums (lib/cost/AssumedLoops.h)
  RegisterTile registers;      ///< that tile
  double cycles = 0;           ///< of its arithmetic; only for an order of ways

  LayoutWay(const NestModel &nest, std::vector<unsigned> lanes, bool reduced, unsigned tile = 0);
  /// How often a loaded element is used: the product of the points of those rows of the tile that
  /// the access does not depend on.
  double reuse(const NestAccess &access) const;
};

/// Returns the ways to run a reduction, the fastest first.
std::vector<LayoutWay> waysOfReduction(const NestModel &nest);
/// Returns the ways to run a nest that is no reduction: with lanes along the innermost names of the
/// candidates of the tensors that it accesses.
std::vector<LayoutWay> waysOfPointwise(const NestModel &nest,
                                       function_ref<ArrayRef<Layout>(Value)> candidatesOf);
/// Appends a way for each good tile with these lanes: tiles over rows, or over columns, suit
/// different layouts.
void addTiles(std::vector<LayoutWay> &ways, const NestModel &nest,
              const std::vector<unsigned> &lanes);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_LAYOUT_LAYOUTWAYS_H
