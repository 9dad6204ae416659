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

#include "dialects/nest/Rates.h"
#include "lib/transforms/nest/LayoutProblem.h"

namespace heddle::nest {

/// A layout over the dimensions of a tensor by position, ready to compute offsets.
class PlacedLayout {
public:
  PlacedLayout(const Layout &layout, nd::NdTensorType type);
  int64_t offset(const std::vector<int64_t> &position) const;
  int64_t elements() const { return count; }

private:
  struct Factor {
    std::vector<unsigned> dims;
    std::vector<int64_t> sizes;
    int64_t divisor, modulus, low, extent;
  };
  std::vector<Factor> factors;
  int64_t count = 1;
};

struct LaidAccess;

/// A quasi-affine place over iteration names by position, or one that values tell.
struct Place {
  bool linear = true;
  bool gathered = false; ///< depends on values that are read
  int64_t constant = 0;
  std::vector<int64_t> steps; ///< where linear, for each iteration name
  Expr expr;
  std::vector<int> mentioned; ///< iteration names, those included that move what is read for it
  int plain = -1;             ///< the place is this name alone

  void mention(int name);
  /// All names that move a read, whose value tells the place.
  void mentionAll(const LaidAccess &read);
  /// Of several names, as in a window.
  bool isSum() const { return !gathered && mentioned.size() > 1; }

  int64_t at(const std::vector<int64_t> &point, const std::vector<std::string> &names) const;
};

struct LaidAccess {
  mlir::Value tensor;
  nd::NdTensorType type;
  std::vector<std::string> dims; ///< names of the tensor
  std::vector<Place> places;     ///< of each of them
  bool isWrite = false;
  bool inFinish = false; ///< happens once for each produced point
  bool gathered = false; ///< depends on values that are read
  bool mentions(unsigned name) const;
  /// Whether a place moves with `name` to wherever values tell.
  bool gatheredBy(unsigned name) const;
  int64_t bytes() const; ///< of an element
};

/// A nest's space and accesses.
struct NestModel {
  mlir::Operation *op = nullptr;
  std::vector<std::string> names; ///< outer ones (of groups), produced, reduced
  std::vector<int64_t> sizes;
  size_t firstProduced = 0, firstReduced = 0;
  std::vector<LaidAccess> accesses;
  double bodyCost = 0;   ///< simple operations at each point, the combiner's included
  double finishCost = 0; ///< at each produced point
  bool reduction = false;
  int64_t lanes = 16; ///< of a vector
  Rates rates;

  NestModel(mlir::Operation *op, MachineAttr machine);
  double points(size_t begin, size_t end) const;
  bool isProduced(size_t name) const { return name >= firstProduced && name < firstReduced; }
  bool isReduced(size_t name) const { return name >= firstReduced; }
  int indexOf(llvm::StringRef name) const;
};

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
  double reuse(const LaidAccess &access) const;
};

/// Cycles that one access adds to the arithmetic of a way where its tensor lies in `layout`.
double accessCost(const NestModel &nest, const WayModel &way, const LaidAccess &access,
                  const PlacedLayout &layout);

/// Cycles for a copy from one layout to another.
double copyCost(nd::NdTensorType type, const Layout &from, const Layout &to, const Rates &rates);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_LAYOUTCOST_H
