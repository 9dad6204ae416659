//===- NdAccess.cpp - slices at computed coordinates, and sorting ---------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The access interfaces of slices, and the gradients of slices and sorts.
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "dialects/nd/NdGradient.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

using Gradients = SmallVectorImpl<Value>;

/// The access to the range of `whole` that begins at `index` and has the size of `name` in `part`.
static IndexedAccess rangeAccess(StringRef name, Value part, Value whole, Value index) {
  return {name, index, tensorType(whole).size(name).getExpr(),
          tensorType(part).size(name).getExpr(), /*isRange=*/true};
}
static SizeCondition fits(StringRef name, Value part, Value whole) {
  return {name, tensorType(part).size(name).getExpr(), tensorType(whole).size(name).getExpr()};
}

SmallVector<IndexedAccess> DynamicSliceOp::getAccesses() {
  return {rangeAccess(getName(), getResult(), getInput(), getStart())};
}
SmallVector<IndexedAccess> UpdateSliceOp::getAccesses() {
  return {rangeAccess(getName(), getPart(), getDestination(), getStart())};
}

SmallVector<SizeCondition> DynamicSliceOp::getSizeConditions() {
  return {fits(getName(), getResult(), getInput())};
}
SmallVector<SizeCondition> UpdateSliceOp::getSizeConditions() {
  return {fits(getName(), getPart(), getDestination())};
}
SmallVector<SizeCondition> SortOp::getSizeConditions() {
  return {fits(getName(), getResult(0), getInputs()[0])};
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

LogicalResult DynamicSliceOp::buildGradient(OpBuilder &b, ValueRange cotangents,
                                            ArrayRef<bool> wanted, Gradients &gradients) {
  if (!wanted[0])
    return success();
  // Names of the start that the input lacks give each range a separate tensor; these are added.
  NdTensorType type = tensorType(getInput());
  NdTensorType all = type.with(tensorType(getStart()).getDims().getDims());
  Value updated = buildUpdateSlice(b, getLoc(), cotangents[0], buildZero(b, getLoc(), all),
                                   getName(), getStart());
  gradients[0] = buildSumTo(b, getLoc(), updated, type);
  return success();
}

LogicalResult UpdateSliceOp::buildGradient(OpBuilder &b, ValueRange cotangents,
                                           ArrayRef<bool> wanted, Gradients &gradients) {
  NdTensorType part = tensorType(getPart());
  if (wanted[0])
    gradients[0] = buildDynamicSlice(b, getLoc(), cotangents[0], getName(), getStart(),
                                     part.size(getName()).getExpr());
  if (wanted[1])
    gradients[1] = buildUpdateSlice(b, getLoc(), buildZero(b, getLoc(), part), cotangents[0],
                                    getName(), getStart());
  return success();
}

LogicalResult SortOp::buildGradient(OpBuilder &b, ValueRange cotangents, ArrayRef<bool> wanted,
                                    Gradients &gradients) {
  // Scatters each cotangent to the coordinate that its element had before sorting. The forward sort
  // carries the coordinates along, so that no floats are compared again.
  Value from;
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    if (!wanted[i] || !cotangents[i])
      continue;
    NdTensorType type = tensorType(input);
    if (!from)
      from = buildArgSort(b, getLoc(), getInputs()[0], getName(), getDescending(),
                          tensorType(getResult(i)).size(getName()).getExpr());
    gradients[i] = buildScatter(b, getLoc(), buildZero(b, getLoc(), type), cotangents[i],
                                {getName()}, from, CombinerKind::Add, /*unique=*/true);
  }
  return success();
}
