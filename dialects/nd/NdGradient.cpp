//===- NdGradient.cpp - gradients of elementwise ops ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdGradient.h"
#include "dialects/nd/NdBuild.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSet.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

using Gradients = SmallVectorImpl<Value>;

/// Builds the gradient of operand `i`. The cotangent of a sum is broadcast; if other operands have
/// the new names, or none needs them, its operand is used instead.
static FailureOr<Value> pointwiseGradient(OpBuilder &b, PointwiseOp op, ValueRange operands,
                                          Value cotangent, unsigned i, Value mask) {
  Location loc = op.getLoc();
  NdTensorType type = tensorType(op.getInputs()[i]), all = tensorType(op.getResult());
  unsigned n = operands.size();

  Region region;
  Block *block;
  {
    OpBuilder::InsertionGuard guard(b);
    block = b.createBlock(&region);
    for (Value operand : operands)
      block->addArgument(tensorType(operand).scalarType(), loc);
    block->addArgument(all.scalarType(), loc);
    SmallVector<bool> wanted(n);
    wanted[i] = true;
    FailureOr<SmallVector<Value>> gradients =
        buildScalarGradient(b, loc, op.getBody().front(), block->getArguments().take_front(n),
                            {block->getArgument(n)}, wanted);
    if (failed(gradients))
      return failure();
    if (!(*gradients)[i])
      return Value();
    Value result = (*gradients)[i];
    if (mask) {
      Value bit = block->addArgument(b.getI1Type(), loc);
      result =
          arith::SelectOp::create(b, loc, bit, result, buildNumber(b, loc, result.getType(), 0));
    }
    YieldOp::create(b, loc, result);
    eraseDeadScalars(*block);
  }

  SmallVector<Value> used(operands);
  used.push_back(cotangent);
  if (mask)
    used.push_back(mask);
  llvm::StringSet<> names;
  for (unsigned k = used.size(); k-- > 0;) {
    if (block->getArgument(k).use_empty()) {
      used.erase(used.begin() + k);
      block->eraseArgument(k);
    } else if (used[k] != cotangent) {
      for (const Dim &dim : tensorType(used[k]).getDims())
        names.insert(dim.name);
    }
  }
  Operation *maker = cotangent.getDefiningOp();
  auto map = indexMapOf(maker);
  bool repeats =
      map && map->coordinates.empty() && maker->getOperand(0).getType() != cotangent.getType();
  if (repeats) {
    Value inner = maker->getOperand(0);
    SmallVector<Dim> counted; // the sum below needs these
    for (const Dim &dim : all.getDims())
      if (!tensorType(inner).has(dim.name) && !names.contains(dim.name) && !type.has(dim.name))
        counted.push_back(dim);
    Value smaller = buildBroadcast(b, loc, inner, counted);
    llvm::replace(used, cotangent, smaller);
  }

  SmallVector<NdTensorType> types = llvm::map_to_vector(used, tensorType);
  FailureOr<NdTensorType> result = inferPointwise(type.getElementType(), types, /*crossed=*/true,
                                                  [&] { return op.emitOpError(); });
  if (failed(result))
    return failure();
  Value gradient;
  auto yield = cast<YieldOp>(block->getTerminator());
  if (used.size() == 1 && yield.getValues()[0] == block->getArgument(0)) {
    gradient = used[0];
  } else {
    auto pointwise = PointwiseOp::create(b, loc, *result, used, isCrossed(types));
    pointwise.getBody().takeBody(region);
    gradient = pointwise.getResult();
  }
  return buildBroadcast(b, loc, buildSumTo(b, loc, gradient, type), type.getDims().getDims());
}

/// With `fills`, excluded elements have no gradient, whatever the formula gives.
static LogicalResult buildPointwiseGradient(OpBuilder &b, PointwiseOp op, ValueRange cotangents,
                                            ArrayRef<bool> wanted, Gradients &gradients,
                                            bool fills) {
  SmallVector<Value> operands(op.getInputs());
  Value mask;
  if (fills) {
    auto [copy, outside] = fillExcluded(b, op.getResult());
    operands.assign(copy.getDefiningOp()->operand_begin(), copy.getDefiningOp()->operand_end());
    mask = outside;
  }
  for (unsigned i = 0; i < op.getInputs().size(); ++i) {
    if (!wanted[i])
      continue;
    FailureOr<Value> gradient = pointwiseGradient(b, op, operands, cotangents[0], i, mask);
    if (failed(gradient))
      return failure();
    gradients[i] = *gradient;
  }
  return success();
}

LogicalResult PointwiseOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                         Gradients &gradients) {
  return buildPointwiseGradient(b, *this, cotangents, wanted, gradients,
                                Exclusions().reach(getResult()));
}

LogicalResult Exclusions::buildGradient(OpBuilder &b, Operation *op, ValueRange cotangents,
                                        ArrayRef<bool> wanted, Gradients &gradients) {
  auto exists = [](Value cotangent) { return bool(cotangent); };
  if (llvm::none_of(cotangents, exists) || !llvm::is_contained(wanted, true))
    return success();
  if (auto pointwise = dyn_cast<PointwiseOp>(op))
    return buildPointwiseGradient(b, pointwise, cotangents, wanted, gradients,
                                  reach(pointwise.getResult()));
  if (auto differentiable = dyn_cast<DifferentiableInterface>(op))
    return differentiable.buildGradient(b, cotangents, wanted, gradients);
  return op->emitOpError() << "cannot be differentiated" << ownGradientHint;
}

LogicalResult RoundOp::buildGradient(OpBuilder &, ValueRange cotangents, ArrayRef<bool> wanted,
                                     Gradients &gradients) {
  gradients[0] = cotangents[0]; // straight-through estimator
  return success();
}

LogicalResult AfterOp::buildGradient(OpBuilder &, ValueRange cotangents, ArrayRef<bool> wanted,
                                     Gradients &gradients) {
  if (wanted[0])
    gradients[0] = cotangents[0];
  return success();
}
