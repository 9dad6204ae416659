//===- LayoutCost.cpp - costs of layouts ----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/LayoutCost.h"

#include "dialects/nest/NestBuild.h"
#include "lib/analysis/NestAnalysis.h"

#include <cmath>
#include <set>

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Ways
//===----------------------------------------------------------------------===//

/// Returns the best register tile over each set of names, in descending order, without clearly
/// worse ones.
static std::vector<RegisterTile> alternativeTiles(const NestModel &nest,
                                                  const std::vector<unsigned> &lanes) {
  SmallVector<bool> onLanes;
  for (const NestAccess &access : nest.accesses)
    onLanes.push_back(access.mentionsAny(lanes));
  std::vector<RegisterTile> tiles = nest.registerTiles(lanes, onLanes);
  std::set<std::set<unsigned>> known;
  llvm::erase_if(tiles, [&, best = tiles.empty() ? 0 : tiles[0].score](const RegisterTile &tile) {
    std::set<unsigned> names;
    for (auto [name, points] : tile.rows)
      names.insert(name);
    return !known.insert(std::move(names)).second || tile.score < 0.97 * best;
  });
  return tiles;
}

WayModel::WayModel(const NestModel &nest, std::vector<unsigned> names, bool reduced, unsigned tile)
    : lanes(std::move(names)), reduced(reduced) {
  laneSize = nest.sizeOf(lanes);
  width = lanes.empty()
              ? 1
              : std::min<int64_t>(nest.lanes, int64_t(llvm::PowerOf2Ceil(uint64_t(laneSize))));
  double all = nest.points(0, nest.names.size()), produced = nest.points(0, nest.firstReduced);
  double runs = std::ceil(double(laneSize) / double(width)) / double(laneSize);
  vectors = all * runs;
  finishVectors = reduced ? produced : produced * runs;
  double reducedPoints = nest.points(nest.firstReduced, nest.names.size());
  if (!nest.reduction || lanes.empty()) {
    arithmetic = vectors * nest.bodyCost * 0.5 + finishVectors * nest.finishCost * 0.5;
    return;
  }
  double cycles = 0.25 * nest.bodyCost;
  if (std::vector<RegisterTile> found = alternativeTiles(nest, lanes); !found.empty()) {
    tiles = unsigned(found.size());
    const RegisterTile &best = found[std::min<size_t>(tile, tiles - 1)];
    rows = best.rows;
    tileVectors = best.vectors;
    double count = double(tileVectors);
    for (auto [name, points] : rows)
      count *= double(points);
    cycles = std::max(cycles, best.cycles / count) / best.used;
  }
  arithmetic = vectors * cycles + finishVectors * nest.finishCost * 0.5;
  if (reduced)
    arithmetic = arithmetic * 1.1 + produced * 8; // horizontal reduction
  else
    arithmetic +=
        finishVectors * (2 + 60 / std::max(1.0, reducedPoints)); // tile prologue, epilogue
  // Merging names has a small cost, so that they are merged only to fill vectors.
  arithmetic *= 1 + 0.005 * double(lanes.size() - 1);
}

double WayModel::reuse(const NestAccess &access) const {
  double reuse = 1;
  for (auto [name, points] : rows)
    if (!access.mentions(name))
      reuse *= double(points);
  return reuse;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// Returns true if some coordinate is the sum of this name and others.
static bool inWindow(const NestModel &nest, unsigned name) {
  for (const NestAccess &access : nest.accesses)
    for (const Coordinate &coordinate : access.coordinates)
      if (coordinate.isSum() && llvm::is_contained(coordinate.mentioned, int(name)))
        return true;
  return false;
}

/// Returns the additional cycles of a contiguous vector of a large tensor for a nest in a group,
/// which accesses only one point of the group: if contiguous runs are on different pages, the
/// prefetcher does not follow.
static double farVector(const NestModel &nest, const WayModel &way, const NestAccess &access,
                        const SizedLayout &layout, const cost::Rates &r) {
  if (nest.firstProduced == 0)
    return 0;
  double vector = double(way.width) * double(access.bytes()), run = vector;
  SmallVector<std::pair<double, double>> steps; // (stride in bytes, count)
  for (auto name = unsigned(nest.firstProduced); name < nest.names.size(); ++name)
    if (double step = double(nest.step(access, layout, name)) * double(access.bytes());
        step > 0 && nest.sizes[name] > 1 && !llvm::is_contained(way.lanes, name))
      steps.emplace_back(step, double(nest.sizes[name]));
  llvm::sort(steps);
  for (auto [step, count] : steps) {
    if (step > run)
      return step >= r.pageBytes ? r.farLane * vector / run : 0;
    run = std::max(run, step * count);
  }
  return 0;
}

double nest::accessCost(const NestModel &nest, const WayModel &way, const NestAccess &access,
                        const SizedLayout &layout, const cost::Rates &r) {
  bool once = access.isWrite ? nest.reduction : access.inFinish;
  double runs = once ? way.finishVectors : way.vectors;
  double bytes = double(access.bytes());
  bool large = double(layout.elements()) * bytes > 512 * 1024;
  double far = large ? farVector(nest, way, access, layout, r) : 0;
  double vector =
      (large ? r.streamedLine : r.cachedLine) * bytes * double(way.width) / double(nest.line);
  if (way.lanes.empty()) {
    // Scalars; neighbouring ones should still be contiguous.
    return runs * 0.5 * (way.reduced ? 1 : 2);
  }
  LaneKind kind = way.reduced && once ? LaneKind::Same : nest.laneKind(access, layout, way.lanes);
  if (once || !nest.reduction || access.gathered) {
    if (access.gathered)
      runs /= way.reuse(access);
    if (kind == LaneKind::Same)
      return runs * 0.3;
    if (kind == LaneKind::Contiguous)
      return runs * (vector + far);
    // A gathered access uses one element of each line.
    double line = access.gathered ? double(way.width) * r.newLine : vector;
    double lane = r.gatherLane * (access.isWrite ? r.scatterPart : 1);
    // A nest in a group processes one row after another: no tile of several rows reuses the lines.
    double step = double(nest.step(access, layout, way.lanes.back())) * bytes;
    if (nest.firstProduced > 0 && step >= double(nest.line))
      lane += r.farLane * (step >= r.pageBytes ? 1 : 0.3);
    return runs * (double(way.width) * lane + line * (large ? 2 : 1));
  }

  // A read in a reduction's body, which the register tile uses several times. A schedule may stage
  // an operand with a bad layout: then every element is moved about once.
  double loads = runs / way.reuse(access), elements = double(layout.elements());
  bool stages = nest.accesses.size() > 2 && loads * double(way.width) > 4 * elements;
  // Elements narrower than 32 bits are widened at every load, or once in a stage.
  double widening = bytes < 4 && isa<FloatType>(access.type.getElementType()) ? 1 : 0;
  auto staged = [&](double cost, double perElement, double perUse = 0.01) {
    cost += loads * widening;
    return stages ? std::min(cost, elements * perElement + runs * perUse) : cost;
  };
  if (kind == LaneKind::Apart) {
    // A copy has a dimension for each name of the lanes, so strides and windows are not staged.
    stages &= llvm::all_of(way.lanes, [&](unsigned lane) { return access.dimOf(lane) >= 0; });
    return staged(loads * double(way.width) * r.gatherLane,
                  2.0); // transposed once for several chunks
  }
  int64_t nearestReduced = std::numeric_limits<int64_t>::max(), nearestRow = nearestReduced;
  double conflicts = 0;
  int64_t longestReduced = 1;
  for (int64_t size : ArrayRef(nest.sizes).drop_front(nest.firstReduced))
    longestReduced = std::max(longestReduced, size);
  for (unsigned name = 0; name < nest.names.size(); ++name) {
    if (llvm::is_contained(way.lanes, name))
      continue;
    int64_t step = nest.step(access, layout, name) * int64_t(bytes);
    if (step == 0)
      continue;
    // The small names of a window are outside of the others: few reduction steps advance them.
    if (nest.isReduced(name) && (nest.sizes[name] * 4 >= longestReduced || !inWindow(nest, name)))
      nearestReduced = std::min(nearestReduced, step);
    for (auto [row, points] : way.rows)
      if (row == name) {
        nearestRow = std::min(nearestRow, step);
        if (points > 2 && step >= 4096)
          conflicts = std::max(conflicts, step % 4096 == 0 ? 1.0 : 0.3);
      }
  }
  if (kind == LaneKind::Same) {
    // Either the next scalar of each row of a tile, or the scalar of the next row, should be in the
    // same cache line.
    loads /= double(way.tileVectors);
    if (double(nearestRow) <= double(nest.line) / 4)
      return staged(loads * r.newLine * (double(nearestReduced) <= double(nest.line) ? 0.01 : 0.05),
                    1.0);
    double cost =
        double(nearestReduced) <= double(nest.line) / 8
            ? 0
            : std::min(1.0, double(std::min(nearestReduced, nearestRow)) / double(nest.line));
    return staged(loads * r.newLine * (cost + 0.3 * conflicts), 0.6);
  }
  if (way.reduced)
    return loads * far;
  // Vectors of a panel: the next reduction step should read the adjacent vectors.
  int64_t tile = way.width * way.tileVectors * int64_t(bytes);
  if (nearestReduced == std::numeric_limits<int64_t>::max() || nearestReduced <= 2 * tile)
    return staged(loads * far, 0.4);
  return staged(loads * far + loads * (nearestReduced % 1024 == 0 ? r.sameSets
                                       : nearestReduced >= 512    ? r.farStep
                                                                  : 0.2),
                0.4, 0.006); // rarely more than once
}

double nest::copyCost(nd::NdTensorType type, const Layout &from, const Layout &to,
                      const cost::Rates &r) {
  SizedLayout a(from, type, type.sizes()), b(to, type, type.sizes());
  size_t rank = type.getDims().size();
  std::vector<int64_t> position(rank, 0);
  int64_t startA = a.offset(position), startB = b.offset(position);
  // The run that is contiguous on both sides.
  double run = 1;
  size_t d = 0;
  for (const nd::Dim &dim : type.getDims()) {
    int64_t size = dim.size().typical();
    int64_t length = 1;
    for (; length < std::min<int64_t>(size, 64); ++length) {
      position[d] = length;
      if (a.offset(position) - startA != length || b.offset(position) - startB != length)
        break;
    }
    position[d++] = 0;
    run = std::max(run, double(length));
  }
  double elements = pointsOf(type.getDims()), bytes = elementBytes(type.getElementType());
  double total = bytes * (double(a.elements()) + double(b.elements()));
  double perByte = total > (1 << 20) ? r.relayoutFar : r.relayoutNear;
  return r.relayoutStart + total * perByte + elements * (run >= 16 ? 0.05 : run >= 4 ? 0.5 : 1.2);
}
