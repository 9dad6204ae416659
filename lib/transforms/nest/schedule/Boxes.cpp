//===- Boxes.cpp - bytes that the loops of a candidate touch --------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/schedule/Boxes.h"

#include <cmath>

using namespace heddle;
using namespace heddle::nest;

double Boxes::compute(unsigned index, size_t level, Kind kind) {
  const PlacedAccess &access = s.m.accesses[index];
  const Extents &at = extents[level];
  int64_t narrow = access.bytes, wide = copiedBytes(access);
  switch (kind) {
  case Elements:
    return boxElements(access, at) * double(wide);
  case Copied:
    return access.onLanes() ? bytes(index, level, Elements)
           : wide == narrow ? bytes(index, level, Plain)
                            : boxElements(access, at, 64 / wide) * double(wide);
  case Plain:
    return boxElements(access, at, 64 / narrow) * double(narrow);
  case InL1:
    return bytes(index, level, Plain) * setWaste(access, at, s.m.nest.l1 / 8, false);
  case InL2:
    return bytes(index, level, Plain) *
           setWaste(access, at, s.m.nest.l2 / 16, access.isWrite && resultsRest);
  }
  llvm_unreachable("a kind");
}

void Boxes::measure(const Candidate &candidate) {
  s.findExtents(candidate, extents);
  resultsRest = candidate.split;
  boxes.clear();
  for (const auto &mentions : s.mentioned)
    for (size_t level = 0; level < extents.size(); ++level) {
      bool same = level && !mentions[candidate.levels[level - 1].group];
      Box &made = boxes.emplace_back();
      made.level = same ? (&made - 1)->level : level;
      made.bytes.fill(NAN);
    }
}

double Boxes::bytes(unsigned access, size_t level, Kind kind) {
  size_t first = access * extents.size();
  level = boxes[first + level].level;
  double &known = boxes[first + level].bytes[kind];
  if (std::isnan(known))
    known = compute(access, level, kind);
  return known;
}
