//===- ControlFlow.cpp - loops and branches over tensors ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nd/ControlFlow.h"

#include "dialects/nd/NdBuild.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/transforms/names/NameRewriter.h"
#include "lib/transforms/nd/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"

namespace heddle::nd {
#define GEN_PASS_DEF_NDEXPANDCONTROLFLOWPASS
#include "lib/transforms/nd/Passes.h.inc"
} // namespace heddle::nd

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

LogicalResult nd::expectTensors(Operation *op, TypeRange types) {
  for (Type type : types)
    if (!isa<NdTensorType>(type))
      return op->emitOpError() << "expected named tensors to be carried, got " << type
                               << "; carry a tensor without names instead";
  return success();
}

void nd::eraseDeadScalarsIn(Operation *root) {
  root->walk<WalkOrder::PostOrder, mlir::ReverseIterator>([&](Operation *op) {
    if (op != root && isOpTriviallyDead(op) && isa<ItemOp, FromItemOp, arith::ConstantOp>(op))
      op->erase();
  });
}

/// Reports that `scalar` is computed by an op that control flow may not use.
static LogicalResult refuseScalar(Operation *op, Value scalar) {
  InFlightDiagnostic error = op->emitOpError();
  error << "expected conditions, bounds and other scalars to come from nd.item, or to be constants";
  if (Operation *made = scalar.getDefiningOp()) {
    error << ", got one from '" << made->getName()
          << "'; compute it as a tensor without names, and read that by nd.item";
    error.attachNote(made->getLoc()) << "the scalar is computed here";
  }
  return error;
}

LogicalResult nd::expectScalar(Operation *op, Value scalar) {
  bool isLegal =
      isa_and_nonnull<ItemOp, arith::ConstantOp, LiteralInterface>(scalar.getDefiningOp());
  return isLegal ? success() : refuseScalar(op, scalar);
}

Value nd::tensorOfScalar(OpBuilder &builder, Operation *op, Value scalar) {
  if (auto item = scalar.getDefiningOp<ItemOp>())
    return item.getInput();
  if (auto known = getConstantIntValue(scalar)) {
    Type element = scalar.getType().isIndex() ? builder.getI64Type() : scalar.getType();
    return buildConstant(builder, op->getLoc(), NdTensorType::get(element, ArrayRef<Dim>()),
                         builder.getIntegerAttr(element, *known));
  }
  (void)refuseScalar(op, scalar);
  return {};
}

/// The number of points that the ops of a region visit, an estimate of its work.
static double workOf(Region &region) {
  double work = 0;
  region.walk([&](Operation *op) {
    double most = 0;
    for (Type type : llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                              SmallVector<Type>(op->getResultTypes())))
      if (auto tensor = dyn_cast<NdTensorType>(type))
        most = std::max(most, pointsOf(tensor.getDims()));
    work += most;
  });
  return work;
}
/// Above this number of points a step takes longer than a barrier.
static constexpr double heavyWork = 1 << 16;

static bool holdsLoop(Operation *op) {
  WalkResult result = op->walk([&](scf::WhileOp loop) {
    return loop == op ? WalkResult::advance() : WalkResult::interrupt();
  });
  return result.wasInterrupted();
}

static LogicalResult verifyLoop(scf::ForOp op) {
  if (failed(expectTensors(op, op.getResultTypes())))
    return failure();
  for (Operation *user : op.getInductionVar().getUsers())
    if (!isa<FromItemOp>(user))
      return user->emitOpError() << "expected the counter of a loop to be used by nd.from_item "
                                    "only; compute with the result of that";
  if (auto stride = getConstantIntValue(op.getStep()); stride && *stride <= 0)
    return op.emitOpError() << "expected a positive step, got " << *stride
                            << "; count up, and derive a descending counter from it";
  return success();
}

static Value scalarTensor(OpBuilder &builder, Location loc, int64_t number) {
  return buildConstant(builder, loc, NdTensorType::get(builder.getI64Type(), ArrayRef<Dim>()),
                       builder.getI64IntegerAttr(number));
}
/// The counter of a loop at step `at`: low + stride * at.
static Value counterAt(OpBuilder &builder, Location loc, Value at, Value low, Value stride) {
  return buildPointwise(builder, loc, {at, low, stride}, builder.getI64Type(),
                        [&](OpBuilder &b, ValueRange s) -> Value {
                          return arith::AddIOp::create(
                              b, loc, arith::MulIOp::create(b, loc, s[0], s[2]), s[1]);
                        });
}
/// Replaces uses of a loop's counter by the tensor that holds it.
static void replaceCounter(OpBuilder &builder, Location loc, Value counter, Value at) {
  for (Operation *user : llvm::make_early_inc_range(counter.getUsers())) {
    builder.setInsertionPoint(user);
    Value value = user->getResult(0);
    value.replaceAllUsesWith(buildCast(builder, loc, at, tensorType(value).getElementType()));
    user->erase();
  }
}

/// The branch at the end of a loop's body, if later steps do nothing once its condition fails: its
/// else side yields the carried tensors, so the condition does not change.
static scf::IfOp endOf(scf::ForOp op) {
  Operation *yield = op.getBody()->getTerminator();
  auto branch = yield->getNumOperands() ? yield->getOperand(0).getDefiningOp<scf::IfOp>() : nullptr;
  if (!branch || branch->getParentOp() != op || branch.getResults() != yield->getOperands() ||
      branch.elseYield().getOperands() != ValueRange(op.getRegionIterArgs()))
    return {};
  for (Operation *user : op.getInductionVar().getUsers())
    if (user->getBlock() != branch.thenBlock() || !isa<FromItemOp>(user))
      return {};
  return branch;
}

/// Carries the number of completed steps, and compares it with the trip count.
static LogicalResult toWhile(scf::ForOp op) {
  if (failed(verifyLoop(op)))
    return failure();
  Location loc = op.getLoc();
  OpBuilder builder(op);
  Type i64 = builder.getI64Type();
  SmallVector<Value> range;
  for (Value bound : op->getOperands().take_front(3)) {
    Value tensor = tensorOfScalar(builder, op, bound);
    if (!tensor)
      return failure();
    range.push_back(buildCast(builder, loc, tensor, i64));
  }
  Value low = range[0], stride = range[2];
  // Rounded up; 0 if the step is not positive.
  Value count = buildPointwise(builder, loc, range, i64, [&](OpBuilder &b, ValueRange s) -> Value {
    Value one = buildNumber(b, loc, i64, 1), zero = buildNumber(b, loc, i64, 0);
    Value positive = arith::MaxSIOp::create(b, loc, s[2], one);
    Value up = arith::AddIOp::create(b, loc, arith::SubIOp::create(b, loc, s[1], s[0]),
                                     arith::SubIOp::create(b, loc, positive, one));
    Value moves = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, s[2], zero);
    return arith::SelectOp::create(b, loc, moves, arith::DivSIOp::create(b, loc, up, positive),
                                   zero);
  });
  scf::IfOp end = endOf(op);
  bool isFailure = false;
  SmallVector<Value> carried{scalarTensor(builder, loc, 0)};
  llvm::append_range(carried, op.getInitArgs());
  auto loop = scf::WhileOp::create(
      builder, loc, ValueRange(carried).getTypes(), carried,
      [&](OpBuilder &b, Location, ValueRange state) {
        Value more = buildPointwise(
            b, loc, {state[0], count}, b.getI1Type(), [&](OpBuilder &b, ValueRange s) -> Value {
              return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, s[0], s[1]);
            });
        if (end) {
          IRMapping mapping;
          mapping.map(op.getRegionIterArgs(), state.drop_front());
          for (Operation &inner : op.getBody()->without_terminator())
            if (&inner != end)
              b.clone(inner, mapping);
          Value goesOn = tensorOfScalar(b, op, mapping.lookupOrDefault(end.getCondition()));
          isFailure = !goesOn;
          if (goesOn)
            more = buildPointwise(b, loc, {more, goesOn}, b.getI1Type(),
                                  [&](OpBuilder &b, ValueRange s) -> Value {
                                    return arith::AndIOp::create(b, loc, s[0], s[1]);
                                  });
          b.setInsertionPoint(op);
          end.getConditionMutable().assign(arith::ConstantIntOp::create(b, loc, 1, 1));
          b.setInsertionPointToEnd(state[0].getParentBlock());
        }
        scf::ConditionOp::create(b, loc, ItemOp::create(b, loc, b.getI1Type(), more), state);
      },
      [&](OpBuilder &b, Location, ValueRange state) {
        Value next =
            buildPointwise(b, loc, state[0], i64, [&](OpBuilder &b, ValueRange s) -> Value {
              return arith::AddIOp::create(b, loc, s[0], buildNumber(b, loc, i64, 1));
            });
        if (!op.getInductionVar().use_empty()) {
          Value at = counterAt(b, loc, state[0], low, stride);
          replaceCounter(b, loc, op.getInductionVar(), at);
          b.setInsertionPointToEnd(state[0].getParentBlock());
        }
        Block *body = state[0].getParentBlock();
        for (auto [old, fresh] : llvm::zip_equal(op.getRegionIterArgs(), state.drop_front()))
          old.replaceAllUsesWith(fresh);
        Operation *yield = op.getBody()->getTerminator();
        SmallVector<Value> yielded{next};
        llvm::append_range(yielded, yield->getOperands());
        yield->erase();
        body->getOperations().splice(body->end(), op.getBody()->getOperations());
        b.setInsertionPointToEnd(body);
        scf::YieldOp::create(b, loc, yielded);
      });
  op->replaceAllUsesWith(loop.getResults().drop_front());
  op.erase();
  return failure(isFailure);
}

static bool isCounted(scf::ForOp op) {
  return getConstantIntValue(op.getLowerBound()) && getConstantIntValue(op.getUpperBound()) &&
         getConstantIntValue(op.getStep());
}

/// The trip count of a loop with constant bounds.
static int64_t stepsOf(scf::ForOp op) {
  int64_t low = *getConstantIntValue(op.getLowerBound()),
          high = *getConstantIntValue(op.getUpperBound()),
          stride = *getConstantIntValue(op.getStep());
  return high <= low || stride <= 0 ? 0 : (high - low + stride - 1) / stride;
}

/// `taken` has the names of the function; filled when it is empty.
static LogicalResult toScan(scf::ForOp op, llvm::StringSet<> &taken) {
  if (failed(verifyLoop(op)))
    return failure();
  auto low = getConstantIntValue(op.getLowerBound()), stride = getConstantIntValue(op.getStep());
  int64_t count = stepsOf(op);
  if (count == 0) {
    op->replaceAllUsesWith(op.getInitArgs());
    op.erase();
    return success();
  }
  Location loc = op.getLoc();
  OpBuilder builder(op);
  Operation *function = op->getParentOfType<func::FuncOp>();
  if (taken.empty())
    taken = collectNames(function ? function : op.getOperation());
  Dim along(op.getContext(), freshName("step", taken), Expr(count));
  SmallVector<Value> reads;
  if (!op.getInductionVar().use_empty()) {
    Type element = builder.getI64Type();
    Value iota = buildIota(builder, loc, along, element);
    reads.push_back(counterAt(builder, loc, iota, scalarTensor(builder, loc, *low),
                              scalarTensor(builder, loc, *stride)));
  }
  auto scan = nest::ScanOp::create(builder, loc, op.getResultTypes(), op.getInitArgs(), reads,
                                   DimsAttr::getSorted(op.getContext(), {along}), false);
  scan.getBody().takeBody(op.getRegion());
  Block &block = scan.getBody().front();
  if (!reads.empty()) {
    BlockArgument at =
        block.addArgument(NdTensorType::get(builder.getI64Type(), ArrayRef<Dim>()), loc);
    replaceCounter(builder, loc, block.getArgument(0), at);
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

/// Lowers a scan with expensive steps, or with loops of unknown trip count, to a loop that reads
/// slices at the counter and carries the outputs, which it updates there.
static LogicalResult toLoop(nest::ScanOp op) {
  Location loc = op.getLoc();
  OpBuilder builder(op);
  const Dim &along = *op.getAlong().begin();
  StringRef name = along.name;
  Type i64 = builder.getI64Type();
  unsigned n = op.getInits().size();
  SmallVector<Value> carried(op.getInits());
  for (Value output : op.getResults().drop_front(n))
    carried.push_back(buildZero(builder, loc, tensorType(output)));
  std::optional<int64_t> known = along.size().getExpr().constant();
  if (known == 0) { // zero trips, and no slices to read
    op->replaceAllUsesWith(carried);
    op.erase();
    return success();
  }
  Value count =
      known ? scalarTensor(builder, loc, *known)
            : buildReduce(builder, loc,
                          buildBroadcast(builder, loc, scalarTensor(builder, loc, 1), along),
                          {name}, CombinerKind::Add);
  Value index[2];
  for (int64_t i : {0, 1})
    index[i] = arith::ConstantIndexOp::create(builder, loc, i);
  Value high = ItemOp::create(builder, loc, builder.getIndexType(), count);
  auto loop = scf::ForOp::create(builder, loc, index[0], high, index[1], carried);
  Block &from = op.getBody().front(), *body = loop.getBody();
  builder.setInsertionPointToEnd(body);
  Value at = FromItemOp::create(builder, loc, NdTensorType::get(i64, ArrayRef<Dim>()),
                                loop.getInductionVar());
  if (op.getReverse())
    at = buildPointwise(builder, loc, {count, at}, i64, [&](OpBuilder &b, ValueRange s) -> Value {
      Value last = arith::SubIOp::create(b, loc, s[0], buildNumber(b, loc, i64, 1));
      return arith::SubIOp::create(b, loc, last, s[1]);
    });
  for (auto [i, argument] : llvm::enumerate(from.getArguments()))
    argument.replaceAllUsesWith(i < n
                                    ? loop.getRegionIterArg(unsigned(i))
                                    : buildGather(builder, loc, op.getReads()[i - n], {name}, at));
  SmallVector<Value> yielded(from.getTerminator()->getOperands());
  from.getTerminator()->erase();
  body->getOperations().splice(body->end(), from.getOperations());
  for (unsigned i = n; i < yielded.size(); ++i)
    yielded[i] = buildScatter(
        builder, loc, loop.getRegionIterArg(i), yielded[i], {name}, at,
        [](OpBuilder &, ValueRange s) { return s[1]; }, /*unique=*/true);
  scf::YieldOp::create(builder, loc, yielded);
  op->replaceAllUsesWith(loop.getResults());
  op.erase();
  return toWhile(loop);
}

static LogicalResult loopsForScans(Operation *root) {
  for (SmallVector<nest::ScanOp> scans;; scans.clear()) {
    root->walk<WalkOrder::PreOrder>([&](nest::ScanOp op) { // inner scans are visited afterwards
      bool isHeavy = workOf(op.getBody()) > heavyWork;
      if (isHeavy && nest::isDivided(op) && !holdsLoop(op)) {
        op->setAttr(nest::heavyAttrName, UnitAttr::get(op.getContext()));
        return WalkResult::advance();
      }
      if (isHeavy || holdsLoop(op))
        scans.push_back(op);
      return WalkResult::skip();
    });
    if (scans.empty())
      return success();
    for (nest::ScanOp op : scans)
      if (failed(toLoop(op)))
        return failure();
  }
}

static LogicalResult toSelection(scf::IfOp op) {
  if (failed(expectTensors(op, op.getResultTypes())))
    return failure();
  auto known = getConstantIntValue(op.getCondition());
  bool isInKernel = op->getParentOfType<nest::ScanOp>();
  if (!known && !isInKernel &&
      (holdsLoop(op) || workOf(op.getThenRegion()) + workOf(op.getElseRegion()) > heavyWork))
    return success();
  OpBuilder builder(op);
  Value condition = tensorOfScalar(builder, op, op.getCondition());
  if (!condition)
    return failure();
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
    results.push_back(known ? sides[*known ? 0 : 1][i]
                            : select(builder, op.getLoc(), condition, sides[0][i], sides[1][i]));
  op->replaceAllUsesWith(results);
  op.erase();
  return success();
}

/// MLIR folds a branch with empty sides to arith.select.
static LogicalResult toPointwise(arith::SelectOp op) {
  if (!isa<NdTensorType>(op.getType()))
    return success();
  OpBuilder builder(op);
  Value condition = tensorOfScalar(builder, op, op.getCondition());
  if (!condition)
    return failure();
  op.replaceAllUsesWith(
      select(builder, op.getLoc(), condition, op.getTrueValue(), op.getFalseValue()));
  op.erase();
  return success();
}

/// Replaces an nd.from_item of the counter of a loop with one step, which MLIR folded to a
/// constant, or of a tensor's item.
static LogicalResult toTensor(FromItemOp op) {
  OpBuilder builder(op);
  Value tensor = tensorOfScalar(builder, op, op.getInput());
  if (!tensor)
    return failure();
  op.replaceAllUsesWith(
      buildCast(builder, op.getLoc(), tensor, tensorType(op.getResult()).getElementType()));
  op.erase();
  return success();
}

template <typename Op>
static LogicalResult replaceAll(Operation *root, llvm::function_ref<LogicalResult(Op)> replace) {
  SmallVector<Op> ops; // inner ones first
  root->walk([&](Op op) { ops.push_back(op); });
  for (Op op : ops)
    if (failed(replace(op)))
      return failure();
  eraseDeadScalarsIn(root);
  return success();
}

LogicalResult nd::convertLoopsToWhiles(Operation *root) {
  return replaceAll<scf::ForOp>(
      root, [](scf::ForOp op) { return isCounted(op) ? success() : toWhile(op); });
}
LogicalResult nd::convertLoopsToScans(Operation *root, bool keepsHeavy) {
  llvm::StringSet<> taken;
  auto replace = [&](scf::ForOp op) {
    bool isLoop = !isCounted(op) || holdsLoop(op) ||
                  (keepsHeavy && !op->getParentOfType<nest::ScanOp>() &&
                   workOf(op.getRegion()) * (endOf(op) ? double(stepsOf(op)) : 1) > heavyWork);
    return isLoop ? toWhile(op) : toScan(op, taken);
  };
  return failure(failed(replaceAll<scf::ForOp>(root, replace)) ||
                 (keepsHeavy && failed(loopsForScans(root))) ||
                 failed(replaceAll<arith::SelectOp>(root, toPointwise)) ||
                 failed(replaceAll<FromItemOp>(root, toTensor)));
}
LogicalResult nd::convertLoopToScan(scf::ForOp op) {
  Operation *following = op->getNextNode();
  llvm::StringSet<> taken;
  if (failed(toScan(op, taken)))
    return failure();
  auto scan = dyn_cast<nest::ScanOp>(following->getPrevNode());
  return !scan ? success()
               : failure(failed(replaceAll<arith::SelectOp>(scan, toPointwise)) ||
                         failed(replaceAll<FromItemOp>(scan, toTensor)));
}
/// Replaces the `scf.if` ops in `root` by the ops of both sides and selects, except those that
/// contain loops or are expensive.
static LogicalResult selectionsForBranches(Operation *root) {
  return replaceAll<scf::IfOp>(root, toSelection);
}

namespace {
struct NdExpandControlFlowPass : nd::impl::NdExpandControlFlowPassBase<NdExpandControlFlowPass> {
  void runOnOperation() override {
    if (failed(convertLoopsToScans(getOperation(), /*keepsHeavy=*/true)) ||
        failed(selectionsForBranches(getOperation())))
      signalPassFailure();
  }
};
} // namespace
