//===- PlaceCopies.h - the loops that contain copies ------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A candidate copies a part of an operand in the loop that `Staging` selects:
//
//     thread n by 512 { loop k by 256 { cache m by 14 { cache n by 32 { tiles } } } }
//
//     %b[k, n]: in k, since all steps of m read its 256 x 512 elements again
//     %a[m, k]: in m, since all steps of n read its 14 x 256 elements again
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_NEST_SCHEDULE_PLACECOPIES_H
#define HEDDLE_TRANSFORMS_NEST_SCHEDULE_PLACECOPIES_H

#include "lib/transforms/nest/schedule/Candidate.h"

namespace heddle::nest {

/// Selects the loop of a copy: where the copy is smallest, so that it stays in a near cache; where
/// neighbouring boxes overlap least, so that nothing is copied twice; or none, except for operands
/// that can't be read otherwise.
enum class Staging { Near, Once, None };

class CopyPlaces {
public:
  explicit CopyPlaces(const LoopSpace &space) : s(space) {}

  /// Selects the candidate.
  void measure(const Candidate &candidate) { s.findExtents(candidate, extents); }
  /// Sets `candidate.stages`. Returns false if another kind of staging gives the same result.
  bool place(Candidate &candidate, Staging staging) const;

private:
  const LoopSpace &s;
  std::vector<Extents> extents; ///< of the candidate

  /// Returns true if each range of `part` points of merged names, the last name fastest, is a box
  /// of its names: 15 points of (batch, time: 5), but not 16.
  bool isBox(const Merged &merged, int64_t part) const;
  /// Returns the best loop to contain the copy of an access: the one with the fewest copies, then
  /// with the smallest box. -1: none.
  int loopOf(const Candidate &candidate, unsigned access, Staging staging) const;
};

} // namespace heddle::nest

#endif // HEDDLE_TRANSFORMS_NEST_SCHEDULE_PLACECOPIES_H
