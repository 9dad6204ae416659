//===- ScheduledLoops.cpp - the loops of a schedule -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/analysis/ScheduledLoops.h"

#include "llvm/Support/MathExtras.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// The maximum number of unrolled points of a register tile.
static constexpr int64_t mostPoints = 64;

namespace {
struct Entry {
  Loop loop;
  bool reduced;
  std::vector<unsigned> stages;
  bool converted = false; ///< unrolling was requested
  bool pair = false;      ///< two points that are multiplied together
  bool lane = false;      ///< bound to lanes
  int64_t below = 1;      ///< lanes of the bound loops inside

  bool isVector() const { return loop.level == "vector"; }
  bool isUnrolled() const { return loop.level == "register"; }
  bool isSequential() const { return !isUnrolled() && !isVector(); }
  bool sameNames(const Entry &other) const { return loop.names == other.loop.names; }
  void walkOneByOne() {
    loop.level = "loop";
    converted = true;
  }
};

class LoopScheduler {
public:
  LoopScheduler(nd::DimsAttr produced, nd::DimsAttr reduced, unsigned &nextVariable)
      : nextVariable(nextVariable), produced(produced), reduced(reduced) {}

  ScheduledLoops run(const Schedule &schedule, int64_t widest, const UnitUse &use,
                     bool bindsLanes) {
    collect(schedule);
    if (bindsLanes)
      bindLanes();
    repeatEmptyLoops(bindsLanes);
    chooseLanes(widest);
    chooseUnit(use);
    limitUnrolling();
    moveOutOfReduction();
    for (size_t i = 0; i < entries.size(); ++i)
      addWalk(i);
    std::set<MergedNames> seen;
    for (Walk &walk : llvm::reverse(made.loops))
      walk.innermost = seen.insert(walk.names).second;
    return std::move(made);
  }

private:
  unsigned &nextVariable;
  nd::DimsAttr produced, reduced;
  std::vector<Entry> entries;
  ScheduledLoops made;

  nd::SizeAttr sizeOf(const std::string &name) const {
    nd::SizeAttr size = produced.lookup(name);
    return size ? size : reduced.lookup(name);
  }
  int64_t pointsOf(const MergedNames &names) const {
    __int128 size = 1;
    for (const std::string &name : names)
      size = std::min<__int128>(size * sizeOf(name).most(), INT64_MAX / 4);
    return int64_t(size);
  }
  /// The number of points of its names that the loop at `position` covers.
  int64_t tileAt(size_t position) const {
    int64_t tile = pointsOf(entries[position].loop.names);
    for (size_t i = 0; i < position; ++i)
      if (entries[i].sameNames(entries[position]))
        tile = std::min(tile, entries[i].loop.step);
    return tile;
  }

  void collect(const Schedule &schedule);
  void bindLanes();
  void repeatEmptyLoops(bool bindsLanes);
  void chooseLanes(int64_t widest);
  void chooseUnit(const UnitUse &use);
  void limitUnrolling();
  void moveOutOfReduction();
  void addWalk(size_t position);
};
} // namespace

/// Collects the loops of the schedule and adds loops for names without one: for produced names
/// after the parallel loops, for reduced names last.
void LoopScheduler::collect(const Schedule &schedule) {
  std::set<std::string> walked;
  for (const Loop &loop : schedule.loops) {
    Entry entry{loop, reduced.contains(loop.names[0]), {}};
    for (const std::string &name : loop.names) {
      walked.insert(name);
      assert(reduced.contains(name) == entry.reduced && "verified: Schedule::verify");
    }
    for (auto [i, stage] : llvm::enumerate(schedule.stages))
      if (&schedule.loops[stage.at] == &loop)
        entry.stages.push_back(i);
    entries.push_back(entry);
  }
  size_t front = 0;
  while (front < entries.size() && entries[front].loop.isParallel())
    ++front;
  for (const nd::Dim &dim : produced)
    if (!walked.count(dim.name.str()))
      entries.insert(entries.begin() + front++, {{"loop", {dim.name.str()}, 1, 1}, false, {}});
  for (const nd::Dim &dim : reduced)
    if (!walked.count(dim.name.str()))
      entries.push_back({{"loop", {dim.name.str()}, 1, 1}, true, {}});
}

/// Numbers the lanes, those of the last loop first, and moves bound loops over produced names out
/// of the reduction.
void LoopScheduler::bindLanes() {
  int64_t below = 1;
  for (size_t i = entries.size(); i-- > 0;) {
    Entry &entry = entries[i];
    entry.lane = entry.loop.isParallel() && !entry.loop.isShared();
    if (!entry.lane)
      continue;
    entry.below = below;
    below = std::min<int64_t>(below * llvm::divideCeil(tileAt(i), entry.loop.step), INT32_MAX);
  }
  for (size_t i = 0; i < entries.size(); ++i)
    for (size_t at = i; at > 0 && entries[at].lane && !entries[at].reduced &&
                        entries[at - 1].reduced && entries[at - 1].isSequential();
         --at)
      std::swap(entries[at - 1], entries[at]);
}

/// If accumulators are spilled between the steps of a loop that may have no trips, adds a loop over
/// the same name around the loops that carry them in registers. The outer loop then runs at least
/// once, so that the accumulators are finished, and the inner one has no work. It is innermost
/// where lanes are bound, since some of them may have no work, but all must reach barriers.
void LoopScheduler::repeatEmptyLoops(bool bindsLanes) {
  for (const nd::Dim &dim : reduced) {
    auto isOver = [&](const Entry &entry) {
      return entry.loop.names == MergedNames{dim.name.str()};
    };
    auto last = std::find_if(entries.rbegin(), entries.rend(), isOver);
    if (dim.size().constant() || last == entries.rend() || last->isVector())
      continue;
    auto produced = std::find_if(entries.rbegin(), last, [](const Entry &entry) {
      return !entry.reduced && entry.isSequential();
    });
    if (produced != last)
      entries.insert(bindsLanes ? entries.end() : produced.base(),
                     {{"loop", {dim.name.str()}, 1, 1}, true, {}});
  }
}

/// Keeps at most one vector loop, the last one; its width is a power of two, at most `widest`.
void LoopScheduler::chooseLanes(int64_t widest) {
  int vector = -1;
  for (auto [i, entry] : llvm::enumerate(entries))
    if (entry.isVector()) {
      if (vector >= 0)
        entries[vector].loop.level = "register";
      vector = int(i);
    }
  if (vector < 0)
    return;
  int64_t tile = tileAt(vector);
  made.lanes = std::max<int64_t>(2, std::min<int64_t>(widest, llvm::PowerOf2Ceil(tile)));
  made.laneNames = entries[vector].loop.names;
  made.lanesReduced = entries[vector].reduced;
  if (tile > made.lanes) {
    Entry split = entries[vector];
    split.loop.level = tile <= 4 * made.lanes ? "register" : "loop";
    split.converted = split.loop.level == "loop";
    split.loop.step = made.lanes;
    split.stages.clear();
    entries.insert(entries.begin() + vector, split);
  }
}

/// Selects the first unit loop over points of a reduced name that can be multiplied together.
void LoopScheduler::chooseUnit(const UnitUse &use) {
  for (auto [i, entry] : llvm::enumerate(entries))
    if (entry.loop.level == "unit" && entry.loop.names.size() == 1 && entry.loop.step == 1 &&
        llvm::is_contained(use.names, entry.loop.names[0]) && tileAt(i) == depthOf(use.unit) &&
        !made.lanesReduced && made.lanes >= 4) {
      entry.loop.level = "register";
      entry.pair = true;
      made.unit = use.unit;
      return;
    }
}

/// Makes register loops sequential that contain sequential loops over the same names, or that
/// unroll too much.
void LoopScheduler::limitUnrolling() {
  for (size_t i = 0; i < entries.size(); ++i)
    for (size_t j = i + 1; j < entries.size(); ++j)
      if (entries[i].isUnrolled() && entries[i].sameNames(entries[j]) && entries[j].isSequential())
        entries[i].walkOneByOne();
  int64_t points = 1;
  for (size_t i = entries.size(); i-- > 0;) {
    if (!entries[i].isUnrolled() || entries[i].pair)
      continue;
    int64_t count = llvm::divideCeil(tileAt(i), entries[i].loop.step);
    if (points * count <= mostPoints) {
      points *= count;
      continue;
    }
    // Outer loops over the same names can't stay unrolled either.
    for (Entry &outer : MutableArrayRef(entries).take_front(i + 1))
      if (outer.sameNames(entries[i]) && outer.isUnrolled())
        outer.walkOneByOne();
  }
}

/// Moves register loops that became sequential out of the reduction, so that the accumulators stay
/// in registers.
void LoopScheduler::moveOutOfReduction() {
  auto front = llvm::find_if(
      entries, [](const Entry &entry) { return entry.reduced && entry.isSequential(); });
  for (auto entry = front; entry != entries.end(); ++entry) {
    if (!entry->converted || entry->reduced)
      continue;
    if (std::none_of(front, entry, [&](const Entry &other) { return other.sameNames(*entry); }))
      std::rotate(front, entry, entry + 1), ++front;
  }
}

/// Adds the loop at `position`, after all outer loops.
void LoopScheduler::addWalk(size_t position) {
  const Entry &entry = entries[position];
  Walk walk;
  walk.names = entry.loop.names;
  walk.tile = tileAt(position);
  walk.step = std::min(entry.loop.step, std::max<int64_t>(walk.tile, 1));
  walk.reduced = entry.reduced;
  walk.thread = entry.loop.isShared();
  walk.lane = entry.lane;
  walk.below = entry.below;
  walk.unroll = entry.loop.unroll;
  walk.stages = entry.stages;
  Expr whole(1);
  for (const std::string &name : walk.names) {
    made.nameSizes[name] = sizeOf(name).getExpr();
    whole = whole * made.nameSizes[name];
  }
  made.sizes[walk.names] = whole;
  int64_t most = made.most[walk.names] = pointsOf(walk.names);
  bool isWhole = llvm::none_of(ArrayRef(entries).take_front(position), [&](const Entry &outer) {
    return outer.sameNames(entry) && outer.loop.step < most;
  });
  walk.steps = isWhole ? whole.ceildiv(walk.step) : Expr(walk.count());
  if (entry.isVector()) {
    if (!made.loops.empty() && !walk.stages.empty())
      llvm::append_range(made.loops.back().stages, walk.stages);
    return;
  }
  walk.variable = loopVariable(nextVariable++);
  if (entry.isUnrolled()) {
    if (entry.pair)
      made.pair = walk.variable;
    made.tile.push_back(walk);
    // A stage at an unrolled loop is copied inside of the last sequential loop.
    llvm::append_range(made.loops.empty() ? made.firstStages : made.loops.back().stages,
                       walk.stages);
    return;
  }
  made.loops.push_back(walk);
  if (!walk.reduced)
    made.outer = made.loops.size();
}

int64_t ScheduledLoops::boundLanes() const {
  int64_t lanes = 1;
  for (const Walk &walk : loops)
    if (walk.lane)
      lanes = std::min<int64_t>(lanes * std::max<int64_t>(walk.count(), 1), INT32_MAX);
  return lanes;
}

bool ScheduledLoops::isBound(const MergedNames &names) const {
  return llvm::any_of(loops, [&](const Walk &walk) { return walk.lane && walk.names == names; });
}

std::string nest::loopVariable(unsigned number) {
  std::string digits = std::to_string(number);
  return "v" + std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits + "$";
}

void ScheduledLoops::bind(const MergedNames &names, const Expr &index, const Ranges &ranges,
                          Replacement &bindings) const {
  Expr merged = index.simplify(ranges);
  int64_t below = 1;
  for (size_t i = names.size(); i-- > 0;) {
    int64_t size = nameSizes.find(names[i])->second.constant().value_or(1); // verified
    Expr part = merged.floordiv(below);
    if (i > 0)
      part = part.mod(std::max<int64_t>(size, 1));
    bindings[names[i]] = part.simplify(ranges);
    below *= std::max<int64_t>(size, 1);
  }
}

ScheduledLoops nest::scheduledLoops(nd::DimsAttr produced, nd::DimsAttr reduced,
                                    const Schedule &schedule, unsigned bits, MachineAttr machine,
                                    unsigned &nextVariable, const UnitUse &use, bool bindLanes) {
  int64_t vectorBits = (machine ? machine.integer("vector_bytes", 32) : 32) * 8;
  int64_t widest = std::max<int64_t>(1, vectorBits / std::max(bits, 8u));
  return LoopScheduler(produced, reduced, nextVariable).run(schedule, widest, use, bindLanes);
}
