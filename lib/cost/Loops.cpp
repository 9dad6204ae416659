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
    for (const Merged &each : to.merged)
      setExtents(nest, each.names, each.left, all);
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
    to.produced.resize(unsigned(to.merged.size()));
    for (auto [number, each] : llvm::enumerate(to.merged))
      to.produced[unsigned(number)] = !each.reduced;
  }

private:
  const NestModel &nest;
  Loops &to;
  SmallVector<unsigned, 6> ofGroups, outermost, innermost; ///< names that no loop mentions

  unsigned add(const Names &names) {
    for (unsigned i = 0; i < to.merged.size(); ++i)
      if (to.merged[i].names == names)
        return i;
    bool reduced = !names.empty() && nest.isReduced(names[0]);
    to.merged.push_back({names, std::max<int64_t>(nest.sizeOf(names), 1), reduced});
    return unsigned(to.merged.size() - 1);
  }

  void findGroups(ArrayRef<Loop> loops) {
    for (const Loop &loop : loops) {
      unsigned each = add(loop.names);
      if (loop.kind == Loop::Vector) {
        to.vectors = int(each);
        to.width = std::min<int64_t>(nest.lanes, to.merged[each].left);
      }
    }
    for (unsigned name = 0; name < nest.names.size(); ++name)
      if (llvm::none_of(to.merged,
                        [&](const Merged &each) { return llvm::is_contained(each.names, name); }))
        (nest.isReduced(name)        ? innermost
         : name < nest.firstProduced ? ofGroups
                                     : outermost)
            .push_back(add({name}));
  }

  void enter(const Loop &loop) {
    unsigned each = add(loop.names);
    int64_t before = to.merged[each].left;
    if (loop.kind <= Loop::Sequential)
      walk(each, loop.step);
    else
      walkAll(innermost); // the register tile runs inside of all other loops
    if (loop.kind == Loop::Thread)
      to.chunks *= double(llvm::divideCeil(before, loop.step));
    if (loop.kind == Loop::Register)
      to.merged[each].unrolled.push_back(loop.step);
    if (loop.kind == Loop::Vector)
      to.width = std::min(to.width, before);
    if (loop.kind == Loop::Unit && before > 1) {
      to.together *= double(before);
      to.added = loop.names.back();
    }
  }

  void walkAll(SmallVectorImpl<unsigned> &pending) {
    for (unsigned each : pending)
      walk(each, 1);
    pending.clear();
  }

  /// A vector that the last step fills in part takes as long as others.
  void walk(unsigned number, int64_t step) {
    Merged &each = to.merged[number];
    step = std::min(step, each.left);
    int64_t unit = int(number) == to.vectors && step >= to.width ? to.width : 1;
    double trips = double(llvm::divideCeil(each.left, unit)) / double(llvm::divideCeil(step, unit));
    each.left = step;
    if (trips <= 1)
      return;
    to.levels.push_back({number, trips});
    to.extents.push_back(nest::Extents(to.extents.back()));
    setExtents(nest, each.names, step, to.extents.back());
  }
};
} // namespace

Loops::Loops(const NestModel &nest, ArrayRef<Loop> loops, size_t outer) {
  Resolver(nest, *this).resolve(loops, outer);
}

double Loops::inTile(unsigned each) const {
  double points = double(merged[each].left);
  return int(each) == vectors ? std::ceil(points / double(width)) : points;
}

size_t Loops::producedLevels() const {
  size_t count = levels.size();
  while (count && merged[levels[count - 1].merged].reduced)
    --count;
  return count;
}

bool Loops::isSplit() const {
  bool reduced = false;
  for (const Level &level : levels) {
    if (reduced && !merged[level.merged].reduced)
      return true;
    reduced |= merged[level.merged].reduced;
  }
  return false;
}

MergedSet Loops::mergedOf(const llvm::SmallBitVector &names) const {
  MergedSet found(unsigned(merged.size()));
  for (auto [number, each] : llvm::enumerate(merged))
    if (llvm::any_of(each.names, [&](unsigned name) { return name < names.size() && names[name]; }))
      found.set(unsigned(number));
  return found;
}

double Loops::times(const MergedSet &matters, const MergedSet &skips) const {
  size_t last = outerLevels; // nothing moves out of the loops around a nest
  for (size_t at = levels.size(); at > last; --at)
    if (matters[levels[at - 1].merged])
      last = at;
  double count = 1;
  for (const Level &level : ArrayRef(levels).take_front(last))
    if (!skips[level.merged])
      count *= level.trips;
  for (unsigned each : matters.set_bits())
    count *= inTile(each);
  return count;
}
