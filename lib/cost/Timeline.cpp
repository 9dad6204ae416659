//===- Timeline.cpp - estimates times and live bytes ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/Timeline.h"

#include "lib/cost/Whole.h"

using namespace heddle;
using namespace mlir;

static double bytesOf(ValueRange values) {
  double bytes = 0;
  for (Value value : values)
    if (isa<nd::NdTensorType>(value.getType()))
      bytes += tensorBytes(value);
  return bytes;
}

Timeline::Timeline(Block &block) {
  double now = 0, live = bytesOf(block.getArguments());
  llvm::DenseMap<Operation *, double> freed; // bytes, by the last user
  for (Operation &op : block) {
    begins[&op] = now;
    if (isa<nest::ScheduledInterface, nest::HoldsNestsInterface>(op))
      now += secondsOf(&op);
    ends[&op] = now;
    for (Value result : op.getResults()) {
      Operation *last = &op;
      for (Operation *user : result.getUsers())
        if (Operation *here = block.findAncestorOpInBlock(*user); last->isBeforeInBlock(here))
          last = here;
      freed[last] += bytesOf(result);
    }
    live += bytesOf(op.getResults());
    most = std::max(most, live);
    live -= freed.lookup(&op);
  }
}
