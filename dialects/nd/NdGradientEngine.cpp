//===- NdGradientEngine.cpp - reverse mode over tensor ops ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "dialects/nd/NdGradient.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

ReverseMode::ReverseMode(OpBuilder &builder, Add add) : builder(builder), add(std::move(add)) {
  if (!this->add)
    this->add = nd::add;
}

static bool hasFloats(Value value) {
  auto type = dyn_cast<NdTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

static bool isZero(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto splat = constant ? dyn_cast_or_null<FloatAttr>(constant.splat()) : FloatAttr();
  return splat && splat.getValue().isZero();
}

void ReverseMode::accumulate(Location loc, Value value, Value cotangent) {
  if (Value other = replaced.lookup(value))
    value = other;
  if (!cotangent || !hasFloats(value) || !active.contains(value) || isZero(cotangent))
    return;
  assert(value.getType() == cotangent.getType() && "a gradient has the type of its value");
  Value &sum = cotangents[value];
  sum = sum ? add(builder, loc, sum, cotangent) : cotangent;
}

void ReverseMode::propagate(ArrayRef<Operation *> ops) {
  for (Operation *op : ops) {
    llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), used);
    if (llvm::none_of(used, [&](Value value) { return active.contains(value); }))
      continue;
    for (Value result : op->getResults())
      if (hasFloats(result))
        active.insert(result);
  }
}

LogicalResult ReverseMode::run(ArrayRef<Operation *> ops) {
  for (Operation *op : llvm::reverse(ops)) {
    SmallVector<Value> given = llvm::map_to_vector(
        op->getResults(), [&](Value result) { return cotangent(result); });
    if (llvm::none_of(given, [](Value value) { return bool(value); }))
      continue;
    SmallVector<bool> wanted = llvm::map_to_vector(
        op->getOperands(), [&](Value operand) { return isActive(operand); });
    auto differentiable = dyn_cast<DifferentiableInterface>(op);
    if (!differentiable)
      return op->emitOpError() << "cannot be differentiated";
    SmallVector<Value> gradients(op->getNumOperands());
    if (failed(differentiable.buildGradient(builder, given, wanted, gradients)))
      return failure();
    for (auto [operand, gradient] : llvm::zip_equal(op->getOperands(), gradients))
      accumulate(op->getLoc(), operand, gradient);
  }
  return success();
}
