//===- ScheduleModel.cpp - cost model of contractions ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/schedule/ScheduleModel.h"

#include "llvm/ADT/StringSet.h"

#include <array>
#include <cmath>
#include <numeric>
#include <set>

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// The number of steps of the reduction between prefetches, and the most cache lines to prefetch.
static constexpr int64_t shareSteps = 16, mostShared = 1100;
/// An innermost loop of fewer steps than this is avoided where another loop has more.
static constexpr double fewSteps = 6;
/// The largest number of candidates to evaluate.
static constexpr int64_t mostCandidates = 20000;

namespace {

/// One loop of a candidate, over one group of names.
struct Level {
  unsigned group;
  int64_t step;
  int64_t tile; ///< points that it walks
  double trips() const { return double((tile + step - 1) / step); }
};

struct Walked {
  std::vector<unsigned> names;
  int64_t size = 1, step = 1;
  bool reduced = false, symbolic = false;
};

struct Staged {
  unsigned access;
  int loop; ///< the copy is made inside of it
};

struct Candidate {
  const RegisterTile *tile;
  SmallVector<Level, 12> levels; ///< outside of the register tile
  size_t chunkLevels = 0;        ///< the first ones are shared by threads
  size_t outer = 0;              ///< levels[outer..] are the reduction
  bool split = false;            ///< a reduced loop encloses produced ones
  double tiles = 1;              ///< register tiles
  double steps = 1;              ///< of the reduction, in each tile
  SmallVector<Staged, 4> stages;
  double cost = INFINITY;
};

class Search {
public:
  Search(const Model &model, ArrayRef<Loop> reductionOrder) : m(model), nest(model.nest) {
    for (const Loop &loop : reductionOrder) {
      std::vector<unsigned> names;
      for (const std::string &name : loop.names)
        names.push_back(unsigned(nest.indexOf(name)));
      reduction.emplace_back(groupOf(names, true), loop.step);
    }
    firstProduced = groups.size();
    for (size_t i = nest.firstProduced; i < nest.firstReduced; ++i)
      if (!llvm::is_contained(m.lanes, i))
        groupOf({unsigned(i)}, false);
    vectorGroup = groupOf(m.lanes, false);
  }

  Model::Found run(ArrayRef<RegisterTile> tiles) {
    auto blocks = splits();
    limit = double(mostCandidates) / double(tiles.size() * blocks.size());
    for (const PlacedAccess &access : m.accesses) {
      SmallVector<bool, 12> list;
      for (const Walked &group : groups)
        list.push_back(
            llvm::any_of(group.names, [&](unsigned name) { return access.mentions(name); }));
      mentioned.push_back(list);
    }
    for (const RegisterTile &tile : tiles)
      for (const Split &split : blocks)
        tryOrders(tile, split);
    return {write(), best.cost};
  }

private:
  const Model &m;
  const NestModel &nest;
  const Rates &r = nest.rates;
  std::vector<std::pair<unsigned, int64_t>> reduction; ///< groups and steps of its loops
  std::vector<Walked> groups;
  unsigned vectorGroup = 0, firstProduced = 0;
  const RegisterTile noTile{};
  Candidate best{&noTile};
  double limit = 0;                             ///< candidates for each tile and block
  std::vector<SmallVector<bool, 12>> mentioned; ///< whether an access mentions a group
  llvm::StringSet<> seen;                       ///< loops that were looked at with this tile

  unsigned groupOf(const std::vector<unsigned> &names, bool reduced) {
    for (unsigned i = 0; i < groups.size(); ++i)
      if (groups[i].names == names)
        return i;
    bool symbolic = llvm::any_of(names, [&](unsigned name) { return nest.symbolic[name]; });
    groups.push_back({names, nest.sizeOf(names), 1, reduced, symbolic});
    return unsigned(groups.size() - 1);
  }

  /// Reduced loops that may enclose produced ones, by group and step.
  using Split = SmallVector<std::pair<unsigned, int64_t>, 2>;

  /// Returns the choices: none; blocks of one reduced name; if all of those are long, also single
  /// steps of another reduced name around them.
  std::vector<Split> splits() {
    std::vector<Split> result(1);
    auto addBlocks = [&](unsigned group, double outside, Split around) {
      int64_t size = groups[group].size, unit = 1;
      for (auto [each, step] : reduction)
        if (each == group)
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
        result.push_back(around);
        result.back().emplace_back(group, step);
      }
    };
    double length = 1;
    for (unsigned i = 0; i < firstProduced; ++i)
      length *= double(groups[i].size);
    for (unsigned i = 0; i < firstProduced; ++i)
      addBlocks(i, length / double(groups[i].size), {});
    if (result.size() > 1 || length <= 1100)
      return result;
    for (unsigned i = 0; i < firstProduced; ++i)
      for (unsigned j = 0; j < firstProduced; ++j)
        if (i != j && groups[i].size > 1)
          addBlocks(j, length / double(groups[i].size) / double(groups[j].size), {{i, 1}});
    return result;
  }

  /// Produced loops around a register tile: the groups, the steps of all groups, and the numbers of
  /// parts into which each loop may be split for chunks. The first `permuted` may have any order.
  struct Around {
    std::vector<unsigned> walked;
    std::vector<int64_t> steps;
    std::vector<std::vector<int64_t>> parts;
    size_t permuted;
  };

  Around loopsAround(const RegisterTile &tile) {
    Around around{{}, std::vector<int64_t>(groups.size(), 1), {}, 0};
    auto &[walked, steps, parts, permuted] = around;
    for (auto &[name, points] : tile.rows)
      steps[groupOf({name}, false)] = points;
    steps[vectorGroup] = tile.vectors * nest.lanes;
    for (unsigned i = firstProduced; i < groups.size(); ++i)
      if (groups[i].size > steps[i])
        walked.push_back(i);
    llvm::stable_sort(walked, [&, &steps = steps](unsigned a, unsigned b) {
      return groups[a].size / steps[a] > groups[b].size / steps[b];
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
        int64_t count = (groups[walked[i]].size + steps[walked[i]] - 1) / steps[walked[i]];
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
    return around;
  }

  /// Evaluates the loops in this order, with this choice of parts.
  void tryLoops(const RegisterTile &tile, const Split &split, const Around &around,
                ArrayRef<unsigned> order, ArrayRef<size_t> choice) {
    Candidate candidate{&tile};
    SmallVector<int64_t, 12> left;
    for (const Walked &group : groups)
      left.push_back(group.size);
    auto add = [&](unsigned group, int64_t step) {
      if (step >= left[group])
        return;
      candidate.levels.push_back({group, step, left[group]});
      left[group] = step;
    };
    SmallVector<unsigned, 12> positions(order.begin(), order.end());
    for (size_t i = around.permuted; i < around.walked.size(); ++i)
      positions.push_back(unsigned(i));
    double chunks = 1;
    for (unsigned i : positions) {
      int64_t each = around.parts[i][choice[i]] * around.steps[around.walked[i]];
      chunks *= std::ceil(double(groups[around.walked[i]].size) / double(each));
      add(around.walked[i], each);
    }
    candidate.chunkLevels = candidate.levels.size();
    if (chunks > 1024)
      return;
    for (auto [group, step] : split)
      add(group, step);
    candidate.split = !split.empty();
    for (unsigned i : positions)
      add(around.walked[i], around.steps[around.walked[i]]);
    candidate.outer = candidate.levels.size();
    if (candidate.split && candidate.outer == candidate.chunkLevels + split.size())
      candidate.split = false; // nothing is produced inside: accumulators stay in registers
    else
      for (auto [group, step] : reduction)
        add(group, step);
    // A block of few steps is not the innermost loop if another one has more.
    if (auto inner = MutableArrayRef(candidate.levels).drop_front(candidate.outer);
        inner.size() > 1 && inner.back().trips() < fewSteps &&
        llvm::any_of(split, [&](auto &each) { return each.first == inner.back().group; }) &&
        inner.drop_back().back().trips() >= fewSteps)
      std::rotate(inner.begin(), inner.end() - 1, inner.end());
    if (!candidate.split && !split.empty())
      return;
    countTiles(candidate);
    if (!mayWin(candidate, arithmeticOf(candidate, tile.cycles) + startsOf(candidate)))
      return;
    SmallVector<int64_t, 32> key = {int64_t(candidate.chunkLevels), candidate.split};
    for (const Level &level : candidate.levels)
      key.append({int64_t(level.group), level.step});
    if (!seen.insert(StringRef(reinterpret_cast<const char *>(key.data()), key.size_in_bytes()))
             .second)
      return;
    measure(candidate);
    for (Staging staging : {Staging::Near, Staging::Once, Staging::None})
      evaluate(candidate, staging);
  }

  void tryOrders(const RegisterTile &tile, const Split &split) {
    seen.clear();
    Around around = loopsAround(tile);
    std::vector<unsigned> order(around.permuted);
    std::iota(order.begin(), order.end(), 0);
    do {
      std::vector<size_t> choice(around.walked.size(), 0);
      while (true) {
        tryLoops(tile, split, around, order, choice);
        size_t digit = 0;
        while (digit < choice.size() && ++choice[digit] == around.parts[digit].size())
          choice[digit++] = 0;
        if (digit == choice.size())
          break;
      }
    } while (std::next_permutation(order.begin(), order.end()));
  }

  /// For each level, the points of each name that the loop and those inside of it walk.
  void findExtents(const Candidate &candidate, std::vector<Extents> &result) {
    result.clear();
    SmallVector<int64_t, 12> tile;
    for (const Walked &group : groups)
      tile.push_back(group.size);
    Extents extents(nest.names.size(), 1);
    auto spread = [&](unsigned index) {
      const Walked &group = groups[index];
      int64_t left = tile[index];
      for (size_t i = group.names.size(); i-- > 0;) {
        int64_t size = nest.sizes[group.names[i]];
        extents[group.names[i]] = std::min(size, std::max<int64_t>(left, 1));
        left = (left + size - 1) / size;
      }
    };
    for (unsigned i = 0; i < groups.size(); ++i)
      spread(i);
    result.push_back(extents);
    for (const Level &level : candidate.levels) {
      tile[level.group] = level.step;
      spread(level.group);
      result.push_back(extents);
    }
  }

  /// Returns the bytes of an element in a copy: narrow floats are widened unless they are
  /// multiplied in pairs.
  int64_t copiedBytes(const PlacedAccess &access) const {
    return m.pair < 0 ? std::max<int64_t>(access.bytes, 4) : access.bytes;
  }

  /// How to count the bytes of the box that an access touches: its elements alone; in a copy, which
  /// is widened and whose panels of lanes waste nothing; in the tensor, in whole cache lines; or
  /// with the waste of rows that map to few sets of the first or second cache.
  enum Kind { Elements, Copied, Plain, InL1, InL2 };
  static constexpr size_t kinds = 5;
  double footprint(unsigned index, size_t level, Kind kind) {
    const PlacedAccess &access = m.accesses[index];
    const Extents &at = extents[level];
    int64_t bytes = access.bytes, wide = copiedBytes(access);
    switch (kind) {
    case Elements:
      return boxElements(access, at) * double(wide);
    case Copied:
      return access.onLanes() ? box(index, level, Elements)
             : wide == bytes  ? box(index, level, Plain)
                              : boxElements(access, at, 64 / wide) * double(wide);
    case Plain:
      return boxElements(access, at, 64 / bytes) * double(bytes);
    case InL1:
      return box(index, level, Plain) * setWaste(access, at, nest.l1 / 8, false);
    case InL2:
      return box(index, level, Plain) *
             setWaste(access, at, nest.l2 / 16, access.isWrite && resultsRest);
    }
    llvm_unreachable("a kind");
  }

  std::vector<Extents> extents; ///< of the candidate that is measured
  bool resultsRest = false;     ///< results are updated repeatedly
  /// Of each access at each level: the level whose box it is, since a loop over a name that the
  /// access does not mention has the box of the loop around, and its bytes by kind; NaN: not
  /// computed yet. Few of a candidate's are asked for.
  struct Box {
    size_t level;
    std::array<double, kinds> bytes;
  };
  std::vector<Box> boxes;

  /// Starts to compute the boxes of a candidate.
  void measure(const Candidate &candidate) {
    findExtents(candidate, extents);
    resultsRest = candidate.split;
    boxes.clear();
    for (const auto &mentions : mentioned)
      for (size_t level = 0; level < extents.size(); ++level) {
        bool same = level && !mentions[candidate.levels[level - 1].group];
        Box &made = boxes.emplace_back();
        made.level = same ? (&made - 1)->level : level;
        made.bytes.fill(NAN);
      }
  }
  double box(unsigned access, size_t level, Kind kind) {
    size_t first = access * extents.size();
    level = boxes[first + level].level;
    double &bytes = boxes[first + level].bytes[kind];
    if (std::isnan(bytes))
      bytes = footprint(access, level, kind);
    return bytes;
  }

  /// Selects the loop of a copy: where the copy is smallest, so that it stays in a near cache;
  /// where neighbouring boxes overlap least, so that nothing is copied again; or none, except for
  /// operands that can't be read otherwise.
  enum class Staging { Near, Once, None };

  /// Returns true if each `part` of a group's merged points, the last name varying fastest, is a box
  /// of its names: 15 points of (batch, time: 5), but not 16.
  bool isBox(const Walked &group, int64_t part) const {
    if (part >= group.size)
      return true;
    for (unsigned name : llvm::reverse(ArrayRef(group.names).drop_front())) {
      int64_t size = nest.sizes[name];
      if (part % size)
        return size % part == 0;
      part /= size;
    }
    return true;
  }

  /// Returns the best loop inside of which to copy an access: the fewest copies, then the smallest
  /// box. -1: none.
  int stageOf(const Candidate &candidate, unsigned index, Staging staging) {
    int best = -1;
    double fewest = INFINITY, repeated = 1, trips = 1;
    bool boxed = true; // the part of the merged lanes that is walked inside is a box
    for (size_t i = 0; i < candidate.outer; ++i) {
      const Level &level = candidate.levels[i];
      if (level.group == vectorGroup)
        boxed = isBox(groups[vectorGroup], level.step);
      bool matters = mentioned[index][level.group];
      trips *= level.trips();
      if (!matters)
        repeated *= level.trips();
      // A chunk makes its copies itself.
      if (i + 1 < candidate.chunkLevels)
        continue;
      matters |= i < candidate.chunkLevels;
      // Used again by loops further in.
      double bytes = box(index, i + 1, Elements);
      bool reused = false;
      for (size_t j = i + 1; j < candidate.outer; ++j)
        reused |= !mentioned[index][candidate.levels[j].group];
      if (!matters || !reused || bytes > 0.6 * double(nest.l2) ||
          (mentioned[index][vectorGroup] && !boxed))
        continue;
      double copied = staging == Staging::Once ? trips * bytes : repeated;
      if (copied <= fewest * 1.05) {
        fewest = copied;
        best = int(i);
      }
    }
    return best;
  }

  /// Returns the additional cycles of the innermost step of the reduction if its stride in an
  /// access is about a page, or no multiple of a vector, so that each vector spans two lines.
  double hops(const PlacedAccess &access, const Candidate &candidate) {
    if (candidate.outer == candidate.levels.size())
      return 0;
    const Level &last = candidate.levels.back();
    unsigned innermost = groups[last.group].names[0];
    double cycles = 0;
    for (const PlacedAccess::Dim &dim : access.dims)
      for (const auto &[name, coefficient] : dim.terms)
        if (name == innermost) {
          int64_t bytes = dim.stride * coefficient * access.bytes * last.step;
          cycles += bytes > 1024 ? r.hopCycles * std::min(1.0, double(bytes) / 2048) : 0;
          cycles +=
              access.onLanes() && bytes % 64 ? double(candidate.tile->vectors) * r.splitCycles : 0;
        }
    return cycles;
  }

  /// Returns the additional cycles of a step if a tile's rows map to the same sets of the first
  /// cache, so that they evict one another.
  double crowding(const PlacedAccess &access, const RegisterTile &tile) {
    auto ways = int64_t(r.l1Ways);
    int64_t way = nest.l1 / ways;
    double cycles = 0;
    for (auto &[name, points] : tile.rows)
      for (const PlacedAccess::Dim &dim : access.dims)
        for (const auto &[each, coefficient] : dim.terms) {
          int64_t bytes = dim.stride * coefficient * access.bytes;
          if (each == name && points * std::min(bytes & -bytes, way) > ways * way)
            cycles += r.crowdedCycles * double(points);
        }
    return cycles;
  }

  /// Returns the cycles of a step for widening elements of less than 32 bits; copies hold them
  /// widened.
  double conversions(const PlacedAccess &access, const RegisterTile &tile) {
    if (access.bytes >= 4)
      return 0;
    double count = access.onLanes() ? double(tile.vectors) * r.widenVector : r.widenScalar;
    if (m.pair >= 0) {
      const PlacedAccess::Dim *dim = access.find(unsigned(m.pair));
      if (!access.onLanes() && dim && dim->contiguous)
        return 0;
      count *= r.gatherPair;
    }
    for (auto &[name, points] : tile.rows)
      if (access.mentions(name))
        count *= double(points);
    return count;
  }

  /// Returns true if a candidate of at least this cost, without the time that threads wait, may
  /// still be the best: costs only grow.
  bool mayWin(const Candidate &candidate, double cost) const {
    return waiting(candidate, cost) < best.cost * 0.9999;
  }

  /// Counts the register tiles, and the steps of the reduction in each. A narrower tile at the end
  /// costs a little more than its fraction.
  void countTiles(Candidate &candidate) const {
    double tiles = 1, steps = 1;
    for (const Level &level : candidate.levels) {
      double trips = double(level.tile / level.step);
      const Walked &group = groups[level.group];
      if (int64_t rest = level.tile % level.step;
          rest && group.names.size() == 1 && group.names[0] == unsigned(m.pair))
        trips +=
            level.step == 2 ? 1 : double(rest) / double(level.step); // one of a pair costs both
      else if (rest)
        trips += group.reduced || level.group == vectorGroup
                     ? double(rest) / double(level.step)
                     : std::max(double(rest) / double(level.step), 0.3);
      (groups[level.group].reduced ? steps : tiles) *= trips;
    }
    candidate.tiles = tiles, candidate.steps = steps;
  }

  /// Sets `candidate.stages`, and for each access the loop inside of which it is copied (-1: none).
  /// Returns false if another kind of staging gives the same.
  bool placeStages(Candidate &candidate, Staging staging, MutableArrayRef<int> stage) {
    candidate.stages.clear();
    bool any = false, other = staging != Staging::Once;
    for (unsigned i = 0; i < m.accesses.size(); ++i) {
      const PlacedAccess &access = m.accesses[i];
      if (!access.stageable || (staging == Staging::None && !access.scattered()))
        continue;
      stage[i] = stageOf(candidate, i, staging);
      other |= stage[i] != stageOf(candidate, i, Staging::Near);
      any |= stage[i] >= 0;
      if (stage[i] >= 0)
        candidate.stages.push_back({i, stage[i]});
    }
    return (staging == Staging::None || any) && other;
  }

  /// Returns the cycles of a step of the reduction in a tile.
  double cyclesOfStep(const Candidate &candidate, ArrayRef<int> stage) {
    double perStep = candidate.tile->cycles;
    for (unsigned i = 0; i < m.accesses.size(); ++i)
      if (!m.accesses[i].isWrite && stage[i] < 0)
        perStep += (m.accesses[i].scattered()
                        ? double(nest.lanes * candidate.tile->vectors) * r.scatterCycles
                        : 0) +
                   hops(m.accesses[i], candidate) + conversions(m.accesses[i], *candidate.tile) +
                   (m.accesses[i].onLanes() ? 0 : crowding(m.accesses[i], *candidate.tile));
    return perStep;
  }

  /// Returns the cycles of the arithmetic of all steps, without the prologues and epilogues of
  /// tiles.
  double arithmeticOf(const Candidate &candidate, double perStep) const {
    double steps = candidate.tiles * candidate.steps, arithmetic = steps * perStep;
    if (candidate.outer < candidate.levels.size())
      arithmetic +=
          steps * std::min(r.enterCycles / candidate.levels.back().trips(), r.enterCycles / 12);
    return arithmetic;
  }

  /// Returns the cycles of the prologues and epilogues of tiles, which load and store accumulators.
  double startsOf(const Candidate &candidate) const {
    double runs = runsOf(candidate);
    int64_t accumulators = candidate.tile->vectors;
    for (auto &[name, points] : candidate.tile->rows)
      accumulators *= points;
    double scatter = 0;
    for (const PlacedAccess &access : m.accesses)
      if (access.isWrite)
        scatter = access.scattered() ? double(accumulators * nest.lanes) * r.scatterCycles
                                     : double(accumulators);
    return runs * (r.tileCycles + double(accumulators) * (candidate.split ? 2 : 1) + scatter);
  }

  /// Returns how often a tile is run: once for each block of a reduced loop around it.
  double runsOf(const Candidate &candidate) const {
    double runs = candidate.tiles;
    for (size_t i = 0; i < candidate.outer; ++i)
      if (groups[candidate.levels[i].group].reduced)
        runs *= candidate.levels[i].trips();
    return runs;
  }

  /// Returns the outermost loop whose reads stay in a cache from step to step: the first or the
  /// second cache.
  size_t cachedFrom(const Candidate &candidate, ArrayRef<int> stage, bool second) {
    double capacity = 0.75 * double(second ? nest.l2 : nest.l1);
    size_t level = 0;
    for (; level < candidate.levels.size(); ++level) {
      double total = 0;
      for (unsigned i = 0; i < m.accesses.size(); ++i) {
        const PlacedAccess &access = m.accesses[i];
        if (access.isWrite && level > candidate.outer)
          continue;
        bool buffered = stage[i] >= 0;
        if (buffered)
          total += box(i, std::max<size_t>(level, size_t(stage[i]) + 1), Copied);
        if (!buffered || int(level) <= stage[i])
          total += box(i, level, buffered ? Plain : second ? InL2 : InL1);
        if (total > capacity)
          break;
      }
      if (total <= capacity)
        break;
    }
    return level;
  }

  /// Returns the bytes that are fetched into a cache. Data that a loop's steps share is fetched
  /// once.
  double fetched(const Candidate &candidate, unsigned access, size_t from, bool copied) {
    size_t around = from ? from - 1 : 0;
    double bytes = box(access, around, copied ? Copied : Plain);
    for (size_t q = 0; q < around; ++q)
      bytes *= candidate.levels[q].trips();
    return bytes;
  }

  /// Returns the factor by which contiguous runs of `run` bytes, each in a page of its own, are
  /// slower to fetch.
  static double ofFarRuns(double run) { return std::min(6.0, 1 + 640 / run); }

  /// Returns the factor by which short contiguous runs are slower to fetch from an outer level,
  /// most of all if each lies in a page of its own: runs that are copied, and runs that no cache
  /// holds.
  double shortness(unsigned access, size_t from, std::optional<size_t> at) {
    double pitch = 0, run = runBytes(m.accesses[access], extents[at.value_or(from)], &pitch);
    if (at && pitch >= r.pageBytes)
      return ofFarRuns(run);
    return std::min(3.0, 1 + 256 / runBytes(m.accesses[access], extents[from]));
  }

  /// Returns the factor by which results beyond the second cache are slower to store. A store
  /// fetches its line, and nothing fetches it ahead if a reduction is too short to prefetch it and
  /// the stores of some tiles, which fit the first cache, are in short runs on pages of their own.
  double storeShortness(const Candidate &candidate, ArrayRef<int> stage, unsigned access) {
    if (candidate.steps >= 2 * double(shareSteps) || box(access, 0, Plain) <= double(nest.l2))
      return 1;
    double pitch = 0;
    size_t from = std::min(cachedFrom(candidate, stage, /*second=*/false), candidate.outer);
    double run = runBytes(m.accesses[access], extents[from], &pitch);
    return pitch >= r.pageBytes ? ofFarRuns(run) : 1;
  }

  /// Returns the bytes that are fetched into the first or the second cache, weighted so that all
  /// bytes cost the same.
  double movedBytes(const Candidate &candidate, ArrayRef<int> stage, bool second) {
    size_t level = cachedFrom(candidate, stage, second);
    auto slow = [&](unsigned i, size_t from, std::optional<size_t> at) {
      return second ? shortness(i, from, at) : 1.0;
    };
    double moved = 0;
    for (unsigned i = 0; i < m.accesses.size(); ++i) {
      const PlacedAccess &access = m.accesses[i];
      double exposed = 0;
      if (access.isWrite) {
        exposed = 2 * fetched(candidate, i, std::min(level, candidate.outer), false) *
                  (candidate.split ? 0.3 * std::max(1.0, 4 / double(access.bytes)) : 0.4);
        if (second)
          exposed *= storeShortness(candidate, stage, i);
      } else if (stage[i] < 0) {
        std::optional<size_t> tile;
        if (box(i, 0, Plain) > double(nest.l3))
          tile = std::max(level, candidate.outer);
        exposed = fetched(candidate, i, level, false) * slow(i, level, tile);
      } else {
        size_t at = size_t(stage[i]) + 1;
        double inside = 1, lines = box(i, at, Plain) / 64;
        for (size_t q = at; q < candidate.outer; ++q)
          inside *= candidate.levels[q].trips();
        bool ahead = at > candidate.chunkLevels &&
                     !groups[candidate.levels[at - 1].group].reduced && lines / inside <= 60;
        exposed = fetched(candidate, i, std::min(level, at), false) *
                  (ahead ? r.prefetchedExposed : r.stagedExposed) *
                  slow(i, std::min(level, at), at);
        if (level > at)
          exposed += fetched(candidate, i, level, true);
      }
      moved += exposed;
    }
    return moved;
  }

  /// Returns the cycles of a copy, in vectors: a contiguous run is seldom aligned to vectors.
  double copyCost(const Candidate &candidate, const Staged &copy) {
    const PlacedAccess &access = m.accesses[copy.access];
    size_t at = size_t(copy.loop) + 1;
    double lanes = double(nest.lanes), run = runBytes(access, extents[at]) / double(access.bytes);
    double elements = box(copy.access, at, Elements) / double(copiedBytes(access)) *
                      (std::ceil(run / lanes) + 0.5) * lanes / run;
    if (m.pair >= 0)
      elements *= r.pairCopy;
    for (size_t q = 0; q < at; ++q)
      elements *= candidate.levels[q].trips();
    return elements * (access.scattered() ? r.transposeCycles : r.copyCycles);
  }

  /// Returns the number of chunks if symbolic sizes are smaller by the factor `shrink`.
  double chunksOf(const Candidate &candidate, double shrink) const {
    double chunks = 1;
    for (size_t i = 0; i < candidate.chunkLevels; ++i) {
      const Level &level = candidate.levels[i];
      double size = double(level.tile) * (groups[level.group].symbolic ? shrink : 1);
      chunks *= std::ceil(size / double(level.step));
    }
    return chunks;
  }

  /// Returns the part of the work of `chunks` that threads wait for the last one: two, four or
  /// sixteen of them; all but one for the only chunk.
  double waits(double chunks) const {
    auto of = [&](double threads) { return std::ceil(chunks / threads) * threads / chunks - 1; };
    return 1 + 0.1 * of(2) + 0.015 * of(4) + 0.003 * of(16);
  }

  bool isSymbolic() const {
    return llvm::any_of(groups, [](const Walked &group) { return group.symbolic; });
  }

  /// Returns at least what `cost` is with the time that threads wait for one another.
  double waiting(const Candidate &candidate, double cost) const {
    if (isSymbolic())
      return cost;
    double chunks = chunksOf(candidate, 1);
    return cost * waits(chunks) + chunks * r.chunkCycles;
  }

  /// Returns `cost` with the time that threads wait for one another; infinite if chunks would be
  /// too small.
  double shared(const Candidate &candidate, double cost) {
    // Symbolic sizes may be smaller: chunks for which they leave no more than this work.
    double symbols = 0;
    for (const Walked &group : groups)
      symbols += group.symbolic;
    auto chunksFor = [&](double work) {
      return chunksOf(candidate, symbols ? std::min(1.0, std::pow(work / cost, 1 / symbols)) : 1);
    };
    double chunks = chunksFor(cost), usual = chunksFor(r.largeWork);
    if (chunks > 1 && cost / chunks < r.smallestChunk)
      return INFINITY;
    double alone = cost > r.smallWork && chunksFor(r.smallWork) == 1 ? 1.15 : 1;
    return cost * alone * waits(usual) + chunks * r.chunkCycles;
  }

  void evaluate(Candidate &candidate, Staging staging) {
    SmallVector<int, 8> stage(m.accesses.size(), -1);
    if (!placeStages(candidate, staging, stage))
      return;
    double arithmetic = arithmeticOf(candidate, cyclesOfStep(candidate, stage));
    double cost = arithmetic + startsOf(candidate), runs = runsOf(candidate);

    // Every tile looks up the pages of its rows again.
    for (unsigned i = 0; i < m.accesses.size(); ++i)
      if (!m.accesses[i].isWrite && !m.accesses[i].onLanes() && stage[i] < 0 && candidate.outer &&
          mentioned[i][candidate.levels[candidate.outer - 1].group])
        cost +=
            runs * boxPages(m.accesses[i], extents[candidate.outer], r.pageBytes) * r.pageCycles;
    if (!mayWin(candidate, cost))
      return;

    // Bytes between caches. The tiles next to one another share the reads of its rows, if these do
    // not evict one another from the first cache.
    double rows = 0;
    for (unsigned i = 0; i < m.accesses.size(); ++i)
      if (!m.accesses[i].isWrite && !m.accesses[i].onLanes())
        rows += box(i, candidate.outer, stage[i] >= 0 ? Copied : InL1);
    double driven = std::clamp(6 * rows / double(nest.l1) - 2, 1.0, 4.0);
    // Arithmetic overlaps with fetches from L2, as long as these are few.
    double near = movedBytes(candidate, stage, /*second=*/false);
    cost += r.l2Exposed * driven * near / r.l2Bandwidth +
            std::max(0.0, near / r.l2Bandwidth - r.l2Overlap * arithmetic);
    if (!mayWin(candidate, cost))
      return;
    cost += movedBytes(candidate, stage, /*second=*/true) / r.l3Bandwidth;
    for (const Staged &copy : candidate.stages)
      cost += copyCost(candidate, copy);
    cost = shared(candidate, cost);
    if (cost < best.cost * 0.9999) {
      candidate.cost = cost;
      best = candidate;
    }
  }

  /// Returns a copy's names in the order in which the loops inside of it walk them; the contiguous
  /// dimension of the tensor stays contiguous.
  std::vector<std::string> stageOrder(const PlacedAccess &access, int loop) {
    std::vector<std::string> order = access.order;
    if (order.size() < 3)
      return order;
    auto depth = [&](const std::string &name) {
      // Names that only the register tile walks are innermost; reduced names are inside of produced
      // ones.
      int found = -1;
      for (const PlacedAccess::Dim &dim : access.dims)
        if (dim.name == name)
          for (const auto &[each, coefficient] : dim.terms) {
            int at = -1;
            for (size_t q = size_t(loop) + 1; q < best.levels.size(); ++q)
              if (llvm::is_contained(groups[best.levels[q].group].names, each))
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

  /// Returns the layout of a copy; pairs that are multiplied at once are contiguous.
  Layout stageLayout(const PlacedAccess &access, const Extents &extents, int loop) {
    Layout layout = panelLayout(access, extents, loop);
    const PlacedAccess::Dim *dim = m.pair < 0 ? nullptr : access.find(unsigned(m.pair));
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
      // Rows whose distance is a power of two would map to few sets of the cache.
      for (const PlacedAccess::Dim &dim : access.dims)
        if (!order.empty() && dim.name == order.back()) {
          int64_t bytes = copiedBytes(access);
          if (order.size() > 1 && dim.extent(extents) * bytes % 512 == 0)
            layout.factors.back().high = 64 / bytes;
        }
      return layout;
    }
    // Panels as wide as the tile: [v floordiv T, others, v mod T], the name that varies first in
    // the reduction innermost.
    int64_t wide = best.tile->vectors * nest.lanes;
    std::vector<std::string> along;
    for (unsigned name : m.lanes)
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
              if (groups[best.levels[i].group].names[0] == each)
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

  Schedule write() {
    Schedule schedule;
    std::map<int, unsigned> loopOf;
    findExtents(best, extents);
    auto add = [&](const char *level, ArrayRef<unsigned> group, int64_t step) {
      schedule.loops.push_back({level, nest.namesOf(group), step, 1});
    };
    std::vector<int64_t> left;
    for (const Walked &group : groups)
      left.push_back(group.size);
    for (size_t i = 0; i < best.levels.size(); ++i) {
      const Level &level = best.levels[i];
      // Results in an outer cache or memory are prefetched between some steps of the reduction, if
      // its other loops give no opportunity and it is so short that a burst would cost time.
      double steps = 1;
      for (size_t q = best.outer; q < best.levels.size(); ++q)
        steps *= best.levels[q].trips();
      if (int64_t share = shareSteps * level.step;
          i + 1 == best.levels.size() && groups[level.group].reduced && level.tile >= 2 * share &&
          steps < 8 * level.trips() && steps <= mostShared &&
          (level.tile % share == 0 || level.tile == groups[level.group].size))
        add("loop", groups[level.group].names, share);
      add(groups[level.group].reduced ? "loop"
          : i < best.chunkLevels      ? "thread"
                                      : "cache",
          groups[level.group].names, level.step);
      left[level.group] = level.step;
      loopOf[int(i)] = unsigned(schedule.loops.size() - 1);
    }
    for (const Staged &copy : best.stages) {
      // Rows that change with every tile come from an outer cache: the next ones are prefetched.
      bool ahead = size_t(copy.loop) >= best.chunkLevels &&
                   !groups[best.levels[size_t(copy.loop)].group].reduced;
      schedule.stages.push_back(
          {copy.access,
           loopOf[copy.loop],
           "",
           stageLayout(m.accesses[copy.access], extents[size_t(copy.loop) + 1], copy.loop),
           {},
           ahead ? 2u : 1u,
           ""});
    }
    for (auto &[name, points] : best.tile->rows)
      add("register", {name}, 1);
    if (left[vectorGroup] > nest.lanes)
      add("register", m.lanes, nest.lanes);
    add("vector", m.lanes, 1);
    if (m.pair >= 0)
      add("unit", {unsigned(m.pair)}, 1);
    return schedule;
  }
};
} // namespace

Model::Found Model::search(ArrayRef<RegisterTile> tiles, ArrayRef<Loop> reductionOrder) const {
  return Search(*this, reductionOrder).run(tiles);
}
