//===- Footprint.h - what loops touch of a tensor ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytes, lines and pages of the box of a tensor that loops from some place inwards touch. Nothing
// here is a rate: what a byte costs is the business of whoever asks.
//
//     %a[m, k] in [m, k], m: 64, k: 512, f32, loops that walk m by 6 points and k by 256:
//     boxElements   6 * 256            runBytes   1024, the next run is 2048 bytes further
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ANALYSIS_FOOTPRINT_H
#define HEDDLE_ANALYSIS_FOOTPRINT_H

#include "lib/analysis/NestModel.h"

namespace heddle::nest {

/// Points of each iteration name that loops walk.
using Extents = llvm::SmallVector<int64_t, 12>;

/// An access to a tensor that lies in a known layout.
struct PlacedAccess {
  struct Dim {
    std::string name; ///< of the tensor
    int64_t size = 1;
    /// Coordinate: a sum of iteration names (by number) times coefficients.
    std::vector<std::pair<unsigned, int64_t>> terms;
    int64_t stride = 1;      ///< elements between neighbours
    bool contiguous = false; ///< neighbours lie side by side ...
    int64_t run = 1;         ///< ... in runs of this many
    int64_t extent(const Extents &extents) const;
  };
  std::vector<Dim> dims;
  int64_t bytes = 4; ///< of an element
  bool isWrite = false;
  bool stageable = false;
  LaneKind lanes = LaneKind::Same;
  std::vector<std::string> order; ///< the tensor's names as they lie, outermost first

  PlacedAccess(const NestModel &nest, const NestAccess &access, const Layout &layout,
               LaneKind lanes);
  bool onLanes() const { return lanes != LaneKind::Same; } ///< read as vectors
  bool scattered() const { return lanes == LaneKind::Apart; }
  const Dim *find(unsigned name) const;
  bool mentions(unsigned name) const { return find(name); }
  /// The dimension that is this iteration name and nothing else.
  const Dim *plain(unsigned name) const;
};

/// Elements of the box that an access touches; `line`: elements of which some are wanted count as
/// all of their line of so many.
double boxElements(const PlacedAccess &access, const Extents &extents, int64_t line = 1);
/// How many times as much of a cache a box takes because its rows meet in few sets, which come
/// again after `span` bytes. `rests`: a result that rests in its sets and leaves the others free.
double setWaste(const PlacedAccess &access, const Extents &extents, int64_t span, bool rests);
/// Bytes that lie side by side in a box; how far the next ones lie, if asked.
double runBytes(const PlacedAccess &access, const Extents &extents, double *pitch = nullptr);
/// Pages of a box, of which each row may lie in one of its own.
double boxPages(const PlacedAccess &access, const Extents &extents, double pageBytes);

} // namespace heddle::nest

#endif // HEDDLE_ANALYSIS_FOOTPRINT_H
