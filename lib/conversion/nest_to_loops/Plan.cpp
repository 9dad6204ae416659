//===- Plan.cpp - a schedule made ready for emission ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Plan.h"

#include "llvm/Support/MathExtras.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// Points of a tile beyond which unrolling is refused.
static constexpr int64_t mostPoints = 64;

Plan nest::planLoops(Emitter &emitter, nd::DimsAttr produced, nd::DimsAttr reduced,
                     const Schedule &schedule, unsigned bits, ArrayRef<std::string> paired) {
  struct Entry {
    Loop loop;
    bool reduced;
    std::vector<unsigned> stages;
    bool converted = false; ///< was to be unrolled
    bool pair = false;      ///< two points that are multiplied at once
  };
  auto sizeOf = [&](const std::string &name) {
    nd::SizeAttr size = produced.lookup(name);
    return size ? size : reduced.lookup(name);
  };
  auto groupSize = [&](const Group &group) {
    __int128 size = 1;
    for (const std::string &name : group)
      size = std::min<__int128>(size * sizeOf(name).most(), INT64_MAX / 4);
    return int64_t(size);
  };
  std::vector<Entry> entries;
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
  // Names without a loop: produced ones after the thread loops, reduced ones last.
  size_t front = 0;
  while (front < entries.size() && entries[front].loop.level == "thread")
    ++front;
  for (const nd::Dim &dim : produced)
    if (!walked.count(dim.name.str()))
      entries.insert(entries.begin() + front++, {{"loop", {dim.name.str()}, 1, 1}, false, {}});
  for (const nd::Dim &dim : reduced)
    if (!walked.count(dim.name.str()))
      entries.push_back({{"loop", {dim.name.str()}, 1, 1}, true, {}});

  // Accumulators that rest between the steps of a loop over a name that may turn out empty: a loop
  // further in finds nothing to do, and they are finished all the same.
  for (const nd::Dim &dim : reduced) {
    auto isOver = [&](const Entry &entry) { return entry.loop.names == Group{dim.name.str()}; };
    auto last = std::find_if(entries.rbegin(), entries.rend(), isOver);
    if (dim.size().constant() || last == entries.rend() || last->loop.level == "vector")
      continue;
    if (std::any_of(entries.rbegin(), last, [](const Entry &entry) {
          return !entry.reduced && entry.loop.level != "register" && entry.loop.level != "vector";
        }))
      entries.push_back({{"loop", {dim.name.str()}, 1, 1}, true, {}});
  }

  // At most one vector, the last one written; its width is a power of two.
  Plan plan;
  int64_t vectorBits = (emitter.machine ? emitter.machine.integer("vector_bytes", 32) : 32) * 8;
  int64_t widest = std::max<int64_t>(1, vectorBits / std::max(bits, 8u));
  auto isVector = [](const Entry &entry) { return entry.loop.level == "vector"; };
  int vector = -1;
  for (size_t i = 0; i < entries.size(); ++i)
    if (isVector(entries[i])) {
      if (vector >= 0)
        entries[vector].loop.level = "register";
      vector = int(i);
    }
  auto tileAt = [&](size_t position) {
    int64_t tile = groupSize(entries[position].loop.names);
    for (size_t i = 0; i < position; ++i)
      if (entries[i].loop.names == entries[position].loop.names)
        tile = std::min(tile, entries[i].loop.step);
    return tile;
  };
  if (vector >= 0) {
    int64_t tile = tileAt(vector);
    plan.lanes = std::min<int64_t>(widest, llvm::PowerOf2Ceil(tile));
    if (plan.lanes < 2)
      plan.lanes = 2;
    plan.laneGroup = entries[vector].loop.names;
    plan.lanesReduced = entries[vector].reduced;
    if (tile > plan.lanes) {
      Entry split = entries[vector];
      split.loop.level = tile <= 4 * plan.lanes ? "register" : "loop";
      split.converted = split.loop.level == "loop";
      split.loop.step = plan.lanes;
      split.stages.clear();
      entries.insert(entries.begin() + vector, split);
    }
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    Entry &entry = entries[i];
    bool isSecond = llvm::any_of(entries, [](const Entry &other) { return other.pair; });
    if (entry.loop.level == "unit" && !isSecond && entry.loop.names.size() == 1 &&
        entry.loop.step == 1 && tileAt(i) == 2 && llvm::is_contained(paired, entry.loop.names[0]) &&
        !plan.lanesReduced && plan.lanes >= 4) {
      entry.loop.level = "register";
      entry.pair = true;
    }
  }
  // Register loops around sequential loops over the same names run one by one; so do those that
  // unroll too much.
  for (size_t i = 0; i < entries.size(); ++i)
    for (size_t j = i + 1; j < entries.size(); ++j)
      if (entries[i].loop.level == "register" && entries[i].loop.names == entries[j].loop.names &&
          entries[j].loop.level != "register" && !isVector(entries[j])) {
        entries[i].loop.level = "loop";
        entries[i].converted = true;
      }
  int64_t points = 1;
  for (size_t i = entries.size(); i-- > 0;)
    if (entries[i].loop.level == "register" && !entries[i].pair) {
      int64_t count = llvm::divideCeil(tileAt(i), entries[i].loop.step);
      if (points * count > mostPoints) {
        // What lies outside over the same names can't stay unrolled either.
        for (size_t j = 0; j <= i; ++j)
          if (entries[j].loop.names == entries[i].loop.names &&
              entries[j].loop.level == "register") {
            entries[j].loop.level = "loop";
            entries[j].converted = true;
          }
      } else {
        points *= count;
      }
    }

  // Loops that were to be unrolled stay outside of the reduction, so that accumulators stay in
  // registers.
  auto isSequential = [&](const Entry &entry) {
    return entry.loop.level != "register" && !isVector(entry);
  };
  size_t place =
      llvm::find_if(entries,
                    [&](const Entry &entry) { return entry.reduced && isSequential(entry); }) -
      entries.begin();
  for (size_t i = place; i < entries.size(); ++i) {
    if (!entries[i].converted || entries[i].reduced)
      continue;
    bool ordered =
        std::none_of(entries.begin() + place, entries.begin() + i, [&](const Entry &between) {
          return between.loop.names == entries[i].loop.names;
        });
    if (ordered)
      std::rotate(entries.begin() + place, entries.begin() + i, entries.begin() + i + 1), ++place;
  }

  for (size_t i = 0; i < entries.size(); ++i) {
    const Entry &entry = entries[i];
    const Group &group = entry.loop.names;
    Walk walk;
    walk.group = group;
    walk.tile = tileAt(i);
    walk.step = std::min(entry.loop.step, std::max<int64_t>(walk.tile, 1));
    walk.reduced = entry.reduced;
    walk.thread = entry.loop.level == "thread" && !entry.reduced;
    walk.stages = entry.stages;
    Expr whole(1);
    for (const std::string &name : group) {
      plan.nameSizes[name] = sizeOf(name).getExpr();
      whole = whole * plan.nameSizes[name];
    }
    plan.sizes[group] = whole;
    plan.most[group] = groupSize(group);
    bool isWhole = std::none_of(entries.begin(), entries.begin() + i, [&](const Entry &outer) {
      return outer.loop.names == group && outer.loop.step < plan.most[group];
    });
    walk.steps = isWhole ? whole.ceildiv(walk.step) : Expr(walk.count());
    if (isVector(entry)) {
      if (!plan.loops.empty() && !walk.stages.empty())
        llvm::append_range(plan.loops.back().stages, walk.stages);
      continue;
    }
    walk.variable = emitter.freshVariable();
    if (entry.loop.level == "register") {
      if (entry.pair)
        plan.pair = walk.variable;
      plan.tile.push_back(walk);
    } else {
      plan.loops.push_back(walk);
      if (!walk.reduced)
        plan.outer = plan.loops.size();
    }
    // A copy inside of an unrolled loop is made inside of the last sequential one.
    if (entry.loop.level == "register" && !walk.stages.empty()) {
      auto &target = plan.loops.empty() ? plan.firstStages : plan.loops.back().stages;
      llvm::append_range(target, walk.stages);
    }
  }
  std::set<Group> seen;
  for (Walk &walk : llvm::reverse(plan.loops))
    walk.innermost = seen.insert(walk.group).second;
  return plan;
}
