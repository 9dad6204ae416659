//===- ChooseSchedules.cpp - schedules every nest -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/schedule/ChooseSchedules.h"

#include "dialects/nest/NestBuild.h"
#include "lib/analysis/Chunks.h"
#include "lib/analysis/Layouts.h"
#include "lib/transforms/nest/schedule/ChooseSchedule.h"
#include "lib/transforms/nest/schedule/CopySchedules.h"
#include "lib/transforms/nest/schedule/GpuSchedule.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

static SmallVector<Layout> layoutsOf(ValueRange values) {
  return llvm::map_to_vector(values, [](Value value) { return layoutOf(value); });
}

/// The schedule in which the lanes of a block run the nest together; none if it has none.
static std::optional<Schedule> laneScheduleOf(Operation *op, const cost::Machine &machine) {
  if (auto update = dyn_cast<UpdateOp>(op))
    return chooseGpuSchedule(update, layoutOf(update.getDest()), machine.facts);
  if (auto sort = dyn_cast<SortOp>(op))
    return chooseGpuSchedule(sort, machine.facts);
  auto compute = dyn_cast<ComputeOp>(op);
  if (!compute)
    return std::nullopt;
  SmallVector<Layout> layouts = layoutsOf(op->getOperands());
  llvm::append_range(layouts, layoutsOf(op->getResults()));
  return chooseGpuSchedule(compute, {layouts.begin(), layouts.end()}, machine.facts);
}

void nest::writeChunks(Operation *nest) {
  auto scheduled = dyn_cast<ScheduledInterface>(nest);
  if (scheduled && scheduled.getScheduleAttr() && !scheduleOf(nest).isPartial())
    nest->setAttr("heddle.chunks", nd::SizeAttr::get(nest->getContext(), chunksOf(nest)));
}

static void chooseLoops(ScheduledInterface op, const cost::Machine &machine) {
  if (!op.getScheduleAttr() || scheduleOf(op).isPartial()) {
    std::optional<Schedule> schedule = laneScheduleOf(op, machine);
    if (!schedule)
      schedule =
          chooseSchedule(op, layoutsOf(kernelOperands(op)), layoutsOf(op->getResults()), machine);
    op.setScheduleAttr(ScheduleAttr::get(op->getContext(), *schedule));
  }
  if (!isa<HoldsNestsInterface>(op->getParentOp())) // otherwise it runs within a chunk
    writeChunks(op);
}

std::vector<OtherSchedule> nest::otherSchedules(Operation *nest, const cost::Machine &machine) {
  return otherSchedules(nest, layoutsOf(kernelOperands(nest)), layoutsOf(nest->getResults()),
                        machine);
}

void nest::chooseSchedules(Operation *root, const cost::Machine &machine) {
  auto walk = [&](llvm::function_ref<void(Operation *)> act) {
    root->walk<WalkOrder::PreOrder>([&](Operation *nest) {
      if (nest->hasAttr(kernelAttrName))
        return WalkResult::skip();
      act(nest);
      return WalkResult::advance();
    });
  };
  walk([&](Operation *nest) {
    if (auto op = dyn_cast<ScheduledInterface>(nest))
      chooseLoops(op, machine);
  });
  // Copies have the lanes of their nests, and a recurrence those of the nests inside.
  walk([&](Operation *nest) { scheduleCopies(nest, machine); });
}
