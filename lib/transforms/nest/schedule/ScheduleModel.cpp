//===- ScheduleModel.cpp - search of schedules ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/schedule/ScheduleCost.h"

#include "llvm/ADT/StringSet.h"

#include <cmath>
#include <numeric>
#include <set>

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// An innermost loop with fewer steps is avoided if another loop has more.
static constexpr double fewSteps = 6;
/// About as many candidates of each register tile with blocks are evaluated first.
static constexpr double fewCandidates = 20;
/// The best candidates of this many tiles with blocks are improved by changes of one loop.
static constexpr size_t mostImproved = 8;

namespace {
class Search {
public:
  Search(const Model &model, ArrayRef<Loop> reductionOrder)
      : s(model, reductionOrder), cost(s, model.facts) {}

  Model::Found run(ArrayRef<RegisterTile> tiles) {
    struct Start {
      const RegisterTile *tile;
      const Split *split;
      Candidate best;
    };
    std::vector<Split> blocks = splits();
    std::vector<Start> starts;
    for (const RegisterTile &tile : tiles)
      for (const Split &split : blocks) {
        restart({&noTile});
        tryOrders(tile, split);
        starts.push_back({&tile, &split, best});
      }
    llvm::stable_sort(starts,
                      [](const Start &a, const Start &b) { return a.best.cost < b.best.cost; });
    Candidate found = starts.front().best;
    for (const Start &start : ArrayRef(starts).take_front(mostImproved)) {
      restart(start.best);
      improve(*start.tile, *start.split);
      if (best.cost < found.cost)
        found = best;
    }
    return {writeSchedule(s, found), found.cost, found.tile};
  }

private:
  LoopSpace s;
  ScheduleCost cost;
  const RegisterTile noTile{};
  Candidate best{&noTile};
  llvm::StringSet<> seen; ///< loops already tried with this tile

  /// Reduced loops that may contain produced ones, by names and step.
  using Split = SmallVector<std::pair<unsigned, int64_t>, 2>;

  /// Returns the choices: none; blocks of one reduced name; if all of those are long, also single
  /// steps of another reduced name around them.
  std::vector<Split> splits() {
    std::vector<Split> result(1);
    auto addBlocks = [&](unsigned merged, double outside, Split outer) {
      int64_t size = s.merged[merged].size, unit = 1;
      for (auto [each, step] : s.reduction)
        if (each == merged)
          unit = std::max(unit, step);
      std::set<int64_t> steps;
      for (int64_t step : {1, 2, 4, 8, 16, 32, 64, 128, 256, 384, 512, 1024}) {
        // Equal parts.
        int64_t parts = (size + step - 1) / step, even = (size + parts - 1) / parts;
        even = (even + unit - 1) / unit * unit;
        if (step > 64)
          even = (even + shareSteps - 1) / shareSteps * shareSteps;
        double inside = outside * double(even);
        if (even < size && inside >= 96 && inside <= 1100)
          steps.insert(even);
      }
      for (int64_t step : steps) {
        result.push_back(outer);
        result.back().emplace_back(merged, step);
      }
    };
    double length = 1;
    for (unsigned i = 0; i < s.firstProduced; ++i)
      length *= double(s.merged[i].size);
    for (unsigned i = 0; i < s.firstProduced; ++i)
      addBlocks(i, length / double(s.merged[i].size), {});
    if (result.size() > 1 || length <= 1100)
      return result;
    for (unsigned i = 0; i < s.firstProduced; ++i)
      for (unsigned j = 0; j < s.firstProduced; ++j)
        if (i != j && s.merged[i].size > 1)
          addBlocks(j, length / double(s.merged[i].size) / double(s.merged[j].size), {{i, 1}});
    return result;
  }

  /// Produced loops around a register tile: their names, the steps of all names, and the numbers of
  /// parts into which each loop may be split for chunks. The first `permuted` may be in any order.
  struct ProducedLoops {
    std::vector<unsigned> walked;
    std::vector<int64_t> steps;
    std::vector<std::vector<int64_t>> parts;
    size_t permuted;
  };

  ProducedLoops producedLoops(const RegisterTile &tile, double limit) {
    ProducedLoops loops{{}, std::vector<int64_t>(s.merged.size(), 1), {}, 0};
    auto &[walked, steps, parts, permuted] = loops;
    for (auto &[name, points] : tile.rows)
      steps[s.numberOf({name}, false)] = points;
    steps[s.lanes] = tile.vectors * s.m.nest.lanes;
    for (unsigned i = s.firstProduced; i < s.merged.size(); ++i)
      if (s.merged[i].size > steps[i])
        walked.push_back(i);
    llvm::stable_sort(walked, [&, &steps = steps](unsigned a, unsigned b) {
      return s.merged[a].size / steps[a] > s.merged[b].size / steps[b];
    });
    // Chunks: the number of parts of each name is a power of two. If there would be too many
    // candidates, fewer parts and orders are tried; small loops that are not permuted stay
    // innermost.
    parts.resize(walked.size());
    for (auto [shift, loops] :
         {std::pair(1, 5), {2, 5}, {3, 5}, {2, 4}, {3, 4}, {3, 3}, {6, 3}, {6, 2}}) {
      permuted = std::min<size_t>(walked.size(), size_t(loops));
      double combinations = 1;
      for (size_t i = 2; i <= permuted; ++i)
        combinations *= double(i);
      for (size_t i = 0; i < walked.size(); ++i) {
        parts[i].clear();
        int64_t count = (s.merged[walked[i]].size + steps[walked[i]] - 1) / steps[walked[i]];
        for (int64_t pieces = 1;; pieces <<= shift) {
          int64_t each = std::max<int64_t>(1, (count + pieces - 1) / pieces);
          if (parts[i].empty() || parts[i].back() != each)
            parts[i].push_back(each);
          if (each == 1)
            break;
        }
        combinations *= double(parts[i].size());
      }
      if (combinations <= limit)
        break;
    }
    return loops;
  }

  /// Evaluates the loops in this order, with these parts.
  void tryLoops(const RegisterTile &tile, const Split &split, const ProducedLoops &loops,
                ArrayRef<unsigned> order, ArrayRef<size_t> choice) {
    Candidate candidate{&tile};
    SmallVector<int64_t, 12> left;
    for (const Merged &merged : s.merged)
      left.push_back(merged.size);
    auto add = [&](unsigned merged, int64_t step) {
      if (step >= left[merged])
        return;
      candidate.levels.push_back({merged, step, left[merged]});
      left[merged] = step;
    };
    std::vector<unsigned> positions(order);
    for (size_t i = loops.permuted; i < loops.walked.size(); ++i)
      positions.push_back(unsigned(i));
    double chunks = 1;
    for (unsigned i : positions) {
      int64_t each = loops.parts[i][choice[i]] * loops.steps[loops.walked[i]];
      chunks *= std::ceil(double(s.merged[loops.walked[i]].size) / double(each));
      add(loops.walked[i], each);
    }
    candidate.chunkLevels = candidate.levels.size();
    if (chunks > 1024)
      return;
    for (auto [merged, step] : split)
      add(merged, step);
    candidate.split = !split.empty();
    for (unsigned i : positions)
      add(loops.walked[i], loops.steps[loops.walked[i]]);
    candidate.outer = candidate.levels.size();
    if (candidate.split && candidate.outer == candidate.chunkLevels + split.size())
      candidate.split = false; // no produced loops inside: accumulators stay in registers
    else
      for (auto [merged, step] : s.reduction)
        add(merged, step);
    // A block with few steps is not innermost if another loop has more.
    if (auto inner = MutableArrayRef(candidate.levels).drop_front(candidate.outer);
        inner.size() > 1 && inner.back().trips() < fewSteps &&
        llvm::any_of(split, [&](auto &each) { return each.first == inner.back().merged; }) &&
        inner.drop_back().back().trips() >= fewSteps)
      std::rotate(inner.begin(), inner.end() - 1, inner.end());
    if (!candidate.split && !split.empty())
      return;
    cost.countTiles(candidate);
    if (!cost.mayWin(candidate))
      return;
    SmallVector<int64_t, 32> key = {int64_t(candidate.chunkLevels), candidate.split};
    for (const Level &level : candidate.levels)
      key.append({int64_t(level.merged), level.step});
    if (!seen.insert(StringRef(reinterpret_cast<const char *>(key.data()), key.size_in_bytes()))
             .second)
      return;
    cost.measure(candidate);
    for (Staging staging : {Staging::Near, Staging::Once, Staging::None})
      if (cost.improves(candidate, staging)) {
        candidate.order = positions;
        candidate.parts.clear();
        for (auto [parts, part] : llvm::zip_equal(loops.parts, choice))
          candidate.parts.push_back(parts[part]);
        best = candidate;
      }
  }

  void restart(Candidate from) {
    best = std::move(from);
    cost.restart(best.cost);
    seen.clear();
  }

  /// Changes one loop of the best candidate, its place or the size of its parts, as long as that
  /// improves the candidate.
  void improve(const RegisterTile &tile, const Split &split) {
    ProducedLoops loops = producedLoops(tile, INFINITY);
    size_t count = loops.permuted = loops.walked.size();
    for (double before = INFINITY; best.cost < before;) {
      before = best.cost;
      std::vector<unsigned> order = best.order;
      std::vector<size_t> choice;
      for (auto [all, part] : llvm::zip_equal(loops.parts, best.parts))
        choice.push_back(size_t(llvm::find(all, part) - all.begin()));
      for (size_t loop = 0; loop < count; ++loop) {
        for (int step : {-2, -1, 1, 2})
          if (size_t part = choice[loop] + size_t(step); part < loops.parts[loop].size()) {
            std::vector<size_t> other = choice;
            other[loop] = part;
            tryLoops(tile, split, loops, order, other);
          }
        for (size_t place = 0; place < count; ++place) {
          std::vector<unsigned> other = order;
          unsigned moved = other[loop];
          other.erase(other.begin() + long(loop));
          other.insert(other.begin() + long(place), moved);
          tryLoops(tile, split, loops, other, choice);
        }
      }
    }
  }

  /// Evaluates a few candidates.
  void tryOrders(const RegisterTile &tile, const Split &split) {
    ProducedLoops loops = producedLoops(tile, fewCandidates);
    std::vector<unsigned> order(loops.permuted);
    std::iota(order.begin(), order.end(), 0);
    do {
      std::vector<size_t> choice(loops.walked.size(), 0);
      while (true) {
        tryLoops(tile, split, loops, order, choice);
        size_t digit = 0;
        while (digit < choice.size() && ++choice[digit] == loops.parts[digit].size())
          choice[digit++] = 0;
        if (digit == choice.size())
          break;
      }
    } while (std::next_permutation(order.begin(), order.end()));
  }
};
} // namespace

Model::Found Model::search(ArrayRef<RegisterTile> tiles, ArrayRef<Loop> reductionOrder) const {
  return Search(*this, reductionOrder).run(tiles);
}
