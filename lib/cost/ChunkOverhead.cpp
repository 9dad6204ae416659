//===- ChunkOverhead.cpp - how many parts of a nest threads share ---------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/ChunkOverhead.h"

#include <cmath>

using namespace heddle;
using namespace heddle::cost;

double cost::chunksWorthFetching(double operations, const Machine &machine) {
  return operations / machine.rates.chunkFlops;
}

double cost::waitFactor(double chunks) {
  auto of = [&](double threads) { return std::ceil(chunks / threads) * threads / chunks - 1; };
  return 1 + 0.1 * of(2) + 0.015 * of(4) + 0.003 * of(16);
}

double cost::cyclesWithWaits(double cycles, llvm::function_ref<double(double)> chunksIn,
                             const Machine &machine) {
  const Rates &rates = machine.rates;
  double chunks = chunksIn(cycles);
  if (chunks > 1 && cycles / chunks < rates.smallestChunk)
    return INFINITY;
  double startOfThreads = cycles > rates.smallWork && chunksIn(rates.smallWork) == 1 ? 1.15 : 1;
  return cycles * startOfThreads * waitFactor(chunksIn(rates.largeWork));
}
