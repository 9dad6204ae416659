//===- Footprint.h - bytes, lines and pages of accesses ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes the bytes, cache lines and pages of the box of a tensor that a loop and its inner loops
// touch. These are amounts, not rates: callers determine the cost of a byte.
//
//     %a[m, k] in [m, k], m: 64, k: 512, f32, loops over 6 points of m and 256 of k:
//     boxElements   6 * 256            runBytes   1024, at a pitch of 2048 bytes
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ANALYSIS_FOOTPRINT_H
#define HEDDLE_ANALYSIS_FOOTPRINT_H

#include "lib/analysis/NestModel.h"

namespace heddle::nest {

/// For each iteration name, the number of points that loops cover.
using Extents = SmallVector<int64_t, 12>;

/// Sets the extents of merged names (the last varies fastest) of which loops walk `points` points.
void setExtents(const NestModel &nest, ArrayRef<unsigned> names, int64_t points, Extents &extents);

/// An access to a tensor whose layout is known.
struct PlacedAccess {
  struct Dim {
    std::string name; ///< one of the tensor's
    int64_t size = 1;
    /// Coordinate: a sum of iteration names (by number) times coefficients.
    std::vector<std::pair<unsigned, int64_t>> terms;
    int64_t stride = 1;      ///< in elements
    bool contiguous = false; ///< the innermost dimension: neighbours are contiguous ...
    int64_t run = 1;         ///< ... in runs of this many elements
    int64_t extent(const Extents &extents) const;
  };
  std::vector<Dim> dims; ///< by stride, the smallest first
  int64_t bytes = 4;     ///< per element
  bool isWrite = false;
  bool stageable = false;
  LaneKind lanes = LaneKind::Same;
  std::vector<std::string> order; ///< the tensor's names, outermost in memory first

  PlacedAccess(const NestModel &nest, const NestAccess &access, const Layout &layout,
               LaneKind lanes);
  bool onLanes() const { return lanes != LaneKind::Same; } ///< accessed as vectors
  bool scattered() const { return lanes == LaneKind::Apart; }
  const Dim *find(unsigned name) const;
  bool mentions(unsigned name) const { return find(name); }
  /// The dimension whose coordinate is this iteration name alone, or null.
  const Dim *plain(unsigned name) const;
};

/// Returns the number of elements in the box that an access touches. Along the contiguous
/// dimension it is rounded up to whole lines of `line` elements.
double boxElements(const PlacedAccess &access, const Extents &extents, int64_t line = 1);
/// Returns how many of the `lines` of a box map to the same set of a cache, if its rows are at a
/// distance that a large power of 2 divides. Addresses `way` bytes apart map to the same set;
/// `run`: bytes of its contiguous runs.
double linesPerSet(const PlacedAccess &access, const Extents &extents, double run, double lines,
                   int64_t way, int64_t line);
/// Returns the length of a contiguous run of a box in bytes. Sets `pitch`, if given, to the
/// distance from one run to the next in bytes.
double runBytes(const PlacedAccess &access, const Extents &extents, double *pitch = nullptr);
/// Returns the number of pages that a box with runs of `run` bytes touches; each run may be on a
/// separate page.
double boxPages(const PlacedAccess &access, const Extents &extents, double run, double pageBytes);

} // namespace heddle::nest

#endif // HEDDLE_ANALYSIS_FOOTPRINT_H
