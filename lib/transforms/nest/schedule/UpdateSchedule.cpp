//===- UpdateSchedule.cpp - schedules of updates --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads and lanes iterate only over free names: points that differ in a free name write different
// elements (lib/conversion/nest_to_loops/Update.cpp). The lanes use the longest free name along
// which the destination is contiguous; threads divide the owned names.
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/schedule/ChooseSchedule.h"

#include "dialects/nest/NestBuild.h"
#include "lib/analysis/NestModel.h"
#include "lib/analysis/VectorLanes.h"
#include "lib/cost/ChunkOverhead.h"
#include "lib/transforms/nest/schedule/OuterLoops.h"

#include <set>

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

namespace {
class UpdateChooser {
public:
  UpdateChooser(UpdateOp op, const Layout &layout, const cost::Machine &machine)
      : op(op), machine(machine), nest(op, machine.facts, /*shrink=*/true), layout(layout),
        sizes(sizesOf(op.getSpace())), free(freeNames(op)), owned(freeNames(op, /*owned=*/true)),
        lanes(machine.vectorBytes * 8 / laneBits(op)) {}

  Schedule choose() {
    pickVector();
    shareOwned();
    // Other names in the order of their spelling in the canonical form of the op.
    std::set<std::string> done;
    for (const Loop &loop : schedule.loops)
      if (loop.step == 1 || loop.names[0] == vector)
        done.insert(loop.names[0]);
    for (const nd::Dim &dim : op.getSpace())
      if (!done.count(dim.name.str()) && dim.name.str() != vector)
        schedule.loops.push_back({"loop", {dim.name.str()}, 1, 1});
    if (vector.empty())
      return schedule;
    if (!done.count(vector))
      schedule.loops.push_back({"loop", {vector}, vectorStep(), 1});
    schedule.loops.push_back({"register", {vector}, lanes, 1});
    schedule.loops.push_back({"vector", {vector}, 1, 1});
    return schedule;
  }

private:
  UpdateOp op;
  const cost::Machine &machine;
  NestModel nest;
  const Layout &layout; ///< of the destination
  Sizes sizes;
  std::map<std::string, std::string> free, owned; ///< iteration name -> destination name
  int64_t lanes;
  std::string vector; ///< the name of the lanes; "": none
  Schedule schedule;

  int64_t vectorStep() { return std::min(4 * lanes, (sizes[vector] + lanes - 1) / lanes * lanes); }

  /// Returns true if every vector along `dim` of the destination is contiguous.
  bool isContiguous(const std::string &dim) {
    Sizes extents = tensorType(op.getDest()).sizes();
    Ranges ranges;
    for (const auto &[other, size] : extents)
      ranges[other] = {0, std::max<int64_t>(size - 1, 0)};
    ranges["tile$"] = {0, std::max<int64_t>((extents[dim] - 1) / lanes, 0)};
    ranges["lane$"] = {0, lanes - 1};
    ExprMap bound{{dim, Expr::name("tile$") * Expr(lanes) + Expr::name("lane$")}};
    Expr moved = layout.address(extents).substitute(bound).simplify(ranges);
    return moved.isLinearIn("lane$") && moved.coefficient("lane$") == 1;
  }

  void pickVector() {
    for (const auto &[name, dim] : free)
      if (op.getDestMap().lookup(dim)->coefficient(name) == 1 &&
          sizes[name] > (vector.empty() ? 1 : sizes[vector]) && isContiguous(dim) &&
          !nest.accesses.back().gatheredBy(unsigned(nest.indexOf(name)))) // else lanes lie apart
        vector = name;
  }

  /// Distributes the owned names over threads, the outermost in memory first.
  void shareOwned() {
    const NestAccess &write = nest.accesses.back();
    SizedLayout sized(layout, write.type, nest.sizesOf(write.type));
    std::vector<std::pair<int64_t, OuterLoop>> order;
    for (const auto &[name, dim] : owned) {
      bool known = op.getSpace().lookup(name).constant().has_value();
      if (name == vector && !known)
        continue;
      int64_t step = name == vector ? vectorStep() : 1,
              count = int64_t(llvm::divideCeil(std::max<int64_t>(1, sizes[name]), step));
      order.push_back({-nest.step(write, sized, unsigned(nest.indexOf(name))),
                       {{name}, step, count, !known, /*equal=*/name != vector}});
    }
    llvm::stable_sort(order, llvm::less_first());
    std::vector<OuterLoop> loops;
    for (auto &[stride, loop] : order)
      loops.push_back(std::move(loop));
    double flops = std::max(2.0, nest.bodyCost) * nest.points(0, nest.names.size());
    schedule.loops = sharedLoops(loops, cost::chunksWorthFetching(flops, machine));
  }
};
} // namespace

Schedule nest::chooseUpdateSchedule(UpdateOp op, const Layout &layout,
                                    const cost::Machine &machine) {
  return UpdateChooser(op, layout, machine).choose();
}
