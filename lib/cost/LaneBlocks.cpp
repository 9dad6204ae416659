//===- LaneBlocks.cpp - how long blocks of lanes take ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/LaneBlocks.h"

#include <cmath>

using namespace heddle;
using namespace heddle::cost;

/// The fraction of a core's lanes that hides the time of memory.
static constexpr double enoughResident = 0.25;
/// The part of these that is not needed by blocks that load ahead, and the instructions for which a
/// lane waits at a barrier. Not measured on hardware.
static constexpr double hiddenAhead = 0.5, barrierInstructions = 8;

double cost::secondsOf(const BlockAmounts &amounts, const Machine &machine) {
  const Occupancy &gpu = machine.occupancy;
  double resident = gpu.of(amounts.lanes, amounts.registers, amounts.sharedBytes);
  if (resident == 0)
    return INFINITY;
  double needed = enoughResident * (1 - hiddenAhead * amounts.ahead);
  double hidden = std::min(1.0, resident / needed);
  double perCore = std::ceil(amounts.blocks / double(gpu.cores));
  double warps = std::ceil(double(amounts.lanes) / double(gpu.warp));
  double instructions = amounts.instructions + amounts.barriers * barrierInstructions;
  double issue = perCore * warps * instructions * machine.rates.issueCycles / hidden;
  double used = std::min(double(gpu.cores), amounts.blocks);
  double memory =
      amounts.blocks * amounts.bytes * machine.memories.back().cyclesPerByte / used / hidden;
  return machine.seconds(std::max(issue, memory) +
                         machine.rates.exposedPart * (1 - amounts.ahead) * std::min(issue, memory));
}
