//===- AmountsBySizes.cpp - amounts of a nest without layouts and loops ---===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Assumes that layouts and loops will suit the nest: lanes are contiguous in all tensors that they
// walk, and a register tile uses what it loads several times. Gathers stay gathers.
//
//===----------------------------------------------------------------------===//

#include "lib/cost/CountAmounts.h"

#include <cmath>

using namespace heddle;
using namespace heddle::cost;
using namespace mlir;
using nest::NestAccess;
using nest::NestModel;

/// The most points of a register tile that use a loaded vector or scalar.
static constexpr double mostReuse = 8;
/// Vectors of accumulators in a register tile.
static constexpr double tileVectors = 16;

/// Returns the mean number of lanes of a vector that have points, if all produced names are merged;
/// the reduced names if almost nothing is produced.
static double lanesOf(const NestModel &nest, bool &isReduced) {
  double produced = nest.points(nest.firstProduced, nest.firstReduced);
  isReduced = nest.reduction && produced < 4;
  double size = isReduced ? nest.points(nest.firstReduced, nest.names.size()) : produced;
  auto lanes = double(nest.lanes);
  return size <= 0 ? 1 : size / std::ceil(size / lanes);
}

/// Returns how many points use an element: those of names that the access doesn't mention.
static double reuseOf(const NestModel &nest, const NestAccess &access) {
  double reuse = 1;
  for (unsigned name = 0; name < nest.names.size(); ++name)
    if (!access.mentions(name) && nest.isProduced(name))
      reuse *= double(nest.sizes[name]);
  return std::min(reuse, mostReuse);
}

/// Returns the points of a tensor that lie next to one another in a good layout, at each place
/// where a gather points to.
static double contiguousOf(const NestModel &nest, const NestAccess &access) {
  double points = 1;
  for (unsigned name = 0; name < nest.names.size(); ++name)
    if (access.mentions(name) && !access.gatheredBy(name))
      points *= double(nest.sizes[name]);
  return points;
}

static void addAccess(const NestModel &nest, const NestAccess &access, double runs, double points,
                      Amounts &amounts) {
  double uses = access.isWrite || !nest.reduction ? 1 : reuseOf(nest, access);
  if (access.bytes() < 4 && isa<FloatType>(access.type.getElementType()))
    amounts.converted += runs / uses;
  if (access.gathered) {
    amounts.rows += std::min(gatheredRows(access, nest.sizes), points);
    if (contiguousOf(nest, access) < double(nest.lanes)) {
      amounts.gathered += runs * double(nest.lanes);
      return;
    }
  }
  (access.isWrite ? amounts.stores : amounts.loads) += runs / uses;
}

static Amounts executedBy(const NestFacts &facts) {
  Amounts amounts;
  const NestModel &nest = facts.nest();
  bool isReduced = false;
  double lanes = lanesOf(nest, isReduced);
  double points = nest.points(0, nest.names.size()), produced = nest.points(0, nest.firstReduced);
  double vectors = points / lanes, finishes = isReduced ? produced : produced / lanes;
  const Instructions &body = facts.body, &combine = facts.combine, &finish = facts.finish;
  amounts.operations =
      vectors * (body.vector + combine.vector) / double(facts.depth) + finishes * finish.vector;
  amounts.products = vectors * combine.products / double(facts.depth);
  amounts.calls = points * (body.calls + combine.calls) + produced * finish.calls;
  for (const NestAccess &access : nest.accesses)
    addAccess(nest, access, access.inFinish || access.isWrite ? finishes : vectors, points,
              amounts);
  amounts.steps = vectors / (nest.reduction ? tileVectors : 2);
  if (nest.reduction && !isReduced)
    amounts.tiles = std::max(1.0, finishes / tileVectors);
  if (isReduced) // lanes are added up
    amounts.operations += produced * (2 + 2 * std::log2(double(nest.lanes)));
  return amounts;
}

Amounts cost::amountsBySizes(ArrayRef<NestFacts> nests, function_ref<bool(Value)> counts) {
  Amounts amounts;
  amounts.bytes = leastAmounts(nests, counts).bytes;
  for (const NestFacts &facts : nests)
    amounts += executedBy(facts);
  return amounts;
}
