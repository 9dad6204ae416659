//===- AssumedLoops.cpp - good loops of a nest ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/AssumedLoops.h"

#include <set>

using namespace heddle;
using namespace heddle::cost;
using namespace mlir;
using nest::LaneKind;
using nest::NestAccess;
using nest::NestModel;
using nest::RegisterTile;

namespace {
/// Appends the loops of a nest with these lanes.
class LoopBuilder {
public:
  LoopBuilder(const NestFacts &facts, ArrayRef<unsigned> lanes, unsigned tile, bool isSplit)
      : facts(facts), nest(facts.nest()), lanes(lanes), tile(tile) {
    if (isSplit)
      split = splitOf(nest, lanes);
    width = std::min<int64_t>(nest.lanes, nest.sizeOf(lanes));
  }

  SmallVector<Loop, 12> build() {
    bool isReduced = !lanes.empty() && nest.isReduced(lanes[0]);
    if (!lanes.empty())
      pickTile(isReduced);
    auto outer = llvm::to_vector(llvm::seq(unsigned(nest.firstProduced)));
    llvm::stable_sort(outer, [&](unsigned a, unsigned b) { return nest.sizes[a] < nest.sizes[b]; });
    for (unsigned name : outer) // the longest loop is innermost, whatever the names are
      loops.emplace_back(Loop::Sequential, Names{name}, 1);
    if (split.points)
      loops.emplace_back(Loop::Sequential, Names{split.name}, split.points);
    for (unsigned name : producedInOrder())
      loops.emplace_back(Loop::Sequential, Names{name}, pointsOf(name));
    if (!lanes.empty() && !isReduced)
      loops.emplace_back(Loop::Sequential, Names(lanes), vectors * width);
    addReduced(isReduced);
    for (auto [name, points] : rows)
      loops.emplace_back(Loop::Register, Names{name}, 1);
    if (lanes.empty())
      return std::move(loops);
    if (isReduced)
      loops.emplace_back(Loop::Sequential, Names(lanes), vectors * width);
    loops.emplace_back(Loop::Register, Names(lanes), width);
    loops.emplace_back(Loop::Vector, Names(lanes), 1);
    return std::move(loops);
  }

private:
  const NestFacts &facts;
  const NestModel &nest;
  ArrayRef<unsigned> lanes;
  unsigned tile;
  Split split;
  int64_t width, vectors = 1;
  std::vector<std::pair<unsigned, int64_t>> rows;
  SmallVector<Loop, 12> loops;

  int64_t pointsOf(unsigned name) const {
    for (auto [row, points] : rows)
      if (row == name)
        return points;
    return 1;
  }

  void pickTile(bool isReduced) {
    SmallVector<LaneKind, 6> kinds;
    for (size_t access = 0; access < nest.accesses.size(); ++access)
      kinds.push_back(facts.laneKind(access, lanes));
    if (!nest.reduction) {
      vectors = std::min<int64_t>(2, nest.vectorsOf(lanes));
      return pickTurn(kinds);
    }
    SmallVector<bool, 6> onLanes;
    for (LaneKind kind : kinds)
      onLanes.push_back(kind != LaneKind::Same);
    std::vector<RegisterTile> tiles = goodTiles(nest, lanes, onLanes);
    if (tiles.empty())
      return;
    const RegisterTile &taken = tiles[std::min<size_t>(tile, tiles.size() - 1)];
    rows = taken.rows;
    vectors = taken.vectors;
  }

  /// Tiles of two names are transposed in registers.
  void pickTurn(ArrayRef<LaneKind> kinds) {
    if (facts.isUpdate)
      return;
    for (auto [i, kind] : llvm::enumerate(kinds))
      if (kind == LaneKind::Apart && !nest.accesses[i].isWrite && !nest.accesses[i].gathered)
        for (auto name = unsigned(nest.firstProduced); name < nest.firstReduced; ++name)
          if (!llvm::is_contained(lanes, name) && nest.sizes[name] >= 4 &&
              facts.laneKind(i, name) == LaneKind::Contiguous) {
            rows = {{name, std::min(nest.sizes[name], nest.lanes)}};
            vectors = 1;
            return;
          }
  }

  /// Produced names without the lanes, in the order of the result in memory.
  SmallVector<unsigned, 6> producedInOrder() const {
    SmallVector<std::pair<int64_t, unsigned>, 6> order;
    const nest::PlacedAccess &write = facts.place(nest.accesses.size() - 1);
    for (auto name = unsigned(nest.firstProduced); name < nest.firstReduced; ++name)
      if (!llvm::is_contained(lanes, name)) {
        const nest::PlacedAccess::Dim *dim = write.find(name);
        order.emplace_back(dim ? -dim->stride : INT64_MIN, name);
      }
    llvm::stable_sort(order, llvm::less_first());
    return llvm::map_to_vector<6>(order, [](auto each) { return each.second; });
  }

  void addReduced(bool isReduced) {
    for (auto name = unsigned(nest.firstReduced); name < nest.names.size(); ++name)
      if (!llvm::is_contained(lanes, name) && !(split.points == 1 && split.name == name)) {
        bool isLast = name + 1 == nest.names.size() && !isReduced;
        int64_t step = isLast ? std::min(facts.depth, nest.sizes[name]) : 1;
        loops.emplace_back(Loop::Sequential, Names{name}, step);
        if (step > 1)
          loops.emplace_back(Loop::Unit, Names{name}, 1);
      }
  }
};

/// Enumerates the lanes of a nest.
class LaneChoices {
public:
  explicit LaneChoices(const NestFacts &facts) : facts(facts), nest(facts.nest()) {
    for (auto name = unsigned(nest.firstProduced); name < nest.names.size(); ++name)
      if (nest.sizes[name] > 1 && mayBeLane(name))
        choices.insert({name});
    for (auto [i, access] : llvm::enumerate(nest.accesses))
      addLast(access, facts.layout(i));
    if (choices.empty())
      choices.emplace(); // no lanes
  }
  std::set<std::vector<unsigned>> choices;

private:
  const NestFacts &facts;
  const NestModel &nest;

  /// Lanes of an update must not meet in a place.
  bool mayBeLane(unsigned name) const {
    return !facts.isUpdate || nest.accesses.back().dimOf(name) >= 0;
  }

  void add(const std::vector<unsigned> &names) {
    if (names.size() > 1 && llvm::none_of(ArrayRef(names).drop_front(),
                                          [&](unsigned name) { return nest.symbolic[name]; }))
      choices.insert(names);
  }

  /// The last names of a layout, merged until they fill two vectors.
  void addLast(const NestAccess &access, const Layout &layout) {
    std::vector<unsigned> last;
    int64_t size = 1;
    for (const Layout::Factor &factor : llvm::reverse(layout.factors)) {
      if (factor.divisor != 1 || factor.modulus || factor.low || factor.high)
        break;
      for (const std::string &name : llvm::reverse(factor.names)) {
        size_t dim = size_t(llvm::find(access.dims, name) - access.dims.begin());
        int plain = access.coordinates[dim].plain;
        bool isLane =
            plain >= 0 && access.dimOf(unsigned(plain)) >= 0 &&
            (last.empty() ? nest.isProduced(size_t(plain)) || nest.isReduced(size_t(plain))
                          : nest.isReduced(size_t(plain)) == nest.isReduced(last[0])) &&
            size_t(plain) >= nest.firstProduced && mayBeLane(unsigned(plain));
        if (!isLane || size >= 2 * nest.lanes)
          return add(last);
        if (nest.sizes[size_t(plain)] > 1)
          last.insert(last.begin(), unsigned(plain));
        size *= nest.sizes[size_t(plain)];
      }
    }
    add(last);
  }
};
} // namespace

Split cost::splitOf(const NestModel &nest, ArrayRef<unsigned> lanes) {
  constexpr double part = 0.5; // of the second cache
  Split split;
  if (!nest.reduction || (!lanes.empty() && nest.isReduced(lanes[0])))
    return split;
  for (auto name = unsigned(nest.firstReduced); name < nest.names.size(); ++name)
    if (nest.sizes[name] > nest.sizes[split.name] || name == nest.firstReduced)
      split.name = name;
  double size = double(nest.sizes[split.name]), slice = 0, all = 0;
  for (const NestAccess &access : nest.accesses)
    if (!access.isWrite && !access.inFinish && !access.gathered) {
      double bytes = access.elements * double(access.bytes());
      all += bytes;
      slice += access.mentions(split.name) ? bytes / size : bytes;
    }
  if (all > double(nest.l2) && size > 1)
    split.points =
        std::clamp<int64_t>(int64_t(part * double(nest.l2) / slice), 1, nest.sizes[split.name] / 2);
  return split;
}

std::vector<RegisterTile> cost::goodTiles(const NestModel &nest, ArrayRef<unsigned> lanes,
                                          ArrayRef<bool> onLanes) {
  constexpr double alike = 0.97; // of the best score
  std::vector<RegisterTile> tiles = nest.registerTiles(lanes, onLanes);
  std::set<std::set<unsigned>> known;
  llvm::erase_if(tiles, [&, best = tiles.empty() ? 0 : tiles[0].score](const RegisterTile &tile) {
    std::set<unsigned> names;
    for (auto [name, points] : tile.rows)
      names.insert(name);
    return !known.insert(std::move(names)).second || tile.score < alike * best;
  });
  return tiles;
}

SmallVector<Loop, 12> cost::assumedLoops(const NestFacts &facts, ArrayRef<unsigned> lanes,
                                         unsigned tile, bool isSplit) {
  return LoopBuilder(facts, lanes, tile, isSplit).build();
}

void cost::forEachAssumption(const NestFacts &facts, function_ref<void(const NestFacts &)> act) {
  NestFacts assumed = facts;
  for (const std::vector<unsigned> &lanes : LaneChoices(facts).choices) {
    assumed.setLoops(assumedLoops(assumed, lanes), {}, facts.nest().firstProduced);
    act(assumed);
  }
}
