//===- ControlFlow.cpp - loops become scans, branches selections ----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nd/ControlFlow.h"

#include "dialects/nd/NdBuild.h"
#include "lib/transforms/nd/Lift.h"
#include "lib/transforms/nd/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Iterators.h"

namespace heddle::nd {
#define GEN_PASS_DEF_NDEXPANDCONTROLFLOWPASS
#include "lib/transforms/nd/Passes.h.inc"
} // namespace heddle::nd

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

static LogicalResult expectTensors(Operation *op, TypeRange types) {
  for (Type type : types)
    if (!isa<NdTensorType>(type))
      return op->emitOpError() << "expected named tensors to be carried, got " << type
                               << "; carry a tensor without names instead";
  return success();
}

/// Scalar ops that nobody needs any more.
static void eraseDeadScalarsIn(Operation *root) {
  root->walk<WalkOrder::PostOrder, mlir::ReverseIterator>([&](Operation *op) {
    if (op != root && isOpTriviallyDead(op) && isa<ItemOp, FromItemOp, arith::ConstantOp>(op))
      op->erase();
  });
}

static LogicalResult toScan(scf::ForOp op) {
  auto low = getConstantIntValue(op.getLowerBound()),
       high = getConstantIntValue(op.getUpperBound()), stride = getConstantIntValue(op.getStep());
  if (!low || !high || !stride || *stride <= 0)
    return op.emitOpError()
           << "expected a number of steps that is known when the program is compiled: "
              "bounds that are constants and a positive step; write the largest number of "
              "steps and an scf.if in the body that keeps the carried tensors";
  if (failed(expectTensors(op, op.getResultTypes())))
    return failure();
  for (Operation *user : op.getInductionVar().getUsers())
    if (!isa<FromItemOp>(user))
      return user->emitOpError()
             << "expected the counter of a loop to be used by nd.from_item alone";
  int64_t count = *high <= *low ? 0 : (*high - *low + *stride - 1) / *stride;
  if (count == 0) {
    op->replaceAllUsesWith(op.getInitArgs());
    op.erase();
    return success();
  }
  Location loc = op.getLoc();
  OpBuilder builder(op);
  Operation *function = op->getParentOfType<func::FuncOp>();
  llvm::StringSet<> taken = collectNames(function ? function : op.getOperation());
  Dim along(op.getContext(), freshName("step", taken), Expr(count));
  SmallVector<Value> reads;
  if (!op.getInductionVar().use_empty()) {
    Type element = builder.getI64Type();
    Value iota = buildIota(builder, loc, along, element);
    reads.push_back(
        buildPointwise(builder, loc, iota, element, [&](OpBuilder &b, ValueRange s) -> Value {
          Value scaled =
              arith::MulIOp::create(b, loc, s[0], buildNumber(b, loc, element, double(*stride)));
          return arith::AddIOp::create(b, loc, scaled, buildNumber(b, loc, element, double(*low)));
        }));
  }
  auto scan =
      nest::ScanOp::create(builder, loc, op.getResultTypes(), op.getInitArgs(), reads,
                           DimsAttr::getSorted(op.getContext(), {along}), false, ArrayAttr());
  scan.getBody().takeBody(op.getRegion());
  Block &block = scan.getBody().front();
  if (!reads.empty()) {
    BlockArgument at =
        block.addArgument(NdTensorType::get(builder.getI64Type(), ArrayRef<Dim>()), loc);
    for (Operation *user : llvm::make_early_inc_range(block.getArgument(0).getUsers())) {
      builder.setInsertionPoint(user);
      Value value = user->getResult(0);
      value.replaceAllUsesWith(buildCast(builder, loc, at, tensorType(value).getElementType()));
      user->erase();
    }
  }
  block.eraseArgument(0);
  builder.setInsertionPointToEnd(&block);
  Operation *yield = block.getTerminator();
  nest::YieldOp::create(builder, yield->getLoc(), yield->getOperands());
  yield->erase();
  op->replaceAllUsesWith(scan.getResults());
  op.erase();
  return success();
}

static LogicalResult toSelection(scf::IfOp op) {
  if (failed(expectTensors(op, op.getResultTypes())))
    return failure();
  auto item = op.getCondition().getDefiningOp<ItemOp>();
  auto known = getConstantIntValue(op.getCondition());
  if (!item && !known)
    return op.emitOpError() << "expected a condition from nd.item, or a constant";
  OpBuilder builder(op);
  SmallVector<SmallVector<Value>> sides;
  for (Region *side : {&op.getThenRegion(), &op.getElseRegion()}) {
    if (side->empty())
      continue;
    Block &block = side->front();
    sides.emplace_back(block.getTerminator()->getOperands());
    block.getTerminator()->erase();
    op->getBlock()->getOperations().splice(op->getIterator(), block.getOperations());
  }
  SmallVector<Value> results;
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    results.push_back(
        known ? sides[*known ? 0 : 1][i]
              : select(builder, op.getLoc(), item.getInput(), sides[0][i], sides[1][i]));
  op->replaceAllUsesWith(results);
  op.erase();
  return success();
}

/// What upstream makes of a branch whose sides are empty.
static LogicalResult toPointwise(arith::SelectOp op) {
  auto item = op.getCondition().getDefiningOp<ItemOp>();
  if (!isa<NdTensorType>(op.getType()))
    return success();
  if (!item)
    return op.emitOpError() << "expected a condition from nd.item";
  OpBuilder builder(op);
  op.replaceAllUsesWith(
      select(builder, op.getLoc(), item.getInput(), op.getTrueValue(), op.getFalseValue()));
  op.erase();
  return success();
}

/// The counter of a loop with one step, which upstream made a constant.
static LogicalResult toConstant(FromItemOp op) {
  auto known = getConstantIntValue(op.getInput());
  if (!known)
    return op.emitOpError() << "expected the counter of a loop, or a constant";
  OpBuilder builder(op);
  NdTensorType type = tensorType(op.getResult());
  op.replaceAllUsesWith(
      buildConstant(builder, op.getLoc(), type, builder.getIntegerAttr(type.scalarType(), *known)));
  op.erase();
  return success();
}

template <typename Op>
static LogicalResult replaceAll(Operation *root, LogicalResult (*replace)(Op)) {
  SmallVector<Op> ops; // those inside others first
  root->walk([&](Op op) { ops.push_back(op); });
  for (Op op : ops)
    if (failed(replace(op)))
      return failure();
  eraseDeadScalarsIn(root);
  return success();
}

LogicalResult nd::scansForLoops(Operation *root) {
  return failure(failed(replaceAll<scf::ForOp>(root, toScan)) ||
                 failed(replaceAll<arith::SelectOp>(root, toPointwise)) ||
                 failed(replaceAll<FromItemOp>(root, toConstant)));
}
LogicalResult nd::selectionsForBranches(Operation *root) {
  return replaceAll<scf::IfOp>(root, toSelection);
}

namespace {
struct NdExpandControlFlowPass : nd::impl::NdExpandControlFlowPassBase<NdExpandControlFlowPass> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](scf::WhileOp op) {
      op.emitOpError()
          << "cannot be compiled: the number of its steps is not known; write scf.for with the "
             "largest number of steps and an scf.if in the body that keeps the carried tensors";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted() || failed(scansForLoops(getOperation())) ||
        failed(selectionsForBranches(getOperation())))
      signalPassFailure();
  }
};
} // namespace
