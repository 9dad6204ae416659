//===- PartialSums.cpp - combines partial sums first ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/partition/PartialSums.h"

#include "dialects/nd/Combiner.h"
#include "dialects/nd/NdBuild.h"
#include "dialects/nest/NestBuild.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;
using nest::ComputeOp;
using nest::MapAttr;
using nest::ScanOp;

Value mesh::keepOnFirstPart(OpBuilder &b, Location loc, MeshAttr mesh, Value value,
                            ArrayRef<Axis> axes, TypedAttr neutral) {
  nest::Condition first(b.getContext(), partIndex(mesh, axes), /*equality=*/true);
  return nest::copyAt(b, loc, value, tensorType(value).getDims(), {},
                      nest::GuardAttr::get(b.getContext(), {first}, neutral));
}

/// The named combiner that scalar code computes, and its sign; General if there is none.
static std::pair<nd::CombinerKind, bool> combinerOf(Region &code) {
  bool isSigned = true;
  nd::CombinerKind kind = nd::combinerKind(code, &isSigned);
  return {kind, isSigned};
}

/// True if the nest combines two tensors of its result's type elementwise.
static bool isPlain(ComputeOp sum) {
  if (sum.isReduction() || sum->getNumOperands() != 2 || sum->getNumResults() != 1 ||
      !sum.getFinish().empty())
    return false;
  auto type = sum.getResult(0).getType();
  auto identity = MapAttr::identity(tensorType(sum.getResult(0)));
  return combinerOf(sum.getBody()).first != nd::CombinerKind::General &&
         llvm::all_of(sum->getOperandTypes(), [&](Type each) { return each == type; }) &&
         llvm::all_of(sum.getMapsAttr(), [&](Attribute map) { return map == identity; }) &&
         llvm::all_of(sum.getGuardsAttr(), [](Attribute guard) {
           return cast<nest::GuardAttr>(guard).getConditions().empty();
         });
}

/// The collective with the sum's combiner that defines operand `i` and has no other use.
static Operation *totalOf(ComputeOp sum, unsigned i) {
  Operation *total = sum->getOperand(i).getDefiningOp();
  bool fits = isa_and_nonnull<AllReduceOp, ReduceScatterOp>(total) &&
              total->getBlock() == sum->getBlock() && total->hasOneUse() &&
              total->getNumOperands() == 1 &&
              combinerOf(total->getRegion(0)) == combinerOf(sum.getBody());
  return fits ? total : nullptr;
}

/// Moves the collective after the sum of parts and returns that sum; null if nothing changed.
static ComputeOp reduceAfter(ComputeOp sum) {
  if (!isPlain(sum))
    return {};
  Operation *first = totalOf(sum, 0), *second = totalOf(sum, 1);
  if (!first || !second || first == second || first->getName() != second->getName() ||
      first->getAttrDictionary() != second->getAttrDictionary())
    return {};
  // With mesh.reduce_scatter this adds whole tensors, where the original sum added blocks.
  OpBuilder b(sum);
  nest::NestBuilder nest(b, sum.getLoc());
  nd::NdTensorType type = tensorType(first->getOperand(0));
  nest.produced = type.getDims();
  for (Operation *total : {first, second})
    nest.read(total->getOperand(0));
  ComputeOp parts = nest.createLike(sum);
  second->setOperand(0, parts.getResult(0));
  second->moveAfter(parts);
  sum.getResult(0).replaceAllUsesWith(second->getResult(0));
  sum.erase();
  first->erase();
  return parts;
}

void mesh::reduceAfterSums(Block &block) {
  for (auto sum : llvm::make_early_inc_range(block.getOps<ComputeOp>()))
    while (sum)
      sum = reduceAfter(sum);
}

/// The collective whose result, combined with the carried tensor, is the tensor's next value. Null
/// if there is none, or if the recurrence has other uses of either.
static AllReduceOp addedTo(BlockArgument carried, Value next) {
  auto sum = next.getDefiningOp<ComputeOp>();
  if (!sum || sum->getBlock() != carried.getOwner() || !isPlain(sum) || !carried.hasOneUse() ||
      !next.hasOneUse())
    return {};
  for (unsigned i : {0u, 1u})
    if (sum->getOperand(i) == carried)
      return dyn_cast_or_null<AllReduceOp>(totalOf(sum, 1 - i));
  return {};
}

void mesh::reduceAfterScan(ScanOp scan, MeshAttr mesh, MutableArrayRef<Value> results) {
  Block &body = scan.getBody().front();
  for (unsigned i = 0; i < scan.getInits().size(); ++i) {
    AllReduceOp total = addedTo(body.getArgument(i), body.getTerminator()->getOperand(i));
    if (!total)
      continue;
    OpBuilder b(scan);
    auto neutral = cast<TypedAttr>(total.getNeutral()[0]);
    Value init = scan.getInits()[i];
    if (nd::splatOf(init) != neutral)
      scan.getInitsMutable()[i].set(
          keepOnFirstPart(b, scan.getLoc(), mesh, init, total.getAxes().getAxes(), neutral));
    total.getResult(0).replaceAllUsesWith(total.getInputs()[0]);
    total->moveAfter(scan);
    total.getInputsMutable()[0].set(scan.getResult(i));
    results[i] = total.getResult(0);
  }
}
