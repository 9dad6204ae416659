//===- LayoutWays.cpp - ways to run a nest --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/layout/LayoutWays.h"

#include "lib/cost/AssumedLoops.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

static constexpr unsigned mostTiles = 3; ///< of the same lanes

LayoutWay::LayoutWay(const NestModel &nest, std::vector<unsigned> names, bool reduced,
                     unsigned tile)
    : lanes(std::move(names)), reduced(reduced), tile(tile) {
  int64_t size = nest.sizeOf(lanes);
  cycles = nest.points(0, nest.names.size());
  if (!nest.reduction || lanes.empty())
    return;
  cycles *= double(nest.vectorsOf(lanes)) / double(size);
  SmallVector<bool> onLanes;
  for (const NestAccess &access : nest.accesses)
    onLanes.push_back(access.mentionsAny(lanes));
  if (std::vector<RegisterTile> found = cost::goodTiles(nest, lanes, onLanes); !found.empty()) {
    tiles = unsigned(found.size());
    registers = found[std::min<size_t>(tile, tiles - 1)];
    double count = double(registers.vectors);
    for (auto [name, points] : registers.rows)
      count *= double(points);
    cycles *= registers.cycles / count / registers.used;
  }
}

double LayoutWay::reuse(const NestAccess &access) const {
  double reuse = 1;
  for (auto [name, points] : registers.rows)
    if (!access.mentions(name))
      reuse *= double(points);
  return reuse;
}

void nest::addTiles(std::vector<LayoutWay> &ways, const NestModel &nest,
                    const std::vector<unsigned> &lanes) {
  bool reduced = !lanes.empty() && nest.isReduced(lanes.front());
  for (unsigned tile = 0, tiles = 1; tile < std::min(tiles, mostTiles); ++tile) {
    ways.emplace_back(nest, lanes, reduced, tile);
    tiles = ways.back().tiles;
    if (cost::splitOf(nest, lanes).points) {
      ways.push_back(ways.back());
      ways.back().split = true;
    }
  }
}

/// Names of one read that another lacks are merged,
/// the largest first, so that small ones fill vectors together.
std::vector<LayoutWay> nest::waysOfReduction(const NestModel &nest) {
  std::vector<std::pair<std::vector<unsigned>, bool>> choices;
  auto add = [&](std::vector<unsigned> lanes, bool reduced) {
    std::pair entry(std::move(lanes), reduced);
    if (!entry.first.empty() && !llvm::is_contained(choices, entry))
      choices.push_back(std::move(entry));
  };
  SmallVector<const NestAccess *> reads;
  for (const NestAccess &access : nest.accesses)
    if (!access.isWrite && !access.inFinish)
      reads.push_back(&access);
  for (const NestAccess *read : reads) {
    std::vector<unsigned> own;
    for (unsigned name = unsigned(nest.firstProduced); name < nest.firstReduced; ++name) {
      if (read->dimOf(name) < 0 || nest.sizes[name] < 2)
        continue;
      bool lacking = reads.size() == 1 || llvm::any_of(reads, [&](const NestAccess *other) {
                       return other != read && !other->mentions(name);
                     });
      if (lacking)
        own.push_back(name);
    }
    llvm::sort(own, [&](unsigned a, unsigned b) {
      if (nest.sizes[a] != nest.sizes[b])
        return nest.sizes[a] > nest.sizes[b];
      return nest.names[a] < nest.names[b];
    });
    if (reads.size() > 1 && own.size() > 1) {
      add(own, false);
      std::vector<unsigned> some;
      int64_t size = 1;
      for (unsigned name : own)
        if (size < 2 * nest.lanes) {
          some.push_back(name);
          size *= nest.sizes[name];
        }
      add(some, false);
    }
    for (unsigned name : own)
      add({name}, false);
  }
  for (unsigned name = unsigned(nest.firstProduced); name < nest.firstReduced; ++name)
    if (nest.sizes[name] > 1)
      add({name}, false);
  for (unsigned name = unsigned(nest.firstReduced); name < nest.names.size(); ++name)
    if (nest.sizes[name] >= nest.lanes / 2)
      add({name}, true);
  std::vector<LayoutWay> ways;
  for (auto &[lanes, reduced] : choices)
    addTiles(ways, nest, lanes);
  if (ways.empty())
    ways.emplace_back(nest, std::vector<unsigned>(), false);
  llvm::stable_sort(ways,
                    [](const LayoutWay &a, const LayoutWay &b) { return a.cycles < b.cycles; });
  return ways;
}

/// Returns the names of lanes along the innermost names of a layout, until two vectors are full.
static std::vector<unsigned> innermostNames(const NestModel &nest, const NestAccess &access,
                                            const Layout &layout) {
  std::vector<unsigned> lanes;
  int64_t size = 1;
  auto add = [&](const std::string &name) {
    size_t dim = size_t(llvm::find(access.dims, name) - access.dims.begin());
    int iteration = dim < access.dims.size() ? access.coordinates[dim].plain : -1;
    if (iteration < 0 || !nest.isProduced(size_t(iteration)) ||
        access.dimOf(unsigned(iteration)) != int(dim) ||
        llvm::is_contained(lanes, unsigned(iteration)))
      return false;
    lanes.insert(lanes.begin(), unsigned(iteration));
    size *= nest.sizes[size_t(iteration)];
    return true;
  };
  for (const Layout::Factor &factor : llvm::reverse(layout.factors)) {
    bool whole = factor.divisor == 1 && factor.modulus == 0 && !factor.low && !factor.high;
    if ((!lanes.empty() && !whole) || !llvm::all_of(llvm::reverse(factor.names), add) || !whole ||
        size >= 2 * nest.lanes)
      break;
  }
  llvm::erase_if(lanes, [&](unsigned name) { return nest.sizes[name] < 2; });
  return lanes;
}

std::vector<LayoutWay>
nest::waysOfPointwise(const NestModel &nest,
                      llvm::function_ref<ArrayRef<Layout>(Value)> candidatesOf) {
  std::vector<std::vector<unsigned>> choices;
  for (const NestAccess &access : nest.accesses)
    for (const Layout &layout : candidatesOf(access.tensor)) {
      std::vector<unsigned> lanes = innermostNames(nest, access, layout);
      if (!lanes.empty() && !llvm::is_contained(choices, lanes) && choices.size() < mostWays)
        choices.push_back(lanes);
    }
  std::vector<LayoutWay> ways;
  for (auto &lanes : choices)
    ways.emplace_back(nest, lanes, false);
  ways.emplace_back(nest, std::vector<unsigned>(), false);
  return ways;
}
