//===- Expand.cpp - expands extension ops ---------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nd/Expand.h"

#include "dialects/nest/Nest.h"
#include "lib/transforms/nd/Passes.h"

#include "lib/transforms/nd/ExpandInterface.cpp.inc"

namespace heddle::nd {
#define GEN_PASS_DEF_NDEXPANDPASS
#include "lib/transforms/nd/Passes.h.inc"
} // namespace heddle::nd

using namespace heddle;
using namespace mlir;

static LogicalResult expandOne(nd::ExpandInterface op) {
  OpBuilder builder(op);
  SmallVector<Value> results;
  if (failed(op.expand(builder, results)))
    return failure();
  if (ValueRange(results).getTypes() != op->getResultTypes())
    return op->emitOpError() << "expected to be expanded to values of type " << op->getResultTypes()
                             << ", got " << ValueRange(results).getTypes();
  op->replaceAllUsesWith(results);
  op->erase();
  return success();
}

/// Expands every op under `root` that has the interface, and the ops of its expansion in turn.
static LogicalResult expandOps(Operation *root) {
  constexpr int mostRounds = 64; // an op that expands to itself would never terminate
  for (int round = 0; round < mostRounds; ++round) {
    SmallVector<nd::ExpandInterface> ops;
    root->walk([&](nd::ExpandInterface op) { ops.push_back(op); });
    if (ops.empty())
      return success();
    if (round + 1 == mostRounds)
      return ops.front()->emitOpError() << "expands to ops that expand again, without end";
    for (nd::ExpandInterface op : ops)
      if (failed(expandOne(op)))
        return failure();
  }
  return success();
}

namespace {
struct NdExpandPass : nd::impl::NdExpandPassBase<NdExpandPass> {
  void runOnOperation() override {
    if (failed(expandOps(getOperation())))
      signalPassFailure();
  }
};
} // namespace
