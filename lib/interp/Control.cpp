//===- Control.cpp - branches and loops -----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nest/Nest.h"
#include "lib/interp/Evaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace heddle::interp {

/// Iterations after which a loop is assumed to be infinite.
static constexpr int64_t mostSteps = int64_t(1) << 20;

/// Scalars of control flow are tensors without names; those of type `index` have elements of i64.
static TensorRef scalarOf(Type type, Scalar value) {
  if (type.isIndex())
    type = IntegerType::get(type.getContext(), 64);
  TensorValue tensor(nd::NdTensorType::get(type, ArrayRef<nd::Dim>()));
  tensor.elements[0] = value;
  return std::make_shared<const TensorValue>(std::move(tensor));
}
static int64_t numberOf(const TensorValue &tensor) {
  return coordinate(tensor.elements[0], tensor.elementType());
}

static void setAll(ValueRange values, ArrayRef<TensorRef> to, Frame &frame) {
  for (auto [value, ref] : llvm::zip_equal(values, to))
    frame.values[value] = ref;
}
/// Marks all results as undecided: another legal execution might have taken the other branch.
static void doubt(SmallVectorImpl<TensorRef> &values) {
  for (TensorRef &ref : values) {
    TensorValue value = *ref;
    for (Scalar &scalar : value.elements)
      scalar.undecided = true;
    ref = std::make_shared<const TensorValue>(std::move(value));
  }
}

namespace {
/// Evaluates one op of control flow: each overload leaves the results in `state`.
struct Outcome {
  Evaluator &evaluator;
  Frame &frame;
  SmallVector<TensorRef> state = {};
  bool doubtful = false; ///< a branch depended on an undecided value

  bool decide(const TensorValue &condition) {
    doubtful |= condition.elements[0].undecided;
    return numberOf(condition);
  }
  int64_t bound(Value value) {
    doubtful |= frame[value].elements[0].undecided;
    return numberOf(frame[value]);
  }
  /// Runs the block and sets the state to the operands of its terminator.
  LogicalResult run(Block &block) {
    if (failed(evaluator.run(block, frame)))
      return failure();
    state = frame.refs(block.getTerminator()->getOperands());
    return success();
  }

  LogicalResult of(arith::ConstantOp op) {
    state.push_back(scalarOf(op.getType(), ofAttribute(op.getValue())));
    return success();
  }
  LogicalResult of(arith::SelectOp op) {
    bool holds = decide(frame[op.getCondition()]);
    state.push_back(frame.ref(holds ? op.getTrueValue() : op.getFalseValue()));
    return success();
  }
  LogicalResult of(scf::IfOp op) {
    Region &side = decide(frame[op.getCondition()]) ? op.getThenRegion() : op.getElseRegion();
    return side.empty() ? success() : run(side.front());
  }
  LogicalResult of(scf::ForOp op);
  LogicalResult of(scf::WhileOp op);
  LogicalResult of(nest::ControlOp op);
};
} // namespace

LogicalResult Outcome::of(scf::ForOp op) {
  int64_t low = bound(op.getLowerBound()), high = bound(op.getUpperBound()),
          stride = bound(op.getStep());
  int64_t count = stride > 0 && high > low ? (high - low + (stride - 1)) / stride : 0;
  if (count > mostSteps)
    return op->emitOpError() << "expected at most " << mostSteps
                             << " steps for the interpreter, got from " << low << " to " << high
                             << " by " << stride;
  state = frame.refs(op.getInitArgs());
  Type type = op.getInductionVar().getType();
  for (int64_t k = 0, i = low; k < count; ++k, i += stride) {
    frame.values[op.getInductionVar()] =
        scalarOf(type, integer(uint64_t(i), type.isIndex() ? 64 : widthOf(type)));
    setAll(op.getRegionIterArgs(), state, frame);
    if (failed(run(*op.getBody())))
      return failure();
  }
  return success();
}

LogicalResult Outcome::of(scf::WhileOp op) {
  state = frame.refs(op.getInits());
  for (int64_t steps = 0;; ++steps) {
    if (steps > mostSteps)
      return op->emitOpError() << "does not terminate within " << mostSteps << " steps";
    setAll(op.getBeforeArguments(), state, frame);
    if (failed(evaluator.run(*op.getBeforeBody(), frame)))
      return failure();
    scf::ConditionOp end = op.getConditionOp();
    state = frame.refs(end.getArgs());
    if (!decide(frame[end.getCondition()]))
      return success();
    setAll(op.getAfterArguments(), state, frame);
    if (failed(run(*op.getAfterBody())))
      return failure();
  }
}

LogicalResult Outcome::of(nest::ControlOp op) {
  state = frame.refs(op.given());
  TensorRef condition = frame.ref(op.getOperand(0));
  for (int64_t steps = 0;; ++steps) {
    bool holds = decide(*condition);
    if (op.isLoop() && !holds)
      break;
    if (steps > mostSteps)
      return op->emitOpError() << "does not terminate within " << mostSteps << " steps";
    auto name = cast<FlatSymbolRefAttr>(op.getFunctions()[op.isLoop() || holds ? 0 : 1]);
    FailureOr<SmallVector<TensorRef>> next = evaluator.call(
        SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, name), state, op, &frame);
    if (failed(next))
      return failure();
    if (!op.isLoop()) {
      state = *next;
      break;
    }
    llvm::copy(*next, state.begin());
    condition = state[0];
  }
  state.truncate(op->getNumResults());
  return success();
}

std::optional<LogicalResult> Evaluator::evaluateControl(Operation *op, Frame &frame) {
  Outcome outcome{*this, frame};
  std::optional<LogicalResult> done = success();
  if (op->hasTrait<nd::Opaque>() || isa<nd::ItemOp, nd::FromItemOp>(op)) // has its operand's value
    outcome.state.push_back(frame.ref(op->getOperand(0)));
  else
    done = llvm::TypeSwitch<Operation *, std::optional<LogicalResult>>(op)
               .Case<arith::ConstantOp, arith::SelectOp, scf::IfOp, scf::ForOp, scf::WhileOp,
                     nest::ControlOp>([&](auto each) { return outcome.of(each); })
               .Default([](Operation *) { return std::nullopt; });
  if (!done || failed(*done))
    return done;
  if (outcome.doubtful)
    doubt(outcome.state);
  setAll(op->getResults(), outcome.state, frame);
  return success();
}

} // namespace heddle::interp
