//===- InlineCalls.cpp - calls become the callee's ops --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nd/InlineCalls.h"

#include "dialects/nd/NdBuild.h"
#include "lib/transforms/nd/ControlFlow.h"
#include "lib/transforms/nd/Lift.h"
#include "lib/transforms/nd/Passes.h"

namespace heddle::nd {
#define GEN_PASS_DEF_NDINLINECALLSPASS
#include "lib/transforms/nd/Passes.h.inc"
} // namespace heddle::nd

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

FailureOr<func::FuncOp> nd::definedCallee(Operation *op, FlatSymbolRefAttr symbol) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, symbol);
  if (!callee || callee.isDeclaration() || !llvm::hasSingleElement(callee.getBody()))
    return op->emitOpError() << "expected '@" << symbol.getValue()
                             << "' to be a function with a body of one block";
  return callee;
}

FlatSymbolRefAttr nd::calleeOf(Operation *op) {
  return isa<CallOp, VjpOp, JvpOp>(op) ? op->getAttrOfType<FlatSymbolRefAttr>("callee")
                                       : FlatSymbolRefAttr();
}

FailureOr<SmallVector<func::FuncOp>> nd::calleesFirst(ModuleOp module) {
  SmallVector<func::FuncOp> order;
  llvm::DenseSet<Operation *> done, active;
  std::function<LogicalResult(func::FuncOp)> visit = [&](func::FuncOp function) {
    if (!done.insert(function).second)
      return success();
    active.insert(function);
    WalkResult result = function.walk([&](Operation *op) -> WalkResult {
      auto find = [&](FlatSymbolRefAttr symbol) {
        return symbol ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, symbol)
                      : func::FuncOp();
      };
      func::FuncOp callee = find(calleeOf(op));
      if (!callee)
        return WalkResult::advance();
      if (active.contains(callee))
        return op->emitOpError() << "is recursive: '@" << callee.getName() << "' calls itself";
      if (failed(visit(callee)))
        return WalkResult::interrupt();
      // A gradient may call the function whose gradient it is.
      auto call = dyn_cast<CallOp>(op);
      func::FuncOp gradient = call ? find(call.getGradientAttr()) : func::FuncOp();
      if (gradient && !active.contains(gradient) && failed(visit(gradient)))
        return WalkResult::interrupt();
      return WalkResult::advance();
    });
    active.erase(function);
    order.push_back(function);
    return failure(result.wasInterrupted());
  };
  for (auto function : module.getOps<func::FuncOp>())
    if (failed(visit(function)))
      return failure();
  return order;
}

FailureOr<SmallVector<Value>> nd::inlineCall(CallOp op) {
  FailureOr<func::FuncOp> found = definedCallee(op, op.getCalleeAttr());
  if (failed(found))
    return failure();
  func::FuncOp callee = *found;
  OpBuilder builder(op);
  Location loc = op.getLoc();

  // Names of the callee that a lifted name would meet are renamed apart.
  NameRewriter rewriter;
  llvm::StringSet<> own = collectNames(callee), lifted;
  SmallVector<StringRef> order;
  for (auto [formal, input] : llvm::zip_equal(callee.getArguments(), op.getInputs())) {
    auto type = cast<NdTensorType>(formal.getType());
    for (const Dim &dim : type.getDims())
      if (auto symbol = dim.size().getExpr().asName())
        rewriter.symbols.try_emplace(*symbol, tensorType(input).size(dim.name).getExpr());
    for (const Dim &dim : tensorType(input).getDims())
      if (!type.has(dim.name) && lifted.insert(dim.name).second)
        order.push_back(dim.name);
  }
  llvm::StringSet<> taken;
  for (StringRef name : order)
    if (own.contains(name)) {
      if (taken.empty()) {
        taken = collectNames(op->getParentOfType<func::FuncOp>());
        for (const auto &entry : own)
          taken.insert(entry.first());
      }
      rewriter.names[name] = freshName(name, taken);
    }
  llvm::erase_if(order, [&](StringRef name) { return !own.contains(name); });

  Lifter lifter(builder, rewriter);
  for (auto [formal, input] : llvm::zip_equal(callee.getArguments(), op.getInputs())) {
    SmallVector<StringRef> from, to;
    for (StringRef name : order)
      if (cast<NdTensorType>(formal.getType()).has(name)) {
        from.push_back(name);
        to.push_back(rewriter.names[name]);
      }
    lifter.values.map(formal, buildRename(builder, loc, input, from, to));
  }
  if (failed(lifter.copy(callee.getBody().front())))
    return failure();

  SmallVector<Value> results;
  Operation *end = callee.getBody().front().getTerminator();
  for (auto [value, result] : llvm::zip_equal(end->getOperands(), op.getResults())) {
    Value copy = lifter.values.lookup(value);
    SmallVector<StringRef> from, to;
    for (StringRef name : order)
      if (cast<NdTensorType>(value.getType()).has(name)) {
        from.push_back(rewriter.names[name]);
        to.push_back(name);
      }
    copy = buildRename(builder, loc, copy, from, to);
    // A result that a dependence analysis finds lifted may turn out not to be.
    results.push_back(
        buildBroadcast(builder, loc, copy, tensorType(result).getDims().getDims()));
  }
  op->replaceAllUsesWith(results);
  op.erase();
  return results;
}

namespace {
struct NdInlineCallsPass : nd::impl::NdInlineCallsPassBase<NdInlineCallsPass> {
  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> functions = calleesFirst(getOperation());
    if (failed(functions))
      return signalPassFailure();
    for (func::FuncOp function : *functions) {
      if (failed(whilesForCounts(function))) // which are lifted like other loops
        return signalPassFailure();
      SmallVector<CallOp> calls;
      function.walk([&](CallOp call) { calls.push_back(call); });
      for (CallOp call : calls)
        if (failed(inlineCall(call)))
          return signalPassFailure();
    }
  }
};
} // namespace
