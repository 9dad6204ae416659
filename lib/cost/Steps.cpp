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

/// Returns the seconds in which vectors are loaded and stored, while `moved` bytes come from the
/// nearest memory that holds `held` bytes, or go to it.
static double secondsOf(Amounts amounts, double held, double moved, const Machine &machine) {
  for (int level = memoryLevels; level-- > 0;)
    if (held > machine.capacityBefore(MemoryLevel(level))) {
      amounts.bytes[size_t(level)] = moved;
      break;
    }
  return cost::secondsOf(amounts, machine.rates);
}

bool cost::isShorterThanBarrier(double seconds, const Machine &machine) {
  return seconds < machine.rates.stepStart + machine.rates.coldStart + machine.rates.barrierSeconds;
}

double cost::secondsToClear(double bytes, const Machine &machine) {
  Amounts amounts;
  amounts.stores = bytes / double(machine.vectorBytes);
  return ::secondsOf(amounts, bytes, 2 * bytes, machine); // fetched and written back
}

double cost::secondsToCopy(double bytes, const Machine &machine) {
  Amounts amounts;
  amounts.loads = amounts.stores = bytes / double(machine.vectorBytes);
  double start = cost::secondsOf(Amounts(), machine.rates); // of a kernel, which this is not
  return ::secondsOf(amounts, 2 * bytes, 3 * bytes, machine) - start; // written: twice
}
