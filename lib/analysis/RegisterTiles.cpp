//===- RegisterTiles.cpp - the tiles that fit into registers --------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/analysis/NestModel.h"

#include <cmath>
#include <set>

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// Factor on the score of tiles that may leave a remainder of a symbolic size, which needs a
/// remainder loop, if other tiles leave none.
static constexpr double withRest = 0.6;

namespace {
class TileFinder {
public:
  TileFinder(const NestModel &nest, ArrayRef<unsigned> merged, ArrayRef<bool> onLanes)
      : nest(nest), merged(merged), onLanes(onLanes), vectors(nest.vectorsOf(merged)),
        limit(nest.registers - 1) {
    for (auto [access, isVector] : llvm::zip_equal(nest.accesses, onLanes))
      if (!access.isWrite)
        ++(isVector ? vectorReads : scalarReads);
  }

  std::vector<RegisterTile> find() {
    bool reduced = nest.isReduced(merged[0]);
    std::vector<unsigned> names = rowNames();
    for (int64_t nv : {2, 1, 3, 4}) {
      if (reduced ? nv > 1 : nv > vectors)
        continue;
      int64_t most = (limit - 1 - nv) / (nv * nest.accumulators);
      consider(nv, {});
      for (unsigned name : names) {
        std::set<int64_t> some = pointsOf(name, most);
        for (int64_t points : llvm::reverse(some)) {
          if (points < 2)
            continue;
          consider(nv, {{name, points}});
          if (points != nest.sizes[name] || most / points < 2)
            continue;
          for (unsigned second : names)
            if (second != name)
              for (int64_t more : pointsOf(second, most / points))
                if (more >= 2)
                  consider(nv, {{second, more}, {name, points}});
        }
      }
    }
    llvm::stable_sort(
        tiles, [](const RegisterTile &a, const RegisterTile &b) { return a.score > b.score; });
    return std::move(tiles);
  }

private:
  const NestModel &nest;
  ArrayRef<unsigned> merged;
  ArrayRef<bool> onLanes;
  int64_t vectors, limit;
  unsigned vectorReads = 0, scalarReads = 0;
  std::vector<RegisterTile> tiles;

  /// Returns the produced names of which some vector read is independent, so that every row reuses
  /// the same vectors, and on which another read depends.
  std::vector<unsigned> rowNames() const {
    std::vector<unsigned> result;
    for (unsigned name = unsigned(nest.firstProduced); name < nest.firstReduced; ++name) {
      if (llvm::is_contained(merged, name) || nest.sizes[name] < 2)
        continue;
      bool reuses = false, matters = false;
      for (auto [access, isVector] : llvm::zip_equal(nest.accesses, onLanes)) {
        if (access.isWrite)
          continue;
        reuses |= isVector && !access.mentions(name);
        matters |= access.mentions(name);
      }
      if (reuses && matters)
        result.push_back(name);
    }
    return result;
  }

  /// Returns the points of a name in a tile: as many as registers allow, or slightly fewer so that
  /// the last tile is as large as the others.
  std::set<int64_t> pointsOf(unsigned name, int64_t limit) const {
    int64_t size = nest.sizes[name];
    auto largestDivisor = [&](int64_t known, int64_t points) {
      while (points >= 2 && known % points != 0)
        --points;
      return points;
    };
    if (nest.symbolic[name]) // divisors of the typical size are irrelevant
      return {limit, largestDivisor(nest.divisors[name], limit)};
    int64_t fewest = (size + limit - 1) / std::max<int64_t>(limit, 1);
    std::set<int64_t> result{std::min(limit, size), largestDivisor(size, std::min(limit, size))};
    for (int64_t parts : {fewest, fewest + 1, fewest + 2})
      result.insert(std::min(limit, (size + parts - 1) / parts));
    return result;
  }

  /// Adds a tile of `nv` vectors and these rows, if it fits into the registers: accumulators, one
  /// row of vectors and one broadcast.
  void consider(int64_t nv, std::vector<std::pair<unsigned, int64_t>> rows) {
    int64_t count = 1;
    double used = 1;
    for (auto [name, points] : rows) {
      count *= points;
      int64_t size = nest.sizes[name];
      used *= nest.symbolic[name]
                  ? (nest.divisors[name] == 1 || nest.divisors[name] % points == 0 ? 1 : withRest)
                  : double(size) / double((size + points - 1) / points * points);
    }
    if (count * nv * nest.accumulators + nv + 1 > limit)
      return;
    used *= double(vectors) / double((vectors + nv - 1) / nv * nv);
    // A cycle issues two loads and two operations, four in all; a sum has a latency of four cycles.
    double work = double(count * nv * nest.operations),
           loads = double(nv * vectorReads + count * scalarReads);
    double most = std::max({work / 2, loads / 2, (work + loads + 3) / 4, 4.0});
    double cycles = most + 0.1 * (work / 2 + loads / 2 + (work + loads + 3) / 4 + 4 - most);
    // Unused points count less than half, so that narrower tiles are not discarded.
    double score = (0.6 * used + 0.4 * std::sqrt(used)) * work / 2 / cycles;
    tiles.push_back({nv, std::move(rows), cycles, score, used});
  }
};
} // namespace

std::vector<RegisterTile> NestModel::registerTiles(ArrayRef<unsigned> merged,
                                                   ArrayRef<bool> onLanes) const {
  return TileFinder(*this, merged, onLanes).find();
}
