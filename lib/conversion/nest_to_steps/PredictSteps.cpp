//===- PredictSteps.cpp - how long steps should take ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_steps/PredictSteps.h"

#include "lib/conversion/nest_to_steps/Outline.h"
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

static Prediction rounded(double seconds, double bound, const char *limit) {
  if (!(seconds > 0 && std::isfinite(seconds))) // a module may state any rates
    return {};
  double most = rounded(seconds), least = rounded(bound);
  return {most, least > 0 ? std::min(least, most) : 0, limit};
}

Prediction heddle::predict(Operation *nest, nest::MachineAttr machine) {
  cost::Cost cost = cost::costOf(nest, machine);
  return rounded(cost.seconds, cost.bound, cost.limit);
}

/// A step that clears memory stores vectors, to the cache in which they fit.
static Prediction predictClear(double bytes, nest::MachineAttr machine) {
  cost::Amounts amounts;
  amounts.stores = bytes / double(machine.integer("vector_bytes", 16));
  const char *caches[] = {"l1_bytes", "l2_bytes", "l3_bytes"};
  for (int level = 0; level < cost::memoryLevels; ++level)
    if (bytes > double(machine.integer(caches[level], 0)))
      amounts.bytes[size_t(level)] = 2 * bytes; // fetched and written back
  double seconds = cost::secondsOf(amounts, cost::Rates::of(machine));
  return rounded(seconds, 0, "accesses");
}

void heddle::predictSteps(OutlinedProgram &program, nest::MachineAttr machine) {
  for (OutlinedEntry &entry : program.entries)
    for (OutlinedStep &step : entry.steps) {
      if (step.spec.kind != StepKind::Kernel)
        continue;
      // A kernel that clears memory is called for any size.
      Prediction made = step.nest ? program.kernels[step.kernel].predicted
                                  : predictClear(step.spec.bytesMoved, machine);
      step.spec.predicted = made.seconds;
      step.spec.bound = made.bound;
      step.spec.limit = made.limit;
    }
}
