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
using namespace mlir;
using nest::NestModel;

static Loop::Kind kindOf(const nest::Loop &loop) {
  if (loop.level == "thread")
    return Loop::Thread;
  if (loop.isParallel() || loop.isSequential())
    return Loop::Sequential;
  return loop.level == "vector" ? Loop::Vector : loop.level == "unit" ? Loop::Unit : Loop::Register;
}

Loop::Loop(const NestModel &nest, const nest::Loop &loop) : kind(kindOf(loop)), step(loop.step) {
  for (const std::string &name : loop.names)
    if (int number = nest.indexOf(name); number >= 0)
      names.push_back(unsigned(number));
}

namespace {
class Resolver {
public:
  Resolver(const NestModel &nest, Loops &to) : nest(nest), to(to) {}

  void resolve(ArrayRef<Loop> loops, size_t outer) {
    findGroups(loops);
    nest::Extents all(nest.names.size(), 1);
    for (const Walked &group : to.groups)
      setExtents(nest, group.names, group.left, all);
    to.extents.push_back(std::move(all));
    // Loops of threads stay outside of loops that the schedule does not mention.
    bool leads = true;
    for (auto [i, loop] : llvm::enumerate(loops)) {
      if (i == outer) {
        walkAll(ofGroups);
        to.outerLevels = to.levels.size();
        leads = true;
      }
      if (leads && loop.kind != Loop::Thread)
        walkAll(i < outer ? ofGroups : outermost);
      leads &= loop.kind == Loop::Thread;
      enter(loop);
      to.levelAfter.push_back(unsigned(to.levels.size()));
    }
    walkAll(ofGroups);
    if (loops.size() <= outer)
      to.outerLevels = to.levels.size();
    walkAll(outermost);
    walkAll(innermost);
    for (const Level &level : to.levels)
      to.runs.push_back(to.runs.back() * level.trips);
    to.produced.resize(unsigned(to.groups.size()));
    for (auto [number, group] : llvm::enumerate(to.groups))
      to.produced[unsigned(number)] = !group.reduced;
  }

private:
  const NestModel &nest;
  Loops &to;
  SmallVector<unsigned, 6> ofGroups, outermost, innermost; ///< groups that no loop mentions

  unsigned add(const Names &names) {
    for (unsigned i = 0; i < to.groups.size(); ++i)
      if (to.groups[i].names == names)
        return i;
    bool reduced = !names.empty() && nest.isReduced(names[0]);
    to.groups.push_back({names, std::max<int64_t>(nest.sizeOf(names), 1), reduced});
    return unsigned(to.groups.size() - 1);
  }

  void findGroups(ArrayRef<Loop> loops) {
    for (const Loop &loop : loops) {
      unsigned group = add(loop.names);
      if (loop.kind == Loop::Vector) {
        to.vectors = int(group);
        to.width = std::min<int64_t>(nest.lanes, to.groups[group].left);
      }
    }
    for (unsigned name = 0; name < nest.names.size(); ++name)
      if (llvm::none_of(to.groups,
                        [&](const Walked &each) { return llvm::is_contained(each.names, name); }))
        (nest.isReduced(name)        ? innermost
         : name < nest.firstProduced ? ofGroups
                                     : outermost)
            .push_back(add({name}));
  }

  void enter(const Loop &loop) {
    unsigned group = add(loop.names);
    int64_t before = to.groups[group].left;
    if (loop.kind <= Loop::Sequential)
      walk(group, loop.step);
    else
      walkAll(innermost); // the register tile runs inside of all other loops
    if (loop.kind == Loop::Thread)
      to.chunks *= double(llvm::divideCeil(before, loop.step));
    if (loop.kind == Loop::Vector)
      to.width = std::min(to.width, before);
    if (loop.kind == Loop::Unit && before > 1) {
      to.together *= double(before);
      to.added = loop.names.back();
    }
  }

  void walkAll(SmallVectorImpl<unsigned> &waiting) {
    for (unsigned group : waiting)
      walk(group, 1);
    waiting.clear();
  }

  /// A vector that the last step fills in part takes as long as others.
  void walk(unsigned number, int64_t step) {
    Walked &group = to.groups[number];
    step = std::min(step, group.left);
    int64_t unit = int(number) == to.vectors && step >= to.width ? to.width : 1;
    double trips =
        double(llvm::divideCeil(group.left, unit)) / double(llvm::divideCeil(step, unit));
    group.left = step;
    if (trips <= 1)
      return;
    to.levels.push_back({number, trips});
    to.extents.push_back(nest::Extents(to.extents.back()));
    setExtents(nest, group.names, step, to.extents.back());
  }
};
} // namespace

Loops::Loops(const NestModel &nest, ArrayRef<Loop> loops, size_t outer) {
  Resolver(nest, *this).resolve(loops, outer);
}

double Loops::inTile(unsigned group) const {
  double points = double(groups[group].left);
  return int(group) == vectors ? std::ceil(points / double(width)) : points;
}

size_t Loops::producedLevels() const {
  size_t count = levels.size();
  while (count && groups[levels[count - 1].group].reduced)
    --count;
  return count;
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

GroupSet Loops::groupsOf(const llvm::SmallBitVector &names) const {
  GroupSet found(unsigned(groups.size()));
  for (auto [number, group] : llvm::enumerate(groups))
    if (llvm::any_of(group.names,
                     [&](unsigned name) { return name < names.size() && names[name]; }))
      found.set(unsigned(number));
  return found;
}

double Loops::times(const GroupSet &matters, const GroupSet &skips) const {
  size_t last = outerLevels; // nothing moves out of the loops around a nest
  for (size_t at = levels.size(); at > last; --at)
    if (matters[levels[at - 1].group])
      last = at;
  double count = 1;
  for (const Level &level : ArrayRef(levels).take_front(last))
    if (!skips[level.group])
      count *= level.trips;
  for (unsigned group : matters.set_bits())
    count *= inTile(group);
  return count;
}
