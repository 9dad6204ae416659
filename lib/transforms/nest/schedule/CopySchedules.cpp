//===- CopySchedules.cpp - schedules of copies that emission adds ---------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the nest of each copy temporarily, only to choose its loops: as emission would build it,
// for whole tiles. Emission uses the loops for partial tiles as well.
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/schedule/CopySchedules.h"

#include "lib/analysis/GpuLanes.h"
#include "lib/analysis/Layouts.h"
#include "lib/analysis/StagedCopy.h"
#include "lib/transforms/nest/schedule/ChooseSchedule.h"
#include "lib/transforms/nest/schedule/GpuSchedule.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

static Schedule choose(ComputeOp copy, const Layout &from, const Layout &to,
                       const cost::Machine &machine) {
  SmallVector<Layout> sources(kernelOperands(copy).size(), from);
  return chooseSchedule(copy, sources, to, machine);
}

/// The number of lanes that run a nest together; 0: there are none.
static int64_t lanesOf(Operation *op, const cost::Machine &machine) {
  bool hasLanes = machine.facts && machine.facts.integer("lanes_per_block", 0) > 1;
  return hasLanes ? laneFormOf(op, machine.facts).lanes : 0;
}

/// Returns the schedule of a copy of the elements of `value` in `space`, by so many lanes.
static ScheduleAttr choose(Value value, nd::DimsAttr space, const Layout &from, const Layout &to,
                           const cost::Machine &machine, int64_t lanes) {
  OpBuilder builder(value.getContext());
  NestBuilder nest(builder, value.getLoc());
  nest.produced = space;
  nest.read(value, MapAttr::identity(tensorType(value)));
  ComputeOp copy =
      nest.create({tensorType(value).getElementType()},
                  [](OpBuilder &, Location, ValueRange read) { return SmallVector<Value>(read); });
  Schedule schedule;
  if (lanes > 1)
    schedule.loops = chooseLaneCopy(copy, from, lanes);
  else
    schedule = choose(copy, from, to, machine);
  copy->destroy();
  return ScheduleAttr::get(value.getContext(), schedule);
}

static void scheduleStages(ComputeOp op, const cost::Machine &machine) {
  Schedule schedule = scheduleOf(op);
  auto isScheduled = [](const Stage &stage) { return !stage.copy.empty(); };
  if (llvm::all_of(schedule.stages, isScheduled))
    return;
  unsigned nextVariable = 0;
  int64_t lanes = lanesOf(op, machine);
  ScheduledLoops scheduled =
      scheduledLoops(op.getProduced(), op.getReduced(), schedule, laneBits(op), machine.facts,
                     nextVariable, unitOf(op, machine.facts), /*bindLanes=*/lanes > 0);
  std::map<unsigned, std::pair<Value, Layout>> staged; // (value, layout) read within a stage
  std::vector<StagedCopy> copies;
  auto scheduleAll = [&](ArrayRef<unsigned> stages, size_t entered) {
    for (unsigned number : stages) {
      Stage &stage = schedule.stages[number];
      Value operand = op.getReads()[stage.operand];
      auto [known, isNew] = staged.try_emplace(stage.operand, operand, layoutOf(operand));
      auto &[tensor, layout] = known->second;
      auto box = findBox(op, scheduled, stageContext(op, scheduled, entered), stage.operand, tensor,
                         op.readGuard(stage.operand));
      if (!box || !stage.layout.verify(box->sizes()).empty())
        continue; // emission reports the error
      StagedCopy &copy = copies.emplace_back(
          makeStagedCopy(op, scheduled, stage.operand, *box, stage.layout, layout));
      if (!isScheduled(stage))
        stage.copy = lanes ? chooseLaneCopy(copy.op, copy.from, lanes)
                           : choose(copy.op, copy.from, copy.to, machine).loops;
      tensor = copy.op.getResult(0);
      layout = copy.read;
    }
  };
  scheduleAll(scheduled.firstStages, 0);
  for (auto [i, loop] : llvm::enumerate(scheduled.loops))
    scheduleAll(loop.stages, i + 1);
  for (StagedCopy &copy : llvm::reverse(copies))
    copy.destroy();
  op.setScheduleAttr(ScheduleAttr::get(op.getContext(), schedule));
}

/// Each parallel step copies the part of the destination that it writes.
static SmallVector<Attribute> schedulesOf(UpdateOp op, const cost::Machine &machine) {
  SmallVector<nd::Dim> dims(tensorType(op.getDest()).getDims().getDims());
  std::map<std::string, std::string> free = freeNames(op);
  for (const Loop &loop : scheduleOf(op).loops)
    for (nd::Dim &dim : dims)
      if (loop.isShared() && free[loop.names[0]] == dim.name.str())
        dim = nd::Dim(op.getContext(), dim.name.getValue(),
                      Expr(std::min(loop.step, op.getSpace().lookup(loop.names[0]).most())));
  return {choose(op.getDest(), nd::DimsAttr::getSorted(op.getContext(), dims),
                 layoutOf(op.getDest()), layoutOf(op.getResult()), machine, lanesOf(op, machine))};
}

static SmallVector<Attribute> schedulesOf(ScanOp op, const cost::Machine &machine) {
  SmallVector<Attribute> schedules;
  int64_t lanes = lanesOf(op, machine);
  auto add = [&](Value value, const Layout &from, const Layout &to) {
    schedules.push_back(choose(value, tensorType(value).getDims(), from, to, machine, lanes));
  };
  for (auto [init, result] : llvm::zip(op.getInits(), op.getResults()))
    add(init, layoutOf(init), layoutOf(result));
  for (auto [state, result] :
       llvm::zip(op.getBody().getArguments().take_front(op.getInits().size()), op.getResults()))
    add(state, layoutOf(result), layoutOf(result));
  return schedules;
}

void nest::scheduleCopies(Operation *op, const cost::Machine &machine) {
  if (auto compute = dyn_cast<ComputeOp>(op))
    scheduleStages(compute, machine);
  auto copying = dyn_cast<CopyingInterface>(op);
  if (!copying || copying.getCopiesAttr())
    return;
  auto update = dyn_cast<UpdateOp>(op);
  copying.setCopiesAttr(
      ArrayAttr::get(op->getContext(), update ? schedulesOf(update, machine)
                                              : schedulesOf(cast<ScanOp>(op), machine)));
}
