//===- GpuLanes.cpp - nests that the lanes of a block run together --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/analysis/GpuLanes.h"

#include "dialects/nest/NestBuild.h"
#include "lib/analysis/ScheduledLoops.h"

#include "llvm/Support/MathExtras.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// Returns what keeps the loops from running on lanes; "": nothing.
static std::string lackOf(const ScheduledLoops &scheduled, const Schedule &schedule) {
  std::map<MergedNames, bool> isConstant; // the number of points that the current loops cover
  for (const auto &[names, size] : scheduled.sizes)
    isConstant[names] = size.isConstant();
  for (auto [i, walk] : llvm::enumerate(scheduled.loops)) {
    if (walk.lane && !isConstant[walk.names])
      return "a loop with steps of a constant size around the lanes over '" + walk.names[0] + "'";
    if (walk.step < scheduled.most.at(walk.names))
      isConstant[walk.names] = true;
    if (walk.reduced && i < scheduled.outer)
      return "sums in registers: the loop over '" + walk.names[0] +
             "' is around a sequential loop over produced names";
    if (!walk.lane || !walk.reduced)
      continue;
    // A lane combines terms only: a combiner may be wrong for two neutral values.
    bool isVector = scheduled.lanes && scheduled.laneNames == walk.names &&
                    walk.step == scheduled.lanes &&
                    scheduled.sizes.at(walk.names).mod(scheduled.lanes) == Expr(0);
    if (walk.step > 1 && (walk.innermost ? !isVector : scheduled.lanesReduced))
      return "a loop or whole vectors over the points of '" + walk.names[0] + "' that a lane adds";
    if (llvm::count_if(scheduled.loops, [&, names = walk.names](const Walk &other) {
          return other.lane && other.names == names;
        }) > 1)
      return "one loop over lanes of the reduced name '" + walk.names[0] + "'";
  }
  for (const Stage &stage : schedule.stages)
    if (stage.level.empty())
      return "shared memory for the copy of read " + std::to_string(stage.operand);
  return "";
}

/// The form of a nest that one lane runs. It lacks nothing if there is nothing to share: loops over
/// lanes have one step, or all points are one vector.
static LaneForm alone(const ScheduledLoops &scheduled) {
  bool isVector = scheduled.tile.empty() &&
                  llvm::all_of(scheduled.loops, [](const Walk &walk) { return walk.count() <= 1; });
  bool isSmall =
      isVector || llvm::any_of(scheduled.loops, [](const Walk &walk) { return walk.lane; });
  return {0, isSmall ? "" : "a loop over lanes", 0};
}

bool nest::lanesMeet(UpdateOp op, const ScheduledLoops &loops) {
  auto free = freeNames(op);
  return !op.getUnique() && llvm::any_of(loops.loops, [&](const Walk &walk) {
    return walk.lane && walk.count() > 1 && !(walk.names.size() == 1 && free.count(walk.names[0]));
  });
}

LaneForm nest::laneFormOf(UpdateOp op, const Schedule &schedule, MachineAttr machine) {
  unsigned nextVariable = 0;
  auto nothing = nd::DimsAttr::get(op.getContext(), {});
  ScheduledLoops scheduled =
      scheduledLoops(op.getSpace(), nothing, schedule, laneBits(op), machine, nextVariable, {},
                     /*bindLanes=*/true);
  if (scheduled.boundLanes() <= 1)
    return alone(scheduled);
  std::string lack = lackOf(scheduled, schedule);
  for (const Walk &walk : scheduled.loops)
    if (walk.lane && walk.step > 1 && lack.empty())
      lack = "lanes that write one point of '" + walk.names[0] + "' at a time";
  bool isPoint = !scheduled.lanes && scheduled.tile.empty();
  if (!isPoint && lack.empty() && lanesMeet(op, scheduled))
    lack = "single points of lanes that meet at an element";
  return lack.empty() ? LaneForm{scheduled.boundLanes(), "", 0} : LaneForm{0, lack, 0};
}

/// The lane form of a sort, whose lanes share the elements of a line.
static LaneForm formOf(SortOp op, MachineAttr machine) {
  Schedule schedule = scheduleOf(op);
  unsigned nextVariable = 0;
  ScheduledLoops scheduled = scheduledLoops(op.getLines(), op.getAlong(), schedule, /*bits=*/64,
                                            machine, nextVariable, {}, /*bindLanes=*/true);
  if (scheduled.boundLanes() <= 1)
    return alone(scheduled);
  for (const Walk &walk : scheduled.loops)
    if (walk.lane && !walk.reduced)
      return {0, "no lanes over the lines of '" + walk.names[0] + "'", 0};
  return {scheduled.boundLanes(), "", 0};
}

/// The lane form of an op that holds nests: as many lanes as the nest with most of them.
static LaneForm formOfNests(HoldsNestsInterface op, MachineAttr machine) {
  if (isa<GroupOp>(op))
    for (const Loop &loop : scheduleOf(op).loops)
      if (loop.isParallel() && !loop.isShared())
        return {0, "no lanes over the group's name '" + loop.names[0] + "'", 0};
  LaneForm most;
  bool isSmall = true;
  for (Operation &inner : op->getRegion(0).front().without_terminator()) {
    LaneForm form = laneFormOf(&inner, machine);
    isSmall &= !form && form.lacks.empty();
    most = {std::max(form.lanes, most.lanes), "", std::max(form.registers, most.registers)};
  }
  if (!most && !isSmall)
    most.lacks = "a nest with loops over lanes";
  return most;
}

LaneForm nest::laneFormOf(Operation *nest, MachineAttr machine) {
  if (auto op = dyn_cast<ComputeOp>(nest))
    return laneFormOf(op, scheduleOf(op), machine);
  if (auto op = dyn_cast<UpdateOp>(nest))
    return laneFormOf(op, scheduleOf(op), machine);
  if (auto op = dyn_cast<SortOp>(nest))
    return formOf(op, machine);
  if (auto op = dyn_cast<HoldsNestsInterface>(nest))
    return formOfNests(op, machine);
  return {0, "a nest with loops over lanes", 0};
}

LaneForm nest::laneFormOf(ComputeOp op, const Schedule &schedule, MachineAttr machine) {
  unsigned nextVariable = 0;
  ScheduledLoops scheduled =
      scheduledLoops(op.getProduced(), op.getReduced(), schedule, laneBits(op), machine,
                     nextVariable, unitOf(op, machine), /*bindLanes=*/true);
  if (scheduled.boundLanes() <= 1)
    return alone(scheduled);
  if (std::string lack = lackOf(scheduled, schedule); !lack.empty())
    return {0, lack, 0};
  int64_t points = std::max<int64_t>(scheduled.lanes, 1);
  for (const Walk &walk : scheduled.tile)
    points *= walk.reduced ? 1 : walk.count();
  int64_t registers = 0;
  for (Attribute value : op.getNeutral()) {
    unsigned bits = cast<TypedAttr>(value).getType().getIntOrFloatBitWidth();
    registers += points * llvm::divideCeil(bits, 32);
  }
  return {scheduled.boundLanes(), "", registers};
}
