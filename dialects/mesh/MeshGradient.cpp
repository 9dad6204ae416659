//===- MeshGradient.cpp - gradients of collectives ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of a collective is the transpose of its meaning: that of a gather is a sum of which
// each device gets its block, that of a sum is a sum.
//
//===----------------------------------------------------------------------===//

#include "dialects/mesh/Mesh.h"

#include "dialects/nd/Combiner.h"
#include "dialects/nd/NdBuild.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;

LogicalResult ConstrainOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool>,
                                         SmallVectorImpl<Value> &gradients) {
  gradients[0] =
      ConstrainOp::create(b, getLoc(), getInput().getType(), cotangents[0], getSharding());
  return success();
}

/// Sums a value of floats over the devices of a group; `name`, if not empty, is scattered.
static Value sum(OpBuilder &b, Operation *op, Value value, AxesAttr axes, Type result,
                 StringAttr name = {}) {
  Type scalar = tensorType(value).scalarType();
  OperationState state(op->getLoc(), name ? ReduceScatterOp::getOperationName()
                                          : AllReduceOp::getOperationName());
  Region *combine = state.addRegion();
  TypedAttr neutral;
  {
    OpBuilder::InsertionGuard restore(b);
    neutral = nd::buildCombiner(b, op->getLoc(), *combine, nd::CombinerKind::Add, scalar,
                                YieldOp::getOperationName());
  }
  state.addOperands(value);
  state.addTypes(result);
  state.addAttribute("axes", axes);
  state.addAttribute("neutral", b.getArrayAttr({neutral}));
  if (name)
    state.addAttribute("name", name);
  return b.create(state)->getResult(0);
}

static LogicalResult refuse(Operation *op) {
  return op->emitOpError() << "has no gradient; expected a sum of one value";
}
static bool isSum(Region &combine, ValueRange inputs) {
  return inputs.size() == 1 && nd::combinerKind(combine) == nd::CombinerKind::Add;
}

LogicalResult AllReduceOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool>,
                                         SmallVectorImpl<Value> &gradients) {
  if (!isSum(getCombine(), getInputs()))
    return refuse(*this);
  gradients[0] = sum(b, *this, cotangents[0], getAxes(), getInputs()[0].getType());
  return success();
}

LogicalResult ReduceScatterOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool>,
                                             SmallVectorImpl<Value> &gradients) {
  if (!isSum(getCombine(), getInputs()))
    return refuse(*this);
  gradients[0] = AllGatherOp::create(b, getLoc(), getInputs()[0].getType(), cotangents[0],
                                     getNameAttr(), getAxes(), ArrayAttr());
  return success();
}

LogicalResult AllGatherOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool>,
                                         SmallVectorImpl<Value> &gradients) {
  gradients[0] = sum(b, *this, cotangents[0], getAxes(), getInput().getType(), getNameAttr());
  return success();
}

LogicalResult AllToAllOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool>,
                                        SmallVectorImpl<Value> &gradients) {
  gradients[0] = AllToAllOp::create(b, getLoc(), getInput().getType(), cotangents[0],
                                    getSplitAttr(), getJoinedAttr(), getAxes(), ArrayAttr());
  return success();
}

LogicalResult PermuteOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool>,
                                       SmallVectorImpl<Value> &gradients) {
  gradients[0] =
      PermuteOp::create(b, getLoc(), getInput().getType(), cotangents[0], getAxes(),
                        b.getI64IntegerAttr(-int64_t(getShift())), getWrapAttr(), ArrayAttr());
  return success();
}

LogicalResult BroadcastOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>,
                                         SmallVectorImpl<Value> &) {
  return emitOpError() << "has no gradient; write a masked mesh.all_reduce";
}
