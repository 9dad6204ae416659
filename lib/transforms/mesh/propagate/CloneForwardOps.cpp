//===- CloneForwardOps.cpp - computes values again for gradients ----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/propagate/CloneForwardOps.h"

#include "dialects/nd/Nd.h"
#include "dialects/nd/NdGradient.h"

#include "mlir/IR/IRMapping.h"

using namespace heddle;
using namespace mlir;

namespace {
class ForwardCloner {
public:
  ForwardCloner(func::FuncOp function, const DenseSet<Operation *> &ops)
      : block(function.front()), ops(ops), builder(function) {}

  void run() {
    Value known; // of the backward pass so far
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (!nd::isGradient(op.getLoc()))
        continue;
      if (Value before = gradientOf(op, known)) {
        builder.setInsertionPoint(&op);
        op.walk([&](Operation *inner) {
          for (OpOperand &use : inner->getOpOperands())
            if (isForward(use.get()))
              use.set(again(use.get(), before));
        });
      }
      if (op.getNumResults() && isa<nd::NdTensorType>(op.getResult(0).getType()))
        known = op.getResult(0);
    }
  }

private:
  Block &block;
  const DenseSet<Operation *> &ops;
  OpBuilder builder;
  IRMapping made; ///< from values of the forward pass

  /// The gradient that an op reads, which is where the op is; else that of the op before.
  static Value gradientOf(Operation &op, Value known) {
    auto read = llvm::find_if(op.getOperands(), [](Value used) {
      return used.getDefiningOp() && nd::isGradient(used.getDefiningOp()->getLoc());
    });
    return read == op.getOperands().end() ? known : *read;
  }
  bool isForward(Value value) const {
    Operation *maker = value.getDefiningOp();
    return maker && ops.contains(maker);
  }

  /// The value of the forward pass, computed again from what is kept, after `before`.
  Value again(Value value, Value before) {
    if (Value known = made.lookupOrNull(value))
      return known;
    Operation *maker = value.getDefiningOp();
    maker->walk([&](Operation *inner) { // regions read values from outside, too
      for (Value used : inner->getOperands()) {
        if (used.getParentBlock() != &block || made.contains(used))
          continue;
        if (isForward(used))
          again(used, before);
        else if (Operation *from = used.getDefiningOp(); !from || from->getNumOperands())
          made.map(used, Value(nd::AfterOp::create(builder, maker->getLoc(), used.getType(), used,
                                                   before)));
      } // coordinates and constants need no memory
    });
    builder.clone(*maker, made);
    return made.lookup(value);
  }
};
} // namespace

void mesh::cloneForwardOps(func::FuncOp function, const DenseSet<Operation *> &ops) {
  if (!ops.empty())
    ForwardCloner(function, ops).run();
}
