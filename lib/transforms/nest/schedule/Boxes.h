//===- Boxes.h - bytes that the loops of a candidate touch ------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The box of an access at a level is the part of the tensor that the loop and its inner loops
// touch. Its bytes are counted in several ways, and computed on demand, since few are needed:
//
//     Boxes boxes(space);
//     boxes.measure(candidate);
//     boxes.bytes(access, level, Boxes::Plain)     in the tensor
//     boxes.bytes(access, level, Boxes::Copied)    in a copy
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_NEST_SCHEDULE_BOXES_H
#define HEDDLE_TRANSFORMS_NEST_SCHEDULE_BOXES_H

#include "lib/transforms/nest/schedule/Candidate.h"

#include <array>

namespace heddle::nest {

class Boxes {
public:
  /// How to count the bytes of a box: its elements only; in a copy, which is widened and whose
  /// panels waste no lanes; in the tensor, in whole cache lines; or including the waste of rows that
  /// map to few sets of the first or second cache.
  enum Kind { Elements, Copied, Plain, InL1, InL2 };

  explicit Boxes(const LoopSpace &space) : s(space) {}

  /// Selects the candidate to measure.
  void measure(const Candidate &candidate);
  double bytes(unsigned access, size_t level, Kind kind);
  const Extents &at(size_t level) const { return extents[level]; }
  /// Returns the bytes of an element in a copy: narrow floats are widened unless they are
  /// multiplied in pairs.
  int64_t copiedBytes(const PlacedAccess &access) const {
    return s.m.pair < 0 ? std::max<int64_t>(access.bytes, 4) : access.bytes;
  }

private:
  /// By access and level: the level that has the same box, since a loop over a name that the access
  /// does not depend on has the box of its outer loop; and its bytes by kind, NaN if not computed
  /// yet.
  struct Box {
    size_t level;
    std::array<double, 5> bytes;
  };
  const LoopSpace &s;
  std::vector<Extents> extents; ///< extents of the current candidate
  bool resultsRest = false;     ///< results are updated repeatedly
  std::vector<Box> boxes;

  double compute(unsigned index, size_t level, Kind kind);
};

} // namespace heddle::nest

#endif // HEDDLE_TRANSFORMS_NEST_SCHEDULE_BOXES_H
