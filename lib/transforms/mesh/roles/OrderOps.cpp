//===- OrderOps.cpp - the order in which roles run ops --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/roles/OrderOps.h"

#include "lib/cost/BlockTimes.h"
#include "lib/transforms/mesh/roles/PipelineSchedules.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

LogicalResult mesh::orderOps(func::FuncOp function, const PlacedOps &placed) {
  Block &block = function.front();
  cost::BlockTimesOptions options;
  options.order = cost::TaskTimes::Order::FirstFree;
  auto module = function->getParentOfType<ModuleOp>();
  if (auto stated = module->getAttrOfType<StringAttr>(scheduleAttrName);
      stated && stated.getValue() != "greedy") {
    FailureOr<bool> isSorted = sortBySchedule(function, placed, stated.getValue());
    if (failed(isSorted))
      return failure();
    if (*isSorted)
      options.order = cost::TaskTimes::Order::Given;
  }
  options.places.devices = unsigned(placed.roles.count());
  options.places.axes = placed.roles.axes;
  options.places.ofOp = [&](Operation *op) {
    bool isPlaced = placed.ops.contains(op) && !placed.isEverywhere(op); // no terminator
    return isPlaced ? std::optional(unsigned(placed.placeOf(op))) : std::nullopt;
  };
  options.places.ofArgument = [&](BlockArgument argument) {
    auto home = placed.homeOf(argument);
    return home ? std::optional(unsigned(*home)) : std::nullopt;
  };
  options.places.ofResult = [&](unsigned result) {
    return std::optional(unsigned(placed.placeOfResult(result)));
  };
  cost::BlockTimes times(block, options);
  SmallVector<Operation *> ops =
      llvm::map_to_vector(block.without_terminator(), [](Operation &op) { return &op; });
  llvm::stable_sort(ops,
                    [&](Operation *a, Operation *b) { return times.begin(a) < times.begin(b); });
  for (Operation *op : ops)
    op->moveBefore(block.getTerminator());
  return success();
}
