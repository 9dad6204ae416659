//===- NestVerifySchedule.cpp - verifies layouts and schedules ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Comments give the number of the constraint in NestOps.td that a check belongs to.
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdInference.h"
#include "dialects/nest/NestBuild.h"
#include "dialects/nest/NestVerify.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// c8
LogicalResult nest::detail::verifyLayouts(Operation *op) {
  ArrayAttr layouts = cast<LaidOutInterface>(op).getLayoutsAttr();
  if (!layouts)
    return success();
  if (layouts.size() != op->getNumResults())
    return op->emitOpError() << "expected a layout for each of " << op->getNumResults()
                             << " results, got " << layouts.size();
  for (auto [layout, result] : llvm::zip_equal(layouts, op->getResults())) {
    auto type = tensorType(result);
    if (isa<UnitAttr>(layout))
      continue;
    auto chosen = dyn_cast<LayoutAttr>(layout);
    if (!chosen)
      return op->emitOpError() << "expected a layout or unit, got " << layout;
    if (std::string message = chosen.getLayout().verifyAll(type.sizeExprs()); !message.empty())
      return op->emitOpError() << "layout of result " << result.getResultNumber() << ", " << type
                               << ": " << message;
  }
  return success();
}

static LogicalResult verifyLoops(Operation *op, const Schedule &schedule, nd::DimsAttr produced,
                                 nd::DimsAttr reduced, const Twine &what = "") {
  SizeExprs sizes;
  auto namesOf = [&](nd::DimsAttr dims) {
    std::set<std::string> names;
    for (nd::Dim dim : dims ? dims.getDims() : ArrayRef<nd::Dim>()) {
      names.insert(dim.name.str());
      sizes[dim.name.str()] = dim.size().getExpr();
    }
    return names;
  };
  if (std::string message = schedule.verify(namesOf(produced), namesOf(reduced)); !message.empty())
    return op->emitOpError() << what << message;
  for (const Loop &loop : schedule.loops)
    for (const std::string &name : llvm::drop_begin(loop.names))
      if (const Expr &size = sizes[name]; !size.isConstant())
        return op->emitOpError() << what << "expected a number as the size of '" << name
                                 << "', which shares a loop with '" << loop.names[0] << "', got "
                                 << size.str() << "; list it first";
  return success();
}

/// Verifies the schedule of a copy of a tensor.
static LogicalResult verifyCopy(Operation *op, const Schedule &copy, nd::NdTensorType type,
                                const Twine &what) {
  if (copy.isPartial() || !copy.stages.empty())
    return op->emitOpError() << what << "expected a whole schedule without stages, got "
                             << ScheduleAttr::get(op->getContext(), copy);
  return verifyLoops(op, copy, type.getDims(), {}, what);
}

LogicalResult nest::verifySchedule(ScheduledInterface op, nd::DimsAttr produced,
                                   nd::DimsAttr reduced, ValueRange operands) {
  const Schedule schedule = scheduleOf(op);
  if (failed(verifyLoops(op, schedule, produced, reduced)))
    return failure();
  if (schedule.isPartial() && !isa<ComputeOp>(op))
    return op->emitOpError() << "expected a whole schedule, got a partial one, which a "
                                "'nest.compute' may have";
  for (const Stage &stage : schedule.stages) {
    if (stage.operand >= operands.size())
      return nd::operandError(op) << "expected a stage of one of " << operands.size()
                                  << " reads, got " << stage.operand;
    nd::NdTensorType type = tensorType(operands[stage.operand]);
    if (std::string message = stage.layout.verifyAll(type.sizeExprs()); !message.empty())
      return nd::operandError(op) << "stage of read " << stage.operand << ": " << message;
    if (failed(
            verifyCopy(op, {stage.copy, {}}, type, "copy of read " + Twine(stage.operand) + ": ")))
      return failure();
  }
  return success();
}

LogicalResult nest::detail::verifyCopies(Operation *op) {
  auto copying = cast<CopyingInterface>(op);
  ArrayAttr copies = copying.getCopiesAttr();
  SmallVector<nd::NdTensorType> types = copying.getCopiedTypes();
  if (!copies)
    return success();
  if (copies.size() != types.size())
    return op->emitOpError() << "expected a schedule for each of " << types.size()
                             << " copies, got " << copies.size();
  for (auto [i, copy, type] : llvm::enumerate(copies, types)) {
    auto schedule = dyn_cast<ScheduleAttr>(copy);
    if (!schedule)
      return op->emitOpError() << "copy " << i << ": expected a schedule, got " << copy;
    if (failed(verifyCopy(op, schedule.getSchedule(), type, "copy " + Twine(i) + ": ")))
      return failure();
  }
  return success();
}

LogicalResult nest::verifyPoints(ScheduledInterface op, nd::DimsAttr reduced) {
  const Schedule schedule = scheduleOf(op);
  for (const Loop &loop : schedule.loops)
    if (!loop.isParallel() && !loop.isSequential())
      return op->emitOpError() << "expected a parallel or sequential loop over '" << loop.names[0]
                               << "', got a " << loop.level;
  if (size_t stages = schedule.stages.size())
    return op->emitOpError() << "expected no stages, got " << stages;
  return verifySchedule(op, op.getSharedNames(), reduced);
}
