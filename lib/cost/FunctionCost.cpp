//===- FunctionCost.cpp - what a whole function costs ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/FunctionCost.h"

#include "lib/analysis/NestAnalysis.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace heddle;
using namespace heddle::cost;
using namespace mlir;

namespace {
/// Arguments and results, each with the op that accesses the most of it.
class Compulsory {
public:
  Compulsory(Block &block, ArrayRef<std::pair<Operation *, std::vector<NestFacts>>> all) {
    auto returned = block.getTerminator()->getOperands();
    for (auto &[op, nests] : all)
      forEachTensor(nests, [&, op = op](Value tensor, double bytes, bool) {
        auto argument = dyn_cast<BlockArgument>(tensor);
        bool isArgument = argument && argument.getOwner() == &block;
        if (!isArgument && !llvm::is_contained(returned, tensor))
          return;
        Most &most = of[tensor];
        if (bytes > most.bytes)
          most = {op, bytes};
      });
  }

  bool countsIn(Operation *op, Value tensor) const { return of.lookup(tensor).op == op; }
  double bytes() const {
    double sum = 0;
    for (auto &[tensor, most] : of)
      sum += most.bytes;
    return sum;
  }

private:
  struct Most {
    Operation *op = nullptr;
    double bytes = 0;
  };
  llvm::MapVector<Value, Most> of;
};
} // namespace

FunctionCost cost::costOfFunction(FunctionOpInterface function, const Machine &machine,
                                  unsigned threads) {
  FunctionCost cost;
  std::vector<std::pair<Operation *, std::vector<NestFacts>>> all;
  Block &block = function.getFunctionBody().front();
  for (Operation &op : block) {
    std::vector<NestFacts> nests = factsOf(&op, machine.facts);
    if (nests.empty() && !isa<nest::SortOp>(op))
      continue;
    ++cost.nests;
    cost.seconds += costOf(&op, machine, threads).seconds;
    if (nests.empty())
      cost.least.operations += arithmeticOf(&op);
    else
      all.emplace_back(&op, std::move(nests));
  }
  Compulsory compulsory(block, all);
  cost.bytes = compulsory.bytes();
  for (auto &[op, nests] : all) {
    Amounts least = leastAmounts(nests);
    auto counts = [&, op = op](Value tensor) { return compulsory.countsIn(op, tensor); };
    // Other data of the nest may occupy a cache, so that fewer of these bytes come from there.
    std::array<double, memoryLevels> bytes = leastAmounts(nests, counts).bytes;
    for (size_t level = 0; level < memoryLevels; ++level)
      least.bytes[level] = std::min(least.bytes[level], bytes[level]);
    cost.least += least;
  }
  if (!cost.nests)
    return cost;
  cost.bound = boundOf(cost.least, machine.rates, threads);
  cost.bound.seconds = std::min(cost.bound.seconds, cost.seconds); // extensions may lower it
  return cost;
}

std::string FunctionCost::str() const {
  auto us = [](double seconds) { return llvm::formatv("{0:f3} us", seconds * 1e6).str(); };
  return llvm::formatv("{0} in {1} nest{2}, at least {3} for {4} bytes of arguments and results, "
                       "limited by {5}; {6}",
                       us(seconds), nests, nests == 1 ? "" : "s", us(bound.seconds),
                       llvm::formatv("{0:f0}", bytes).str(), bound.limit, least.str())
      .str();
}
