//===- PredictSteps.cpp - how long steps should take ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_steps/PredictSteps.h"

#include "lib/conversion/nest_to_steps/OutlineEntries.h"
#include "lib/cost/Cost.h"
#include "lib/cost/Steps.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace heddle;
using namespace mlir;

double heddle::rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2e", value);
  return std::strtod(text, nullptr);
}

static Prediction predictionOf(double seconds, double bound, const char *limit) {
  if (!(seconds > 0 && std::isfinite(seconds))) // a module may state any rates
    return {};
  double most = rounded(seconds), least = rounded(bound);
  return {most, least > 0 ? std::min(least, most) : 0, limit};
}

Prediction heddle::predict(Operation *nest, const cost::Machine &machine) {
  cost::Cost cost = cost::costOf(nest, machine);
  return predictionOf(cost.seconds, cost.bound, cost.limit);
}

void heddle::predictSteps(OutlinedProgram &program, const cost::Machine &machine) {
  for (OutlinedEntry &entry : program.entries)
    for (OutlinedStep &step : entry.steps) {
      if (step.spec.kind != StepKind::Kernel)
        continue;
      // A kernel that clears memory is called for any size.
      double bytes = step.spec.bytesMoved;
      Prediction made = step.nest
                            ? program.kernels[step.kernel].predicted
                            : predictionOf(cost::secondsToClear(bytes, machine), 0, "accesses");
      step.spec.predicted = made.seconds;
      step.spec.bound = made.bound;
      step.spec.limit = made.limit;
    }
}
