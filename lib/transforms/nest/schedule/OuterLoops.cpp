//===- OuterLoops.cpp - loops around tiles --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/schedule/OuterLoops.h"

#include "lib/analysis/Footprint.h"
#include "lib/analysis/Layouts.h"
#include "lib/cost/ChunkOverhead.h"
#include "lib/cost/Cost.h"

#include <cmath>

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

std::vector<Loop> nest::sharedLoops(ArrayRef<OuterLoop> loops, double worth) {
  std::vector<Loop> threadLoops, own;
  int64_t parts = int64_t(std::min(64.0, worth));
  for (const OuterLoop &loop : loops) {
    worth /= double(loop.count); // of one step
    int64_t each = parts > 1 ? int64_t(llvm::divideCeil(loop.count, parts)) : loop.count;
    // A symbolic size may be larger than assumed: make each part just large enough. Equal parts
    // have one step each; one such loop is enough unless there is more work.
    if (loop.symbolic)
      each = !loop.equal                        ? std::max<int64_t>(1, int64_t(1.000001 / worth))
             : parts > 1 || threadLoops.empty() ? 1
                                                : loop.count;
    while (loop.equal && loop.count % each)
      ++each;
    if ((loop.symbolic && !loop.equal) || each < loop.count) {
      threadLoops.push_back({"thread", loop.names, loop.step * each, 1});
      parts /= std::max<int64_t>(1, int64_t(llvm::divideCeil(loop.count, each)));
      if (each == 1)
        continue;
    }
    if (loop.count > 1 || loop.step > 1 || loop.symbolic)
      own.push_back({"cache", loop.names, loop.step, 1});
  }
  threadLoops.insert(threadLoops.end(), own.begin(), own.end());
  return threadLoops;
}

namespace {
/// What a loop step along each name of a group fetches.
struct GroupSteps {
  GroupOp op;
  const cost::Machine &machine;
  std::vector<cost::Amounts> amounts; ///< of a step along each name
  std::vector<double> distances;      ///< in bytes, that all accesses move in a step
  double flops = 0;                   ///< of the nests at one point

  void add(Operation *inner) {
    NestModel nest(inner, machine.facts, /*shrink=*/true);
    double points = nest.points(nest.firstProduced, nest.names.size());
    flops += points * nest.bodyCost +
             nest.points(nest.firstProduced, nest.firstReduced) * nest.finishCost;
    Extents extents(nest.sizes.begin(), nest.sizes.end());
    std::fill_n(extents.begin(), nest.firstProduced, 1);
    for (const NestAccess &access : nest.accesses) {
      Operation *maker = access.tensor.getDefiningOp();
      if (access.gathered || (maker && op->isProperAncestor(maker)))
        continue;
      Layout layout = layoutOf(access.tensor);
      SizedLayout sized(layout, access.type, nest.sizesOf(access.type));
      PlacedAccess placed(nest, access, layout, LaneKind::Contiguous);
      addSteps(nest, access, sized, placed, extents);
    }
  }

private:
  /// A step to the next line fetches all lines of the point again; a step to another page also
  /// moves each run of the point to a new page.
  void addSteps(const NestModel &nest, const NestAccess &access, const SizedLayout &layout,
                const PlacedAccess &placed, const Extents &extents) {
    int64_t line = nest.line / placed.bytes;
    double lines = boxElements(placed, extents, line) / double(line);
    double runs = boxElements(placed, extents) * double(placed.bytes) / runBytes(placed, extents);
    for (auto [i, dim] : llvm::enumerate(op.getNames())) {
      int name = nest.indexOf(dim.name);
      if (name < 0)
        continue;
      double bytes = double(std::abs(nest.step(access, layout, unsigned(name))) * placed.bytes);
      double pages = runs * std::min(1.0, bytes / double(machine.page));
      amounts[i].pages += pages;
      amounts[i].bytes[cost::Memory] += lines * std::min(double(nest.line), bytes);
      amounts[i].scattered[cost::Memory] += pages * cost::runStart;
      distances[i] += bytes;
    }
  }
};
} // namespace

Schedule nest::chooseGroupSchedule(GroupOp op, const cost::Machine &machine) {
  size_t count = op.getNames().size();
  GroupSteps steps{op, machine, std::vector<cost::Amounts>(count), std::vector<double>(count)};
  op.walk([&](Operation *inner) {
    if (isa<ComputeOp, UpdateOp>(inner))
      steps.add(inner);
  });
  // The name whose step takes longest is outermost; of equal ones that with the longest way.
  std::vector<std::pair<std::pair<double, double>, OuterLoop>> order;
  for (auto [dim, amounts, distance] :
       llvm::zip_equal(op.getNames(), steps.amounts, steps.distances))
    order.push_back({{-cost::secondsOf(amounts, machine.rates), -distance},
                     {{dim.name.str()},
                      1,
                      std::max<int64_t>(1, dim.size().typical()),
                      !dim.size().constant()}});
  llvm::stable_sort(order, llvm::less_first());
  std::vector<OuterLoop> loops;
  double flops = std::max(steps.flops, 1.0);
  for (auto &[step, loop] : order) {
    flops *= double(loop.count);
    loops.push_back(std::move(loop));
  }
  Schedule schedule;
  if (machine.facts && machine.facts.integer("lanes_per_block", 0) > 1)
    for (const OuterLoop &loop : loops) // a block, or a lane, runs the nests at one point
      schedule.loops.push_back({"block", loop.names, 1, 1});
  else
    schedule.loops = sharedLoops(loops, cost::chunksWorthFetching(flops, machine));
  return schedule;
}
