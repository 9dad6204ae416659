//===- ChooseSchedules.cpp - schedules every nest -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/ChooseSchedules.h"

#include "dialects/nest/NestBuild.h"
#include "lib/analysis/Chunks.h"
#include "lib/analysis/Layouts.h"
#include "lib/transforms/nest/schedule/ChooseSchedule.h"
#include "lib/transforms/nest/schedule/CopySchedules.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

static SmallVector<Layout> layoutsOf(ValueRange values) {
  return llvm::map_to_vector(values, [](Value value) { return layoutOf(value); });
}

static void chooseLoops(ScheduledInterface op, MachineAttr machine) {
  if (!op.getScheduleAttr() || scheduleOf(op).isPartial())
    op.setScheduleAttr(
        ScheduleAttr::get(op->getContext(), chooseSchedule(op, layoutsOf(kernelOperands(op)),
                                                           layoutsOf(op->getResults()), machine)));
  if (!isa<HoldsNestsInterface>(op->getParentOp())) // otherwise it runs within a chunk
    writeChunks(op);
}

std::vector<OtherSchedule> nest::otherSchedules(Operation *nest, MachineAttr machine) {
  return otherSchedules(nest, layoutsOf(kernelOperands(nest)), layoutsOf(nest->getResults()),
                        machine);
}

void nest::chooseSchedules(Operation *root, MachineAttr machine) {
  root->walk<WalkOrder::PreOrder>([&](Operation *nest) {
    if (nest->hasAttr(kernelAttrName))
      return WalkResult::skip();
    if (auto op = dyn_cast<ScheduledInterface>(nest))
      chooseLoops(op, machine);
    scheduleCopies(nest, machine);
    return WalkResult::advance();
  });
}
