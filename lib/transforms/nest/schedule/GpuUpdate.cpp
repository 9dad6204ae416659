//===- GpuUpdate.cpp - updates and sorts for blocks of lanes --------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Points that differ in a free name write different elements (lib/conversion/nest_to_loops/
// Update.cpp), so lanes may walk free names, and any names of an update that writes no element
// twice. Blocks divide the names that the destination has as they are: each block copies its part.
// All other names are walked in order:
//
//     (n: 4096, d: 512) %table[v = read(0), d = d] accumulates
//
//     [block d by 32, lane d by 1, loop n by 1]                      one lane adds up each element
//     [block d by 32, loop n by 8, lane n by 1, lane d by 1]         `unique`
//
// If free names have few points, as those of a histogram, the lanes of a block walk all names. They
// may meet at an element (lib/conversion/nest_to_loops/UpdateLanes.cpp):
//
//     (n: 4096) %bins[v = read(0)] accumulates                       [loop n by 256, lane n by 1]
//     (p: 64, n: 4096) %bins[p = p, v = read(0)] by %x[4096 * p + n]
//                                                      [block p by 1, loop n by 256, lane n by 1]
//
// A block sorts a line, unless lines are so short that one lane sorts them.
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/schedule/GpuSchedule.h"

#include "dialects/nest/NestBuild.h"
#include "lib/analysis/GpuLanes.h"
#include "lib/analysis/NestModel.h"

#include "llvm/Support/MathExtras.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// The fewest elements of a line that lanes sort together.
static constexpr int64_t fewestSorted = 32;
/// Elements that are further apart are not in one access of a warp.
static constexpr int64_t farStride = 16;
/// Fewer points of free names than this leave most lanes idle.
static constexpr int64_t fewFree = 32;

namespace {
struct Share {
  std::string name;
  bool isOwned;
  bool isFar; ///< lanes over it would read elements that are far from each other
  int64_t lanes = 1;
};
} // namespace

/// True if the points of neighbours in a name read elements that are far apart, as those of parts
/// of a name do: %x[n = n + 4096 * part].
static bool isFar(UpdateOp op, const std::string &name) {
  for (MapAttr map : op.getMaps().getAsRange<MapAttr>())
    for (const MapEntry &entry : map.getEntries())
      if (Expr at = entry.expr(); at.mentions(name))
        if (!at.isAffine() || std::abs(at.coefficient(name)) > farStride)
          return true;
  return false;
}

/// The names that lanes may walk, with small strides in the destination last.
static std::vector<Share> sharesOf(UpdateOp op, const NestModel &nest, const Layout &layout) {
  std::map<std::string, std::string> free = freeNames(op), owned = freeNames(op, /*owned=*/true);
  const NestAccess &write = nest.accesses.back();
  SizedLayout sized(layout, write.type, nest.sizesOf(write.type));
  std::vector<std::pair<int64_t, Share>> order;
  int64_t near = 1; // points of free names that lanes may walk
  for (const auto &[name, coordinate] : free)
    near *= isFar(op, name) ? 1 : nest.sizes[size_t(nest.indexOf(name))];
  for (const nd::Dim &dim : op.getSpace()) {
    std::string name = dim.name.str();
    bool isFree = free.count(name);
    if (!isFree && !op.getUnique() && near >= fewFree)
      continue;
    int64_t stride = isFree ? nest.step(write, sized, unsigned(nest.indexOf(name))) : INT64_MAX;
    order.push_back({-std::abs(stride), {name, owned.count(name) > 0, isFree && isFar(op, name)}});
  }
  llvm::stable_sort(order, llvm::less_first());
  std::vector<Share> shares;
  for (auto &[stride, share] : order)
    shares.push_back(std::move(share));
  return shares;
}

std::optional<Schedule> nest::chooseGpuSchedule(UpdateOp op, const Layout &layout,
                                                MachineAttr machine) {
  auto isEmpty = [](const nd::Dim &dim) { return dim.size().constant() == 0; };
  if (!machine || machine.integer("lanes_per_block", 0) <= 1 ||
      llvm::any_of(op.getSpace(), isEmpty))
    return std::nullopt;
  NestModel nest(op, machine, /*shrink=*/true);
  std::vector<Share> shares = sharesOf(op, nest, layout);
  // Where a lane walks many points, blocks of one warp spread over more cores.
  bool walks = llvm::count_if(shares, [](const Share &share) { return share.isOwned; }) <
               int64_t(op.getSpace().size());
  int64_t left = mostLanes, ofOwned = walks ? machine.integer("warp", 32) : mostLanes;
  auto sizeOf = [&](const Share &share) {
    return std::max<int64_t>(nest.sizes[size_t(nest.indexOf(share.name))], 1);
  };
  for (Share &share : llvm::reverse(shares)) {
    int64_t most = share.isFar ? 1 : share.isOwned ? std::min(left, ofOwned) : left;
    share.lanes = std::min(most, int64_t(llvm::PowerOf2Ceil(uint64_t(sizeOf(share)))));
    left /= share.lanes;
    ofOwned = std::max<int64_t>(ofOwned / (share.isOwned ? share.lanes : 1), 1);
  }
  Schedule schedule;
  for (const Share &share : shares)
    if (share.isOwned)
      schedule.loops.push_back({"block", {share.name}, share.lanes, 1});
  for (const Share &share : shares)
    if (!share.isOwned && share.lanes > 1)
      schedule.loops.push_back({"loop", {share.name}, share.lanes, 1});
  for (const Share &share : shares)
    if (share.lanes > 1)
      schedule.loops.push_back({"lane", {share.name}, 1, 1});
  return laneFormOf(op, schedule, machine) ? std::optional(schedule) : std::nullopt;
}

std::optional<Schedule> nest::chooseGpuSchedule(SortOp op, MachineAttr machine) {
  nd::Dim along = *op.getAlong().begin();
  int64_t size = along.size().typical();
  if (!machine || machine.integer("lanes_per_block", 0) <= 1 || size < fewestSorted)
    return std::nullopt;
  int64_t lanes = std::min(mostLanes, int64_t(llvm::PowerOf2Ceil(uint64_t(size))));
  Schedule schedule;
  for (const nd::Dim &dim : op.getLines())
    schedule.loops.push_back({"block", {dim.name.str()}, 1, 1});
  schedule.loops.push_back({"loop", {along.name.str()}, lanes, 1});
  schedule.loops.push_back({"lane", {along.name.str()}, 1, 1});
  return schedule;
}
