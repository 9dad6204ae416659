//===- Control.cpp - the meaning of branches and loops --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nest/Nest.h"
#include "lib/interp/Evaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace heddle::interp {

/// A loop that makes more steps is taken for one without an end.
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

static SmallVector<TensorRef> refs(ValueRange values, Frame &frame) {
  return llvm::map_to_vector(values, [&](Value value) { return frame.ref(value); });
}
static void setAll(ValueRange values, ArrayRef<TensorRef> to, Frame &frame) {
  for (auto [value, ref] : llvm::zip_equal(values, to))
    frame.values[value] = ref;
}
/// Another legal execution might have gone another way: nothing is certain about what came out.
static void doubt(SmallVectorImpl<TensorRef> &values) {
  for (TensorRef &ref : values) {
    TensorValue value = *ref;
    for (Scalar &scalar : value.elements)
      scalar.undecided = true;
    ref = std::make_shared<const TensorValue>(std::move(value));
  }
}

std::optional<LogicalResult> Evaluator::evaluateControl(Operation *op, Frame &frame) {
  SmallVector<TensorRef> state;
  bool doubtful = false;
  if (isa<nd::StopGradientOp, nd::AfterOp, nd::ItemOp, nd::FromItemOp>(op)) {
    state.push_back(frame.ref(op->getOperand(0)));
  } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    state.push_back(scalarOf(constant.getType(), ofAttribute(constant.getValue())));
  } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
    doubtful = frame[select.getCondition()].elements[0].undecided;
    state.push_back(frame.ref(numberOf(frame[select.getCondition()]) ? select.getTrueValue()
                                                                     : select.getFalseValue()));
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    const TensorValue &condition = frame[branch.getCondition()];
    doubtful = condition.elements[0].undecided;
    Region &side = numberOf(condition) ? branch.getThenRegion() : branch.getElseRegion();
    if (side.empty())
      return success();
    if (failed(run(side.front(), frame)))
      return failure();
    state = refs(side.front().getTerminator()->getOperands(), frame);
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    int64_t low = numberOf(frame[loop.getLowerBound()]),
            high = numberOf(frame[loop.getUpperBound()]), stride = numberOf(frame[loop.getStep()]);
    for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      doubtful |= frame[bound].elements[0].undecided;
    int64_t count = stride > 0 && high > low ? (high - low + (stride - 1)) / stride : 0;
    if (count > mostSteps)
      return op->emitOpError() << "expected at most " << mostSteps
                               << " steps for the interpreter, got from " << low << " to " << high
                               << " by " << stride;
    state = refs(loop.getInitArgs(), frame);
    for (int64_t k = 0, i = low; k < count; ++k, i += stride) {
      Type type = loop.getInductionVar().getType();
      frame.values[loop.getInductionVar()] =
          scalarOf(type, integer(uint64_t(i), type.isIndex() ? 64 : widthOf(type)));
      setAll(loop.getRegionIterArgs(), state, frame);
      if (failed(run(*loop.getBody(), frame)))
        return failure();
      state = refs(loop.getBody()->getTerminator()->getOperands(), frame);
    }
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    state = refs(loop.getInits(), frame);
    for (int64_t steps = 0;; ++steps) {
      if (steps > mostSteps)
        return op->emitOpError() << "comes to no end within " << mostSteps << " steps";
      setAll(loop.getBeforeArguments(), state, frame);
      if (failed(run(*loop.getBeforeBody(), frame)))
        return failure();
      scf::ConditionOp end = loop.getConditionOp();
      state = refs(end.getArgs(), frame);
      doubtful |= frame[end.getCondition()].elements[0].undecided;
      if (!numberOf(frame[end.getCondition()]))
        break;
      setAll(loop.getAfterArguments(), state, frame);
      if (failed(run(*loop.getAfterBody(), frame)))
        return failure();
      state = refs(loop.getYieldOp().getOperands(), frame);
    }
  } else if (auto control = dyn_cast<nest::ControlOp>(op)) {
    state = refs(control.given(), frame);
    TensorRef condition = frame.ref(control.getOperand(0));
    for (int64_t steps = 0;; ++steps) {
      bool holds = numberOf(*condition);
      doubtful |= condition->elements[0].undecided;
      if (control.isLoop() && !holds)
        break;
      if (steps > mostSteps)
        return op->emitOpError() << "comes to no end within " << mostSteps << " steps";
      auto name =
          cast<FlatSymbolRefAttr>(control.getFunctions()[control.isLoop() || holds ? 0 : 1]);
      FailureOr<SmallVector<TensorRef>> next =
          call(SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, name), state, op, &frame);
      if (failed(next))
        return failure();
      if (!control.isLoop()) {
        state = *next;
        break;
      }
      llvm::copy(*next, state.begin());
      condition = state[0];
    }
    state.truncate(op->getNumResults());
  } else {
    return std::nullopt;
  }
  if (doubtful)
    doubt(state);
  setAll(op->getResults(), state, frame);
  return success();
}

} // namespace heddle::interp
