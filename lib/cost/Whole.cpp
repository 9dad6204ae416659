//===- Whole.cpp - how long a nest takes without layouts ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/Whole.h"

#include "dialects/nest/NestBuild.h"
#include "lib/cost/Rates.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// The sizes of the iteration names of a nest, without the reduced ones for reads of the epilogue.
static Sizes extentsOf(Operation *op, bool finish = false) {
  SmallVector<nd::DimsAttr, 2> names;
  if (auto nest = dyn_cast<LoopNestInterface>(op))
    names = nest.getIterationNames(); // reduced names come last
  Sizes extents;
  for (nd::DimsAttr each : ArrayRef(names).take_front(finish ? 1 : 2))
    extents.merge(sizesOf(each));
  return extents;
}

/// The same core for all CPUs, because fusion determines which sums are nested.
static constexpr cost::Rates nominal;

double heddle::trafficOf(Operation *op) {
  auto weight = [](double moved) { return moved <= nominal.keptBytes ? moved / 4 : moved; };
  // Reads of one value at several coordinates count its elements at most once.
  llvm::MapVector<Value, double> elements;
  Sizes ofBody = extentsOf(op), ofFinish = extentsOf(op, /*finish=*/true);
  for (const NestRead &read : readsOf(op)) {
    nd::NdTensorType type = tensorType(read.value);
    double &sum = elements[read.value];
    sum = std::min(std::max(pointsOf(type.getDims()), 1.0),
                   sum + footprint(read.map, type, read.inFinish ? ofFinish : ofBody));
  }
  double bytes = 0;
  for (auto &[value, count] : elements)
    bytes += weight(count * elementBytes(tensorType(value).getElementType()));
  for (Value result : op->getResults())
    bytes += weight(tensorBytes(result));
  return bytes;
}

double heddle::secondsOf(double arithmetic, double bytes) {
  return nominal.nestStart + std::max(arithmetic / nominal.scalarRate, bytes / nominal.memoryRate);
}

double heddle::secondsOf(Operation *op) {
  // Each gathered element is loaded separately, which counts as four operations.
  double gathered = 0;
  for (const NestRead &read : readsOf(op))
    if (isGathered(read.map))
      gathered += 4 * iterationPoints(op);
  auto compute = dyn_cast<ComputeOp>(op);
  double rate = compute && contractionOf(compute) ? nominal.productRate : nominal.scalarRate;
  return nominal.nestStart +
         std::max((arithmeticOf(op) + gathered) / rate, trafficOf(op) / nominal.memoryRate);
}
