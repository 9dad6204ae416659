//===- BoundCopies.cpp - copies of constant size --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/schedule/BoundCopies.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

Schedule nest::boundCopies(ComputeOp op, const NestModel &nest, Schedule schedule) {
  unsigned front = 0;
  while (front < schedule.loops.size() && schedule.loops[front].level == "thread")
    ++front;
  std::vector<Loop> blocks;
  for (nd::DimsAttr dims : {op.getProduced(), op.getReduced()})
    for (const nd::Dim &dim : dims) {
      std::string name = dim.name.str();
      bool isCopied =
          !dim.size().constant() && llvm::any_of(schedule.stages, [&](const Stage &stage) {
            return llvm::any_of(
                       op.readMap(stage.operand).getEntries(),
                       [&](const MapEntry &entry) { return entry.expr().mentions(name); }) &&
                   llvm::none_of(
                       ArrayRef<Loop>(schedule.loops).take_front(stage.at + 1),
                       [&](const Loop &loop) { return llvm::is_contained(loop.names, name); });
          });
      if (!isCopied)
        continue;
      // The blocks of produced names are distributed over threads.
      Loop block{op.getProduced().contains(name) ? "thread" : "cache", {name}, 1, 1};
      for (const Loop &loop : llvm::reverse(schedule.loops))
        if (llvm::is_contained(loop.names, name))
          block = {block.level, loop.names, loop.step, 1};
      int64_t size = 1;
      for (const std::string &each : block.names)
        size *= nest.sizes[size_t(nest.indexOf(each))];
      block.step = llvm::divideCeil(size, block.step) * block.step;
      blocks.push_back(block);
    }
  schedule.loops.insert(schedule.loops.begin() + front, blocks.begin(), blocks.end());
  for (Stage &stage : schedule.stages)
    if (!blocks.empty())
      stage.at = std::max(unsigned(stage.at), front ? front - 1 : 0) + unsigned(blocks.size());
  return schedule;
}
