//===- StartEarly.cpp - starts transfers as early as possible -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/transfers/StartEarly.h"

#include "dialects/nest/Nest.h"
#include "dialects/nest/NestBuild.h"
#include "lib/transforms/mesh/partition/Reshard.h"
#include "lib/transforms/mesh/transfers/Bucket.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

static bool isUsedBy(Operation *maker, Operation *op) {
  return llvm::all_of(maker->getUsers(), [&](Operation *user) { return op->isAncestor(user); });
}

/// Moves the op to after the last of its operands' defining ops; those that only it uses move
/// first. Ops that depend only on arguments stay, as do users of a transfer's result, and updates,
/// which work in place after the last read of their destination.
static void moveUp(Operation *op) {
  if (!isMemoryEffectFree(op) || nest::updatedBy(op) ||
      isa<nest::TransferInterface, nd::LiteralInterface>(op))
    return;
  Operation *last = nullptr;
  for (Value used : usesOf(op)) {
    Operation *maker = used.getDefiningOp();
    if (!maker || maker->getBlock() != op->getBlock())
      continue;
    if (isUsedBy(maker, op))
      moveUp(maker);
    if (!last || last->isBeforeInBlock(maker))
      last = maker;
  }
  if (last && last->getNextNode() != op && !isa<nest::TransferInterface>(last))
    op->moveAfter(last);
}

void mesh::startEarly(func::FuncOp function) {
  Operation *before = nullptr; // the previous transfer
  for (auto transfer : llvm::to_vector(function.front().getOps<nest::TransferInterface>())) {
    Operation *op = transfer, *maker = op->getOperand(0).getDefiningOp();
    // The members of a bucket stay together.
    if (maker && maker->getBlock() == op->getBlock() && !op->hasAttr(bucketAttrName) &&
        op->getNumOperands() == 1) {
      moveUp(maker);
      op->moveAfter(before && maker->isBeforeInBlock(before) ? before : maker);
    }
    before = op;
  }
}
