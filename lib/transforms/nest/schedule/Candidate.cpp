//===- Candidate.cpp - a schedule of the family that is searched ----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/schedule/Candidate.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

LoopSpace::LoopSpace(const Model &model, ArrayRef<Loop> reductionOrder) : m(model) {
  const NestModel &nest = m.nest;
  for (const Loop &loop : reductionOrder) {
    std::vector<unsigned> names;
    for (const std::string &name : loop.names)
      names.push_back(unsigned(nest.indexOf(name)));
    reduction.emplace_back(numberOf(names, true), loop.step);
  }
  firstProduced = unsigned(merged.size());
  for (size_t i = nest.firstProduced; i < nest.firstReduced; ++i)
    if (!llvm::is_contained(m.lanes, i))
      numberOf({unsigned(i)}, false);
  lanes = numberOf(m.lanes, false);
  for (const PlacedAccess &access : m.accesses) {
    SmallVector<bool, 12> list;
    for (const Merged &each : merged)
      list.push_back(
          llvm::any_of(each.names, [&](unsigned name) { return access.mentions(name); }));
    mentioned.push_back(list);
  }
}

unsigned LoopSpace::numberOf(const std::vector<unsigned> &names, bool reduced) {
  for (unsigned i = 0; i < merged.size(); ++i)
    if (merged[i].names == names)
      return i;
  bool symbolic = llvm::any_of(names, [&](unsigned name) { return m.nest.symbolic[name]; });
  merged.push_back({names, m.nest.sizeOf(names), reduced, symbolic});
  return unsigned(merged.size() - 1);
}

void LoopSpace::findExtents(const Candidate &candidate, std::vector<Extents> &result) const {
  result.clear();
  SmallVector<int64_t, 12> tile;
  for (const Merged &each : merged)
    tile.push_back(each.size);
  Extents extents(m.nest.names.size(), 1);
  auto spread = [&](unsigned index) {
    setExtents(m.nest, merged[index].names, tile[index], extents);
  };
  for (unsigned i = 0; i < merged.size(); ++i)
    spread(i);
  result.push_back(extents);
  for (const Level &level : candidate.levels) {
    tile[level.merged] = level.step;
    spread(level.merged);
    result.push_back(extents);
  }
}
