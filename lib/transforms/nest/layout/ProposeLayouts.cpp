//===- ProposeLayouts.cpp - layouts that reductions and gathers propose ---===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/layout/LayoutProposals.h"
#include "lib/transforms/nest/layout/LayoutWays.h"

#include <set>

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// Proposals of nests in a group weigh more: no tile of several points reuses the lines around one.
static constexpr double groupWeight = 8;

/// For neighbouring dimensions with one iteration name (`h floordiv 64`, `h mod 64`): returns
/// after how many steps the coordinate changes.
static int64_t coarseness(const NestModel &nest, const Coordinate &coordinate) {
  if (coordinate.mentioned.empty())
    return std::numeric_limits<int64_t>::max();
  unsigned name = unsigned(coordinate.mentioned.back());
  std::vector<int64_t> point(nest.names.size(), 0);
  int64_t first = coordinate.at(point, nest.names);
  for (int64_t step = 1; step < std::min<int64_t>(nest.sizes[name], 8192); ++step) {
    point[name] = step;
    if (coordinate.at(point, nest.names) != first)
      return step;
  }
  return nest.sizes[name];
}

int nest::principalOf(const NestModel &nest, const Coordinate &coordinate) {
  int principal = -1;
  for (int name : coordinate.mentioned)
    if (principal < 0 || nest.sizes[size_t(name)] > nest.sizes[size_t(principal)])
      principal = name;
  return principal;
}

/// Returns the dimensions of an access without those in `lanes`, outermost first: those that
/// depend only on names of the enclosing group (or none), only on produced names, on produced and
/// reduced names, only on reduced names.
static std::vector<std::string> othersOf(const NestModel &nest, const LayoutWay &way,
                                         const NestAccess &access, const std::set<size_t> &lanes) {
  struct Entry {
    int kind;
    bool isRow; ///< a row of the register tile: its points are read together
    std::string rank;
    int64_t coarse;
    std::string name;
  };
  std::vector<Entry> entries;
  for (size_t d = 0; d < access.coordinates.size(); ++d) {
    if (lanes.count(d))
      continue;
    const Coordinate &coordinate = access.coordinates[d];
    bool produced = false, reduced = false, windowed = false;
    int principal = principalOf(nest, coordinate);
    std::string rank = principal < 0 ? "" : nest.names[size_t(principal)];
    for (int name : coordinate.mentioned) {
      (nest.isReduced(size_t(name)) ? reduced : produced) = true;
      for (const NestAccess &other : nest.accesses)
        for (const Coordinate &elsewhere : other.coordinates)
          windowed |= elsewhere.isSum() && llvm::is_contained(elsewhere.mentioned, name);
    }
    int kind = windowed ? 1 : reduced ? 2 : 0;
    if (nest.firstProduced > 0 && llvm::all_of(coordinate.mentioned, [&](int name) {
          return name < int(nest.firstProduced);
        }))
      kind = -1;
    if (!access.isWrite && windowed && reduced && !produced)
      kind = 1;
    bool isRow =
        llvm::any_of(way.registers.rows, [&](auto row) { return int(row.first) == principal; });
    entries.push_back({kind, isRow, rank, -coarseness(nest, coordinate), access.dims[d]});
  }
  llvm::sort(entries, [](const Entry &a, const Entry &b) {
    return std::tie(a.kind, a.isRow, a.rank, a.coarse, a.name) <
           std::tie(b.kind, b.isRow, b.rank, b.coarse, b.name);
  });
  std::vector<std::string> names;
  for (const Entry &entry : entries)
    names.push_back(entry.name);
  return names;
}

void nest::proposeForReduction(const NestModel &nest, LayoutProposals &proposals) {
  if (!nest.reduction)
    return;
  std::vector<LayoutWay> ways = waysOfReduction(nest);
  for (size_t w = 0; w < std::min(ways.size(), mostWays); ++w) {
    const LayoutWay &way = ways[w];
    double weight = nest.points(0, nest.names.size()) / (1 + double(w));
    if (nest.firstProduced > 0)
      weight *= groupWeight;
    for (const NestAccess &access : nest.accesses) {
      if (access.gathered || access.inFinish || (access.isWrite && way.reduced))
        continue;
      std::set<size_t> dims;
      std::vector<std::string> merged;
      bool possible = true, any = false;
      for (unsigned name : way.lanes) {
        int d = access.dimOf(name);
        any |= access.mentions(name);
        possible &= d >= 0;
        if (d >= 0 && dims.insert(size_t(d)).second)
          merged.push_back(access.dims[size_t(d)]);
      }
      if (any && !possible)
        continue;
      std::vector<std::string> names = othersOf(nest, way, access, any ? dims : std::set<size_t>());
      Layout plain = Layout::rowMajor(names);
      if (any)
        for (const std::string &name : merged)
          plain.factors.push_back({{name}, 1, 0, 0, 0});
      proposals.add(access.tensor, plain, weight);
      if (!any && !access.isWrite) {
        // Scalars of neighbouring rows may be contiguous too.
        for (auto [row, points] : way.registers.rows)
          if (int d = access.dimOf(row); d >= 0) {
            std::string last = access.dims[size_t(d)];
            names.erase(llvm::find(names, last));
            names.push_back(last);
            proposals.add(access.tensor, Layout::rowMajor(names), weight);
            break;
          }
      }
      // A panel that is read repeatedly for the rows of a tile has blocks as wide as the tile.
      int64_t block = nest.lanes * 2;
      if (any && !way.reduced && !access.isWrite && way.reuse(access) > 1 &&
          nest.sizeOf(way.lanes) > block) {
        Layout blocked = Layout::rowMajor(names);
        blocked.factors.insert(blocked.factors.begin(), {merged, block, 0, 0, 0});
        blocked.factors.push_back({merged, 1, block, 0, 0});
        proposals.add(access.tensor, blocked, weight);
      }
    }
  }
}

void nest::proposeForGathers(const NestModel &nest, LayoutProposals &proposals) {
  for (const NestAccess &access : nest.accesses) {
    if (!access.gathered)
      continue;
    std::vector<std::string> computed, others;
    for (auto [dim, coordinate] : llvm::zip_equal(access.dims, access.coordinates))
      (coordinate.plain >= 0 && !access.gatheredBy(unsigned(coordinate.plain)) ? others : computed)
          .push_back(dim);
    for (const std::string &last : others) {
      std::vector<std::string> names = computed;
      llvm::copy_if(others, std::back_inserter(names),
                    [&](const std::string &name) { return name != last; });
      names.push_back(last);
      proposals.add(access.tensor, Layout::rowMajor(names), nest.points(0, nest.names.size()));
    }
  }
}
