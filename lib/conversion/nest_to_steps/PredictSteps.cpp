//===- PredictSteps.cpp - how long steps should take ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_steps/PredictSteps.h"

#include "dialects/nest/Rates.h"
#include "lib/cost/Cost.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace heddle;
using namespace mlir;

/// Three significant digits: more would pretend precision, and differ between compilers.
static double rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2e", value);
  return std::strtod(text, nullptr);
}

/// The roofline: the seconds of the busiest resource, if all others overlap with it.
static double boundOf(const cost::Amounts &amounts, const nest::Rates &rates) {
  double perByte[] = {rates.l2ByteCycles, rates.l3ByteCycles, rates.memoryByteCycles};
  double cycles = amounts.operations * rates.operationCycles;
  for (auto [bytes, each] : llvm::zip_equal(amounts.bytes, perByte))
    cycles = std::max(cycles, bytes * each);
  return cycles / rates.clock;
}

static Prediction predict(const cost::Amounts &amounts, nest::MachineAttr machine) {
  auto rates = nest::Rates::of(machine);
  cost::Cost cost = cost::costOf(amounts, rates);
  double seconds = rounded(cost.seconds), bound = rounded(boundOf(amounts, rates));
  if (!(seconds > 0 && std::isfinite(seconds))) // a module may state any rates
    return {};
  return {seconds, bound > 0 ? std::min(bound, seconds) : 0, cost.limit};
}

Prediction heddle::predict(Operation *nest, nest::MachineAttr machine) {
  return ::predict(cost::amountsOf(nest, machine), machine);
}

/// A step that clears memory stores vectors, to the cache in which they fit.
static Prediction predictClear(double bytes, nest::MachineAttr machine) {
  cost::Amounts amounts;
  amounts.stores = bytes / double(machine.integer("vector_bytes", 16));
  const char *caches[] = {"l1_bytes", "l2_bytes", "l3_bytes"};
  for (int level = 0; level < cost::memoryLevels; ++level)
    if (bytes > double(machine.integer(caches[level], 0)))
      amounts.bytes[size_t(level)] = 2 * bytes; // fetched and written back
  return ::predict(amounts, machine);
}

void heddle::predictSteps(OutlinedProgram &program, nest::MachineAttr machine) {
  showSchedules(program);
  std::vector<std::optional<Prediction>> known(program.kernels.size());
  for (OutlinedEntry &entry : program.entries)
    for (OutlinedStep &step : entry.steps) {
      if (step.spec.kind != StepKind::Kernel)
        continue;
      std::optional<Prediction> &made = known[step.kernel];
      if (!step.nest) // a kernel that clears memory of any size
        made = predictClear(step.spec.bytesMoved, machine);
      else if (!made)
        made = predict(step.nest, machine);
      step.spec.predicted = made->seconds;
      step.spec.bound = made->bound;
      step.spec.limit = made->limit;
    }
}
