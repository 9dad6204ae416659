//===- Steps.cpp - what steps of a program cost ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/Steps.h"

#include "lib/cost/Cost.h"

using namespace heddle;
using namespace heddle::cost;

bool cost::isShorterThanBarrier(double operations, double bytes, const Machine &machine) {
  const Rates &rates = machine.rates;
  return operations / rates.stepRate + bytes / rates.stepBandwidth < rates.barrierSeconds;
}

double cost::secondsToClear(double bytes, const Machine &machine) {
  Amounts amounts;
  amounts.stores = bytes / double(machine.vectorBytes);
  for (int level = memoryLevels; level-- > 0;)
    if (bytes > machine.capacityBefore(MemoryLevel(level))) {
      amounts.bytes[size_t(level)] = 2 * bytes; // fetched and written back
      break;
    }
  return secondsOf(amounts, machine.rates);
}
