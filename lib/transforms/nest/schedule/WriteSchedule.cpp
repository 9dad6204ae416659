//===- WriteSchedule.cpp - the schedule of a candidate --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/schedule/Candidate.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// The maximum number of cache lines to prefetch.
static constexpr int64_t mostShared = 1100;

int64_t nest::sharedStep(const LoopSpace &s, const Candidate &candidate) {
  // If the other loops of the reduction offer no opportunity, and it is so short that a burst would
  // cost time.
  const Level &last = candidate.levels.back();
  if (!s.merged[last.merged].reduced)
    return 0;
  double steps = 1;
  for (size_t q = candidate.outer; q < candidate.levels.size(); ++q)
    steps *= candidate.levels[q].trips();
  int64_t share = shareSteps * last.step;
  bool fits = last.tile % share == 0 || last.tile == s.merged[last.merged].size;
  return last.tile >= 2 * share && steps < 8 * last.trips() && steps <= mostShared && fits ? share
                                                                                           : 0;
}

bool nest::isFetchedAhead(const LoopSpace &s, const Candidate &candidate, const Staged &copy) {
  return size_t(copy.loop) >= candidate.chunkLevels &&
         !s.merged[candidate.levels[size_t(copy.loop)].merged].reduced;
}

namespace {
class Writer {
public:
  Writer(const LoopSpace &space, const Candidate &candidate)
      : s(space), nest(space.m.nest), best(candidate) {}

  Schedule write() {
    Schedule schedule;
    std::map<int, unsigned> loopOf;
    std::vector<Extents> extents;
    s.findExtents(best, extents);
    auto add = [&](const char *level, ArrayRef<unsigned> merged, int64_t step) {
      schedule.loops.push_back({level, nest.namesOf(merged), step, 1});
    };
    std::vector<int64_t> left;
    for (const Merged &merged : s.merged)
      left.push_back(merged.size);
    for (size_t i = 0; i < best.levels.size(); ++i) {
      const Level &level = best.levels[i];
      if (int64_t share = i + 1 == best.levels.size() ? sharedStep(s, best) : 0)
        add("loop", s.merged[level.merged].names, share);
      add(s.merged[level.merged].reduced ? "loop"
          : i < best.chunkLevels         ? "thread"
                                         : "cache",
          s.merged[level.merged].names, level.step);
      left[level.merged] = level.step;
      loopOf[int(i)] = unsigned(schedule.loops.size() - 1);
    }
    for (const Staged &copy : best.stages) {
      schedule.stages.push_back(
          {copy.access,
           loopOf[copy.loop],
           "",
           stageLayout(s.m.accesses[copy.access], extents[size_t(copy.loop) + 1], copy.loop),
           {},
           copy.loop >= int(best.chunkLevels) && copy.loop < int(best.outer) ? 2u : 1u,
           ""});
    }
    for (auto &[name, points] : best.tile->rows)
      add("register", {name}, 1);
    if (left[s.lanes] > nest.lanes)
      add("register", s.m.lanes, nest.lanes);
    add("vector", s.m.lanes, 1);
    if (s.m.pair >= 0)
      add("unit", {unsigned(s.m.pair)}, 1);
    return schedule;
  }

private:
  const LoopSpace &s;
  const NestModel &nest;
  const Candidate &best;

  /// Returns a copy's names in the order of the loops inside of it; the contiguous dimension of the
  /// tensor stays contiguous.
  std::vector<std::string> stageOrder(const PlacedAccess &access, int loop) {
    std::vector<std::string> order = access.order;
    if (order.size() < 3)
      return order;
    auto depth = [&](const std::string &name) {
      // Names that only the register tile covers are innermost; reduced names are inside of
      // produced ones.
      int found = -1;
      for (const PlacedAccess::Dim &dim : access.dims)
        if (dim.name == name)
          for (const auto &[each, coefficient] : dim.terms) {
            int at = -1;
            for (size_t q = size_t(loop) + 1; q < best.levels.size(); ++q)
              if (llvm::is_contained(s.merged[best.levels[q].merged].names, each))
                at = int(q);
            if (at < 0 &&
                llvm::any_of(best.tile->rows, [&](auto &row) { return row.first == each; }))
              at = int(best.levels.size());
            found = std::max(found, at);
          }
      return found;
    };
    std::stable_sort(
        order.begin(), order.end() - 1,
        [&](const std::string &a, const std::string &b) { return depth(a) < depth(b); });
    return order;
  }

  /// Returns the layout of a copy; pairs that are multiplied together are contiguous.
  Layout stageLayout(const PlacedAccess &access, const Extents &extents, int loop) {
    Layout layout = panelLayout(access, extents, loop);
    const PlacedAccess::Dim *dim = s.m.pair < 0 ? nullptr : access.find(unsigned(s.m.pair));
    if (!dim)
      return layout;
    int64_t border = 0;
    for (Layout::Factor &factor : layout.factors)
      if (factor.names == std::vector{dim->name}) {
        factor.divisor = 2;
        border = factor.high;
      }
    layout.factors.push_back({{dim->name}, 1, 2, 0, border});
    return layout;
  }

  Layout panelLayout(const PlacedAccess &access, const Extents &extents, int loop) {
    Layout layout;
    std::vector<std::string> order = access.order;
    if (!access.onLanes()) {
      order = stageOrder(access, loop);
      layout = Layout::rowMajor(order);
      // Rows at a distance of a power of two would map to few sets of the cache.
      for (const PlacedAccess::Dim &dim : access.dims)
        if (!order.empty() && dim.name == order.back()) {
          int64_t bytes = s.m.copiedBytes(access);
          if (order.size() > 1 && dim.extent(extents) * bytes % 512 == 0)
            layout.factors.back().high = 64 / bytes;
        }
      return layout;
    }
    // Panels as wide as the tile: [v floordiv T, others, v mod T], where the fastest name of the
    // reduction is innermost.
    int64_t wide = best.tile->vectors * nest.lanes;
    std::vector<std::string> along;
    for (unsigned name : s.m.lanes)
      if (const PlacedAccess::Dim *dim = access.plain(name))
        along.push_back(dim->name);
    std::vector<std::string> others;
    for (const std::string &name : order)
      if (!llvm::is_contained(along, name))
        others.push_back(name);
    auto depth = [&](const std::string &name) {
      int innermost = -1;
      for (const PlacedAccess::Dim &dim : access.dims)
        if (dim.name == name)
          for (const auto &[each, coefficient] : dim.terms)
            for (size_t i = best.outer; i < best.levels.size(); ++i)
              if (s.merged[best.levels[i].merged].names[0] == each)
                innermost = int(i);
      return innermost;
    };
    llvm::stable_sort(
        others, [&](const std::string &a, const std::string &b) { return depth(a) < depth(b); });
    layout.factors.push_back({along, wide, 0, 0, 0});
    for (const std::string &name : others)
      layout.factors.push_back({{name}, 1, 0, 0, 0});
    layout.factors.push_back({along, 1, wide, 0, 0});
    return layout;
  }
};
} // namespace

Schedule nest::writeSchedule(const LoopSpace &space, const Candidate &candidate) {
  return Writer(space, candidate).write();
}
