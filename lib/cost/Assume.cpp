//===- Assume.cpp - good loops of a nest -----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/Assume.h"

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
  LoopBuilder(const NestFacts &facts, ArrayRef<unsigned> lanes)
      : facts(facts), nest(facts.nest()), lanes(lanes) {
    width = std::min<int64_t>(nest.lanes, nest.sizeOf(lanes));
  }

  SmallVector<Loop, 12> build() {
    bool isReduced = !lanes.empty() && nest.isReduced(lanes[0]);
    if (!lanes.empty())
      pickTile(isReduced);
    for (unsigned name = 0; name < nest.firstProduced; ++name)
      loops.emplace_back(Loop::Sequential, Names{name}, 1);
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
    ArrayRef<LaneKind> kinds = facts.laneKinds(lanes);
    if (!nest.reduction) {
      vectors = std::min<int64_t>(2, nest.vectorsOf(lanes));
      return pickTurn(kinds);
    }
    SmallVector<bool, 6> onLanes;
    for (LaneKind kind : kinds)
      onLanes.push_back(kind != LaneKind::Same);
    std::vector<RegisterTile> tiles = nest.registerTiles(lanes, onLanes);
    if (tiles.empty())
      return;
    rows = tiles[0].rows;
    vectors = tiles[0].vectors;
  }

  /// Tiles of two names are transposed in registers.
  void pickTurn(ArrayRef<LaneKind> kinds) {
    for (auto [i, kind] : llvm::enumerate(kinds))
      if (kind == LaneKind::Apart && !nest.accesses[i].isWrite && !nest.accesses[i].gathered)
        for (auto name = unsigned(nest.firstProduced); name < nest.firstReduced; ++name)
          if (!llvm::is_contained(lanes, name) && nest.sizes[name] >= 4 &&
              facts.laneKinds(name)[i] == LaneKind::Contiguous) {
            rows = {{name, std::min(nest.sizes[name], nest.lanes)}};
            vectors = 1;
            return;
          }
  }

  /// Produced names without the lanes, in the order of the result in memory.
  SmallVector<unsigned, 6> producedInOrder() const {
    SmallVector<std::pair<int64_t, unsigned>, 6> order;
    const nest::PlacedAccess &write = facts.places().back();
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
      if (!llvm::is_contained(lanes, name)) {
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
    for (auto [access, layout] : llvm::zip_equal(nest.accesses, facts.layouts()))
      addLast(access, layout);
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

void cost::forEachAssumption(const NestFacts &facts, function_ref<void(const NestFacts &)> act) {
  NestFacts assumed = facts;
  for (const std::vector<unsigned> &lanes : LaneChoices(facts).choices) {
    assumed.setLoops(LoopBuilder(assumed, lanes).build(), {}, facts.nest().firstProduced);
    act(assumed);
  }
}
