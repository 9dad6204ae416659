//===- PlaceCopies.cpp - the loops that contain copies --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/schedule/PlaceCopies.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

bool CopyPlaces::isBox(const Merged &merged, int64_t part) const {
  if (part >= merged.size)
    return true;
  for (unsigned name : llvm::reverse(ArrayRef(merged.names).drop_front())) {
    int64_t size = s.m.nest.sizes[name];
    if (part % size)
      return size % part == 0;
    part /= size;
  }
  return true;
}

int CopyPlaces::loopOf(const Candidate &candidate, unsigned index, Staging staging) const {
  int best = -1;
  double fewest = INFINITY, repeated = 1, trips = 1;
  bool boxed = true; // inner loops cover a box of the merged lanes
  for (size_t i = 0; i < candidate.outer; ++i) {
    const Level &level = candidate.levels[i];
    if (level.merged == s.lanes)
      boxed = isBox(s.merged[s.lanes], level.step);
    bool matters = s.mentioned[index][level.merged];
    trips *= level.trips();
    if (!matters)
      repeated *= level.trips();
    // Each chunk makes its own copies.
    if (i + 1 < candidate.chunkLevels)
      continue;
    matters |= i < candidate.chunkLevels;
    // Whether inner loops use it again.
    bool reused = false;
    for (size_t j = i + 1; j < candidate.outer; ++j)
      reused |= !s.mentioned[index][candidate.levels[j].merged];
    if (!matters || !reused || (s.mentioned[index][s.lanes] && !boxed))
      continue;
    const PlacedAccess &access = s.m.accesses[index];
    double bytes = boxElements(access, extents[i + 1]) * double(s.m.copiedBytes(access));
    double copied = staging == Staging::Once ? trips * bytes : repeated;
    if (bytes <= 0.6 * double(s.m.nest.l2) && copied <= fewest * 1.05) {
      fewest = copied;
      best = int(i);
    }
  }
  return best;
}

bool CopyPlaces::place(Candidate &candidate, Staging staging) const {
  candidate.stages.clear();
  bool other = staging != Staging::Once;
  for (unsigned i = 0; i < s.m.accesses.size(); ++i) {
    const PlacedAccess &access = s.m.accesses[i];
    if (!access.stageable || (staging == Staging::None && !access.scattered()))
      continue;
    int loop = loopOf(candidate, i, staging);
    other |= staging == Staging::Once && loop != loopOf(candidate, i, Staging::Near);
    if (loop >= 0)
      candidate.stages.push_back({i, loop});
  }
  return (staging == Staging::None || !candidate.stages.empty()) && other;
}
