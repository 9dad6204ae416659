//===- LowerBound.cpp - the least that a nest executes and moves ----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/CountAmounts.h"

#include "llvm/ADT/MapVector.h"

using namespace heddle;
using namespace heddle::cost;
using namespace mlir;
using nest::NestAccess;
using nest::NestModel;

/// Returns the least bytes that a nest accesses in a tensor: its elements, in any order.
static double leastBytes(const NestModel &nest, const NestAccess &access) {
  double elements = 1, rows = 1;
  for (auto [size, coordinate] : llvm::zip_equal(access.sizes, access.coordinates))
    (coordinate.gathered ? rows : elements) *=
        double(std::min(coordinate.extent(nest.sizes, size), size));
  if (access.gathered) {
    double draws = gatheredRows(access, nest.sizes);
    elements *= rows * -std::expm1(-draws / rows); // drawn rows are not all different
  }
  return std::min(elements, nest.points(0, nest.names.size())) * double(access.bytes());
}

/// Adds instructions at the full width of vectors, and each access that no loop can keep.
static void addLeast(const NestFacts &facts, Amounts &amounts) {
  const NestModel &nest = facts.nest();
  double points = nest.points(0, nest.names.size()), produced = nest.points(0, nest.firstReduced);
  auto lanes = double(nest.lanes);
  const Instructions &body = facts.body, &combine = facts.combine, &finish = facts.finish;
  amounts.operations += points / lanes * (body.vector + combine.vector) / double(facts.depth) +
                        produced / lanes * finish.vector;
  amounts.products += points / lanes * combine.products / double(facts.depth);
  amounts.calls += points * (body.calls + combine.calls) + produced * finish.calls;
  for (const NestAccess &access : nest.accesses) {
    bool all = true;
    for (unsigned name = 0; name < nest.names.size(); ++name)
      all &= access.mentions(name) || nest.sizes[name] == 1;
    if (access.isWrite)
      amounts.stores += produced / lanes;
    else if (access.gathered)
      amounts.rows += gatheredRows(access, nest.sizes);
    else if (all)
      amounts.loads += points / lanes;
  }
}

void cost::forEachTensor(ArrayRef<NestFacts> nests,
                         function_ref<void(Value, double bytes, bool isWritten)> act) {
  struct Data {
    double bytes = 0;
    bool isWritten = false;
  };
  llvm::SmallMapVector<Value, Data, 8> data;
  for (const NestFacts &facts : nests)
    for (const NestAccess &access : facts.nest().accesses) {
      Data &each = data[access.tensor];
      each.bytes = std::max(each.bytes, leastBytes(facts.nest(), access));
      each.isWritten |= access.isWrite;
    }
  for (auto &[tensor, each] : data)
    act(tensor, each.bytes, each.isWritten);
}

Amounts cost::leastAmounts(ArrayRef<NestFacts> nests, function_ref<bool(Value)> counts) {
  Amounts amounts;
  for (const NestFacts &facts : nests)
    addLeast(facts, amounts);
  double total = 0, moved = 0;
  forEachTensor(nests, [&](Value tensor, double bytes, bool isWritten) {
    if (counts(tensor))
      total += bytes, moved += bytes * (isWritten ? 2 : 1);
  });
  // Bytes that exceed a cache are fetched from the level behind it.
  double inner = total;
  for (int level = memoryLevels; total && level-- > 0;) {
    double beyond = std::max(0.0, inner - capacityOf(nests[0].nest(), level));
    amounts.bytes[size_t(level)] = beyond * moved / total;
    inner -= beyond;
  }
  return amounts;
}
