//===- NestLayoutCost.cpp - costs of layouts for given lanes --------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/NestLayoutCost.h"

#include "lib/cost/AssumedLoops.h"

using namespace heddle;
using namespace heddle::cost;
using namespace mlir;

NestLayoutCost::NestLayoutCost(NestFacts &facts, ArrayRef<unsigned> lanes, unsigned tile,
                               const Rates &rates, bool isSplit)
    : facts(facts), lanes(lanes), tile(tile), rates(rates), isSplit(isSplit) {
  setLoops(assumedLoops(facts, lanes, tile, isSplit));
  auto all = llvm::to_vector(llvm::seq(unsigned(facts.nest().accesses.size())));
  measure(all);
}

void NestLayoutCost::setLoops(SmallVector<Loop, 12> assumed) {
  loops = std::move(assumed);
  facts.setLoops(loops, {}, facts.nest().firstProduced);
}

NestLayoutCost &NestLayoutCost::setLayout(ArrayRef<unsigned> accesses, const Layout &layout) {
  for (unsigned access : accesses)
    facts.setLayout(access, layout);
  if (!facts.nest().reduction) // a tile turns what lies apart
    if (SmallVector<Loop, 12> now = assumedLoops(facts, lanes, tile, isSplit); now != loops)
      setLoops(std::move(now));
  measure(accesses);
  return *this;
}

void NestLayoutCost::measure(ArrayRef<unsigned> changed) {
  llvm::erase_if(stages,
                 [&](const Stage &stage) { return llvm::is_contained(changed, stage.access); });
  size_t outer = facts.nest().firstProduced;
  facts.setStages(stages, outer);
  time = secondsOf(facts, rates);
  if (!facts.nest().reusesReads() || facts.loops().lanesAreReduced())
    return; // no schedule of it has copies
  for (unsigned access : changed)
    if (mayStage(access))
      stage(access);
}

/// Copies pay only if loops read their elements several times.
bool NestLayoutCost::mayStage(unsigned access) const {
  constexpr double leastUses = 8;
  const nest::NestModel &nest = facts.nest();
  const nest::PlacedAccess &place = facts.place(access);
  const nest::NestAccess &read = nest.accesses[access];
  ArrayRef<unsigned> lanes = facts.loops().lanes();
  bool hasLanes =
      place.lanes != nest::LaneKind::Apart || (lanes.size() == 1 && place.plain(lanes[0]));
  return read.stageable && hasLanes &&
         nest.points(nest.firstProduced, nest.names.size()) >= leastUses * read.elements;
}

/// Takes the fastest copy of an access: of all that it reads, or within the outermost loops.
void NestLayoutCost::stage(unsigned access) {
  constexpr unsigned mostLevels = 3;
  size_t outer = facts.nest().firstProduced, best = mostLevels;
  stages.push_back({access, 0});
  for (unsigned at = 0; at < std::min<size_t>(mostLevels, loops.size() - outer); ++at) {
    stages.back().at = at;
    facts.setStages(stages, outer);
    if (!facts.adjustments && secondsOf(countInstructions(facts), rates) >= time)
      continue; // bytes take more time, not less
    if (double staged = secondsOf(facts, rates); staged < time)
      time = staged, best = at;
  }
  if (best == mostLevels)
    stages.pop_back();
  else
    stages.back().at = unsigned(best);
  facts.setStages(stages, outer);
}

double cost::secondsOfCopy(NestFacts &copy, const Layout &from, const Layout &to,
                           const Rates &rates) {
  copy.setLayouts(ArrayRef({from, to}));
  double fastest = NestLayoutCost(copy, {}, 0, rates).seconds();
  for (const Layout *layout : {&from, &to}) {
    if (layout->factors.empty())
      continue;
    int last = copy.nest().indexOf(layout->factors.back().names.back());
    if (last >= 0 && copy.nest().sizes[size_t(last)] > 1)
      fastest = std::min(fastest, NestLayoutCost(copy, {unsigned(last)}, 0, rates).seconds());
  }
  return fastest;
}
