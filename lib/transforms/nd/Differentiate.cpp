//===- Differentiate.cpp - gradient requests become ops -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nd/Differentiate.h"

#include "dialects/nd/NdBuild.h"
#include "dialects/nd/NdGradient.h"
#include "dialects/nest/NestGradient.h"
#include "lib/transforms/nd/InlineCalls.h"
#include "lib/transforms/nd/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

namespace heddle::nd {
#define GEN_PASS_DEF_NDDIFFERENTIATEPASS
#include "lib/transforms/nd/Passes.h.inc"
} // namespace heddle::nd

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

LogicalResult nd::expandVjp(VjpOp op) {
  FailureOr<func::FuncOp> found = definedCallee(op, op.getCalleeAttr());
  if (failed(found))
    return failure();
  Block &body = found->getBody().front();
  OpBuilder builder(op);
  Location loc = op.getLoc();

  // Each value that a gradient is asked for gets a place of its own: an argument may be passed twice.
  IRMapping mapping;
  mapping.map(body.getArguments(), op.getInputs());
  SmallVector<Value> own(body.getArguments().begin(), body.getArguments().end());
  SmallVector<Operation *> standIns;
  for (int64_t i : op.getWrt()) {
    auto standIn = RenameOp::create(builder, loc, op.getInputs()[i].getType(), op.getInputs()[i],
                                    builder.getStrArrayAttr({}), builder.getStrArrayAttr({}));
    standIns.push_back(standIn);
    own[i] = standIn.getResult();
    mapping.map(body.getArgument(i), own[i]);
  }
  SmallVector<Operation *> ops;
  for (Operation &inner : body.without_terminator())
    ops.push_back(builder.clone(inner, mapping));

  ReverseMode reverse(builder);
  for (int64_t i : op.getWrt())
    reverse.want(own[i]);
  nest::expandForGradient(builder, reverse, ops);
  reverse.propagate(ops);

  SmallVector<Value> results;
  for (auto [value, cotangent] :
       llvm::zip_equal(body.getTerminator()->getOperands(), op.getCotangents())) {
    results.push_back(mapping.lookup(value));
    reverse.accumulate(loc, results.back(), cotangent);
  }
  if (failed(reverse.run(ops))) {
    op.emitRemark() << "while differentiating '@" << op.getCallee() << "'";
    return failure();
  }
  for (int64_t i : op.getWrt()) {
    Value gradient = reverse.cotangent(own[i]);
    results.push_back(gradient ? gradient
                               : buildZero(builder, loc, tensorType(op.getInputs()[i])));
  }
  op->replaceAllUsesWith(results);
  for (Operation *standIn : standIns) {
    standIn->replaceAllUsesWith(standIn->getOperands());
    standIn->erase();
  }
  op.erase();
  return success();
}

namespace {
struct NdDifferentiatePass : nd::impl::NdDifferentiatePassBase<NdDifferentiatePass> {
  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> functions = calleesFirst(getOperation());
    if (failed(functions))
      return signalPassFailure();
    // Only what gradients need is inlined.
    llvm::DenseSet<Operation *> differentiated = reached();
    for (func::FuncOp function : *functions) {
      SmallVector<Operation *> requests;
      function.walk([&](Operation *op) {
        if (isa<VjpOp>(op) || (isa<CallOp>(op) && differentiated.contains(function)))
          requests.push_back(op);
      });
      for (Operation *request : requests) {
        auto vjp = dyn_cast<VjpOp>(request);
        if (failed(vjp ? expandVjp(vjp) : inlineCall(cast<CallOp>(request))))
          return signalPassFailure();
      }
      if (!requests.empty())
        for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
          if (isOpTriviallyDead(&op))
            op.erase();
    }
  }

  /// The functions that gradient requests reach.
  llvm::DenseSet<Operation *> reached() {
    llvm::DenseSet<Operation *> set;
    SmallVector<Operation *> open;
    auto reach = [&](Operation *from, FlatSymbolRefAttr symbol) {
      Operation *callee = SymbolTable::lookupNearestSymbolFrom(from, symbol);
      if (callee && set.insert(callee).second)
        open.push_back(callee);
    };
    getOperation().walk([&](VjpOp op) { reach(op, op.getCalleeAttr()); });
    while (!open.empty())
      open.pop_back_val()->walk([&](CallOp op) { reach(op, op.getCalleeAttr()); });
    return set;
  }
};
} // namespace
