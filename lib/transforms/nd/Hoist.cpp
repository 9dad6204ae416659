//===- Hoist.cpp - hoists loop-invariant code -----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nest/Nest.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/transforms/nd/ControlFlow.h"
#include "lib/transforms/nd/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace heddle::nd {
#define GEN_PASS_DEF_NDHOISTPASS
#include "lib/transforms/nd/Passes.h.inc"
} // namespace heddle::nd

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

/// The size of a tensor in bytes; 0 for scalars.
static double bytesOf(Value value) {
  return isa<NdTensorType>(value.getType()) ? tensorBytes(value) : 0;
}

/// The values that an op uses, in its regions as well.
static llvm::SetVector<Value> usedBy(Operation *op) {
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  return used;
}

static bool isOutside(Value value, Operation *region) {
  return !region->isAncestor(value.getParentBlock()->getParentOp());
}

/// The bytes that must be read for a value, looking through ops that only move elements. `known`
/// caches results, since values are shared.
static double source(Value value, Operation *region, DenseMap<Value, double> &known) {
  Operation *made = value.getDefiningOp();
  double bytes = bytesOf(value);
  if (made && made->getNumOperands() == 0 && isa<NdDialect>(made->getDialect()))
    return 0; // a constant
  if (isOutside(value, region) || !isa<MovesElementsInterface>(made))
    return bytes;
  if (auto found = known.find(value); found != known.end())
    return found->second;
  double sum = 0;
  for (Value operand : made->getOperands())
    sum += source(operand, region, known);
  return known[value] = std::min(bytes, sum);
}

bool nd::isWorthKeeping(Operation *op, Operation *region) {
  if (op->hasTrait<Expensive>() || isa<scf::IfOp, scf::ForOp>(op))
    return true;
  if (auto compute = dyn_cast<nest::ComputeOp>(op); compute && compute.isReduction())
    return true;
  if (!op->hasTrait<Elementwise>() && !isa<nest::ComputeOp>(op))
    return false;
  double made = 0, read = 0;
  DenseMap<Value, double> known;
  for (Value result : op->getResults())
    made += bytesOf(result);
  for (Value operand : op->getOperands())
    read += source(operand, region, known);
  return made <= read;
}

namespace {
/// The loop-invariant ops of a loop's regions.
class Invariants {
public:
  explicit Invariants(Operation *loop) : loop(loop) {
    for (Region &region : loop->getRegions())
      for (Operation &op : region.front().without_terminator())
        if (isInvariant(op))
          same.insert(&op);
  }

  void hoist() {
    for (Operation *op : same)
      if (isWorthKeeping(op, loop))
        move(op);
  }

private:
  Operation *loop;
  llvm::SetVector<Operation *> same;

  bool isOutside(Value value) const { return ::isOutside(value, loop); }
  bool isInvariant(Operation &op) const {
    // A loop may not terminate, so it must not be hoisted out of a loop that may have no trips.
    // `nd.after` requests recomputation. Calls are hoisted only after inlining.
    WalkResult walk = op.walk([&](Operation *inner) {
      bool stays =
          isa<scf::WhileOp, AfterOp, SymbolUserOpInterface>(inner) ||
          (inner == &op && !isa_and_nonnull<NdDialect, nest::NestDialect>(op.getDialect()) &&
           !isa<scf::IfOp, scf::ForOp, arith::ConstantOp>(op));
      return stays ? WalkResult::interrupt() : WalkResult::advance();
    });
    return !walk.wasInterrupted() && llvm::all_of(usedBy(&op), [&](Value value) {
      return isOutside(value) || same.contains(value.getDefiningOp());
    });
  }

  void move(Operation *op) {
    if (!loop->isAncestor(op))
      return;
    for (Value value : usedBy(op))
      if (!isOutside(value))
        move(value.getDefiningOp());
    op->moveBefore(loop);
  }
};

struct NdHoistPass : nd::impl::NdHoistPassBase<NdHoistPass> {
  void runOnOperation() override {
    // Inner loops first: their invariants may also be invariants of outer loops.
    getOperation()->walk([](Operation *op) {
      if (isa<scf::ForOp, scf::WhileOp, nest::ScanOp>(op))
        Invariants(op).hoist();
    });
  }
};
} // namespace
