//===- Loops.cpp - the loops of a schedule over a nest --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/Loops.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace heddle;
using namespace heddle::cost;
using namespace heddle::nest;
using namespace mlir;

static bool isInnermost(const Loop &loop) { return !loop.isParallel() && !loop.isSequential(); }

Loops::Loops(const NestModel &nest, ArrayRef<Loop> loops) : nest(nest) {
  findGroups(loops);
  noteExtents();
  bool leads = true; // loops of threads stay outside of loops that the schedule does not mention
  for (const Loop &loop : loops) {
    if (leads && loop.level != "thread")
      walkAll(outermost);
    leads &= loop.level == "thread";
    enter(loop);
    levelAfter.push_back(levels.size());
  }
  walkAll(outermost);
  walkAll(innermost);
  for (const Level &level : levels)
    runs.push_back(runs.back() * level.trips);
}

unsigned Loops::add(SmallVector<unsigned, 2> names) {
  for (unsigned i = 0; i < groups.size(); ++i)
    if (groups[i].names == names)
      return i;
  bool reduced = !names.empty() && nest.isReduced(names[0]);
  int64_t size = std::max<int64_t>(nest.sizeOf(names), 1);
  groups.push_back({std::move(names), size, reduced});
  return unsigned(groups.size() - 1);
}

unsigned Loops::groupOf(const Loop &loop) {
  SmallVector<unsigned, 2> names;
  for (const std::string &name : loop.names)
    if (int number = nest.indexOf(name); number >= 0)
      names.push_back(unsigned(number));
  return add(std::move(names));
}

void Loops::findGroups(ArrayRef<Loop> loops) {
  for (const Loop &loop : loops) {
    unsigned group = groupOf(loop);
    if (loop.level == "vector") {
      vectors = int(group);
      width = std::min<int64_t>(nest.lanes, groups[group].left);
    }
  }
  for (unsigned name = 0; name < nest.names.size(); ++name)
    if (llvm::none_of(groups,
                      [&](const Group &each) { return llvm::is_contained(each.names, name); }))
      (nest.isReduced(name) ? innermost : outermost).push_back(add({name}));
}

void Loops::enter(const Loop &loop) {
  unsigned group = groupOf(loop);
  int64_t before = groups[group].left;
  if (!isInnermost(loop))
    walk(group, loop.step);
  else
    walkAll(innermost); // the register tile runs inside of all other loops
  if (loop.level == "thread")
    chunks *= double(llvm::divideCeil(before, loop.step));
  if (loop.level == "vector")
    width = std::min(width, before);
  if (loop.level == "unit")
    together *= double(before);
}

void Loops::walkAll(std::vector<unsigned> &waiting) {
  for (unsigned group : std::exchange(waiting, {}))
    walk(group, 1);
}

/// A vector that the last step fills in part takes as long as others.
void Loops::walk(unsigned number, int64_t step) {
  Group &group = groups[number];
  step = std::min(step, group.left);
  int64_t unit = int(number) == vectors && step >= width ? width : 1;
  double trips = double(llvm::divideCeil(group.left, unit)) / double(llvm::divideCeil(step, unit));
  group.left = step;
  if (trips <= 1)
    return;
  levels.push_back({number, trips});
  noteExtents();
}

void Loops::noteExtents() {
  Extents now(nest.names.size(), 1);
  for (const Group &group : groups)
    setExtents(nest, group.names, group.left, now);
  extents.push_back(std::move(now));
}

double Loops::inTile(unsigned group) const {
  double points = double(groups[group].left);
  return int(group) == vectors ? std::ceil(points / double(width)) : points;
}

bool Loops::isSplit() const {
  bool reduced = false;
  for (const Level &level : levels) {
    if (reduced && !groups[level.group].reduced)
      return true;
    reduced |= groups[level.group].reduced;
  }
  return false;
}

double Loops::times(function_ref<bool(unsigned)> matters,
                    function_ref<bool(unsigned)> skips) const {
  size_t last = 0;
  for (size_t at = 0; at < levels.size(); ++at)
    if (matters(levels[at].group))
      last = at + 1;
  double count = 1;
  for (size_t at = 0; at < last; ++at)
    if (!skips(levels[at].group))
      count *= levels[at].trips;
  for (unsigned group = 0; group < groups.size(); ++group)
    if (matters(group))
      count *= inTile(group);
  return count;
}
