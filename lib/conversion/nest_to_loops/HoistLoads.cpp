//===- HoistLoads.cpp - lanes that are loaded before loops ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/HoistLoads.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace heddle;
using namespace mlir;

/// The pointer from which an address is computed.
static Value rootOf(Value address) {
  while (auto element = address.getDefiningOp<LLVM::GEPOp>())
    address = element.getBase();
  return address;
}

static bool isKnownToRun(scf::ForOp loop) {
  auto low = getConstantIntValue(loop.getLowerBound());
  auto high = getConstantIntValue(loop.getUpperBound());
  return low && high && *low < *high;
}

/// True for a gather, and for the last of the ops that insert lanes one by one.
static bool loadsLanes(Operation *op) {
  if (isa<LLVM::masked_gather>(op))
    return true;
  auto insert = dyn_cast<vector::InsertOp>(op);
  return insert && insert.getValueToStore().getDefiningOp<LLVM::LoadOp>() &&
         llvm::none_of(op->getUsers(), [](Operation *user) { return isa<vector::InsertOp>(user); });
}

namespace {
class Hoister {
public:
  explicit Hoister(ArrayRef<Value> operands) : operands(operands) {}

  /// Moves `op`, and what it depends on, before the loops around it that do not change it.
  void hoist(Operation *op) {
    for (auto loop = dyn_cast<scf::ForOp>(op->getParentOp()); loop && isKnownToRun(loop);
         loop = dyn_cast<scf::ForOp>(op->getParentOp())) {
      llvm::SetVector<Operation *> moved;
      if (!collect(op, loop, moved))
        return;
      for (Operation *each : moved)
        each->moveBefore(loop);
    }
  }

private:
  ArrayRef<Value> operands;

  bool isInvariantLoad(Operation *op) const {
    Value address;
    if (auto load = dyn_cast<LLVM::LoadOp>(op))
      address = load.getAddr();
    else if (auto gather = dyn_cast<LLVM::masked_gather>(op))
      address = gather.getPtrs();
    return address && llvm::is_contained(operands, rootOf(address));
  }

  /// Adds `op` and the ops in the loop on which it depends, operands first. Returns false if one of
  /// them depends on the iteration.
  bool collect(Operation *op, scf::ForOp loop, llvm::SetVector<Operation *> &ops) const {
    if (!loop->isProperAncestor(op) || ops.contains(op))
      return true;
    if (op->getParentOp() != loop || op->getNumRegions() || !(isPure(op) || isInvariantLoad(op)))
      return false;
    for (Value operand : op->getOperands()) {
      Operation *maker = operand.getDefiningOp();
      bool isOfLoop = !maker && loop->isAncestor(operand.getParentBlock()->getParentOp());
      if (isOfLoop || (maker && !collect(maker, loop, ops)))
        return false;
    }
    ops.insert(op);
    return true;
  }
};
} // namespace

void nest::hoistLanes(Operation *function, ArrayRef<Value> operands) {
  SmallVector<Operation *> loads;
  function->walk([&](Operation *op) {
    if (loadsLanes(op))
      loads.push_back(op);
  });
  Hoister hoister(operands);
  for (Operation *load : loads)
    hoister.hoist(load);
}
