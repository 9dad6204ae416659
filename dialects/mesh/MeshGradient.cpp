//===- MeshGradient.cpp - gradients of collectives ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of a collective is the transpose of its meaning: the gradient of a gather is a sum
// that is scattered, and that of a sum is a sum. Each device has cotangents of its own copy, even
// if all copies are equal: the loss is the sum over all devices.
//
//===----------------------------------------------------------------------===//

#include "dialects/mesh/MeshDialect.h"

#include "dialects/nd/Combiner.h"
#include "dialects/nd/NdBuild.h"
#include "dialects/nest/NestBuild.h"

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
static Value sum(OpBuilder &b, Operation *op, Value value, AxesAttr axes, StringRef name = "") {
  Type scalar = tensorType(value).scalarType();
  Location loc = op->getLoc();
  ArrayAttr neutral = b.getArrayAttr({nd::neutralElement(nd::CombinerKind::Add, scalar)});
  Operation *made = createReduction(b, loc, meshOf(op), value, axes, name, neutral);
  OpBuilder::InsertionGuard restore(b);
  nd::buildCombiner(b, loc, made->getRegion(0), nd::CombinerKind::Add, scalar,
                    YieldOp::getOperationName());
  return made->getResult(0);
}

static bool isSum(Region &combine, ValueRange inputs) {
  return inputs.size() == 1 && nd::combinerKind(combine) == nd::CombinerKind::Add;
}

/// The name of size 1 along which the inputs of all devices of a group are joined.
static constexpr const char *memberName = "mesh$member";

/// The value with an additional name of size 1, joined over the devices of the group. If `name` is
/// not null, each device gets only its block along it.
static Value joinMembers(OpBuilder &b, Operation *op, Value value, AxesAttr axes, StringAttr name) {
  nd::Dim one(b.getContext(), memberName, Expr(1));
  Value member = nd::buildBroadcast(b, op->getLoc(), value, {one});
  MeshAttr mesh = meshOf(op);
  nd::Dim all(b.getContext(), memberName, Expr(partsOf(mesh, axes.getAxes())));
  nd::NdTensorType joined = tensorType(value).with({all});
  auto along = b.getStringAttr(memberName);
  if (!name)
    return AllGatherOp::create(b, op->getLoc(), joined, member, along, axes, ArrayAttr());
  AxisList list(axes.getAxes());
  return AllToAllOp::create(b, op->getLoc(), blockType(mesh, joined, {{name.str(), list}}), member,
                            along, name, axes, ArrayAttr());
}

/// Gradients for any combiner: each device gathers the inputs of all devices in one tensor and
/// reduces it.
static LogicalResult gradientOfReduction(OpBuilder &b, Operation *op, ValueRange cotangents,
                                         ArrayRef<bool> wanted, ArrayAttr neutral, AxesAttr axes,
                                         StringAttr name, SmallVectorImpl<Value> &gradients) {
  Location loc = op->getLoc();
  SmallVector<Value> joined;
  for (Value input : op->getOperands())
    joined.push_back(joinMembers(b, op, input, axes, name));
  Value reduced = nd::buildReduce(
      b, loc, joined, {memberName}, llvm::to_vector(neutral.getAsRange<TypedAttr>()),
      [&](OpBuilder &builder, ValueRange arguments) {
        return nd::inlineBlock(builder, op->getRegion(0).front(), arguments);
      })[0];
  SmallVector<Value> parts(joined.size());
  auto reduce = cast<nd::DifferentiableInterface>(reduced.getDefiningOp());
  if (failed(reduce.buildGradient(b, cotangents, wanted, parts)))
    return failure();
  for (auto [part, input, gradient] : llvm::zip_equal(parts, op->getOperands(), gradients)) {
    if (!part)
      continue;
    nd::NdTensorType type = tensorType(input);
    nd::NdTensorType own = type.with({nd::Dim(b.getContext(), memberName, Expr(1))});
    auto along = b.getStringAttr(memberName);
    Value mine = name ? AllToAllOp::create(b, loc, own, part, name, along, axes, ArrayAttr())
                      : sum(b, op, part, axes, memberName);
    gradient = nd::buildSumTo(b, loc, mine, type);
  }
  return success();
}

LogicalResult AllReduceOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                         SmallVectorImpl<Value> &gradients) {
  if (!isSum(getCombine(), getInputs()))
    return gradientOfReduction(b, *this, cotangents, wanted, getNeutral(), getAxes(), {},
                               gradients);
  gradients[0] = sum(b, *this, cotangents[0], getAxes());
  return success();
}

LogicalResult ReduceScatterOp::buildGradient(OpBuilder &b, ValueRange cotangents,
                                             ArrayRef<bool> wanted,
                                             SmallVectorImpl<Value> &gradients) {
  if (!isSum(getCombine(), getInputs()))
    return gradientOfReduction(b, *this, cotangents, wanted, getNeutral(), getAxes(), getNameAttr(),
                               gradients);
  gradients[0] = AllGatherOp::create(b, getLoc(), getInputs()[0].getType(), cotangents[0],
                                     getNameAttr(), getAxes(), ArrayAttr());
  return success();
}

LogicalResult AllGatherOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool>,
                                         SmallVectorImpl<Value> &gradients) {
  gradients[0] = sum(b, *this, cotangents[0], getAxes(), getName());
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

/// The sum, on the device that broadcast its value.
LogicalResult BroadcastOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool>,
                                         SmallVectorImpl<Value> &gradients) {
  nd::NdTensorType type = tensorType(getInput());
  Expr root = Expr(int64_t(getRoot()));
  nest::Condition isRoot(b.getContext(), partIndex(meshOf(*this), getAxes().getAxes()) - root,
                         /*equality=*/true);
  gradients[0] =
      nest::copyAt(b, getLoc(), sum(b, *this, cotangents[0], getAxes()), type.getDims(), {},
                   nest::GuardAttr::get(b.getContext(), {isRoot}, nest::zeroOf(type)));
  return success();
}
